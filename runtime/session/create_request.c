/* SPDX-License-Identifier: Apache-2.0 */
#include "session/create_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_text.h"
#include "engine/answer.h"
#include "link/agent_path.h"
#include "options/place.h"
#include "session/isolation.h"

void cdam_container_name(const char *session_id, char name[CDAM_NAME_SIZE]) {
  snprintf(name, CDAM_NAME_SIZE, "cofferdam-%s", session_id);
}

void cdam_adopted_name(const char *session_id, char name[CDAM_ADOPTED_NAME_SIZE]) {
  snprintf(name, CDAM_ADOPTED_NAME_SIZE, "cofferdam-adopted-%s", session_id);
}

/* The object at a key, made when it is absent. NULL when out of memory. */
static json_t *object_at(json_t *parent, const char *key) {
  json_t *object = json_object_get(parent, key);
  if (object) return object;
  object = json_object();
  return json_object_set_new(parent, key, object) == 0 ? object : NULL;
}

/* ---- the first process ---- */

/* Without an agent: a process that waits, below an init that reaps orphans and passes signals on,
 * so that stopping takes milliseconds. The entrypoint is replaced too, or the image's own would
 * take the command as its arguments. */
static bool put_waiter(json_t *body, json_t *host_config) {
  return json_object_set_new(body, "Entrypoint", json_pack("[s]", "tail")) == 0 &&
         json_object_set_new(body, "Cmd", json_pack("[ss]", "-f", "/dev/null")) == 0 &&
         json_object_set_new(host_config, "Init", json_true()) == 0;
}

void cdam_agent_volume_name(const char *digest, char name[CDAM_AGENT_VOLUME_SIZE]) {
  snprintf(name, CDAM_AGENT_VOLUME_SIZE, "cofferdam-agent-%s", digest);
}

json_t *cdam_agent_mount(const char *digest, const char *directory, bool read_only) {
  char name[CDAM_AGENT_VOLUME_SIZE];
  cdam_agent_volume_name(digest, name);
  return json_pack("{s:s, s:s, s:s, s:b, s:{s:b}}", "Type", "volume", "Source", name, "Target",
                   directory, "ReadOnly", (int)read_only, "VolumeOptions", "NoCopy", 1);
}

static bool add_argument(json_t *arguments, const char *option, const char *value) {
  return !value || (json_array_append_new(arguments, json_string(option)) == 0 &&
                    json_array_append_new(arguments, json_string(value)) == 0);
}

/* How long processes have to end when the sandbox is stopped, the engine decides, which is told for
 * each stop; so the agent's own limit is out of its way. */
json_t *cdam_agent_arguments(const json_t *body) {
  const json_t *labels = json_object_get(body, "Labels");
  json_t *arguments = json_pack("[s]", "init");
  if (arguments && add_argument(arguments, "--stop-grace-ms", "600000") &&
      add_argument(arguments, "--workspace",
                   json_string_value(json_object_get(body, "WorkingDir"))) &&
      add_argument(arguments, "--deadline",
                   json_string_value(json_object_get(labels, CDAM_LABEL_DEADLINE))))
    return arguments;
  json_decref(arguments);
  return NULL;
}

static bool add_mount(json_t *host_config, const char *digest) {
  json_t *mounts = json_object_get(host_config, "Mounts");
  if (!mounts) {
    mounts = json_array();
    if (json_object_set_new(host_config, "Mounts", mounts) != 0) return false;
  }
  return json_array_append_new(mounts, cdam_agent_mount(digest, CDAM_AGENT_DIRECTORY, true)) == 0;
}

/* Its first client is attached before it starts. */
static bool put_streams(json_t *body) {
  static const char *const keys[] = {"AttachStderr", "AttachStdin", "AttachStdout", "OpenStdin",
                                     "StdinOnce"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (json_object_set_new(body, keys[i], json_true()) != 0) return false;
  return json_array_append_new(json_object_get(body, "Cmd"), json_string("--stdio")) == 0;
}

/* The agent is to be PID 1 itself, also where the engine would put an init before every process. A
 * health check would run programs of the image that the engine puts in, as it does our relay; and
 * what the agent might say on its outputs belongs in no log. */
static bool put_agent(json_t *body, json_t *host_config, json_t *labels, const char *digest) {
  return json_object_set_new(body, "Entrypoint", json_pack("[s]", CDAM_AGENT_PATH)) == 0 &&
         json_object_set_new(body, "Cmd", cdam_agent_arguments(body)) == 0 && put_streams(body) &&
         json_object_set_new(body, "StopSignal", json_string("SIGTERM")) == 0 &&
         json_object_set_new(body, "Healthcheck", json_pack("{s:[s]}", "Test", "NONE")) == 0 &&
         json_object_set_new(host_config, "Init", json_false()) == 0 &&
         json_object_set_new(host_config, "LogConfig", json_pack("{s:s}", "Type", "none")) == 0 &&
         json_object_set_new(labels, CDAM_LABEL_AGENT, json_string(digest)) == 0 &&
         add_mount(host_config, digest);
}

/* ---- the image's volumes ---- */

/* Does something of ours take the place where the engine would mount it? */
static bool is_covered(const json_t *body, const char *place, bool agent) {
  return (agent && strcmp(place, CDAM_AGENT_DIRECTORY) == 0) ||
         json_object_get(cdam_json_at(body, "HostConfig.Tmpfs"), place);
}

static cdam_status check_volume(const json_t *body, const char *path, bool agent, cdam_error *err) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  char *place = strndup(path, length);
  if (!place) return cdam_fail_memory(err);
  cdam_place field = {.prefix = "", .field = "tmpfs", .key = place};
  cdam_status status = CDAM_OK;
  if (!is_covered(body, place, agent))
    status = cdam_fail_place(&field, err,
                             "is needed: the image has a volume there, which could be written "
                             "although the root file system is read-only");
  free(place);
  return status;
}

/* An engine makes them on its disk, and no request can have them read-only. */
static cdam_status check_volumes(const json_t *body, const json_t *volumes, bool agent,
                                 cdam_error *err) {
  if (!json_is_true(cdam_json_at(body, "HostConfig.ReadonlyRootfs"))) return CDAM_OK;
  const char *path;
  json_t *nothing;
  json_object_foreach((json_t *)volumes, path, nothing) {
    cdam_status status = check_volume(body, path, agent, err);
    if (status != CDAM_OK) return status;
  }
  return CDAM_OK;
}

/* ---- the body ---- */

/* A container has its image's labels too, and an image that was made from a sandbox has the
 * sandbox's: an old deadline, say. Empty ones say nothing. */
static bool outdo_image(json_t *labels) {
  static const char *const keys[] = {CDAM_LABEL_AGENT, CDAM_LABEL_DEADLINE};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_object_get(labels, keys[i]) &&
        json_object_set_new(labels, keys[i], json_string("")) != 0)
      return false;
  return true;
}

static bool put_identity(json_t *labels, const char *session_id, const char *creation_id,
                         const char *isolation) {
  return json_object_set_new(labels, CDAM_LABEL_SESSION, json_string(session_id)) == 0 &&
         json_object_set_new(labels, CDAM_LABEL_ISOLATION, json_string(isolation)) == 0 &&
         json_object_set_new(labels, CDAM_LABEL_CREATION, json_string(creation_id)) == 0 &&
         outdo_image(labels);
}

cdam_status cdam_create_request_body(const cdam_state *state, const char *image,
                                     const json_t *volumes, const char *creation_id,
                                     const char *agent, char **body, cdam_error *err) {
  json_t *json = NULL;
  char isolation[CDAM_DIGEST_SIZE];
  cdam_status status = cdam_isolation_digest(state->message.options, isolation, err);
  if (status == CDAM_OK) status = cdam_generated_create_body(state->message.options, &json, err);
  if (status == CDAM_OK) status = check_volumes(json, volumes, agent != NULL, err);
  if (status != CDAM_OK) {
    json_decref(json);
    return status;
  }
  json_t *host_config = object_at(json, "HostConfig");
  json_t *labels = object_at(json, "Labels");
  *body = NULL;
  if (host_config && labels &&
      (agent ? put_agent(json, host_config, labels, agent) : put_waiter(json, host_config)) &&
      put_identity(labels, state->message.session_id, creation_id, isolation) &&
      json_object_set_new(json, "Image", json_string(image)) == 0)
    *body = cdam_json_text(json, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(json);
  return *body ? CDAM_OK : cdam_fail_memory(err);
}

/* Podman says it with a 500. */
bool cdam_is_name_taken(const cdam_reply *reply) {
  return reply->http == 409 ||
         (reply->http == 500 && strcasestr(reply->body, "name is already in use"));
}
