/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent ends a process at its timeout. One that was tampered with may go on answering and not
 * do so: then whoever waits is not to wait for ever.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "process/process_private.h"

/* Twice so long beyond the timeout and the grace. In between the loop has a turn, in which it hears
 * what an honest agent has said while nobody turned it. */
#define BEYOND_MS 5000

struct cdam_process_patience {
  cdam_operation op; /* first */
  cdam_process *process;
  cdam_posted at_end;
  bool late;
};

static cdam_process_patience *of_end(cdam_posted *posted) {
  return (cdam_process_patience *)(void *)((char *)posted -
                                           offsetof(cdam_process_patience, at_end));
}

static void stop(cdam_process_patience *this) {
  if (this->op.finished) return;
  cdam_loop_forget_end(this->op.loop, &this->at_end);
  cdam_operation_finish(&this->op, CDAM_OK, NULL);
}

static void loop_ended(cdam_posted *posted) {
  stop(of_end(posted));
}

static void fail_process(cdam_process *process, cdam_loop *loop) {
  cdam_operation *op = process->opening;
  process->opening = NULL;
  if (cdam_channel_is_open(&process->channel)) cdam_channel_abandon(&process->channel);
  process->failed = process->closed = process->has_room = true;
  cdam_fail(
      &process->failure, CDAM_ERR_AGENT,
      "the sandbox's agent has not ended the process at its timeout; it may still be running");
  if (op)
    process->opened(op, CDAM_ERR_AGENT, &process->failure);
  else if (process->ready)
    cdam_loop_post(loop, &process->told);
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_process_patience *this = (cdam_process_patience *)op;
  cdam_process *process = this->process;
  if (process->track.exited || process->closed) return;
  if (this->late)
    fail_process(process, op->loop);
  else
    cdam_operation_after(op, BEYOND_MS, look);
  this->late = true;
}

cdam_status cdam_process_set_patience(cdam_process *process, int64_t timeout_ms, uint32_t grace_ms,
                                      cdam_error *err) {
  cdam_loop *loop = cdam_link_loop(process->link);
  if (!loop) return CDAM_OK; /* it has ended, and the link with it */
  cdam_process_patience *this = calloc(1, sizeof *this);
  if (!this) return cdam_fail_memory(err);
  process->patience = this;
  this->process = process;
  this->at_end.run = loop_ended;
  cdam_operation_init_in(&this->op, loop);
  cdam_loop_on_end(loop, &this->at_end);
  return cdam_operation_after(&this->op, timeout_ms + grace_ms + BEYOND_MS, look)
             ? CDAM_OK
             : cdam_fail_memory(err);
}

void cdam_process_patience_free(cdam_process_patience *patience) {
  if (!patience) return;
  stop(patience);
  free(patience);
}
