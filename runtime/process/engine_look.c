/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine says of an exec: it tells nothing by itself, so it is asked. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "process/engine_exec.h"

/* While it starts. */
#define START_FIRST_MS 3
#define START_LONGEST_MS 100
#define START_LIMIT_MS 10000
/* While it runs, and its output is silent. */
#define WATCH_FIRST_MS 2000
#define WATCH_LONGEST_MS 30000
#define WATCH_FAILURES 3
/* After the end of its output. */
#define SETTLE_FIRST_MS 10
#define SETTLE_LONGEST_MS 250
#define SETTLE_LIMIT_MS 5000

static void ask(cdam_operation *op, const cdam_reply *reply);

void cdam_engine_look_away(cdam_engine_exec *exec) {
  cdam_operation_cancel(&exec->op, exec->looking);
  exec->looking = NULL;
}

static void look_later(cdam_engine_exec *exec) {
  int64_t ms = exec->look_ms;
  int64_t longest = exec->phase == CDAM_ENGINE_STARTING  ? START_LONGEST_MS
                    : exec->phase == CDAM_ENGINE_RUNNING ? WATCH_LONGEST_MS
                                                         : SETTLE_LONGEST_MS;
  exec->look_ms = ms * 2 < longest ? ms * 2 : longest;
  exec->look_received = exec->received;
  exec->looking = cdam_engine_exec_after(exec, ms, ask);
}

/* ---- how it ended ---- */

/* Words of the engine's, and what they mean. The command's own texts are among them. */
typedef struct hint {
  const char *words;
  int number; /* errno */
  const char *member;
} hint;

#define COUNT(hints) (sizeof(hints) / sizeof *(hints))

/* What was being done comes first, before any text of the command's. */
static const char *member_of(const char *said) {
  static const hint hints[] = {
      {"exec: \"", 0, "argv"},
      {"executable file ", 0, "argv"},
      {"chdir to", 0, "workdir"},
      {"unable to find user", 0, "user"},
      {"unable to find group", 0, "user"},
  };
  const char *first = NULL, *member = "";
  for (size_t i = 0; i < COUNT(hints); i++) {
    const char *at = strstr(said, hints[i].words);
    if (!at || (first && at >= first)) continue;
    first = at;
    member = hints[i].member;
  }
  return member;
}

/* And why it failed comes last. */
static int reason_of(const char *said) {
  static const hint hints[] = {
      {"permission denied", EACCES, NULL},  {"Permission denied", EACCES, NULL},
      {"not found", ENOENT, NULL},          {"no such file", ENOENT, NULL},
      {"No such file", ENOENT, NULL},       {"not a directory", ENOTDIR, NULL},
      {"exec format error", ENOEXEC, NULL}, {"argument list too long", E2BIG, NULL},
  };
  /* Podman adds what it makes of all that. */
  const char *end = NULL, *last = NULL;
  for (const char *at = said; (at = strstr(at, ": OCI ")); at++)
    end = at;
  if (end && strchr(end, '"')) end = NULL;
  int number = 0;
  for (size_t i = 0; i < COUNT(hints); i++)
    for (const char *at = said; (at = strstr(at, hints[i].words)); at++) {
      if ((last && at <= last) || (end && at >= end)) continue;
      last = at;
      number = hints[i].number;
    }
  return number;
}

void cdam_engine_name_refusal(cdam_error *refused) {
  if (refused->code != CDAM_ERR_ENGINE || strcmp(member_of(refused->message), "user") != 0) return;
  refused->code = CDAM_ERR_NOT_STARTED;
  snprintf(refused->field, sizeof refused->field, "user");
}

static void not_started(cdam_engine_exec *exec) {
  char *said = exec->said;
  said[strcspn(said, "\r\n")] = '\0';
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_NOT_STARTED, "the command could not be started: %s",
            *said ? said : "the engine does not say why");
  const char *member = member_of(said);
  /* No system call failed for a user that is not there. */
  if (strcmp(member, "user") != 0) error.system_errno = reason_of(said);
  snprintf(error.field, sizeof error.field, "%s", member);
  cdam_engine_exec_fail(exec, &error);
}

static void ended(cdam_engine_exec *exec, const cdam_exec_state *state) {
  cdam_process *process = exec->process;
  cdam_error error;
  if (state->exit_code < 0 || state->exit_code > 255) {
    cdam_fail(&error, CDAM_ERR_EXEC, "the engine gives an exit status that is none: %" PRId64,
              state->exit_code);
    cdam_engine_exec_fail(exec, &error);
    return;
  }
  process->track.exited = true;
  process->track.exit =
      (cdam_process_exit){.code = (int)state->exit_code, .ended_by = exec->ended_by};
  if (!cdam_process_add(process, CDAM_PROCESS_EXITED, 0)) {
    cdam_fail_memory(&error);
    cdam_engine_exec_fail(exec, &error);
  } else if (exec->phase == CDAM_ENGINE_SETTLING) {
    cdam_engine_exec_close(exec);
  } else {
    cdam_engine_exec_tell(exec); /* something that it started has its output */
  }
}

/* ---- looking ---- */

static void look_while_starting(cdam_engine_exec *exec, const cdam_exec_state *state) {
  bool late = cdam_now_ms() >= exec->look_until;
  /* Docker says that it runs from the moment on at which it begins to start it. */
  bool runs = state->running && !state->no_process;
  /* What was not started ends its stream as well, after it has said why. */
  bool never_ran = state->ended && state->no_process;
  if (!runs && !late && (!state->ended || never_ran)) {
    look_later(exec);
    return;
  }
  exec->phase = CDAM_ENGINE_RUNNING;
  cdam_engine_look(exec);
  cdam_engine_exec_started(exec);
}

static void look_after_end(cdam_engine_exec *exec, const cdam_exec_state *state, int http) {
  if (state && state->ended) {
    bool started = exec->process->track.started;
    exec->process->track.started = true;
    /* A terminal has one stream. */
    bool silent = !exec->spoke || exec->process->terminal;
    if (!started && cdam_exec_was_not_started(state, silent, exec->said))
      not_started(exec);
    else
      ended(exec, state);
    return;
  }
  if (state)
    cdam_fail(&exec->trouble, CDAM_ERR_EXEC, "exit status unknown: %s",
              state->running ? "the output ended, but the command is still running"
                             : "the engine does not give it");
  if (http != 404 && http != 409 && cdam_now_ms() < exec->look_until) {
    look_later(exec);
    return;
  }
  if (exec->trouble.code != CDAM_ERR_NO_MEMORY && !state) {
    const cdam_error why = exec->trouble;
    cdam_fail(&exec->trouble, CDAM_ERR_EXEC, "exit status unknown: %s", why.message);
    exec->trouble.http_status = why.http_status;
  }
  if (http)
    cdam_engine_exec_explain(exec, &exec->trouble);
  else
    cdam_engine_exec_fail(exec, &exec->trouble);
}

static void look_failed(cdam_engine_exec *exec, int http) {
  /* A conflict is a container that somebody has paused. */
  bool pardoned = http == 409 && exec->phase == CDAM_ENGINE_RUNNING;
  if (pardoned || ++exec->look_failures < WATCH_FAILURES)
    look_later(exec);
  else
    cdam_engine_exec_explain(exec, &exec->trouble);
}

static void looked(cdam_operation *op, const cdam_reply *reply) {
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  exec->looking = NULL;
  cdam_exec_state state;
  bool known = cdam_exec_read_state(reply, &state, &exec->trouble) == CDAM_OK;
  if (known) exec->look_failures = 0;
  if (exec->phase == CDAM_ENGINE_SETTLING)
    look_after_end(exec, known ? &state : NULL, reply->http);
  else if (!known)
    look_failed(exec, reply->http);
  else if (exec->phase == CDAM_ENGINE_STARTING)
    look_while_starting(exec, &state);
  else if (state.ended)
    ended(exec, &state);
  else
    look_later(exec);
}

static void ask(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  exec->looking = NULL;
  if (exec->phase == CDAM_ENGINE_RUNNING && exec->look_received != exec->received) {
    exec->look_ms = WATCH_FIRST_MS;
    look_later(exec);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->name.id, "json", path, sizeof path);
  exec->looking = cdam_engine_exec_send(exec, "GET", path, looked);
}

void cdam_engine_look(cdam_engine_exec *exec) {
  cdam_engine_look_away(exec);
  exec->look_failures = 0;
  switch (exec->phase) {
  case CDAM_ENGINE_STARTING:
    exec->look_ms = START_FIRST_MS;
    exec->look_until = cdam_now_ms() + START_LIMIT_MS;
    break;
  case CDAM_ENGINE_RUNNING:
    exec->look_ms = WATCH_FIRST_MS;
    look_later(exec);
    return;
  case CDAM_ENGINE_SETTLING:
    exec->look_ms = SETTLE_FIRST_MS;
    exec->look_until = cdam_now_ms() + SETTLE_LIMIT_MS;
    break;
  default:
    return;
  }
  ask(&exec->op, NULL);
}
