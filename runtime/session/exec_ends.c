/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"
#include "session/exec_private.h"

/* ---- from the source ---- */

static bool is_open(void *to) {
  const cdam_exec_operation *exec = to;
  return exec->duplex && cdam_duplex_is_writable(exec->duplex);
}

static bool can_send(void *to) {
  const cdam_exec_operation *exec = to;
  return cdam_duplex_pending(exec->duplex) <= CDAM_DUPLEX_LOW;
}

static cdam_status send_input(void *to, const void *bytes, size_t length, bool end,
                              cdam_error *err) {
  const cdam_exec_operation *exec = to;
  if (!cdam_duplex_write(exec->duplex, bytes, length)) return cdam_fail_memory(err);
  if (end) cdam_duplex_end_writing(exec->duplex);
  return CDAM_OK;
}

static const cdam_feed_target to_duplex = {is_open, can_send, send_input};

static void fed(void *user, const cdam_error *error) {
  cdam_exec_operation *exec = user;
  if (error) cdam_exec_give_up(exec, error);
  cdam_operation_stepped(&exec->op);
}

/* ---- into the sinks ---- */

static bool into_sink(void *user, cdam_stdcopy_stream which, const char *bytes, size_t length,
                      cdam_error *failure) {
  (void)failure;
  cdam_exec_operation *exec = user;
  cdam_drain *drain = exec->drains[which == CDAM_STDCOPY_ERR];
  cdam_error error;
  if (drain && cdam_drain_put(drain, bytes, length, 0, &error) != CDAM_OK)
    cdam_exec_give_up(exec, &error);
  return true;
}

bool cdam_exec_ends_wait(const cdam_exec_operation *exec) {
  for (int i = 0; i < 2; i++)
    if (exec->drains[i] && !cdam_drain_is_empty(exec->drains[i])) return true;
  return false;
}

static void emptied(void *user) {
  cdam_exec_operation *exec = user;
  if (exec->duplex && !cdam_exec_ends_wait(exec)) cdam_duplex_set_reading(exec->duplex, true);
  exec->stirred = true;
  cdam_operation_stepped(&exec->op);
}

static void sink_failed(void *user, const cdam_error *error) {
  cdam_exec_operation *exec = user;
  cdam_exec_give_up(exec, error);
  cdam_operation_stepped(&exec->op);
}

static const cdam_drain_events drain_events = {.emptied = emptied, .failed = sink_failed};

/* ---- the stream ---- */

/* Nothing is read from the source before: the command may be refused. */
static void opened(void *user) {
  cdam_exec_operation *exec = user;
  exec->opened = true;
  if (exec->feed) cdam_feed_go(exec->feed);
  cdam_operation_stepped(&exec->op);
}

static void received(void *user, const char *bytes, size_t length) {
  cdam_exec_operation *exec = user;
  cdam_error failure;
  if (exec->op.finished) return;
  if (!cdam_exec_stream_feed(&exec->stream, bytes, length, &failure)) {
    if (exec->duplex) cdam_exec_streamed(exec, true, 0, &failure);
  } else if (exec->duplex && cdam_exec_ends_wait(exec)) {
    cdam_duplex_set_reading(exec->duplex, false);
    exec->stirred = true;
  }
  cdam_operation_stepped(&exec->op);
}

static void drained(void *user) {
  cdam_exec_operation *exec = user;
  if (exec->feed) cdam_feed_go(exec->feed);
  cdam_operation_stepped(&exec->op);
}

static void closed(void *user, cdam_status status, const cdam_error *error) {
  (void)status;
  cdam_exec_operation *exec = user;
  if (exec->op.finished) return;
  cdam_error refused = error ? *error : (cdam_error){0};
  if (error && !exec->opened && error->code != CDAM_ERR_NO_MEMORY) {
    cdam_fail(&refused, error->code, "start command: %s", error->message);
    refused.http_status = error->http_status;
    refused.retry = error->retry;
  }
  cdam_exec_streamed(exec, exec->opened, refused.http_status, error ? &refused : NULL);
  cdam_operation_stepped(&exec->op);
}

static const cdam_duplex_events events = {
    .opened = opened, .received = received, .drained = drained, .closed = closed};

/* ---- beginning and end ---- */

void cdam_exec_ends_set(cdam_exec_operation *exec, const cdam_exec_command *command) {
  const cdam_sink *sinks[2] = {command->stdout_sink, command->stderr_sink};
  exec->has_input = command->input != NULL;
  if (exec->has_input) exec->input = *command->input;
  exec->stream.divert_user = exec;
  for (int i = 0; i < 2; i++) {
    exec->has_sink[i] = sinks[i] != NULL;
    if (!sinks[i]) continue;
    exec->sinks[i] = *sinks[i];
    exec->stream.divert[i] = into_sink;
  }
}

bool cdam_exec_has_ends(const cdam_exec_operation *exec) {
  return exec->has_input || exec->has_sink[0] || exec->has_sink[1];
}

cdam_status cdam_exec_ends_open(cdam_exec_operation *exec, cdam_error *err) {
  cdam_loop *loop = exec->op.loop;
  if (exec->has_input) {
    exec->feed = cdam_feed_new_to(loop, &exec->input, &to_duplex, exec, fed, exec, err);
    if (!exec->feed) return err->code;
  }
  for (int i = 0; i < 2; i++) {
    if (!exec->has_sink[i]) continue;
    exec->drains[i] = cdam_drain_new(loop, &exec->sinks[i], NULL, &drain_events, exec, err);
    if (!exec->drains[i]) return err->code;
  }
  return CDAM_OK;
}

cdam_status cdam_exec_ends_stream(cdam_exec_operation *exec, cdam_error *err) {
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->id, "start", path, sizeof path);
  exec->duplex = cdam_duplex_open(exec->op.loop, path, CDAM_EXEC_START, 0, &events, exec, err);
  if (!exec->duplex) return err->code;
  cdam_operation_hold(&exec->op);
  return CDAM_OK;
}

static void drop_feed(cdam_exec_operation *exec) {
  cdam_feed_free(exec->feed);
  exec->feed = NULL;
}

static void close_duplex(cdam_exec_operation *exec) {
  if (!exec->duplex) return;
  cdam_duplex_close(exec->duplex);
  exec->duplex = NULL;
  cdam_operation_release(&exec->op);
}

void cdam_exec_ends_drop(cdam_exec_operation *exec) {
  drop_feed(exec);
  for (int i = 0; i < 2; i++) {
    cdam_drain_free(exec->drains[i]);
    exec->drains[i] = NULL;
  }
  if (exec->duplex) cdam_duplex_set_reading(exec->duplex, true);
}

void cdam_exec_close_stream(cdam_exec_operation *exec) {
  cdam_operation_cancel(&exec->op, exec->streaming);
  exec->streaming = NULL;
  drop_feed(exec);
  close_duplex(exec);
}

void cdam_exec_ends_free(cdam_exec_operation *exec) {
  close_duplex(exec);
  cdam_exec_ends_drop(exec);
}
