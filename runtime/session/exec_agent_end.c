/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending a command before its time. The agent does so at the deadline by itself; here it is asked
 * as well, for the request may have waited for the link, and since the answer to Kill tells when
 * the whole tree is gone.
 */
#include "base/fail.h"
#include "session/exec_agent.h"

#define GRACE_MS 250

/* An agent that was asked has so long. */
#define LIMIT_MS 10000

static void killed(void *user, cdam_status status, const cdam_error *error) {
  (void)error;
  cdam_exec_agent *exec = user;
  /* When the link broke the channel is told as well, and knows what to make of it. */
  if (status != CDAM_OK && status != CDAM_ERR_NO_PROCESS) return;
  exec->gone = true;
  cdam_exec_agent_settle(exec);
}

void cdam_exec_agent_end_tree(cdam_exec_agent *exec) {
  if (exec->kill_sent || !exec->track.started) return;
  exec->kill_sent = true;
  cdam_error error;
  if (cdam_agent_request_kill(&exec->kill, exec->link, exec->track.id, GRACE_MS, killed, exec,
                              &error) != CDAM_OK)
    cdam_operation_finish(&exec->op, error.code, &error);
}

static void out_of_time(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  if (exec->failure.code == CDAM_OK) {
    exec->result->exit_code = -1;
    exec->result->timed_out = exec->result->still_running = true;
    cdam_operation_finish(op, CDAM_OK, NULL);
    return;
  }
  cdam_error error;
  cdam_fail(&error, exec->failure.code, "%s; the command may still be running",
            exec->failure.message);
  cdam_operation_finish(op, error.code, &error);
}

/* What was never sent never runs. */
static void finish_unsent(cdam_exec_agent *exec) {
  if (cdam_channel_is_open(&exec->channel)) cdam_channel_abandon(&exec->channel);
  cdam_exec_agent_finish_early(exec);
}

/* A sink that takes nothing would hold up the end. */
static void drop_ends(cdam_exec_agent *exec) {
  cdam_feed_free(exec->feed);
  exec->feed = NULL;
  for (int i = 0; i < 2; i++) {
    cdam_exec_taker *taker = &exec->takers[i];
    if (!taker->drain) continue;
    cdam_drain_free(taker->drain);
    taker->drain = NULL;
    taker->cap = 0;
    taker->tail = false;
  }
}

void cdam_exec_agent_end(cdam_exec_agent *exec) {
  if (exec->op.finished || exec->ending) return;
  exec->ending = true;
  cdam_answer_limit_end(&exec->limit);
  drop_ends(exec);
  if (!exec->closed && (!cdam_channel_is_open(&exec->channel) || !exec->channel.number)) {
    finish_unsent(exec);
    return;
  }
  cdam_operation_after(&exec->op, LIMIT_MS, out_of_time);
  if (!exec->closed && !exec->track.exited) cdam_channel_cancel(&exec->channel);
  cdam_exec_agent_end_tree(exec);
}

void cdam_exec_agent_give_up(cdam_exec_agent *exec, const cdam_error *why) {
  if (exec->failure.code == CDAM_OK) exec->failure = *why;
  cdam_exec_agent_end(exec);
}

void cdam_exec_agent_deadline(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  exec->deadline = NULL;
  if (!exec->track.exited) cdam_exec_agent_end(exec);
}

void cdam_exec_agent_abort(cdam_operation *op) {
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  cdam_error why;
  cdam_fail(&why, CDAM_ERR_CANCELLED, "the command was cancelled");
  cdam_exec_agent_give_up(exec, &why);
}
