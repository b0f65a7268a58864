/* SPDX-License-Identifier: Apache-2.0 */
#include "session/agent_container.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "link/agent_path.h"
#include "options/compare_text.h"
#include "session/create_request.h"
#include "session/session.h"
#include "session/verify.h"

static cdam_status drift(const char *path, const char *expected, const json_t *actual,
                         cdam_error *err) {
  char found[sizeof err->actual];
  cdam_describe_json(actual, found, sizeof found);
  return cdam_fail_drift(err, path, expected, found);
}

const char *cdam_agent_digest_of(const json_t *inspect) {
  const char *digest = cdam_label_of(inspect, CDAM_LABEL_AGENT);
  return digest && *digest ? digest : NULL;
}

static bool is_text(const json_t *json, const char *text) {
  const char *found = json_string_value(json);
  return found && strcmp(found, text) == 0;
}

static bool is_in_its_place(const json_t *mount) {
  return is_text(json_object_get(mount, "Destination"), CDAM_AGENT_DIRECTORY);
}

bool cdam_is_agent_mount(const json_t *inspect, const json_t *mount) {
  const char *digest = cdam_agent_digest_of(inspect);
  if (!digest || !cdam_is_digest(digest)) return false;
  char name[CDAM_AGENT_VOLUME_SIZE];
  cdam_agent_volume_name(digest, name);
  return is_in_its_place(mount) && is_text(json_object_get(mount, "Type"), "volume") &&
         is_text(json_object_get(mount, "Name"), name) &&
         json_is_false(json_object_get(mount, "RW"));
}

bool cdam_is_agent_request(const json_t *inspect, const json_t *mount) {
  const char *digest = cdam_agent_digest_of(inspect);
  if (!digest || !cdam_is_digest(digest)) return false;
  char name[CDAM_AGENT_VOLUME_SIZE];
  cdam_agent_volume_name(digest, name);
  const json_t *driver = cdam_json_at(mount, "VolumeOptions.DriverConfig");
  return is_text(json_object_get(mount, "Target"), CDAM_AGENT_DIRECTORY) &&
         is_text(json_object_get(mount, "Type"), "volume") &&
         is_text(json_object_get(mount, "Source"), name) && (!driver || json_is_null(driver));
}

/* Exactly one thing is mounted there, and it is the agent's volume. */
static cdam_status check_mount(const json_t *inspect, cdam_error *err) {
  static const char expected[] = "the agent's own volume at " CDAM_AGENT_DIRECTORY ", read-only";
  size_t index, found = 0;
  const json_t *mount;
  json_array_foreach(json_object_get(inspect, "Mounts"), index, mount) {
    if (!is_in_its_place(mount)) continue;
    if (!cdam_is_agent_mount(inspect, mount) || found++)
      return drift("Mounts", expected, mount, err);
  }
  return found ? CDAM_OK : drift("Mounts", expected, NULL, err);
}

/* --stdio changes only who may speak first. */
static json_t *without_stdio(const json_t *command) {
  json_t *copy = json_copy((json_t *)command);
  for (size_t i = json_array_size(copy); i-- > 1;)
    if (is_text(json_array_get(copy, i), "--stdio")) json_array_remove(copy, i);
  return copy;
}

/* Options that this library does not know may have arguments of their own. None of them isolates,
 * or the state would have been refused. */
static bool is_enough(const Cofferdam__V1__SessionState *state, const json_t *expected,
                      const json_t *command) {
  if (!cdam_has_unknown_fields(&state->options->base)) return json_equal(expected, command);
  return json_equal(json_array_get(expected, 0), json_array_get(command, 0));
}

static cdam_status check_arguments(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  json_t *asked = NULL;
  cdam_status status = cdam_generated_create_body(state->options, &asked, err);
  if (status != CDAM_OK) return status;
  json_t *expected = cdam_agent_arguments(asked);
  const json_t *found = cdam_json_at(inspect, "Config.Cmd");
  json_t *command = without_stdio(found);
  char text[sizeof err->expected];
  cdam_describe_json(expected, text, sizeof text);
  if (!expected || (found && !command))
    status = cdam_fail_memory(err);
  else if (!is_enough(state, expected, command))
    status = drift("Config.Cmd", text, found, err);
  json_decref(asked);
  json_decref(expected);
  json_decref(command);
  return status;
}

/* PID 1 has to be the agent itself, and nothing of the image may run beside it on the engine's own
 * account. */
static cdam_status check_process(const json_t *inspect, cdam_error *err) {
  const json_t *entrypoint = cdam_json_at(inspect, "Config.Entrypoint");
  if (json_array_size(entrypoint) != 1 || !is_text(json_array_get(entrypoint, 0), CDAM_AGENT_PATH))
    return drift("Config.Entrypoint", "[\"" CDAM_AGENT_PATH "\"]", entrypoint, err);
  const json_t *init = cdam_json_at(inspect, "HostConfig.Init");
  if (init && !json_is_false(init) && !json_is_null(init))
    return drift("HostConfig.Init", "false", init, err);
  const json_t *check = cdam_json_at(inspect, "Config.Healthcheck.Test");
  if (json_array_size(check) > 0 && !is_text(json_array_get(check, 0), "NONE"))
    return drift("Config.Healthcheck.Test", "[\"NONE\"]", check, err);
  return CDAM_OK;
}

cdam_status cdam_check_agent(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err) {
  const char *digest = cdam_agent_digest_of(inspect);
  if (!digest) return CDAM_OK;
  if (!cdam_is_digest(digest))
    return cdam_fail_drift(err, "Config.Labels[" CDAM_LABEL_AGENT "]", "a digest", digest);
  cdam_status status = check_process(inspect, err);
  if (status == CDAM_OK) status = check_mount(inspect, err);
  return status == CDAM_OK ? check_arguments(state, inspect, err) : status;
}
