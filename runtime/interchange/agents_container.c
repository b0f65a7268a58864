/* SPDX-License-Identifier: Apache-2.0 */
#include "interchange/agents_container.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"

/* A value as an error shows it. */
static const char *shown(const json_t *json, char *buffer, size_t size) {
  if (!json) return "nothing";
  if (json_is_string(json)) return json_string_value(json);
  size_t length = json_dumpb(json, buffer, size - 1, JSON_ENCODE_ANY | JSON_COMPACT);
  buffer[length < size ? length : 0] = '\0';
  return *buffer ? buffer : "something long";
}

static cdam_status drift(cdam_error *err, const char *field, const char *expected,
                         const json_t *actual) {
  char buffer[160];
  return cdam_fail_drift(err, field, expected, shown(actual, buffer, sizeof buffer));
}

/* ---- the process ---- */

static bool is_words(const json_t *json, const char *const *words) {
  size_t count = 0;
  while (words[count])
    count++;
  if (!json_is_array(json) || json_array_size(json) != count) return false;
  for (size_t i = 0; i < count; i++) {
    const char *word = json_string_value(json_array_get(json, i));
    if (!word || strcmp(word, words[i]) != 0) return false;
  }
  return true;
}

static cdam_status check_process(const json_t *inspect, cdam_error *err) {
  static const char *const entrypoint[] = {"tail", NULL};
  static const char *const command[] = {"-f", "/dev/null", NULL};
  const json_t *found = cdam_json_at(inspect, "Config.Entrypoint");
  if (!is_words(found, entrypoint)) return drift(err, "Config.Entrypoint", "[\"tail\"]", found);
  found = cdam_json_at(inspect, "Config.Cmd");
  if (!is_words(found, command)) return drift(err, "Config.Cmd", "[\"-f\",\"/dev/null\"]", found);
  return CDAM_OK;
}

/* ---- what it reaches ---- */

typedef enum reach_kind {
  NOTHING, /* null, false, or empty */
  PRIVATE  /* the same, or "private" or "shareable" */
} reach_kind;

static const struct reach {
  const char *path;
  reach_kind kind;
  bool must_be_there; /* every engine says it, so an absent one proves nothing */
} reaches[] = {
    {"HostConfig.Privileged", NOTHING, true},
    {"HostConfig.CapAdd", NOTHING, true},
    {"HostConfig.Binds", NOTHING, true},
    {"HostConfig.Devices", NOTHING, true},
    {"HostConfig.PidMode", PRIVATE, true},
    {"HostConfig.IpcMode", PRIVATE, true},
    {"HostConfig.UsernsMode", NOTHING, true},
    {"HostConfig.UTSMode", PRIVATE, true},
    {"HostConfig.SecurityOpt", NOTHING, true},
    {"HostConfig.VolumesFrom", NOTHING, true},
    {"HostConfig.PublishAllPorts", NOTHING, true},
    {"HostConfig.CapDrop", NOTHING, false}, /* isolates, and the state does not say so */
    {"HostConfig.ReadonlyRootfs", NOTHING, false},
    {"HostConfig.Links", NOTHING, false},
    {"HostConfig.GroupAdd", NOTHING, false},
    {"HostConfig.DeviceRequests", NOTHING, false},
    {"HostConfig.DeviceCgroupRules", NOTHING, false},
};

static bool is_nothing(const json_t *json) {
  if (json_is_null(json) || json_is_false(json)) return true;
  if (json_is_string(json)) return json_string_length(json) == 0;
  return (json_is_array(json) && json_array_size(json) == 0) ||
         (json_is_object(json) && json_object_size(json) == 0);
}

static bool is_private(const json_t *json) {
  const char *word = json_string_value(json);
  return word && (!strcmp(word, "private") || !strcmp(word, "shareable"));
}

static cdam_status check_reach(const json_t *inspect, cdam_error *err) {
  for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
    const json_t *found = cdam_json_at(inspect, reaches[i].path);
    if (!found && !reaches[i].must_be_there) continue;
    if (found && is_nothing(found)) continue;
    if (reaches[i].kind == PRIVATE && is_private(found)) continue;
    return drift(err, reaches[i].path,
                 reaches[i].kind == PRIVATE ? "a namespace of its own" : "nothing", found);
  }
  return CDAM_OK;
}

/* Volumes are data; anything else comes from the host. */
static cdam_status check_mounts(const json_t *inspect, cdam_error *err) {
  const json_t *mounts = cdam_json_at(inspect, "Mounts");
  if (!json_is_array(mounts)) return drift(err, "Mounts", "a list", mounts);
  size_t index;
  const json_t *mount;
  json_array_foreach(mounts, index, mount) {
    const json_t *type = cdam_json_at(mount, "Type");
    if (json_is_string(type) && strcmp(json_string_value(type), "volume") == 0) continue;
    return drift(err, "Mounts", "nothing but volumes", type);
  }
  return CDAM_OK;
}

const char *cdam_agents_volume_of(const json_t *inspect) {
  const char *place =
      cdam_json_string_at(json_array_get(cdam_json_at(inspect, "Mounts"), 0), "Destination");
  return place ? place : json_array_size(cdam_json_at(inspect, "Mounts")) ? "some place" : NULL;
}

static const char *const limits[] = {"Memory", "NanoCpus", "CpuQuota", "PidsLimit"};

const char *cdam_agents_limit_of(const json_t *inspect) {
  const json_t *host_config = cdam_json_at(inspect, "HostConfig");
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (json_integer_value(json_object_get(host_config, limits[i])) > 0) return limits[i];
  return NULL;
}

/* ---- the network, when the state asks for none in particular ---- */

static cdam_status check_default_network(const json_t *inspect, cdam_error *err) {
  const json_t *mode = cdam_json_at(inspect, "HostConfig.NetworkMode");
  const char *word = json_string_value(mode);
  if (!word || (strcmp(word, "default") != 0 && strcmp(word, "bridge") != 0))
    return drift(err, "HostConfig.NetworkMode", "the engine's default, as the state has no mode",
                 mode);
  const json_t *networks = cdam_json_at(inspect, "NetworkSettings.Networks");
  if (!json_is_object(networks)) return drift(err, "NetworkSettings.Networks", "a map", networks);
  const char *name;
  json_t *network;
  json_object_foreach((json_t *)networks, name, network) {
    if (!strcmp(name, "bridge") || !strcmp(name, "podman")) continue;
    return cdam_fail_drift(err, "NetworkSettings.Networks", "the engine's default network", name);
  }
  return CDAM_OK;
}

cdam_status cdam_agents_check_container(const Cofferdam__V1__SandboxOptions *options,
                                        const json_t *inspect, cdam_error *err) {
  cdam_status status = check_process(inspect, err);
  if (!status) status = check_reach(inspect, err);
  if (!status) status = check_mounts(inspect, err);
  if (!status && options->network_mode == COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET)
    status = check_default_network(inspect, err);
  return status;
}
