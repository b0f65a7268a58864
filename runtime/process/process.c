/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "process/engine_exec.h"
#include "process/process_private.h"

/* ---- a handle ---- */

static void run_told(cdam_posted *posted) {
  cdam_process_tell((cdam_process *)((char *)posted - offsetof(cdam_process, told)));
}

cdam_process *cdam_process_new(cdam_link *link, cdam_own_loop *own) {
  cdam_process *process = calloc(1, sizeof *process);
  if (!process) return NULL;
  TAILQ_INIT(&process->items);
  process->link = link ? cdam_link_ref(link) : NULL;
  process->own = own ? cdam_own_loop_ref(own) : NULL;
  process->told.run = run_told;
  return process;
}

void cdam_process_free(cdam_process *process) {
  if (!process) return;
  cdam_process_patience_free(process->patience);
  bool open = cdam_channel_is_open(&process->channel);
  if (open) cdam_channel_abandon(&process->channel);
  cdam_engine_exec_free(process->engine);
  process->engine = NULL;
  cdam_process_drop_all(process);
  if (process->link && process->told.queued)
    cdam_loop_unpost(cdam_link_loop(process->link), &process->told);
  cdam_link_unref(process->link);
  if (open) cdam_own_loop_flush(process->own);
  cdam_own_loop_unref(process->own);
  free(process);
}

const char *cdam_process_key(const cdam_process *process) {
  return process ? process->key : "";
}

uint32_t cdam_process_pid(const cdam_process *process) {
  return process ? process->track.pid : 0;
}

/* ---- in a loop ---- */

void cdam_process_tell(cdam_process *process) {
  if (process->ready) process->ready(process->ready_user, process);
}

/* What came before there was anybody to tell is told now. */
void cdam_process_on_ready(cdam_process *process, cdam_process_ready ready, void *user) {
  if (!process || process->own) return;
  process->ready = ready;
  process->ready_user = user;
  cdam_loop *loop = process->engine ? process->engine->loop : cdam_link_loop(process->link);
  bool waits = !TAILQ_EMPTY(&process->items) || process->closed;
  if (loop && ready && waits) cdam_loop_post(loop, &process->told);
}

/* ---- waiting ---- */

static cdam_status fail_as(const cdam_error *failure, cdam_error *err) {
  if (err) *err = *failure;
  return failure->code;
}

cdam_status cdam_process_check_alive(const cdam_process *process, cdam_error *err) {
  if (process->failed) return fail_as(&process->failure, err);
  if (!process->track.exited && !process->closed) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_NO_PROCESS, "the process has ended");
}

/* Is there something to be said without waiting? */
static bool poll(cdam_process *process, cdam_process_event *event, cdam_status *status,
                 cdam_error *err) {
  *status = CDAM_OK;
  *event = (cdam_process_event){0};
  if (cdam_process_take(process, event)) return true;
  if (process->failed) {
    *status = fail_as(&process->failure, err);
    return true;
  }
  if (process->closed) {
    event->kind = CDAM_PROCESS_CLOSED;
    return true;
  }
  if (!process->wants_room || !process->has_room) return false;
  process->wants_room = false;
  return true;
}

cdam_status cdam_process_next(cdam_process *process, int64_t timeout_ms, cdam_process_event *event,
                              cdam_error *err) {
  if (!process || !event) return cdam_fail(err, CDAM_ERR_ARGUMENT, "process or event is NULL");
  int64_t until_us = -1;
  cdam_status status;
  for (bool first = true;; first = false) {
    if (poll(process, event, &status, err) || !process->own) break;
    if (first && timeout_ms >= 0 && timeout_ms < INT64_MAX / 2000)
      until_us = cdam_now_us() + timeout_ms * 1000;
    if (!first && until_us >= 0 && cdam_now_us() >= until_us) break;
    status = cdam_own_loop_turn(process->own, until_us, err);
    if (status != CDAM_OK) return status;
  }
  return status == CDAM_OK ? cdam_ok(err) : status;
}

bool cdam_process_exit_status(const cdam_process *process, cdam_process_exit *exit) {
  if (!process || !process->track.exited) return false;
  if (exit) *exit = process->track.exit;
  return true;
}

static int64_t left_of(int64_t timeout_ms, int64_t since) {
  if (timeout_ms <= 0) return timeout_ms;
  int64_t left = timeout_ms - (cdam_now_ms() - since);
  return left > 0 ? left : 0;
}

cdam_status cdam_process_wait(cdam_process *process, int64_t timeout_ms, cdam_process_exit *exit,
                              cdam_error *err) {
  if (!process) return cdam_fail(err, CDAM_ERR_ARGUMENT, "process is NULL");
  int64_t since = cdam_now_ms();
  while (!process->track.exited) {
    cdam_process_event event;
    int64_t left = left_of(timeout_ms, since);
    cdam_status status = cdam_process_next(process, left, &event, err);
    if (status != CDAM_OK) return status;
    if (event.kind == CDAM_PROCESS_NOTHING && (left == 0 || !process->own))
      return cdam_fail(err, CDAM_ERR_TIMEOUT, "the process still runs");
  }
  if (exit) *exit = process->track.exit;
  return cdam_ok(err);
}
