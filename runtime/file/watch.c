/* SPDX-License-Identifier: Apache-2.0 */
#include "file/watch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"

typedef struct watch_request {
  cdam_file_request request; /* first */
  cdam_file_watch *watch;
} watch_request;

static watch_request *watch_of(cdam_file_request *request) {
  return (watch_request *)request;
}

/* ---- the channel ---- */

static void tell(cdam_file_watch *watch) {
  if (watch->ready) watch->ready(watch->user, watch);
}

/* The channel is the watch's own from here on. */
static void be_open(cdam_file_watch *watch) {
  cdam_file_request *request = watch->opening;
  watch->opening = NULL;
  watch->link = cdam_link_ref(request->link);
  cdam_channel_grant(&watch->channel, cdam_channel_message_charge(&watch->channel));
  request->channel = NULL;
  cdam_file_succeed(request);
}

static bool message_came(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  cdam_file_watch *watch = (cdam_file_watch *)channel;
  if (message->body_case != COFFERDAM__AGENT__V1__FROM_AGENT__BODY_WATCH_EVENT)
    return cdam_file_refuse(failure, "something else than an event");
  const Cofferdam__Agent__V1__WatchEvent *event = message->watch_event;
  if (watch->opening) {
    if (event->kind != COFFERDAM__AGENT__V1__WATCH_KIND__WATCH_KIND_READY)
      return cdam_file_refuse(failure, "an event of a watch that is not ready");
    be_open(watch);
    return true;
  }
  if (!cdam_file_watch_put(watch, event, cdam_channel_message_charge(channel), failure))
    return false;
  tell(watch);
  return true;
}

static void channel_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done) {
  cdam_file_watch *watch = (cdam_file_watch *)channel;
  cdam_file_request *request = watch->opening;
  if (request) {
    watch->opening = NULL;
    cdam_file_take_done(request, status, error, done);
    return;
  }
  if (!watch->gone) {
    watch->failed = true;
    if (status == CDAM_OK)
      cdam_fail(&watch->failure, CDAM_ERR_AGENT, "the agent ended the watch");
    else
      watch->failure = *error;
  }
  tell(watch);
}

static const cdam_channel_events events = {.message = message_came, .done = channel_done};

/* ---- opening one ---- */

static void opened(cdam_file_request *request) {
  cdam_channel_set_hold(request->channel, true);
}

static cdam_file_watch *take_watch(cdam_file_request *request) {
  cdam_file_watch *watch = watch_of(request)->watch;
  watch_of(request)->watch = NULL;
  return watch;
}

static void deliver(cdam_file_request *request) {
  cdam_file_watch *watch = request->op.status == CDAM_OK ? take_watch(request) : NULL;
  request->callback.watch(request->op.user, request->op.status, watch, &request->op.error);
}

static void release(cdam_file_request *request) {
  cdam_file_watch *watch = watch_of(request)->watch;
  if (watch) watch->opening = NULL;
  cdam_file_watch_free(watch);
}

static const cdam_file_kind watch_kind = {.verb = "watch",
                                          .opened = opened,
                                          .succeeded = cdam_file_fail_incomplete,
                                          .deliver = deliver,
                                          .release = release};

static void run_told(cdam_posted *posted) {
  tell((cdam_file_watch *)((char *)posted - offsetof(cdam_file_watch, told)));
}

static cdam_status prepare(const cdam_session *session, const char *path, watch_request **out,
                           cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status =
      cdam_file_request_new(sizeof(watch_request), &watch_kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) return status;
  cdam_file_watch *watch = watch_of(request)->watch = calloc(1, sizeof *watch);
  if (!watch) {
    cdam_file_request_free(request);
    return cdam_fail_memory(err);
  }
  watch->opening = request;
  watch->told.run = run_told;
  request->channel = &watch->channel;
  request->events = &events;
  CDAM_FILE_BODY(request, watch, WATCH);
  request->body.watch.path = cdam_file_bytes(request->path);
  *out = watch_of(request);
  return CDAM_OK;
}

cdam_status cdam_file_watch_new(cdam_session *session, const char *path, cdam_file_watch **out,
                                cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  watch_request *this = NULL;
  cdam_status status = prepare(session, path, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_file_request_run(&this->request, session, err);
  if (status == CDAM_OK) {
    *out = take_watch(&this->request);
    (*out)->own = cdam_own_loop_ref(this->request.own);
  }
  cdam_file_request_free(&this->request);
  return status;
}

cdam_status cdam_file_watch_new_start(cdam_loop *loop, cdam_session *session, const char *path,
                                      cdam_file_watch_callback callback, void *user,
                                      cdam_operation **operation, cdam_error *err) {
  watch_request *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare(session, path, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.watch = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}

void cdam_file_watch_free(cdam_file_watch *watch) {
  if (!watch) return;
  bool open = cdam_channel_is_open(&watch->channel);
  if (open) cdam_channel_abandon(&watch->channel);
  if (watch->told.queued) cdam_loop_unpost(cdam_link_loop(watch->link), &watch->told);
  cdam_link_unref(watch->link);
  if (open) cdam_own_loop_flush(watch->own);
  cdam_own_loop_unref(watch->own);
  cdam_buffer_clear(&watch->events);
  free(watch);
}

void cdam_file_watch_on_ready(cdam_file_watch *watch, cdam_file_watch_ready ready, void *user) {
  if (!watch || watch->own) return;
  watch->ready = ready;
  watch->user = user;
  cdam_loop *loop = cdam_link_loop(watch->link);
  bool waits = cdam_file_watch_has_event(watch) || watch->failed;
  if (loop && ready && waits) cdam_loop_post(loop, &watch->told);
}

/* ---- fetching ---- */

cdam_status cdam_file_watch_next(cdam_file_watch *watch, int64_t timeout_ms, cdam_file_event *event,
                                 cdam_error *err) {
  if (!watch || !event) return cdam_fail(err, CDAM_ERR_ARGUMENT, "watch or event is NULL");
  int64_t until_us = -1;
  if (timeout_ms >= 0 && timeout_ms < INT64_MAX / 2000)
    until_us = cdam_now_us() + timeout_ms * 1000;
  for (bool first = true;; first = false) {
    if (cdam_file_watch_take(watch, event)) return cdam_ok(err);
    if (watch->failed) {
      if (err) *err = watch->failure;
      return watch->failure.code;
    }
    if (!watch->own || (!first && until_us >= 0 && cdam_now_us() >= until_us)) return cdam_ok(err);
    cdam_status status = cdam_own_loop_turn(watch->own, until_us, err);
    if (status != CDAM_OK) return status;
  }
}
