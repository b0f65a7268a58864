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
