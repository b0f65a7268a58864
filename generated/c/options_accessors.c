/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/options.h>

#include "option_fields.h"
#include "options/fields.h"
#include "options/generated.h"

cdam_status cdam_options_set_image(cdam_options *options, const char *image, cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.image, "image", image, err);
}

const char *cdam_options_image(const cdam_options *options) {
  return options ? cdam_text(options->message.image) : "";
}

cdam_status cdam_options_add_exposed_port(cdam_options *options, uint32_t exposed_port,
                                          cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_add_uint32(&options->message.exposed_ports, &options->message.n_exposed_ports,
                               exposed_port, err);
}

size_t cdam_options_exposed_port_count(const cdam_options *options) {
  return options ? options->message.n_exposed_ports : 0;
}

uint32_t cdam_options_exposed_port(const cdam_options *options, size_t index) {
  if (!options || index >= options->message.n_exposed_ports) return 0;
  return options->message.exposed_ports[index];
}

void cdam_options_clear_exposed_ports(cdam_options *options) {
  if (!options) return;
  cdam_field_clear_uint32(&options->message.exposed_ports, &options->message.n_exposed_ports);
}

static void keep_labels(cdam_options *options, const cdam_map *map) {
  options->message.labels = (Cofferdam__V1__SandboxOptions__LabelsEntry **)map->entries;
  options->message.n_labels = map->count;
}

cdam_status cdam_options_set_label(cdam_options *options, const char *key, const char *value,
                                   cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  cdam_map map = cdam_map_of_labels(&options->message);
  cdam_status status = cdam_map_put(&map, "labels", key, value, err);
  keep_labels(options, &map);
  return status;
}

const char *cdam_options_label(const cdam_options *options, const char *key) {
  if (!options || !key) return NULL;
  cdam_map map = cdam_map_of_labels(&options->message);
  return cdam_map_get(&map, key);
}

size_t cdam_options_label_count(const cdam_options *options) {
  return options ? options->message.n_labels : 0;
}

bool cdam_options_label_at(const cdam_options *options, size_t index, const char **key,
                           const char **value) {
  if (!options || index >= options->message.n_labels) return false;
  cdam_map map = cdam_map_of_labels(&options->message);
  if (key) *key = cdam_map_key(&map, index);
  if (value) *value = cdam_map_value(&map, index);
  return true;
}

bool cdam_options_remove_label(cdam_options *options, const char *key) {
  if (!options || !key) return false;
  cdam_map map = cdam_map_of_labels(&options->message);
  bool removed = cdam_map_remove(&map, key);
  keep_labels(options, &map);
  return removed;
}

void cdam_options_clear_labels(cdam_options *options) {
  if (!options) return;
  cdam_map map = cdam_map_of_labels(&options->message);
  cdam_map_clear(&map);
  keep_labels(options, &map);
}

static void keep_env(cdam_options *options, const cdam_map *map) {
  options->message.env = (Cofferdam__V1__SandboxOptions__EnvEntry **)map->entries;
  options->message.n_env = map->count;
}

cdam_status cdam_options_set_env(cdam_options *options, const char *key, const char *value,
                                 cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  cdam_map map = cdam_map_of_env(&options->message);
  cdam_status status = cdam_map_put(&map, "env", key, value, err);
  keep_env(options, &map);
  return status;
}

const char *cdam_options_env(const cdam_options *options, const char *key) {
  if (!options || !key) return NULL;
  cdam_map map = cdam_map_of_env(&options->message);
  return cdam_map_get(&map, key);
}

size_t cdam_options_env_count(const cdam_options *options) {
  return options ? options->message.n_env : 0;
}

bool cdam_options_env_at(const cdam_options *options, size_t index, const char **key,
                         const char **value) {
  if (!options || index >= options->message.n_env) return false;
  cdam_map map = cdam_map_of_env(&options->message);
  if (key) *key = cdam_map_key(&map, index);
  if (value) *value = cdam_map_value(&map, index);
  return true;
}

bool cdam_options_remove_env(cdam_options *options, const char *key) {
  if (!options || !key) return false;
  cdam_map map = cdam_map_of_env(&options->message);
  bool removed = cdam_map_remove(&map, key);
  keep_env(options, &map);
  return removed;
}

void cdam_options_clear_env(cdam_options *options) {
  if (!options) return;
  cdam_map map = cdam_map_of_env(&options->message);
  cdam_map_clear(&map);
  keep_env(options, &map);
}

void cdam_options_set_network_mode(cdam_options *options, cdam_network_mode network_mode) {
  if (options) options->message.network_mode = (Cofferdam__V1__NetworkMode)network_mode;
}

cdam_network_mode cdam_options_network_mode(const cdam_options *options) {
  return options ? (cdam_network_mode)options->message.network_mode : 0;
}

void cdam_options_set_profile(cdam_options *options, cdam_profile profile) {
  if (options) options->message.profile = (Cofferdam__V1__Profile)profile;
}

cdam_profile cdam_options_profile(const cdam_options *options) {
  return options ? (cdam_profile)options->message.profile : 0;
}

void cdam_options_set_memory_bytes(cdam_options *options, uint64_t memory_bytes) {
  if (options) options->message.memory_bytes = memory_bytes;
}

uint64_t cdam_options_memory_bytes(const cdam_options *options) {
  return options ? options->message.memory_bytes : 0;
}

void cdam_options_set_nano_cpus(cdam_options *options, uint64_t nano_cpus) {
  if (options) options->message.nano_cpus = nano_cpus;
}

uint64_t cdam_options_nano_cpus(const cdam_options *options) {
  return options ? options->message.nano_cpus : 0;
}

void cdam_options_set_pids_limit(cdam_options *options, uint32_t pids_limit) {
  if (options) options->message.pids_limit = pids_limit;
}

uint32_t cdam_options_pids_limit(const cdam_options *options) {
  return options ? options->message.pids_limit : 0;
}

static void keep_tmpfs(cdam_options *options, const cdam_map *map) {
  options->message.tmpfs = (Cofferdam__V1__SandboxOptions__TmpfsEntry **)map->entries;
  options->message.n_tmpfs = map->count;
}

cdam_status cdam_options_set_tmpfs_mount(cdam_options *options, const char *key, const char *value,
                                         cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  cdam_map map = cdam_map_of_tmpfs(&options->message);
  cdam_status status = cdam_map_put(&map, "tmpfs", key, value, err);
  keep_tmpfs(options, &map);
  return status;
}

const char *cdam_options_tmpfs_mount(const cdam_options *options, const char *key) {
  if (!options || !key) return NULL;
  cdam_map map = cdam_map_of_tmpfs(&options->message);
  return cdam_map_get(&map, key);
}

size_t cdam_options_tmpfs_mount_count(const cdam_options *options) {
  return options ? options->message.n_tmpfs : 0;
}

bool cdam_options_tmpfs_mount_at(const cdam_options *options, size_t index, const char **key,
                                 const char **value) {
  if (!options || index >= options->message.n_tmpfs) return false;
  cdam_map map = cdam_map_of_tmpfs(&options->message);
  if (key) *key = cdam_map_key(&map, index);
  if (value) *value = cdam_map_value(&map, index);
  return true;
}

bool cdam_options_remove_tmpfs_mount(cdam_options *options, const char *key) {
  if (!options || !key) return false;
  cdam_map map = cdam_map_of_tmpfs(&options->message);
  bool removed = cdam_map_remove(&map, key);
  keep_tmpfs(options, &map);
  return removed;
}

void cdam_options_clear_tmpfs(cdam_options *options) {
  if (!options) return;
  cdam_map map = cdam_map_of_tmpfs(&options->message);
  cdam_map_clear(&map);
  keep_tmpfs(options, &map);
}

void cdam_options_set_read_only_root(cdam_options *options, bool read_only_root) {
  if (options) options->message.read_only_root = read_only_root;
}

bool cdam_options_read_only_root(const cdam_options *options) {
  return options ? options->message.read_only_root : false;
}

cdam_status cdam_options_set_user(cdam_options *options, const char *user, cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.user, "user", user, err);
}

const char *cdam_options_user(const cdam_options *options) {
  return options ? cdam_text(options->message.user) : "";
}

void cdam_options_set_drop_all_capabilities(cdam_options *options, bool drop_all_capabilities) {
  if (options) options->message.drop_all_capabilities = drop_all_capabilities;
}

bool cdam_options_drop_all_capabilities(const cdam_options *options) {
  return options ? options->message.drop_all_capabilities : false;
}

void cdam_options_set_no_new_privileges(cdam_options *options, bool no_new_privileges) {
  if (options) options->message.no_new_privileges = no_new_privileges;
}

bool cdam_options_no_new_privileges(const cdam_options *options) {
  return options ? options->message.no_new_privileges : false;
}

cdam_status cdam_options_set_runtime(cdam_options *options, const char *runtime, cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.runtime, "runtime", runtime, err);
}

const char *cdam_options_runtime(const cdam_options *options) {
  return options ? cdam_text(options->message.runtime) : "";
}

static void keep_ulimits(cdam_options *options, const cdam_map *map) {
  options->message.ulimits = (Cofferdam__V1__SandboxOptions__UlimitsEntry **)map->entries;
  options->message.n_ulimits = map->count;
}

cdam_status cdam_options_set_ulimit(cdam_options *options, const char *key, const char *value,
                                    cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  cdam_map map = cdam_map_of_ulimits(&options->message);
  cdam_status status = cdam_map_put(&map, "ulimits", key, value, err);
  keep_ulimits(options, &map);
  return status;
}

const char *cdam_options_ulimit(const cdam_options *options, const char *key) {
  if (!options || !key) return NULL;
  cdam_map map = cdam_map_of_ulimits(&options->message);
  return cdam_map_get(&map, key);
}

size_t cdam_options_ulimit_count(const cdam_options *options) {
  return options ? options->message.n_ulimits : 0;
}

bool cdam_options_ulimit_at(const cdam_options *options, size_t index, const char **key,
                            const char **value) {
  if (!options || index >= options->message.n_ulimits) return false;
  cdam_map map = cdam_map_of_ulimits(&options->message);
  if (key) *key = cdam_map_key(&map, index);
  if (value) *value = cdam_map_value(&map, index);
  return true;
}

bool cdam_options_remove_ulimit(cdam_options *options, const char *key) {
  if (!options || !key) return false;
  cdam_map map = cdam_map_of_ulimits(&options->message);
  bool removed = cdam_map_remove(&map, key);
  keep_ulimits(options, &map);
  return removed;
}

void cdam_options_clear_ulimits(cdam_options *options) {
  if (!options) return;
  cdam_map map = cdam_map_of_ulimits(&options->message);
  cdam_map_clear(&map);
  keep_ulimits(options, &map);
}

cdam_status cdam_options_set_hostname(cdam_options *options, const char *hostname,
                                      cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.hostname, "hostname", hostname, err);
}

const char *cdam_options_hostname(const cdam_options *options) {
  return options ? cdam_text(options->message.hostname) : "";
}

cdam_status cdam_options_set_platform(cdam_options *options, const char *platform,
                                      cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.platform, "platform", platform, err);
}

const char *cdam_options_platform(const cdam_options *options) {
  return options ? cdam_text(options->message.platform) : "";
}

cdam_status cdam_options_set_workspace(cdam_options *options, const char *workspace,
                                       cdam_error *err) {
  if (!options) return cdam_fail_null(err, "options");
  return cdam_field_set_string(&options->message.workspace, "workspace", workspace, err);
}

const char *cdam_options_workspace(const cdam_options *options) {
  return options ? cdam_text(options->message.workspace) : "";
}

void cdam_options_set_deadline(cdam_options *options, uint64_t deadline) {
  if (options) options->message.deadline = deadline;
}

uint64_t cdam_options_deadline(const cdam_options *options) {
  return options ? options->message.deadline : 0;
}
