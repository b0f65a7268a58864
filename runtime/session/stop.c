/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/session.h>

#include <stdio.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "session/session_private.h"

typedef struct stop_operation {
  cdam_operation op;
  const cdam_session *session;
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
  snprintf(path, sizeof path, "/containers/%s/stop?t=%u",
           this->session->state->message.container_id, seconds);
  /* The engine answers when the container has ended. */
  cdam_request request = {.method = "POST",
                          .path = path,
                          .timeout_ms = (int64_t)seconds * 1000 + op->client->config.timeout_ms};
  cdam_operation_send(op, &request, stopped);
}

cdam_status cdam_session_stop(cdam_session *session, unsigned grace_ms, cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  stop_operation this = {.session = session, .grace_ms = grace_ms};
  return cdam_operation_run(&this.op, session->client, stop, err);
}
