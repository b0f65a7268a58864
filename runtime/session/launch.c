/* SPDX-License-Identifier: Apache-2.0 */
#include "session/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <uuid/uuid.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "link/session_link.h"
#include "session/agent_container.h"
#include "session/session.h"
#include "session/verify.h"

/* An engine that died is often started again; how long to wait for that with cleaning up, lest a
 * container be left that nobody knows of, and how often to look. */
#define AWAIT_ENGINE_MS 15000
#define AWAIT_INTERVAL_MS 400
#define DYING_MS 100

void cdam_launch_send(cdam_launch *launch, const char *method, const char *container,
                      const char *action, cdam_step next) {
  char path[160];
  snprintf(path, sizeof path, "/containers/%s%s", container, action);
  cdam_operation_send(&launch->op, &(cdam_request){.method = method, .path = path}, next);
}

void cdam_launch_finish_failed(cdam_launch *launch) {
  cdam_operation_finish(&launch->op, launch->failure.code, &launch->failure);
}

/* One that is just dying breaks connections, for a moment, and has none then. */
bool cdam_await_engine(cdam_operation *op, int64_t *away_since, const cdam_reply *reply,
                       cdam_step again) {
  bool first = !*away_since, away = reply->status == CDAM_ERR_CONNECT;
  if (!away && !(first && reply->status == CDAM_ERR_PROTOCOL)) return false;
  if (first) *away_since = cdam_now_ms();
  if (cdam_now_ms() - *away_since > AWAIT_ENGINE_MS) return false;
  cdam_operation_after(op, away ? AWAIT_INTERVAL_MS : DYING_MS, again);
  return true;
}

static void undo_again(cdam_operation *op, const cdam_reply *reply);

/* The caller hears of the first failure, and of what was not undone. */
static void undone(cdam_launch *launch, const cdam_reply *reply, const char *what) {
  cdam_error error;
  if (cdam_await_engine(&launch->op, &launch->away_since, reply, undo_again)) return;
  cdam_status status = cdam_answer_check(reply, "clean up", &error);
  if (status != CDAM_OK && status != CDAM_ERR_NOT_FOUND) {
    cdam_error first = launch->failure;
    snprintf(launch->failure.message, sizeof launch->failure.message,
             "%.300s (and container %.12s could not be %s: %.150s)", first.message,
             cdam_launch_state(launch)->message.container_id, what, error.message);
  }
  cdam_launch_finish_failed(launch);
}

static void rolled_back(cdam_operation *op, const cdam_reply *reply) {
  undone(cdam_launch_of(op), reply, "removed");
}

static void stopped_again(cdam_operation *op, const cdam_reply *reply) {
  undone(cdam_launch_of(op), reply, "stopped again");
}

static void paused_again(cdam_operation *op, const cdam_reply *reply) {
  undone(cdam_launch_of(op), reply, "paused again");
}

static void undo(cdam_operation *op, cdam_status status, const cdam_error *error) {
  (void)status;
  (void)error;
  cdam_launch *launch = cdam_launch_of(op);
  const char *container = cdam_launch_state(launch)->message.container_id;
  if (launch->made)
    cdam_launch_send(launch, "DELETE", container, "?force=1&v=1", rolled_back);
  else if (launch->started) /* made by somebody else: put back as it was found */
    cdam_launch_send(launch, "POST", container, "/stop?t=0", stopped_again);
  else if (launch->unpaused)
    cdam_launch_send(launch, "POST", container, "/pause", paused_again);
  else
    cdam_launch_finish_failed(launch);
}

static void undo_again(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  undo(op, CDAM_OK, NULL);
}

void cdam_launch_fail(cdam_launch *launch, const cdam_error *error) {
  launch->failure = *error;
  launch->op.deadline = cdam_now_ms() + CDAM_CLEANUP_MS;
  cdam_launch_drop_link(launch);
  if (launch->agent.helper[0])
    cdam_agent_abandon(&launch->op, &launch->agent, undo);
  else
    undo(&launch->op, CDAM_OK, NULL);
}

void cdam_launch_fail_with(cdam_launch *launch, cdam_status status, cdam_error *error) {
  error->code = status;
  cdam_launch_fail(launch, error);
}

cdam_status cdam_launch_verify(cdam_launch *launch, const json_t *inspect, cdam_error *err) {
  cdam_status status = cdam_verify(cdam_launch_state(launch), inspect, err);
  if (status != CDAM_OK) return status;
  const char *agent = cdam_agent_digest_of(inspect);
  launch->session->has_agent = agent != NULL;
  snprintf(launch->found_agent, sizeof launch->found_agent, "%s", agent ? agent : "");
  return CDAM_OK;
}

static void inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  if (status == CDAM_OK) status = cdam_launch_verify(launch, inspect, &error);
  if (status == CDAM_OK)
    launch->verified(launch, inspect);
  else
    cdam_launch_fail_with(launch, status, &error);
  json_decref(inspect);
}

void cdam_launch_inspect(cdam_launch *launch, cdam_verified_step next) {
  launch->verified = next;
  cdam_launch_send(launch, "GET", cdam_launch_state(launch)->message.container_id, "/json",
                   inspected);
}

static void running(cdam_launch *launch, const json_t *inspect) {
  if (cdam_container_status_of(inspect) == CDAM_CONTAINER_RUNNING) {
    cdam_operation_finish(&launch->op, CDAM_OK, NULL);
    return;
  }
  cdam_error error;
  long long code = (long long)json_integer_value(cdam_json_at(inspect, "State.ExitCode"));
  cdam_fail(&error, CDAM_ERR_EXITED,
            "the container ended as soon as it was started, with status %lld%s", code,
            code == 127 && !launch->session->has_agent ? "; the image must have a `tail` program"
                                                       : "");
  cdam_launch_fail(launch, &error);
}

static void started(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "start container", &error);
  if (status != CDAM_OK) {
    if (cdam_launch_lacks_agent(launch, reply))
      cdam_launch_restore_agent(launch, &error);
    else
      cdam_launch_fail_with(launch, status, &error);
    return;
  }
  launch->started = reply->http != 304;
  cdam_launch_inspect(launch, running);
}

void cdam_launch_start(cdam_launch *launch) {
  cdam_launch_send(launch, "POST", cdam_launch_state(launch)->message.container_id, "/start",
                   started);
}

static void unpaused(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "unpause container", &error);
  if (status != CDAM_OK) {
    cdam_launch_fail_with(launch, status, &error);
    return;
  }
  launch->unpaused = true;
  cdam_launch_inspect(launch, running);
}

void cdam_launch_bring_up(cdam_launch *launch, const json_t *inspect) {
  const char *container = cdam_launch_state(launch)->message.container_id;
  cdam_error error;
  switch (cdam_container_status_of(inspect)) {
  case CDAM_CONTAINER_RUNNING:
    cdam_operation_finish(&launch->op, CDAM_OK, NULL);
    return;
  case CDAM_CONTAINER_CREATED:
    cdam_launch_start_first(launch);
    return;
  case CDAM_CONTAINER_EXITED:
    cdam_launch_start(launch);
    return;
  case CDAM_CONTAINER_PAUSED:
    if (launch->flags.unpause) {
      cdam_launch_send(launch, "POST", container, "/unpause", unpaused);
      return;
    }
    cdam_fail(&error, CDAM_ERR_PAUSED, "container %.12s is paused; allow unpausing to resume it",
              container);
    break;
  case CDAM_CONTAINER_UNUSABLE:
    cdam_fail(&error, CDAM_ERR_ENGINE, "container %.12s cannot be used: the engine says it is %s",
              container, cdam_container_status_word(inspect));
    break;
  }
  cdam_launch_fail(launch, &error);
}

/* ---- beginning and end ---- */

/* What the engine is at is waited for: only its answer tells what there is to undo. */
static void abort_launch(cdam_operation *op) {
  cdam_launch *launch = cdam_launch_of(op);
  if (launch->failure.code != CDAM_OK || cdam_operation_is_committed(op)) return;
  cdam_operation_drop_all(op);
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_CANCELLED, "the operation was cancelled");
  if (launch->doubtful)
    cdam_launch_fail_unanswered(launch, &error);
  else
    cdam_launch_fail(launch, &error);
}

cdam_status cdam_launch_new(cdam_session *session, const cdam_resume_flags *flags,
                            cdam_launch **out, cdam_error *err) {
  cdam_launch *launch = calloc(1, sizeof *launch);
  if (!launch) {
    cdam_session_free(session);
    return cdam_fail_memory(err);
  }
  launch->session = session;
  launch->op.abort = abort_launch;
  if (flags) launch->flags = *flags;
  uuid_t creation_id;
  uuid_generate_random(creation_id);
  uuid_unparse_lower(creation_id, launch->creation_id);
  *out = launch;
  return CDAM_OK;
}

static void free_launch(cdam_launch *launch) {
  cdam_launch_drop_link(launch);
  cdam_image_job_clear(&launch->image);
  cdam_adoption_free(launch->adoption);
  cdam_session_free(launch->session);
  free(launch);
}

/* The session, when all went well. */
static cdam_session *take_session(cdam_launch *launch, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_session *session = launch->session;
  launch->session = NULL;
  session->recreated = launch->recreating;
  if (launch->link) cdam_session_take_link(session, launch->link);
  launch->link = NULL;
  return session;
}

cdam_status cdam_launch_run(cdam_launch *launch, cdam_step start, cdam_session **out,
                            cdam_error *err) {
  cdam_loop *loop = cdam_session_own_loop(launch->session);
  cdam_status status =
      loop ? cdam_operation_run_in(&launch->op, loop, start, err) : cdam_fail_loop(err);
  *out = take_session(launch, status);
  if (*out) cdam_session_spare_loop(*out);
  free_launch(launch);
  return status;
}

static void completed(cdam_operation *op) {
  cdam_launch *launch = cdam_launch_of(op);
  launch->callback(op->user, op->status, take_session(launch, op->status), &op->error);
  free_launch(launch);
}

cdam_status cdam_launch_submit(cdam_launch *launch, cdam_loop *loop, cdam_step start,
                               cdam_session_callback callback, void *user,
                               cdam_operation **operation, cdam_error *err) {
  launch->callback = callback;
  launch->op.user = user;
  cdam_status status = cdam_operation_submit(&launch->op, loop, start, completed, err);
  if (status != CDAM_OK)
    free_launch(launch);
  else if (operation)
    *operation = &launch->op;
  return status;
}
