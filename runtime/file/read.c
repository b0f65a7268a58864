/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file, into memory or a sink. */
#include <cofferdam/file.h>

#include <errno.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "file/engine.h"
#include "file/list.h"
#include "file/request.h"
#include "link/pump.h"

typedef struct reading {
  cdam_file_request request; /* first */
  uint64_t asked;            /* bytes that may come at most; 0: any number */
  uint64_t got;
  bool described; /* the entry came */
  bool ended;     /* the last byte came */
  bool done;      /* and Done */
  bool to_sink;
  /* into memory */
  size_t limit;
  cdam_buffer content;
  /* into a sink */
  cdam_sink sink;
  cdam_drain *drain;
} reading;

static reading *reading_of(cdam_file_request *request) {
  return (reading *)request;
}

/* ---- what comes ---- */

static void fail_too_large(reading *this) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_FILE, "it is larger than %zu bytes", this->limit);
  error.retry = CDAM_RETRY_NO;
  error.system_errno = EFBIG;
  cdam_file_fail(&this->request, &error);
}

static bool take_entry(reading *this, const Cofferdam__Agent__V1__Entry *entry,
                       cdam_error *failure) {
  if (this->described) return cdam_file_refuse(failure, "two entries for one");
  if (!cdam_file_entry_check(entry, false, failure)) return false;
  if ((int)entry->type != CDAM_FILE_REGULAR)
    return cdam_file_refuse(failure, "the content of what is no file");
  this->described = true;
  if (!this->to_sink && entry->size > this->limit) fail_too_large(this);
  return true;
}

static bool keep(reading *this, const ProtobufCBinaryData *data) {
  if (data->len > this->limit - this->content.length) {
    fail_too_large(this);
    return true;
  }
  if (cdam_buffer_append(&this->content, data->data, data->len)) return true;
  cdam_error error;
  cdam_fail_memory(&error);
  cdam_file_fail(&this->request, &error);
  return true;
}

static bool take_data(reading *this, const Cofferdam__Agent__V1__Data *data, cdam_error *failure) {
  if (!this->described || this->ended)
    return cdam_file_refuse(failure, "data that belong to no file");
  if (data->data.len == 0 && !data->end) return cdam_file_refuse(failure, "no data");
  this->got += data->data.len;
  if (this->asked && this->got > this->asked)
    return cdam_file_refuse(failure, "more than was asked for");
  this->ended = data->end;
  if (!this->to_sink) return keep(this, &data->data);
  cdam_error error;
  if (cdam_drain_put(this->drain, data->data.data, data->data.len,
                     cdam_channel_message_charge(this->request.channel), &error) != CDAM_OK)
    cdam_file_fail(&this->request, &error);
  return true;
}

static bool take_message(cdam_file_request *request, const cdam_from_agent *message,
                         cdam_error *failure) {
  reading *this = reading_of(request);
  switch (message->body_case) {
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY:
    return take_entry(this, message->entry, failure);
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA:
    return take_data(this, message->data, failure);
  default:
    return cdam_file_refuse(failure, "something else than a file");
  }
}

static void finish_when_written(void *user) {
  reading *this = user;
  if (this->done && cdam_drain_is_empty(this->drain)) cdam_file_succeed(&this->request);
  if (this->request.engine) cdam_file_engine_set_reading(this->request.engine, true);
  cdam_operation_stepped(&this->request.op);
}

static void succeeded(cdam_file_request *request) {
  reading *this = reading_of(request);
  this->done = true;
  if (!this->described || !this->ended)
    cdam_file_fail_incomplete(request);
  else if (!this->to_sink || cdam_drain_is_empty(this->drain))
    cdam_file_succeed(request);
}

/* ---- into a sink ---- */

static void sink_failed(void *user, const cdam_error *error) {
  reading *this = user;
  cdam_file_fail(&this->request, error);
  cdam_operation_stepped(&this->request.op);
}

static const cdam_drain_events drain_events = {.emptied = finish_when_written,
                                               .failed = sink_failed};

static void opened(cdam_file_request *request) {
  reading *this = reading_of(request);
  cdam_error error;
  if (!this->to_sink) return;
  cdam_channel_set_hold(request->channel, true);
  this->drain =
      cdam_drain_new(request->op.loop, &this->sink, request->channel, &drain_events, this, &error);
  if (!this->drain) cdam_file_fail(request, &error);
}

static bool waits_for_program(cdam_file_request *request) {
  reading *this = reading_of(request);
  return this->drain && !cdam_drain_is_empty(this->drain);
}

/* ---- what is handed out ---- */

static cdam_status take_content(reading *this, char **bytes, size_t *length) {
  if (!this->content.data && !cdam_buffer_append(&this->content, "", 0)) return CDAM_ERR_NO_MEMORY;
  *bytes = this->content.data;
  *length = this->content.length;
  this->content = (cdam_buffer){0};
  return CDAM_OK;
}

static void deliver_content(cdam_file_request *request) {
  char *bytes = NULL;
  size_t length = 0;
  cdam_status status = request->op.status;
  if (status == CDAM_OK) status = take_content(reading_of(request), &bytes, &length);
  if (status != request->op.status) cdam_fail_memory(&request->op.error);
  request->callback.read(request->op.user, status, bytes, length, &request->op.error);
}

static void release(cdam_file_request *request) {
  reading *this = reading_of(request);
  cdam_drain_free(this->drain);
  cdam_buffer_clear(&this->content);
}

static const cdam_file_kind read_kind = {.verb = "read",
                                         .opened = opened,
                                         .message = take_message,
                                         .succeeded = succeeded,
                                         .deliver = deliver_content,
                                         .release = release};
static const cdam_file_kind read_to_kind = {.verb = "read",
                                            .opened = opened,
                                            .message = take_message,
                                            .succeeded = succeeded,
                                            .waits_for_program = waits_for_program,
                                            .deliver = cdam_file_deliver_done,
                                            .release = release};

/* ---- preparing ---- */

static cdam_status prepare(const cdam_file_kind *kind, const cdam_session *session,
                           const char *path, uint64_t offset, uint64_t length, reading **out,
                           cdam_error *err) {
  if (offset > INT64_MAX)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "offset is larger than any file");
  cdam_file_request *request = NULL;
  cdam_status status =
      cdam_file_request_new(sizeof(reading), kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) return status;
  CDAM_FILE_BODY(request, read_file, READ_FILE);
  request->body.read_file.path = cdam_file_bytes(request->path);
  request->body.read_file.offset = offset;
  request->body.read_file.length = length;
  *out = reading_of(request);
  (*out)->asked = length;
  return CDAM_OK;
}

/* One byte more than is wanted tells that it is too large. */
static cdam_status prepare_read(const cdam_session *session, const char *path, size_t limit,
                                reading **out, cdam_error *err) {
  cdam_status status =
      prepare(&read_kind, session, path, 0, limit < SIZE_MAX ? (uint64_t)limit + 1 : 0, out, err);
  if (status == CDAM_OK) (*out)->limit = limit;
  return status;
}

static cdam_status prepare_read_to(const cdam_session *session, const char *path, uint64_t offset,
                                   uint64_t length, const cdam_sink *sink, reading **out,
                                   cdam_error *err) {
  if (!sink) return cdam_fail(err, CDAM_ERR_ARGUMENT, "sink is NULL");
  cdam_status status = cdam_sink_check(sink, "sink", err);
  if (status == CDAM_OK) status = prepare(&read_to_kind, session, path, offset, length, out, err);
  if (status != CDAM_OK) return status;
  (*out)->to_sink = true;
  (*out)->sink = *sink;
  return CDAM_OK;
}

/* ---- the calls ---- */

cdam_status cdam_file_read(cdam_session *session, const char *path, size_t limit, char **bytes,
                           size_t *length, cdam_error *err) {
  if (bytes) *bytes = NULL;
  if (length) *length = 0;
  if (!bytes || !length) return cdam_fail(err, CDAM_ERR_ARGUMENT, "bytes or length is NULL");
  reading *this = NULL;
  cdam_status status = prepare_read(session, path, limit, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_file_request_run(&this->request, session, err);
  if (status == CDAM_OK && (status = take_content(this, bytes, length)) != CDAM_OK)
    cdam_fail_memory(err);
  cdam_file_request_free(&this->request);
  return status;
}

cdam_status cdam_file_read_to(cdam_session *session, const char *path, uint64_t offset,
                              uint64_t length, const cdam_sink *sink, cdam_error *err) {
  reading *this = NULL;
  cdam_status status = prepare_read_to(session, path, offset, length, sink, &this, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(&this->request, session, err) : status;
}

cdam_status cdam_file_read_start(cdam_loop *loop, cdam_session *session, const char *path,
                                 size_t limit, cdam_file_read_callback callback, void *user,
                                 cdam_operation **operation, cdam_error *err) {
  reading *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_read(session, path, limit, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.read = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}

cdam_status cdam_file_read_to_start(cdam_loop *loop, cdam_session *session, const char *path,
                                    uint64_t offset, uint64_t length, const cdam_sink *sink,
                                    cdam_done_callback callback, void *user,
                                    cdam_operation **operation, cdam_error *err) {
  reading *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_read_to(session, path, offset, length, sink, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.done = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}
