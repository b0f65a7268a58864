/* SPDX-License-Identifier: Apache-2.0 */
#include "session/create_request.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/json_text.h"

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

/* What is ours in every sandbox: a process that waits, below an init that reaps orphans and passes
 * signals on, so that stopping takes milliseconds. The entrypoint is replaced too, or the image's
 * own would take the command as its arguments. */
static bool put_process(json_t *body, json_t *host_config) {
  return json_object_set_new(body, "Entrypoint", json_pack("[s]", "tail")) == 0 &&
         json_object_set_new(body, "Cmd", json_pack("[ss]", "-f", "/dev/null")) == 0 &&
         json_object_set_new(host_config, "Init", json_true()) == 0;
}

static bool put_identity(json_t *labels, const char *session_id, const char *creation_id) {
  return json_object_set_new(labels, CDAM_LABEL_SESSION, json_string(session_id)) == 0 &&
         json_object_set_new(labels, CDAM_LABEL_CREATION, json_string(creation_id)) == 0;
}

cdam_status cdam_create_request_body(const cdam_state *state, const char *image,
                                     const char *creation_id, char **body, cdam_error *err) {
  json_t *json = NULL;
  cdam_status status = cdam_generated_create_body(state->message.options, &json, err);
  if (status != CDAM_OK) return status;
  json_t *host_config = object_at(json, "HostConfig");
  json_t *labels = object_at(json, "Labels");
  *body = NULL;
  if (host_config && labels && put_process(json, host_config) &&
      put_identity(labels, state->message.session_id, creation_id) &&
      json_object_set_new(json, "Image", json_string(image)) == 0)
    *body = cdam_json_text(json, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(json);
  return *body ? CDAM_OK : cdam_fail_memory(err);
}
