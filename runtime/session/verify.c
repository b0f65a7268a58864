/* SPDX-License-Identifier: Apache-2.0 */
#include "session/verify.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "session/agent_container.h"
#include "session/create_request.h"
#include "session/isolation.h"
#include "session/reach.h"

cdam_container_status cdam_container_status_of(const json_t *inspect) {
  const char *word = cdam_json_string_at(inspect, "State.Status");
  if (!word) return CDAM_CONTAINER_UNUSABLE;
  if (!strcmp(word, "created")) return CDAM_CONTAINER_CREATED;
  if (!strcmp(word, "running")) return CDAM_CONTAINER_RUNNING;
  if (!strcmp(word, "paused")) return CDAM_CONTAINER_PAUSED;
  if (!strcmp(word, "exited")) return CDAM_CONTAINER_EXITED;
  return CDAM_CONTAINER_UNUSABLE;
}

const char *cdam_container_status_word(const json_t *inspect) {
  const char *word = cdam_json_string_at(inspect, "State.Status");
  return word ? word : "in no known status";
}

bool cdam_is_digest(const char *text) {
  return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

bool cdam_is_container_id(const char *text) {
  return cdam_is_digest(text);
}

const char *cdam_label_of(const json_t *inspect, const char *key) {
  return json_string_value(json_object_get(cdam_json_at(inspect, "Config.Labels"), key));
}

bool cdam_is_session_container(const json_t *inspect, const char *session_id) {
  const char *label = cdam_label_of(inspect, CDAM_LABEL_SESSION);
  return label && !strcmp(label, session_id);
}

bool cdam_is_owned(const json_t *inspect, const char *session_id) {
  if (cdam_label_of(inspect, CDAM_LABEL_SESSION))
    return cdam_is_session_container(inspect, session_id);
  char adopted[CDAM_ADOPTED_NAME_SIZE];
  cdam_adopted_name(session_id, adopted);
  const char *name = cdam_json_string_at(inspect, "Name");
  return name && name[0] == '/' && strcmp(name + 1, adopted) == 0;
}

cdam_status cdam_verify(const cdam_state *state, const json_t *inspect, cdam_error *err) {
  const char *id = cdam_json_string_at(inspect, "Id");
  if (!id || strcmp(id, state->message.container_id) != 0)
    return cdam_fail(err, CDAM_ERR_NOT_OURS, "the engine answered for another container than %.12s",
                     state->message.container_id);
  if (!cdam_is_owned(inspect, state->message.session_id))
    return cdam_fail(err, CDAM_ERR_NOT_OURS,
                     "container %.12s does not bear the label of session %s", id,
                     state->message.session_id);
  cdam_status status = cdam_generated_compare(&state->message, inspect, err);
  if (status == CDAM_OK) status = cdam_check_isolation(&state->message, inspect, err);
  if (status == CDAM_OK) status = cdam_check_agent(&state->message, inspect, err);
  return status == CDAM_OK ? cdam_check_reach(&state->message, inspect, err) : status;
}
