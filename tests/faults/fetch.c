/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch.h"

#include <stdlib.h>

#include "base/clock.h"

static bool keep(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)failure;
  fetched *out = user;
  out->pieces++;
  return cdam_buffer_append(&out->streamed, bytes, length);
}

static void ended(cdam_operation *op, const cdam_reply *reply) {
  fetched *out = (fetched *)op;
  out->status = reply->status;
  if (reply->error) out->error = *reply->error;
  out->http = reply->http;
  if (!cdam_buffer_append(&out->body, reply->body, reply->length)) abort();
  cdam_operation_finish(op, CDAM_OK, NULL);
}

static void send_it(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_send(op, &((fetched *)op)->request, ended);
}

void fetch(cdam_client *client, const cdam_request *request, int64_t deadline_ms, fetched *out) {
  *out = (fetched){.request = *request};
  if (!request->sink && (request->stream || request->upgrade)) {
    out->request.sink = keep;
    out->request.sink_user = out;
  }
  int64_t begin = cdam_now_ms();
  if (deadline_ms) out->op.deadline = begin + deadline_ms;
  cdam_error error;
  cdam_status status = cdam_operation_run(&out->op, client, send_it, &error);
  if (status != CDAM_OK) { /* the step itself could not be run */
    out->status = status;
    out->error = error;
  }
  out->took_ms = cdam_now_ms() - begin;
}

void fetch_clear(fetched *out) {
  cdam_buffer_clear(&out->body);
  cdam_buffer_clear(&out->streamed);
}
