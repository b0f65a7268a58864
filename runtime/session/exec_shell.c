/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec_shell.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "session/exec_body.h"
#include "session/exec_private.h"

#define POLL_FIRST_MS 10
#define POLL_LONGEST_MS 200

/* Exits with 0 when nothing is left alive, and with 3 otherwise; with a signal, 3 when there was
 * nothing to send it to. Bytes of value 0 are skipped by `read`, and what has the marker in it is
 * all that matters here. A process that was stopped starts no other one while the next is looked
 * for. The command itself is the one whose parent is outside of the sandbox. */
static const char script[] =
    "m=" CDAM_EXEC_MARKER "=$1 grace=$2 only=$3 target= root=\n"
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
    "      known=\"$known$pid \" new=1\n"
    "      case $2 in 0) root=$pid ;; esac ;;\n"
    "    esac\n"
    "    case $target in\n"
    "    process) [ \"$pid\" = \"$root\" ] || continue ;;\n"
    "    group) [ \"$3\" = \"$root\" ] || continue ;;\n"
    "    esac\n"
    "    kill -$signal $pid && alive=1\n"
    "    [ \"$target\" ] || alive=1\n"
    "  done\n"
    "}\n"
    "all() {\n"
    "  new=1\n"
    "  for j in 1 2 3 4 5 6 7 8 9 10; do [ \"$new\" ] && scan $1; done\n"
    "}\n"
    "rest() { sleep 0.1 || sleep 1; }\n"
    "{\n"
    "all 0\n"
    "if [ \"$only\" != 0 ]; then\n"
    "  target=$4; scan $only\n"
    "  [ \"$alive\" ] && exit 0\n"
    "  exit 3\n"
    "fi\n"
    "[ \"$grace\" = 0 ] || scan TERM\n"
    "scan 0; i=0\n"
    "while [ $i -lt $grace ]; do\n"
    "  [ \"$alive\" ] || exit 0\n"
    "  rest; scan 0; i=$((i+1))\n"
    "done\n"
    "for i in 1 2 3 4 5 6 7 8 9 10; do\n"
    "  all STOP; scan KILL; scan 0\n"
    "  [ \"$alive\" ] || exit 0\n"
    "  rest\n"
    "done\n"
    "exit 3\n"
    "} 2>/dev/null\n";

static void polled(cdam_operation *op, const cdam_reply *reply);
static void begin(cdam_operation *op);

static cdam_exec_shell *of(cdam_operation *op) {
  return op->part;
}

static void end(cdam_operation *op, cdam_exec_shell_end how, const cdam_error *error) {
  cdam_exec_shell *shell = of(op);
  op->part = NULL;
  shell->done(op, how, error);
}

static void next_shell(cdam_operation *op) {
  if (of(op)->shell == 0) {
    of(op)->shell = 1;
    begin(op);
    return;
  }
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_NO_AGENT,
            "the sandbox has no agent, and no shell that could send signals in its place");
  end(op, CDAM_SHELL_FAILED, &error);
}

static void poll(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(of(op)->id, "json", path, sizeof path);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, polled);
}

static void polled(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_shell *shell = of(op);
  cdam_exec_state state;
  cdam_error error;
  if (cdam_exec_read_state(reply, &state, &error) != CDAM_OK) {
    end(op, CDAM_SHELL_FAILED, &error);
  } else if (!state.ended) {
    cdam_operation_after(op, shell->poll_ms, poll);
    shell->poll_ms *= 2;
    if (shell->poll_ms > POLL_LONGEST_MS) shell->poll_ms = POLL_LONGEST_MS;
  } else if (state.exit_code == 0 || state.exit_code == 3) {
    end(op, state.exit_code == 0 ? CDAM_SHELL_CLEAN : CDAM_SHELL_REST, NULL);
  } else {
    next_shell(op);
  }
}

static void started(cdam_operation *op, const cdam_reply *reply) {
  of(op)->poll_ms = POLL_FIRST_MS;
  if (reply->http == 101 || reply->http / 100 == 2)
    poll(op, NULL);
  else if (reply->http)
    next_shell(op); /* some engines refuse at once what they cannot start */
  else
    end(op, CDAM_SHELL_FAILED, reply->error);
}

/* What a shell says here, and how much of it, is up to the image. */
static bool discard(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)user, (void)bytes, (void)length, (void)failure;
  return true;
}

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_shell *shell = of(op);
  cdam_error error;
  if (cdam_exec_read_id(reply, "kill command", shell->id, &error) != CDAM_OK) {
    end(op, error.code == CDAM_ERR_NOT_FOUND ? CDAM_SHELL_NOWHERE : CDAM_SHELL_FAILED, &error);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(shell->id, "start", path, sizeof path);
  /* Attached, though it says nothing: of a detached one Podman goes on saying that it runs. */
  cdam_operation_send(op,
                      &(cdam_request){.method = "POST",
                                      .path = path,
                                      .body = CDAM_EXEC_START,
                                      .upgrade = true,
                                      .stream = true,
                                      .sink = discard},
                      started);
}

static char *make_body(const cdam_exec_shell *shell) {
  char grace[16], number[16];
  snprintf(grace, sizeof grace, "%u", shell->grace);
  snprintf(number, sizeof number, "%d", shell->signal);
  const char *argv[] = {"/bin/busybox",
                        "sh",
                        "-c",
                        script,
                        "sh",
                        shell->marker,
                        grace,
                        number,
                        shell->to ? shell->to : "",
                        NULL};
  argv[1] = shell->shell == 0 ? "/bin/sh" : "sh";
  return cdam_exec_body_text(&(cdam_exec_body){
      .argv = shell->shell == 0 ? argv + 1 : argv, .user = shell->user, .workdir = "/"});
}

static void begin(cdam_operation *op) {
  char *body = make_body(of(op));
  if (!body) {
    cdam_error error;
    cdam_fail_memory(&error);
    end(op, CDAM_SHELL_FAILED, &error);
    return;
  }
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/exec", of(op)->container_id);
  cdam_operation_send(op, &(cdam_request){.method = "POST", .path = path, .body = body}, created);
  free(body);
}

void cdam_exec_shell_run(cdam_exec_shell *shell, cdam_operation *op) {
  op->part = shell;
  begin(op);
  op->part = NULL;
}
