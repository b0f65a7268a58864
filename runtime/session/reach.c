/* SPDX-License-Identifier: Apache-2.0 */
#include "session/reach.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "options/compare_text.h"
#include "session/agent_container.h"
#include "session/create_request.h"
#include "session/session.h"
#include "session/verify.h"

/* ---- values that reach nothing ---- */

static bool is_nothing(const json_t *value) {
  if (!value || json_is_null(value) || json_is_false(value)) return true;
  if (json_is_string(value)) return json_string_length(value) == 0;
  return (json_is_array(value) && json_array_size(value) == 0) ||
         (json_is_object(value) && json_object_size(value) == 0);
}

/* Every engine says it, so an absent one proves nothing. */
static bool is_false(const json_t *value) {
  return json_is_false(value);
}

static bool is_private(const json_t *value) {
  const char *word = json_string_value(value);
  return is_nothing(value) || (word && (!strcmp(word, "private") || !strcmp(word, "shareable") ||
                                        !strcmp(word, "none")));
}

/* "no-new-privileges" takes something away; whatever else can be said there may give. */
static bool takes_away(const json_t *value) {
  static const char word[] = "no-new-privileges";
  if (is_nothing(value)) return true;
  for (size_t i = 0; i < json_array_size(value); i++) {
    const char *item = json_string_value(json_array_get(value, i));
    if (!item || strncmp(item, word, sizeof word - 1) != 0) return false;
    const char *rest = item + sizeof word - 1;
    if (*rest && strcmp(rest, ":true") != 0 && strcmp(rest, "=true") != 0) return false;
  }
  return json_is_array(value);
}

/* Engines that tell their list of paths that are hidden, or not to be written, must not tell an
 * empty one. */
static bool is_masked(const json_t *value) {
  return !value || json_is_null(value) || (json_is_array(value) && json_array_size(value) > 0);
}

/* The mode is the engine's own affair where the options say nothing, but not one that joins the
 * network of the host or of somebody else. */
static bool joins_nobody(const json_t *value) {
  const char *word = json_string_value(value);
  return !word || (strcmp(word, "host") != 0 && strncmp(word, "container:", 10) != 0 &&
                   strncmp(word, "ns:", 3) != 0);
}

static bool is_volume_name(const char *text, size_t length) {
  return length == 64 && strspn(text, "0123456789abcdef") >= 64;
}

/* Some engines show the volumes that an image asks for as binds. */
static bool binds_volumes(const json_t *value) {
  if (is_nothing(value)) return true;
  for (size_t i = 0; i < json_array_size(value); i++) {
    const char *item = json_string_value(json_array_get(value, i));
    if (!item || item[0] == '/' || !strchr(item, ':')) return false;
  }
  return json_is_array(value);
}

static const struct reach {
  const char *path;
  bool (*is_right)(const json_t *value);
  const char *expected;
} reaches[] = {
    {"HostConfig.Privileged", is_false, "false"},
    {"HostConfig.CapAdd", is_nothing, "nothing"},
    {"HostConfig.Binds", binds_volumes, "nothing of the host"},
    {"HostConfig.Devices", is_nothing, "nothing"},
    {"HostConfig.DeviceRequests", is_nothing, "nothing"},
    {"HostConfig.DeviceCgroupRules", is_nothing, "nothing"},
    {"HostConfig.VolumesFrom", is_nothing, "nothing"},
    {"HostConfig.Links", is_nothing, "nothing"},
    {"HostConfig.GroupAdd", is_nothing, "nothing"},
    {"HostConfig.PidMode", is_private, "a namespace of its own"},
    {"HostConfig.IpcMode", is_private, "a namespace of its own"},
    {"HostConfig.UTSMode", is_private, "a namespace of its own"},
    {"HostConfig.UsernsMode", is_private, "the engine's default"},
    {"HostConfig.NetworkMode", joins_nobody, "no network of somebody else"},
    {"HostConfig.SecurityOpt", takes_away, "nothing"},
    {"HostConfig.MaskedPaths", is_masked, "the engine's default"},
    {"HostConfig.ReadonlyPaths", is_masked, "the engine's default"},
    {"HostConfig.PublishAllPorts", is_nothing, "false"},
    {"HostConfig.PortBindings", is_nothing, "nothing"},
};

/* ---- mounts ---- */

static cdam_status drift(const char *path, const char *expected, const json_t *actual,
                         cdam_error *err) {
  char found[sizeof err->actual];
  cdam_describe_json(actual, found, sizeof found);
  return cdam_fail_drift(err, path, expected, found);
}

/* An image may ask for volumes, which the engine makes for the container alone and gives a long
 * name. A volume with any other name belongs to somebody; adoption warns of those. The agent's is
 * the one exception. */
static bool is_own_mount(const json_t *mount, bool adopted) {
  const char *type = json_string_value(json_object_get(mount, "Type"));
  const char *name = json_string_value(json_object_get(mount, "Name"));
  if (!type) return false;
  if (!strcmp(type, "tmpfs")) return true;
  return !strcmp(type, "volume") && name && (adopted || is_volume_name(name, strlen(name)));
}

static cdam_status check_mounts(const json_t *inspect, bool adopted, cdam_error *err) {
  const json_t *mounts = json_object_get(inspect, "Mounts");
  if (is_nothing(mounts)) return CDAM_OK;
  if (!json_is_array(mounts)) return drift("Mounts", "a list", mounts, err);
  size_t index;
  const json_t *mount;
  json_array_foreach(mounts, index, mount) {
    if (!is_own_mount(mount, adopted) && !cdam_is_agent_mount(inspect, mount))
      return drift("Mounts", "volumes of its own alone", json_object_get(mount, "Destination"),
                   err);
  }
  return CDAM_OK;
}

/* What was asked for by name, the agent's volume apart, is none of ours, whatever it looks like
 * among the mounts: a volume may stand for a directory of the host. */
static cdam_status check_asked_mounts(const json_t *inspect, cdam_error *err) {
  static const char path[] = "HostConfig.Mounts";
  const json_t *mounts = cdam_json_at(inspect, path);
  if (is_nothing(mounts)) return CDAM_OK;
  if (!json_is_array(mounts)) return drift(path, "a list", mounts, err);
  size_t index;
  const json_t *mount;
  json_array_foreach(mounts, index, mount) {
    if (!cdam_is_agent_request(inspect, mount))
      return drift(path, "the agent's volume alone", json_object_get(mount, "Target"), err);
  }
  return CDAM_OK;
}

/* Podman adds these where the root file system is read-only. */
static bool is_scratch(const char *path) {
  return !strcmp(path, "/run") || !strcmp(path, "/tmp") || !strcmp(path, "/var/tmp");
}

/* One more of them is a place more that can be written. */
static cdam_status check_tmpfs(const json_t *asked, const json_t *inspect, cdam_error *err) {
  static const char path[] = "HostConfig.Tmpfs";
  const json_t *found = cdam_json_at(inspect, path);
  if (is_nothing(found)) return CDAM_OK;
  if (!json_is_object(found)) return drift(path, "an object", found, err);
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)found, key, value) {
    if (is_scratch(key) || json_object_get(cdam_json_at(asked, path), key)) continue;
    char safe[sizeof err->actual];
    cdam_printable(safe, sizeof safe, key, strlen(key));
    return cdam_fail_drift(err, path, "what was asked for alone", safe);
  }
  return CDAM_OK;
}

/* ---- all of it ---- */

cdam_status cdam_check_reach(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err) {
  json_t *asked = NULL;
  cdam_status status = cdam_generated_create_body(state->options, &asked, err);
  for (size_t i = 0; status == CDAM_OK && i < sizeof reaches / sizeof *reaches; i++) {
    const json_t *found = cdam_json_at(inspect, reaches[i].path);
    if (!cdam_json_at(asked, reaches[i].path) && !reaches[i].is_right(found))
      status = drift(reaches[i].path, reaches[i].expected, found, err);
  }
  bool mounts = cdam_json_at(asked, "HostConfig.Mounts") || cdam_json_at(asked, "HostConfig.Binds");
  bool adopted = !cdam_label_of(inspect, CDAM_LABEL_SESSION);
  /* An option that this library does not know may have asked for one; it does not isolate. */
  bool all_known = !cdam_has_unknown_fields(&state->options->base);
  if (status == CDAM_OK && !mounts) status = check_mounts(inspect, adopted, err);
  if (status == CDAM_OK && !mounts && !adopted) status = check_asked_mounts(inspect, err);
  if (status == CDAM_OK && !adopted && all_known) status = check_tmpfs(asked, inspect, err);
  json_decref(asked);
  return status;
}
