/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/agents_json.h>
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "session/adopt.h"
#include "session/deadline.h"
#include "session/launch.h"
#include "session/session.h"
#include "session/verify.h"
#include "state/message.h"

/* May a missing container be made again? Only the engine's own word makes it missing: a 404 can
 * come from anything that stands before the engine. Docker and Podman both say these words. */
static cdam_status check_recreate(cdam_launch *launch, const cdam_reply *reply,
                                  const cdam_error *missing, cdam_error *err) {
  const cdam_state *state = cdam_launch_state(launch);
  if (!strcasestr(reply->body, "no such container")) {
    cdam_fail(err, CDAM_ERR_ENGINE, "a 404 that does not say that the container is missing: %s",
              missing->message);
    if (err) err->http_status = reply->http;
    return CDAM_ERR_ENGINE;
  }
  if (launch->flags.reattach_only) {
    *err = *missing;
    return CDAM_ERR_NOT_FOUND;
  }
  if (cdam_has_unknown_fields(&state->message.options->base))
    return cdam_fail(err, CDAM_ERR_UNSUPPORTED,
                     "the container is missing, and recreating it would lose options that this "
                     "library does not know: the state is of schema revision %u, and this is %u",
                     state->message.schema_revision, cdam_generated_revision);
  return CDAM_OK;
}

/* A container that was never looked at, and is to be adopted, has no image to go back to. */
static void recreate(cdam_launch *launch) {
  cdam_error error;
  if (!cdam_state_needs_adoption(cdam_launch_state(launch))) {
    cdam_launch_recreate(launch);
  } else if (cdam_session_warn(launch->session,
                               "the container to adopt is gone and nothing is known of it; the new "
                               "one is made from the image that has the name now",
                               &error) == CDAM_OK) {
    launch->recreating = true;
    cdam_launch_state(launch)->message.workspace_ready = false;
    cdam_launch_create(&launch->op, NULL);
  } else {
    cdam_launch_fail(launch, &error);
  }
}

static void looked(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  if (status == CDAM_ERR_NOT_FOUND) {
    cdam_error missing = error;
    status = check_recreate(launch, reply, &missing, &error);
    if (status == CDAM_OK)
      recreate(launch);
    else
      cdam_launch_fail_with(launch, status, &error);
    return;
  }
  if (status == CDAM_OK) status = cdam_launch_verify(launch, inspect, &error);
  if (status == CDAM_OK)
    cdam_launch_bring_up(launch, inspect);
  else
    cdam_launch_fail_with(launch, status, &error);
  json_decref(inspect);
}

static void look_for_container(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_launch *launch = cdam_launch_of(op);
  cdam_launch_send(launch, "GET", cdam_launch_state(launch)->message.container_id, "/json", looked);
}

/* An imported state says whose container it means, and proves nothing. */
static cdam_status check_adoption(const cdam_state *state, const cdam_resume_flags *flags,
                                  cdam_error *err) {
  if (!cdam_state_needs_adoption(state) || (flags && flags->adopt)) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_NOT_OURS,
                   "the state was imported, and container %.12s has to be adopted explicitly first",
                   state->message.container_id);
}

static void adopt_container(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_adopt(cdam_launch_of(op), look_for_container);
}

static cdam_step first_step(const cdam_launch *launch) {
  return launch->adoption ? adopt_container : look_for_container;
}

static cdam_status prepare(cdam_client *client, const cdam_state *state,
                           const cdam_resume_flags *flags, cdam_launch **out, cdam_error *err) {
  cdam_status status = cdam_state_validate(state, err);
  if (status == CDAM_OK) status = check_adoption(state, flags, err);
  if (status == CDAM_OK) status = cdam_client_check_policy(client, state->message.options, err);
  if (status == CDAM_OK) status = cdam_check_deadline(state->message.options, err);
  cdam_state *copy = NULL;
  if (status == CDAM_OK) status = cdam_state_copy(state, &copy, err);
  if (status == CDAM_OK) cdam_state_forget_seal(copy); /* the session may change it */
  if (status == CDAM_OK) status = cdam_ensure_engine_identity(copy, err);
  if (status != CDAM_OK) {
    cdam_state_free(copy);
    return status;
  }
  cdam_session *session;
  status = cdam_session_new(client, copy, &session, err);
  if (status != CDAM_OK) return status;
  cdam_adoption *adoption = NULL;
  if (flags && flags->adopt && !(adoption = cdam_adoption_new())) {
    cdam_session_free(session);
    return cdam_fail_memory(err);
  }
  status = cdam_launch_new(session, flags, out, err);
  if (status == CDAM_OK)
    (*out)->adoption = adoption;
  else
    cdam_adoption_free(adoption);
  return status;
}

cdam_status cdam_resume(cdam_client *client, const cdam_state *state,
                        const cdam_resume_flags *flags, cdam_session **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  if (!client || !state) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client or state is NULL");
  cdam_launch *launch;
  cdam_status status = prepare(client, state, flags, &launch, err);
  return status == CDAM_OK ? cdam_launch_run(launch, first_step(launch), out, err) : status;
}

cdam_status cdam_resume_start(cdam_loop *loop, const cdam_state *state,
                              const cdam_resume_flags *flags, cdam_session_callback callback,
                              void *user, cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  if (!state) return cdam_fail(err, CDAM_ERR_ARGUMENT, "state is NULL");
  cdam_launch *launch;
  status = prepare(cdam_loop_client(loop), state, flags, &launch, err);
  if (status != CDAM_OK) return status;
  return cdam_launch_submit(launch, loop, first_step(launch), callback, user, operation, err);
}
