/* SPDX-License-Identifier: Apache-2.0 */
/* How a command is ended: by a shell (exec_shell.h). */
#include "base/fail.h"
#include "engine/answer.h"
#include "session/exec_private.h"

/* All that is done at the deadline is done after this time. */
#define KILL_LIMIT_MS 10000
/* In tenths of a second. */
#define KILL_GRACE 3
/* A command that was just starting may slip through; then it is done again. */
#define KILLS 5

static void begin_kill(cdam_exec_operation *exec);

/* ---- the end ---- */

static void time_out(cdam_exec_operation *exec, bool still_running) {
  if (exec->failure.code != CDAM_OK) {
    cdam_error error;
    cdam_fail(&error, exec->failure.code, "%s%s", exec->failure.message,
              still_running ? "; the command could not be killed and may still be running" : "");
    cdam_exec_finish(exec, &error);
    return;
  }
  exec->result->exit_code = -1;
  exec->result->timed_out = true;
  exec->result->still_running = still_running;
  cdam_exec_finish(exec, NULL);
}

static void out_of_time(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  time_out((cdam_exec_operation *)op, true);
}

/* ---- what remains ---- */

static void remains(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->watch = NULL;
  cdam_exec_state state;
  cdam_error error;
  bool known = cdam_exec_read_state(reply, &state, &error) == CDAM_OK;
  if (known && state.ended) {
    time_out(exec, !exec->kill_clean);
  } else if (exec->kill_clean && exec->kills < KILLS) {
    exec->kills++;
    begin_kill(exec);
  } else {
    time_out(exec, true);
  }
}

/* Whether the command itself is over, whatever the shell says. */
static void ask_what_remains(cdam_exec_operation *exec) {
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->id, "json", path, sizeof path);
  exec->watch =
      cdam_operation_send(&exec->op, &(cdam_request){.method = "GET", .path = path}, remains);
}

static void ask_later(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->watch = NULL;
  ask_what_remains(exec);
}

/* The shell has done what it could. The end of the output shows that the engine has noticed;
 * it is waited for, but not for long. */
static void killed(cdam_exec_operation *exec, bool clean) {
  exec->kill_clean = clean;
  if (exec->streamed)
    ask_what_remains(exec);
  else
    exec->watch = cdam_operation_after(&exec->op, clean ? 1000 : 0, ask_later);
}

void cdam_exec_kill_streamed(cdam_exec_operation *exec) {
  if (exec->kill_clean) ask_what_remains(exec);
}

static void shell_done(cdam_operation *op, cdam_exec_shell_end end, const cdam_error *error) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  if (end == CDAM_SHELL_NOWHERE)
    time_out(exec, false);
  else if (error && error->code == CDAM_ERR_NO_MEMORY)
    cdam_exec_finish(exec, error);
  else
    killed(exec, end == CDAM_SHELL_CLEAN);
}

static void begin_kill(cdam_exec_operation *exec) {
  exec->kill_clean = false;
  exec->killer.container_id = exec->container_id;
  exec->killer.user = exec->user;
  exec->killer.marker = exec->marker;
  exec->killer.grace = KILL_GRACE;
  exec->killer.done = shell_done;
  cdam_exec_shell_run(&exec->killer, &exec->op);
}

static bool may_run(const cdam_exec_operation *exec) {
  if (exec->duplex) return cdam_duplex_was_sent(exec->duplex);
  return exec->streaming && cdam_exchange_was_sent(exec->streaming);
}

/* Ends the command, if it may have been started: what is not started never runs. */
static void end_command(cdam_exec_operation *exec) {
  cdam_exec_ends_drop(exec);
  if (!may_run(exec)) {
    time_out(exec, false);
    return;
  }
  cdam_exec_unwatch(exec);
  exec->killing = true;
  exec->kills = 1;
  cdam_operation_after(&exec->op, KILL_LIMIT_MS, out_of_time);
  begin_kill(exec);
}

void cdam_exec_deadline(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->deadline = NULL;
  end_command(exec);
}

void cdam_exec_abort(cdam_operation *op) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_error why;
  cdam_fail(&why, CDAM_ERR_CANCELLED, "the command was cancelled");
  cdam_exec_give_up(exec, &why);
}

void cdam_exec_give_up(cdam_exec_operation *exec, const cdam_error *why) {
  if (exec->killing || exec->op.finished) return;
  exec->failure = *why;
  cdam_operation_cancel(&exec->op, exec->deadline);
  exec->deadline = NULL;
  end_command(exec);
}
