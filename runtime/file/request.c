/* SPDX-License-Identifier: Apache-2.0 */
#include "file/request.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/explain.h"
#include "engine/loop.h"
#include "file/engine.h"
#include "link/session_link.h"
#include "session/session.h"

/* How often to look, within a timeout, whether anything has moved. */
#define LOOKS 4
#define LEAST_LOOK_MS 20

/* ---- arguments ---- */

cdam_status cdam_file_check_path(const char *path, const char *name, cdam_error *err) {
  if (!path) return cdam_fail(err, CDAM_ERR_ARGUMENT, "%s is NULL", name);
  if (strnlen(path, CDAM_FILE_MAX_PATH + 1) <= CDAM_FILE_MAX_PATH) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "%s is longer than %d bytes", name, CDAM_FILE_MAX_PATH);
}

cdam_status cdam_file_check_permissions(uint32_t permissions, cdam_error *err) {
  if (permissions <= 07777) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "permissions are 07777 at most, not 0%o", permissions);
}

cdam_status cdam_file_check_reserved(const bool *reserved, size_t count, cdam_error *err) {
  /* As bytes: whatever is there, it may not be a bool. */
  const unsigned char *bytes = (const unsigned char *)reserved;
  for (size_t i = 0; i < count * sizeof *reserved; i++)
    if (bytes[i]) return cdam_fail(err, CDAM_ERR_ARGUMENT, "a reserved member is not false");
  return CDAM_OK;
}

cdam_status cdam_file_start_check(const cdam_loop *loop, const cdam_session *session,
                                  bool has_callback, cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, has_callback, operation, err);
  return status == CDAM_OK ? cdam_session_check_loop(session, loop, err) : status;
}

/* ---- texts ---- */

/* `error` and `cause` may be one. */
static cdam_status explain(const cdam_file_request *request, const cdam_error *cause,
                           cdam_error *error) {
  char path[160], other[160];
  const cdam_error why = *cause;
  cdam_printable(path, sizeof path, request->path, strlen(request->path));
  if (request->other) {
    cdam_printable(other, sizeof other, request->other, strlen(request->other));
    cdam_fail(error, why.code, "cannot %s \"%s\" to \"%s\": %s", request->kind->verb, path, other,
              why.message);
  } else {
    cdam_fail(error, why.code, "cannot %s \"%s\": %s", request->kind->verb, path, why.message);
  }
  if (!error) return why.code;
  error->retry = why.retry;
  error->http_status = why.http_status;
  error->system_errno = why.system_errno;
  return why.code;
}

bool cdam_file_refuse(cdam_error *failure, const char *what) {
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent sent %s", what);
  return false;
}

/* ---- the end ---- */

bool cdam_file_is_open(const cdam_file_request *request) {
  if (request->engine) return cdam_file_engine_is_open(request->engine);
  return request->channel && cdam_channel_is_open(request->channel);
}

static void close_channel(cdam_file_request *request) {
  if (request->engine)
    cdam_file_engine_close(request->engine);
  else if (cdam_file_is_open(request))
    cdam_channel_abandon(request->channel);
}

void cdam_file_succeed(cdam_file_request *request) {
  if (!request->op.finished) cdam_operation_finish(&request->op, CDAM_OK, NULL);
}

void cdam_file_fail(cdam_file_request *request, const cdam_error *cause) {
  if (request->op.finished) return;
  cdam_error error = *cause;
  if (request->engine && cause->code == CDAM_ERR_AGENT) cdam_file_engine_refuse(&error);
  explain(request, &error, &error);
  close_channel(request);
  cdam_operation_finish(&request->op, error.code, &error);
}

void cdam_file_fail_and_wait(cdam_file_request *request, const cdam_error *cause) {
  if (request->op.finished) return;
  if (!cdam_file_is_open(request)) {
    cdam_file_fail(request, cause);
    return;
  }
  if (!request->failing) request->failure = *cause;
  request->failing = true;
  if (request->engine)
    cdam_file_engine_cancel(request->engine);
  else
    cdam_channel_cancel(request->channel);
}

void cdam_file_fail_incomplete(cdam_file_request *request) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_AGENT, "the agent says that it is done, and it is not");
  cdam_file_fail(request, &error);
}

/* ---- the channel ---- */

bool cdam_file_take_message(cdam_file_request *request, const cdam_from_agent *message,
                            cdam_error *failure) {
  if (request->op.finished) return true;
  request->moves++;
  bool ok = request->kind->message ? request->kind->message(request, message, failure)
                                   : cdam_file_refuse(failure, "something that was not asked for");
  cdam_operation_stepped(&request->op);
  return ok;
}

/* The operation is named already, so the agent's step and words say nothing new. */
static void reword(const Cofferdam__Agent__V1__Error *said, cdam_error *error) {
  const char *reason = error->system_errno ? strerrordesc_np(error->system_errno) : NULL;
  if (error->code == CDAM_ERR_OUTSIDE)
    cdam_fail(error, CDAM_ERR_OUTSIDE, "the path leads out of the workspace");
  if (error->code != CDAM_ERR_FILE || !reason) return;
  const int number = error->system_errno;
  const bool of_workspace = said->step == COFFERDAM__AGENT__V1__STEP__STEP_WORKSPACE;
  const bool is_word = islower((unsigned char)reason[0]) || islower((unsigned char)reason[1]);
  cdam_fail(error, CDAM_ERR_FILE, "%s%c%s", of_workspace ? "the workspace: " : "",
            is_word ? tolower((unsigned char)reason[0]) : reason[0], reason + 1);
  error->system_errno = number;
}

/* Is it an error that a file operation can have? */
static bool makes_sense(cdam_status status) {
  switch (status) {
  case CDAM_ERR_ARGUMENT:
  case CDAM_ERR_UNSUPPORTED:
  case CDAM_ERR_EXITED:
  case CDAM_ERR_AGENT:
  case CDAM_ERR_LIMIT:
  case CDAM_ERR_FILE:
  case CDAM_ERR_OUTSIDE:
    return true;
  default:
    return false;
  }
}

/* `said` is the agent's error; NULL: the link broke. */
static void end_with(cdam_file_request *request, const cdam_error *error,
                     const Cofferdam__Agent__V1__Error *said) {
  cdam_error why = *error;
  if (said && request->kind->accepts && request->kind->accepts(request, said)) {
    cdam_file_succeed(request);
    return;
  }
  if (said && makes_sense(why.code))
    reword(said, &why);
  else if (said)
    cdam_file_refuse(&why, "an error that makes no sense here");
  cdam_file_fail(request, &why);
}

void cdam_file_take_done(cdam_file_request *request, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done) {
  if (request->op.finished) return;
  /* One that was cancelled too late has succeeded; one whose source failed never does. */
  bool too_late = status == CDAM_OK && request->failure.code == CDAM_ERR_CANCELLED;
  if (request->failing && !too_late)
    cdam_file_fail(request, &request->failure);
  else if (status != CDAM_OK)
    end_with(request, error, done ? done->error : NULL);
  else if (request->kind->succeeded)
    request->kind->succeeded(request);
  else
    cdam_file_succeed(request);
  cdam_operation_stepped(&request->op);
}

static cdam_file_request *request_of(cdam_channel *channel) {
  return (cdam_file_request *)((char *)channel - offsetof(cdam_file_request, own_channel));
}

static bool take_message(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  return cdam_file_take_message(request_of(channel), message, failure);
}

static void can_write(cdam_channel *channel) {
  cdam_file_request *request = request_of(channel);
  if (request->op.finished || !request->kind->writable) return;
  request->kind->writable(request);
  cdam_operation_stepped(&request->op);
}

static void take_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                      const cdam_agent_done *done) {
  cdam_file_take_done(request_of(channel), status, error, done);
}

static const cdam_channel_events events = {
    .message = take_message, .writable = can_write, .done = take_done};

/* ---- content and entries ---- */

bool cdam_file_can_send(cdam_file_request *request) {
  if (request->engine) return cdam_file_engine_can_send(request->engine);
  return cdam_file_is_open(request) && cdam_channel_can_send(request->channel);
}

cdam_status cdam_file_send_entry(cdam_file_request *request, Cofferdam__Agent__V1__Entry *entry,
                                 cdam_error *err) {
  if (request->engine) return cdam_file_engine_send_entry(request->engine, entry, err);
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_ENTRY;
  message.entry = entry;
  return cdam_channel_send(request->channel, &message, err);
}

cdam_status cdam_file_send_data(cdam_file_request *request, const void *bytes, size_t length,
                                bool end, cdam_error *err) {
  if (request->engine) return cdam_file_engine_send_data(request->engine, bytes, length, end, err);
  return cdam_channel_send_data(request->channel, bytes, length, end, err);
}

/* ---- silence ---- */

static int64_t timeout_of(const cdam_file_request *request) {
  int64_t timeout = request->op.client->config.timeout_ms;
  return request->patience ? timeout * request->patience : timeout;
}

/* Nothing has moved: the engine may know why. */
static void inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_file_request *request = (cdam_file_request *)op;
  cdam_error why;
  cdam_fail(&why, request->engine ? CDAM_ERR_TIMEOUT : CDAM_ERR_AGENT,
            "the sandbox's %s did not answer within %lld ms", request->engine ? "shell" : "agent",
            (long long)timeout_of(request));
  (void)cdam_explain(reply, &why, NULL);
  cdam_file_fail(request, request->failing ? &request->failure : &why);
}

static void ask_why(cdam_file_request *request) {
  char path[CDAM_CONTAINER_ID_SIZE + 32];
  snprintf(path, sizeof path, "/containers/%s/json", request->container_id);
  cdam_operation_send(&request->op, &(cdam_request){.method = "GET", .path = path}, inspected);
}

static int64_t credit_of(const cdam_file_request *request) {
  if (request->engine) return (int64_t)cdam_file_engine_pending(request->engine);
  return request->channel->credit;
}

static bool has_moved(cdam_file_request *request) {
  bool moved = request->moves != request->seen_moves ||
               credit_of(request) != request->seen_credit ||
               (request->kind->waits_for_program && request->kind->waits_for_program(request));
  request->seen_moves = request->moves;
  request->seen_credit = credit_of(request);
  return moved;
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_file_request *request = (cdam_file_request *)op;
  const int64_t timeout = timeout_of(request);
  const int64_t now = cdam_now_ms();
  if (has_moved(request)) request->moved_at = now;
  const int64_t left = request->moved_at + timeout - now;
  if (left <= 0) {
    ask_why(request);
    return;
  }
  int64_t pause = timeout / LOOKS;
  if (pause < LEAST_LOOK_MS) pause = LEAST_LOOK_MS;
  cdam_operation_after(op, left < pause ? left : pause, look);
}

/* ---- the beginning ---- */

static void begin(cdam_operation *op, const cdam_reply *reply) {
  cdam_file_request *request = (cdam_file_request *)op;
  cdam_error error;
  if (request->engine) {
    request->moved_at = cdam_now_ms();
    look(op, reply);
    if (!op->finished) cdam_file_engine_start(request);
    return;
  }
  if (cdam_channel_open(request->link, request->channel, &request->message, request->events,
                        &error) != CDAM_OK) {
    cdam_file_fail(request, &error);
    return;
  }
  request->moved_at = cdam_now_ms();
  request->seen_credit = request->channel->credit;
  look(op, reply);
  if (!op->finished && request->kind->opened) request->kind->opened(request);
}

static void abort_request(cdam_operation *op) {
  cdam_file_request *request = (cdam_file_request *)op;
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_CANCELLED, "the operation was cancelled");
  if (request->kind->changes)
    cdam_file_fail_and_wait(request, &error);
  else
    cdam_file_fail(request, &error);
}

cdam_status cdam_file_request_new(size_t size, const cdam_file_kind *kind,
                                  const cdam_session *session, const char *path, const char *other,
                                  cdam_file_request **out, cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  cdam_status status = cdam_file_check_path(path, "path", err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = calloc(1, size);
  if (!request) return cdam_fail_memory(err);
  request->kind = kind;
  request->op.abort = abort_request;
  request->channel = &request->own_channel;
  request->events = &events;
  cofferdam__agent__v1__to_agent__init(&request->message);
  cdam_session_container_id(session, request->container_id);
  request->path = strdup(path);
  if (other) request->other = strdup(other);
  if (!request->path || (other && !request->other)) {
    cdam_file_request_free(request);
    return cdam_fail_memory(err);
  }
  *out = request;
  return CDAM_OK;
}

void cdam_file_request_free(cdam_file_request *request) {
  if (!request) return;
  close_channel(request);
  if (request->kind->release) request->kind->release(request);
  cdam_file_engine_free(request->engine);
  cdam_link_unref(request->link);
  free(request->path);
  free(request->other);
  free(request);
}

/* ---- to run one ---- */

/* A watch is the agent's alone. */
static bool goes_by_engine(const cdam_file_request *request, const cdam_session *session) {
  return !session->has_agent &&
         request->message.body_case != COFFERDAM__AGENT__V1__TO_AGENT__BODY_WATCH;
}

static cdam_status meet_own(cdam_file_request *request, cdam_session *session, cdam_error *err) {
  if (!goes_by_engine(request, session))
    return cdam_session_own_link(session, &request->own, &request->link, err);
  cdam_status status = cdam_session_own_blocking(session, &request->own, err);
  return status == CDAM_OK ? cdam_file_engine_new(request, session, err) : status;
}

static cdam_status meet(cdam_file_request *request, cdam_session *session, cdam_loop *loop,
                        cdam_error *err) {
  if (!goes_by_engine(request, session))
    return cdam_session_link(session, loop, &request->link, err);
  if (session->own_loop && session->own_loop->loop == loop) request->own = session->own_loop;
  return cdam_file_engine_new(request, session, err);
}

cdam_status cdam_file_request_run(cdam_file_request *request, cdam_session *session,
                                  cdam_error *err) {
  cdam_error error;
  if (meet_own(request, session, &error) != CDAM_OK) return explain(request, &error, err);
  return cdam_operation_run_in(&request->op, request->own->loop, begin, err);
}

cdam_status cdam_file_request_finish_run(cdam_file_request *request, cdam_session *session,
                                         cdam_error *err) {
  cdam_status status = cdam_file_request_run(request, session, err);
  cdam_file_request_free(request);
  return status;
}

static void completed(cdam_operation *op) {
  cdam_file_request *request = (cdam_file_request *)op;
  request->kind->deliver(request);
  cdam_file_request_free(request);
}

cdam_status cdam_file_request_submit(cdam_file_request *request, cdam_loop *loop,
                                     cdam_session *session, void *user, cdam_operation **operation,
                                     cdam_error *err) {
  cdam_error error;
  cdam_status status = meet(request, session, loop, &error);
  request->op.user = user;
  if (status == CDAM_OK)
    status = cdam_operation_submit(&request->op, loop, begin, completed, err);
  else
    explain(request, &error, err);
  if (status != CDAM_OK)
    cdam_file_request_free(request);
  else if (operation)
    *operation = &request->op;
  return status;
}

void cdam_file_deliver_done(cdam_file_request *request) {
  request->callback.done(request->op.user, request->op.status, &request->op.error);
}
