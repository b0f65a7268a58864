/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <stdlib.h>
#include <uuid/uuid.h>

#include "base/fail.h"
#include "session/deadline.h"
#include "session/launch.h"
#include "session/session.h"

/* A state before there is an image or a container. */
static cdam_status begin_state(const cdam_options *options, cdam_state **out, cdam_error *err) {
  cdam_state *state = malloc(sizeof *state);
  if (!state) return cdam_fail_memory(err);
  cofferdam__v1__session_state__init(&state->message);
  uuid_t id;
  char text[CDAM_UUID_SIZE];
  uuid_generate_random(id);
  uuid_unparse_lower(id, text);
  state->message.schema_revision = cdam_generated_revision;
  cdam_options *copy = NULL;
  cdam_status status = cdam_options_copy(options, &copy, err);
  if (status == CDAM_OK) state->message.options = &copy->message;
  if (status == CDAM_OK) status = cdam_options_resolve_profile(copy, err);
  if (status == CDAM_OK) status = cdam_set_text(&state->message.session_id, text, err);
  if (status == CDAM_OK) status = cdam_ensure_engine_identity(state, err);
  if (status == CDAM_OK) status = cdam_generated_derive_features(&state->message, err);
  if (status == CDAM_OK)
    *out = state;
  else
    cdam_state_free(state);
  return status;
}

static cdam_status prepare(cdam_client *client, const cdam_options *options, cdam_launch **out,
                           cdam_error *err) {
  cdam_status status = cdam_options_validate(options, err);
  if (status == CDAM_OK) status = cdam_check_deadline(&options->message, err);
  cdam_state *state = NULL;
  if (status == CDAM_OK) status = begin_state(options, &state, err);
  if (status != CDAM_OK) return status;
  /* What is demanded may be what the profile stands for. */
  status = cdam_client_check_policy(client, state->message.options, err);
  if (status != CDAM_OK) {
    cdam_state_free(state);
    return status;
  }
  cdam_session *session;
  status = cdam_session_new(client, state, &session, err);
  return status == CDAM_OK ? cdam_launch_new(session, NULL, out, err) : status;
}

cdam_status cdam_create(cdam_client *client, const cdam_options *options, cdam_session **out,
                        cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  if (!client || !options) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client or options is NULL");
  cdam_launch *launch;
  cdam_status status = prepare(client, options, &launch, err);
  return status == CDAM_OK ? cdam_launch_run(launch, cdam_launch_create, out, err) : status;
}

cdam_status cdam_create_start(cdam_loop *loop, const cdam_options *options,
                              cdam_session_callback callback, void *user,
                              cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  if (!options) return cdam_fail(err, CDAM_ERR_ARGUMENT, "options is NULL");
  cdam_launch *launch;
  status = prepare(cdam_loop_client(loop), options, &launch, err);
  if (status != CDAM_OK) return status;
  return cdam_launch_submit(launch, loop, cdam_launch_create, callback, user, operation, err);
}
