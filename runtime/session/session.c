/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/client_private.h"
#include "link/session_link.h"

/* ---- states ---- */

cdam_status cdam_ensure_engine_identity(cdam_state *state, cdam_error *err) {
  if (state->message.engine) return CDAM_OK;
  Cofferdam__V1__EngineIdentity *engine = malloc(sizeof *engine);
  if (!engine) return cdam_fail_memory(err);
  cofferdam__v1__engine_identity__init(engine);
  state->message.engine = engine;
  return CDAM_OK;
}

cdam_status cdam_client_check_policy(const cdam_client *client,
                                     const Cofferdam__V1__SandboxOptions *options,
                                     cdam_error *err) {
  if (!client->config.minimum) return CDAM_OK;
  return cdam_generated_check_policy(&client->config.minimum->message, options, err);
}

/* ---- sessions ---- */

cdam_status cdam_session_warn(cdam_session *session, const char *text, cdam_error *err) {
  char **grown =
      realloc(session->warnings, (session->warning_count + 1) * sizeof *session->warnings);
  if (!grown) return cdam_fail_memory(err);
  session->warnings = grown;
  char *copy = strdup(text);
  if (!copy) return cdam_fail_memory(err);
  session->warnings[session->warning_count++] = copy;
  return CDAM_OK;
}

static bool warn_of_note(void *user, const char *field, const char *with, const char *text) {
  (void)field;
  (void)with;
  return cdam_session_warn(user, text, NULL) == CDAM_OK;
}

cdam_status cdam_session_new(cdam_client *client, cdam_state *state, cdam_session **out,
                             cdam_error *err) {
  cdam_session *session = calloc(1, sizeof *session);
  if (!session) {
    cdam_state_free(state);
    return cdam_fail_memory(err);
  }
  session->client = client;
  session->state = state;
  if (!cdam_generated_notes(state->message.options, warn_of_note, session)) {
    cdam_session_free(session);
    return cdam_fail_memory(err);
  }
  *out = session;
  return CDAM_OK;
}

void cdam_session_free(cdam_session *session) {
  if (!session) return;
  cdam_session_drop_links(session);
  for (size_t i = 0; i < session->warning_count; i++)
    free(session->warnings[i]);
  free(session->warnings);
  cdam_state_free(session->state);
  free(session);
}

void cdam_session_container_id(const cdam_session *session, char id[CDAM_CONTAINER_ID_SIZE]) {
  snprintf(id, CDAM_CONTAINER_ID_SIZE, "%s", session->state->message.container_id);
}

cdam_status cdam_session_check_loop(const cdam_session *session, const cdam_loop *loop,
                                    cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  if (session->client == cdam_loop_client(loop)) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "the session belongs to another client than the loop");
}

const cdam_state *cdam_session_state(const cdam_session *session) {
  return session ? session->state : NULL;
}

bool cdam_session_was_recreated(const cdam_session *session) {
  return session && session->recreated;
}

bool cdam_session_was_adopted(const cdam_session *session) {
  return session && session->adopted;
}

bool cdam_session_has_agent(const cdam_session *session) {
  return session && session->has_agent;
}

void cdam_session_set_workspace_ready(cdam_session *session, bool ready) {
  if (session) session->state->message.workspace_ready = ready;
}

size_t cdam_session_warning_count(const cdam_session *session) {
  return session ? session->warning_count : 0;
}

const char *cdam_session_warning(const cdam_session *session, size_t index) {
  return index < cdam_session_warning_count(session) ? session->warnings[index] : NULL;
}
