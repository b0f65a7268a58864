/* SPDX-License-Identifier: Apache-2.0 */
#include "session/reach.h"

#include <string.h>
#include <strings.h>

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

static bool has_text(const json_t *list, const char *text) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (cdam_json_equals_text(json_array_get(list, i), text)) return true;
  return false;
}

/* Podman does not tell its lists; who tells one must have in it what every engine of the supported
 * versions has. */
static bool has_all(const json_t *value, const char *const *paths, size_t count) {
  if (!value || json_is_null(value)) return true;
  for (size_t i = 0; i < count; i++)
    if (!has_text(value, paths[i])) return false;
  return json_is_array(value);
}

/* Not those of which kernels know no more: /proc/sched_debug, /proc/timer_stats. */
static bool is_masked(const json_t *value) {
  static const char *const paths[] = {"/proc/asound",        "/proc/acpi",       "/proc/kcore",
                                      "/proc/keys",          "/proc/timer_list", "/proc/scsi",
                                      "/proc/latency_stats", "/sys/firmware"};
  return has_all(value, paths, sizeof paths / sizeof *paths);
}

static bool is_read_only(const json_t *value) {
  static const char *const paths[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                      "/proc/sysrq-trigger"};
  return has_all(value, paths, sizeof paths / sizeof *paths);
}

static bool is_zero(const json_t *value) {
  return is_nothing(value) || cdam_json_equals_uint(value, 0);
}

static bool is_not_negative(const json_t *value) {
  return is_nothing(value) || (json_is_integer(value) && json_integer_value(value) >= 0);
}

static bool is_never(const json_t *value) {
  return is_nothing(value) || cdam_json_equals_text(value, "no");
}

static bool is_local(const json_t *value) {
  return is_nothing(value) || cdam_json_equals_text(value, "local");
}

static bool is_unlogged(const json_t *value) {
  return is_nothing(value) || cdam_json_equals_text(value, "none");
}

/* Podman notes there what it was told; of that no runtime takes orders. */
static bool orders_nothing(const json_t *value) {
  static const char *const notes[] = {"io.podman.", "io.container.manager", "org.opencontainers."};
  const char *key;
  json_t *note;
  json_object_foreach((json_t *)value, key, note) {
    bool known = false;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
      known = known || strncmp(key, notes[i], strlen(notes[i])) == 0;
    if (!known) return false;
  }
  return is_nothing(value) || json_is_object(value);
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

typedef struct reach {
  const char *path;
  bool (*is_right)(const json_t *value);
  const char *expected;
} reach;

static const reach reaches[] = {
    {"HostConfig.Privileged", is_false, "false"},
    {"HostConfig.CapAdd", is_nothing, "nothing"},
    {"HostConfig.Devices", is_nothing, "nothing"},
    {"HostConfig.DeviceRequests", is_nothing, "nothing"},
    {"HostConfig.DeviceCgroupRules", is_nothing, "nothing"},
    {"HostConfig.VolumesFrom", is_nothing, "nothing"},
    {"HostConfig.VolumeDriver", is_local, "nothing"},
    {"HostConfig.Links", is_nothing, "nothing"},
    {"HostConfig.GroupAdd", is_nothing, "nothing"},
    {"HostConfig.PidMode", is_private, "a namespace of its own"},
    {"HostConfig.IpcMode", is_private, "a namespace of its own"},
    {"HostConfig.UTSMode", is_private, "a namespace of its own"},
    {"HostConfig.UsernsMode", is_private, "the engine's default"},
    {"HostConfig.NetworkMode", joins_nobody, "no network of somebody else"},
    {"HostConfig.SecurityOpt", takes_away, "nothing"},
    {"HostConfig.MaskedPaths", is_masked, "the engine's default"},
    {"HostConfig.ReadonlyPaths", is_read_only, "the engine's default"},
    {"HostConfig.PublishAllPorts", is_nothing, "false"},
    {"HostConfig.PortBindings", is_nothing, "nothing"},
    {"HostConfig.Sysctls", is_nothing, "nothing"},
    {"HostConfig.Annotations", orders_nothing, "nothing"},
    {"HostConfig.CpuRealtimeRuntime", is_zero, "0"},
    {"HostConfig.OomKillDisable", is_nothing, "false"},
    {"HostConfig.OomScoreAdj", is_not_negative, "0"},
};

/* Of a container that we made. */
static const reach promises[] = {
    {"HostConfig.RestartPolicy.Name", is_never, "no"},
    {"HostConfig.AutoRemove", is_nothing, "false"},
};

/* Of one that has an agent, too. */
static const reach agents[] = {
    {"HostConfig.LogConfig.Type", is_unlogged, "none"},
};

/* ---- mounts ---- */

static cdam_status drift(const char *path, const char *expected, const json_t *actual,
                         cdam_error *err) {
  char found[sizeof err->actual];
  cdam_describe_json(actual, found, sizeof found);
  return cdam_fail_drift(err, path, expected, found);
}

static cdam_status check_all(const reach *list, size_t count, const json_t *asked,
                             const json_t *inspect, cdam_error *err) {
  for (size_t i = 0; i < count; i++) {
    const json_t *found = cdam_json_at(inspect, list[i].path);
    if (!cdam_json_at(asked, list[i].path) && !list[i].is_right(found))
      return drift(list[i].path, list[i].expected, found, err);
  }
  return CDAM_OK;
}

/* An image may ask for volumes, which the engine makes for the container alone and gives a long
 * name. A volume with any other name belongs to somebody; adoption warns of those. The agent's is
 * the one exception. */
static bool is_own_mount(const json_t *mount, bool adopted) {
  const char *type = json_string_value(json_object_get(mount, "Type"));
  const char *name = json_string_value(json_object_get(mount, "Name"));
  if (!type) return false;
  if (!strcmp(type, "tmpfs")) return true;
  return !strcmp(type, "volume") && name &&
         (adopted ||
          (is_volume_name(name, strlen(name)) && is_local(json_object_get(mount, "Driver"))));
}

/* This is Podman's word. Docker's is "", and it takes no container with this one, so nobody can put
 * it there. */
static bool shows_volumes_as_binds(const json_t *inspect) {
  return cdam_json_equals_text(cdam_json_at(inspect, "HostConfig.PidMode"), "private");
}

static bool is_own_bind(const json_t *inspect, const json_t *bind, bool adopted) {
  char agent[CDAM_AGENT_VOLUME_SIZE] = "";
  const char *text = json_string_value(bind), *digest = cdam_agent_digest_of(inspect);
  size_t length = text ? strcspn(text, ":") : 0;
  if (!text || text[0] == '/' || !text[length]) return false;
  if (adopted || is_volume_name(text, length)) return true;
  if (digest && cdam_is_digest(digest)) cdam_agent_volume_name(digest, agent);
  return agent[0] && length == strlen(agent) && strncmp(text, agent, length) == 0;
}

/* Podman shows the volumes that an image asks for as binds, and the agent's; whether somebody else
 * asked for one with such a name cannot be seen there. On Docker a bind is always asked for. */
static cdam_status check_binds(const json_t *inspect, bool adopted, cdam_error *err) {
  static const char path[] = "HostConfig.Binds";
  const json_t *binds = cdam_json_at(inspect, path);
  bool right =
      is_nothing(binds) || (json_is_array(binds) && (adopted || shows_volumes_as_binds(inspect)));
  for (size_t i = 0; i < json_array_size(binds); i++)
    right = right && is_own_bind(inspect, json_array_get(binds, i), adopted);
  return right ? CDAM_OK : drift(path, "nothing of the host", binds, err);
}

/* A volume is a hole in a root file system that is read-only. A tmpfs goes before one in its
 * place. */
static bool is_hole(const json_t *asked, const json_t *mount) {
  const char *place = json_string_value(json_object_get(mount, "Destination"));
  return json_is_true(cdam_json_at(asked, "HostConfig.ReadonlyRootfs")) &&
         !json_is_false(json_object_get(mount, "RW")) &&
         !cdam_json_equals_text(json_object_get(mount, "Type"), "tmpfs") &&
         !(place && json_object_get(cdam_json_at(asked, "HostConfig.Tmpfs"), place));
}

static cdam_status check_mounts(const json_t *asked, const json_t *inspect, bool adopted,
                                cdam_error *err) {
  const json_t *mounts = json_object_get(inspect, "Mounts");
  if (is_nothing(mounts)) return CDAM_OK;
  if (!json_is_array(mounts)) return drift("Mounts", "a list", mounts, err);
  size_t index;
  const json_t *mount;
  json_array_foreach(mounts, index, mount) {
    if (!is_own_mount(mount, adopted) && !cdam_is_agent_mount(inspect, mount))
      return drift("Mounts", "volumes of its own alone", json_object_get(mount, "Destination"),
                   err);
    if (is_hole(asked, mount))
      return drift("Mounts", "nothing that can be written", json_object_get(mount, "Destination"),
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

/* ---- limits that give ---- */

/* A priority before the host's own processes. */
static bool gives(const json_t *limit) {
  static const char *const names[] = {"nice", "rtprio", "RLIMIT_NICE", "RLIMIT_RTPRIO"};
  const char *name = json_string_value(json_object_get(limit, "Name"));
  for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
    if (!strcasecmp(name, names[i])) return !is_zero(json_object_get(limit, "Hard"));
  return false;
}

static cdam_status check_ulimits(const json_t *inspect, cdam_error *err) {
  static const char path[] = "HostConfig.Ulimits";
  size_t index;
  const json_t *limit;
  json_array_foreach(cdam_json_at(inspect, path), index, limit) {
    if (gives(limit)) return drift(path, "nothing that gives", json_object_get(limit, "Name"), err);
  }
  return CDAM_OK;
}

/* Processors are asked for in billionths; an engine that has a quota as well gives the kernel that
 * one, and one below 0 is no limit at all. */
static cdam_status check_quota(const json_t *asked, const json_t *inspect, cdam_error *err) {
  static const char path[] = "HostConfig.CpuQuota";
  const json_t *quota = cdam_json_at(inspect, path);
  if (!cdam_json_at(asked, "HostConfig.NanoCpus") || is_not_negative(quota)) return CDAM_OK;
  return drift(path, "nothing that lifts the limit", quota, err);
}

/* ---- all of it ---- */

#define CHECK_ALL(list, asked, inspect, err)                                                       \
  check_all(list, sizeof(list) / sizeof(list)[0], asked, inspect, err)

static cdam_status check_made_by_us(const json_t *asked, const json_t *inspect, bool mounts,
                                    cdam_error *err) {
  cdam_status status = CHECK_ALL(promises, asked, inspect, err);
  if (status == CDAM_OK && cdam_agent_digest_of(inspect))
    status = CHECK_ALL(agents, asked, inspect, err);
  return status == CDAM_OK && !mounts ? check_asked_mounts(inspect, err) : status;
}

cdam_status cdam_check_reach(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err) {
  json_t *asked = NULL;
  cdam_status status = cdam_generated_create_body(state->options, &asked, err);
  bool mounts = cdam_json_at(asked, "HostConfig.Mounts") || cdam_json_at(asked, "HostConfig.Binds");
  bool adopted = !cdam_label_of(inspect, CDAM_LABEL_SESSION);
  /* An option that this library does not know may have asked for one; it does not isolate. */
  bool all_known = !cdam_has_unknown_fields(&state->options->base);
  if (status == CDAM_OK) status = CHECK_ALL(reaches, asked, inspect, err);
  if (status == CDAM_OK) status = check_ulimits(inspect, err);
  if (status == CDAM_OK) status = check_quota(asked, inspect, err);
  if (status == CDAM_OK && !mounts) status = check_binds(inspect, adopted, err);
  if (status == CDAM_OK && !mounts) status = check_mounts(asked, inspect, adopted, err);
  if (status == CDAM_OK && !adopted) status = check_made_by_us(asked, inspect, mounts, err);
  if (status == CDAM_OK && !adopted && all_known) status = check_tmpfs(asked, inspect, err);
  json_decref(asked);
  return status;
}
