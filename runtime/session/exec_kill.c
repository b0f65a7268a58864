/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine has no call that ends an exec, and its process id is the host's, of no use inside.
 * So a second exec runs a shell, as the same user, that looks for the marker in the
 * environment of every process, and for children and sessions of those that it found. It
 * uses nothing but the shell's own words, for there may be nothing else in the image.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/json_text.h"
#include "engine/answer.h"
#include "session/exec_private.h"

/* All that is done at the deadline is done after this time. */
#define KILL_LIMIT_MS 10000
#define POLL_FIRST_MS 10
#define POLL_LONGEST_MS 200
/* A command that was just starting may slip through; then it is done again. */
#define KILLS 5

/* Exits with 0 when nothing is left alive, and with 3 otherwise. Bytes of value 0 are skipped
 * by `read`, and what has the marker in it is all that matters here. A process that was stopped
 * starts no other one while the next is looked for. */
static const char script[] =
    "m=" CDAM_EXEC_MARKER "=$1\n"
    "known=' '\n"
    "marked() {\n"
    "  while IFS= read -r line || [ -n \"$line\" ]; do\n"
    "    case $line in *\"$m\"*) return 0 ;; esac\n"
    "  done <\"/proc/$1/environ\"\n"
    "  return 1\n"
    "}\n"
    "scan() {\n"
    "  signal=$1 new= alive=\n"
    "  for dir in /proc/[0-9]*; do\n"
    "    pid=${dir#/proc/}\n"
    "    case $pid in 1|$$) continue ;; esac\n"
    "    IFS= read -r line <\"$dir/stat\" || continue\n"
    "    set -- ${line##*) }\n" /* state, parent, group, session */
    "    case $1 in Z|X) continue ;; esac\n"
    "    case $known in *\" $pid \"*) ;; *)\n"
    "      case $known in *\" $2 \"*|*\" $4 \"*) ;; *) marked $pid || continue ;; esac\n"
    "      known=\"$known$pid \" new=1 ;;\n"
    "    esac\n"
    "    alive=1\n"
    "    kill -$signal $pid\n"
    "  done\n"
    "}\n"
    "all() {\n"
    "  new=1\n"
    "  for j in 1 2 3 4 5 6 7 8 9 10; do [ \"$new\" ] && scan $1; done\n"
    "}\n"
    "rest() { sleep 0.1 || sleep 1; }\n"
    "{\n"
    "all 0; scan TERM; scan 0\n"
    "for i in 1 2 3; do\n"
    "  [ \"$alive\" ] || exit 0\n"
    "  rest; scan 0\n"
    "done\n"
    "for i in 1 2 3 4 5 6 7 8 9 10; do\n"
    "  all STOP; scan KILL; scan 0\n"
    "  [ \"$alive\" ] || exit 0\n"
    "  rest\n"
    "done\n"
    "exit 3\n"
    "} 2>/dev/null\n";

static void kill_polled(cdam_operation *op, const cdam_reply *reply);

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

/* ---- one shell ---- */

static json_t *kill_body(const cdam_exec_operation *exec) {
  const char *marker = exec->marker;
  json_t *argv = exec->shell == 0
                     ? json_pack("[s,s,s,s,s]", "/bin/sh", "-c", script, "sh", marker)
                     : json_pack("[s,s,s,s,s,s]", "/bin/busybox", "sh", "-c", script, "sh", marker);
  if (!argv) return NULL;
  json_t *body = json_pack("{s:b, s:b, s:b, s:b, s:O, s:s}", "AttachStdin", 0, "AttachStdout", 1,
                           "AttachStderr", 1, "Tty", 0, "Cmd", argv, "WorkingDir", "/");
  json_decref(argv);
  if (body && exec->user && json_object_set_new(body, "User", json_string(exec->user)) < 0) {
    json_decref(body);
    return NULL;
  }
  return body;
}

static void kill_created(cdam_operation *op, const cdam_reply *reply);

static void begin_kill(cdam_exec_operation *exec) {
  exec->kill_clean = false;
  json_t *body = kill_body(exec);
  char *text = body ? cdam_json_text(body, JSON_COMPACT) : NULL;
  json_decref(body);
  if (text) {
    cdam_exec_send_create(exec, text, kill_created);
    free(text);
  } else {
    cdam_error error;
    cdam_fail_memory(&error);
    cdam_exec_finish(exec, &error);
  }
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

/* ---- steps of the shell ---- */

static void next_shell(cdam_exec_operation *exec) {
  if (exec->shell == 0) {
    exec->shell = 1;
    begin_kill(exec);
  } else {
    killed(exec, false);
  }
}

static void poll_kill(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->killer, "json", path, sizeof path);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, kill_polled);
}

static void kill_polled(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_exec_state state;
  cdam_error error;
  if (cdam_exec_read_state(reply, &state, &error) != CDAM_OK) {
    killed(exec, false);
  } else if (!state.ended) {
    cdam_operation_after(op, exec->kill_poll_ms, poll_kill);
    exec->kill_poll_ms *= 2;
    if (exec->kill_poll_ms > POLL_LONGEST_MS) exec->kill_poll_ms = POLL_LONGEST_MS;
  } else if (state.exit_code == 0 || state.exit_code == 3) {
    killed(exec, state.exit_code == 0);
  } else {
    next_shell(exec);
  }
}

static void kill_started(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->kill_poll_ms = POLL_FIRST_MS;
  if (reply->http == 101 || reply->http / 100 == 2)
    poll_kill(op, NULL);
  else if (reply->http)
    next_shell(exec); /* some engines refuse at once what they cannot start */
  else
    killed(exec, false);
}

/* What a shell says here, and how much of it, is up to the image. */
static bool discard(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)user, (void)bytes, (void)length, (void)failure;
  return true;
}

static void kill_created(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_error error;
  if (cdam_exec_read_id(reply, "kill command", exec->killer, &error) != CDAM_OK) {
    if (error.code == CDAM_ERR_NOT_FOUND)
      time_out(exec, false); /* the whole sandbox is gone */
    else
      killed(exec, false);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->killer, "start", path, sizeof path);
  /* Attached, though it says nothing: of a detached one Podman goes on saying that it runs. */
  cdam_operation_send(op,
                      &(cdam_request){.method = "POST",
                                      .path = path,
                                      .body = CDAM_EXEC_START,
                                      .upgrade = true,
                                      .stream = true,
                                      .sink = discard},
                      kill_started);
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
