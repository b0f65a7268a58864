/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "session/session.h"

typedef struct stop_operation {
  cdam_operation op;
  cdam_done_callback callback;
  char container_id[CDAM_CONTAINER_ID_SIZE];
  unsigned grace_ms;
} stop_operation;

static void stopped(cdam_operation *op, const cdam_reply *reply) {
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "stop container", &error);
  cdam_operation_finish(op, status, &error);
}

static void stop(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  const stop_operation *this = (stop_operation *)op;
  unsigned seconds = this->grace_ms / 1000 + (this->grace_ms % 1000 != 0);
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/stop?t=%u", this->container_id, seconds);
  /* The engine answers when the container has ended. */
  cdam_request request = {.method = "POST",
                          .path = path,
                          .timeout_ms = (int64_t)seconds * 1000 + op->client->config.timeout_ms};
  cdam_operation_send(op, &request, stopped);
}

static stop_operation *prepare(const cdam_session *session, unsigned grace_ms, cdam_error *err) {
  stop_operation *this = calloc(1, sizeof *this);
  if (!this) {
    cdam_fail_memory(err);
    return NULL;
  }
  this->grace_ms = grace_ms;
  cdam_session_container_id(session, this->container_id);
  return this;
}

cdam_status cdam_session_stop(cdam_session *session, unsigned grace_ms, cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  stop_operation *this = prepare(session, grace_ms, err);
  if (!this) return CDAM_ERR_NO_MEMORY;
  cdam_status status = cdam_operation_run(&this->op, session->client, stop, err);
  free(this);
  return status;
}

static void completed(cdam_operation *op) {
  stop_operation *this = (stop_operation *)op;
  this->callback(op->user, op->status, &op->error);
  free(this);
}

cdam_status cdam_session_stop_start(cdam_loop *loop, cdam_session *session, unsigned grace_ms,
                                    cdam_done_callback callback, void *user,
                                    cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  if (status != CDAM_OK) return status;
  stop_operation *this = prepare(session, grace_ms, err);
  if (!this) return CDAM_ERR_NO_MEMORY;
  this->callback = callback;
  this->op.user = user;
  status = cdam_operation_submit(&this->op, loop, stop, completed, err);
  if (status != CDAM_OK)
    free(this);
  else if (operation)
    *operation = &this->op;
  return status;
}
