/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "session/exec_private.h"

/* Engines record the exit status before they close the output; some lag. The client's timeout is
 * the limit when it is shorter. */
#define SETTLE_LIMIT_MS 5000
#define SETTLE_FIRST_MS 10
#define SETTLE_LONGEST_MS 250

/* An output that is silent may belong to a command that is over. */
#define WATCH_FIRST_MS 2000
#define WATCH_LONGEST_MS 30000
#define WATCH_GRACE_MS 1000
#define WATCH_FAILURES 3

static void look(cdam_operation *op, const cdam_reply *reply);
static void ask(cdam_operation *op, const cdam_reply *reply);

/* ---- what the engine says ---- */

static cdam_status parse_state(const json_t *json, cdam_exec_state *state, cdam_error *err) {
  const json_t *running = cdam_json_at(json, "Running");
  const json_t *code = cdam_json_at(json, "ExitCode");
  const json_t *pid = cdam_json_at(json, "Pid");
  if (!json_is_boolean(running))
    return cdam_fail(err, CDAM_ERR_PROTOCOL, "inspect command: Running is no boolean");
  if (code && !json_is_null(code) && !json_is_integer(code))
    return cdam_fail(err, CDAM_ERR_PROTOCOL, "inspect command: ExitCode is no integer");
  state->running = json_is_true(running);
  state->exit_code = json_integer_value(code);
  state->no_process = json_is_integer(pid) && json_integer_value(pid) == 0;
  state->forgets_pid = json_is_true(cdam_json_at(json, "CanRemove"));
  /* null is never 0; and neither is the 0 of something that never had a process, which is how
   * Podman shows an exec that has not begun. */
  bool never_ran = state->exit_code == 0 && state->no_process && !state->forgets_pid;
  state->ended = !state->running && json_is_integer(code) && !never_ran;
  return CDAM_OK;
}

cdam_status cdam_exec_read_state(const cdam_reply *reply, cdam_exec_state *state, cdam_error *err) {
  *state = (cdam_exec_state){0};
  json_t *json;
  cdam_status status = cdam_answer_json(reply, "inspect command", &json, err);
  if (status != CDAM_OK) return status;
  status = parse_state(json, state, err);
  json_decref(json);
  return status;
}

/* ---- success ---- */

static bool mentions_runtime(const char *said) {
  static const char *const words[] = {"OCI runtime", "exec failed", "executable file",
                                      "crun:",       "runc:",       "chdir to"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(said, words[i])) return true;
  return false;
}

/* A program that was never started has no process id. An engine that forgets the id of every
 * process that has ended is recognised by what its runtime has to say. */
bool cdam_exec_was_not_started(const cdam_exec_state *state, bool silent, const char *said) {
  bool usual = state->exit_code == 126 || state->exit_code == 127;
  if (!state->no_process) return false;
  if (!state->forgets_pid) return usual;
  return (usual || state->exit_code == 125) && silent && mentions_runtime(said);
}

/* Docker tells on stdout why a program could not be started; it belongs on stderr. */
static bool move_to_stderr(cdam_exec_stream *stream) {
  cdam_exec_stream_trim(stream);
  size_t room = stream->cap - stream->err.kept.length;
  size_t length = stream->out.kept.length < room ? stream->out.kept.length : room;
  if (length && !cdam_buffer_append(&stream->err.kept, stream->out.kept.data, length)) return false;
  stream->err.total += stream->out.total;
  cdam_buffer_clear(&stream->out.kept);
  stream->out.total = 0;
  return true;
}

static void succeed(cdam_exec_operation *exec, const cdam_exec_state *state) {
  cdam_error error;
  if (state->exit_code < 0 || state->exit_code > 255) {
    cdam_fail(&error, CDAM_ERR_EXEC, "the engine gives an exit status that is none: %" PRId64,
              state->exit_code);
    cdam_exec_finish(exec, &error);
    return;
  }
  exec->result->exit_code = (int)state->exit_code;
  exec->result->not_started = cdam_exec_was_not_started(state, exec->stream.out.total == 0,
                                                        cdam_buffer_text(&exec->stream.err.kept));
  if (exec->result->not_started && exec->result->exit_code == 125) exec->result->exit_code = 126;
  if (exec->result->not_started && !move_to_stderr(&exec->stream)) {
    cdam_fail_memory(&error);
    cdam_exec_finish(exec, &error);
    return;
  }
  cdam_exec_finish(exec, NULL);
}

/* ---- after the end of the output ---- */

static void give_up(cdam_exec_operation *exec, int http) {
  cdam_error why = exec->trouble;
  if (why.code == CDAM_ERR_NO_MEMORY) {
    cdam_exec_finish(exec, &why);
    return;
  }
  cdam_fail(&exec->trouble, CDAM_ERR_EXEC, "exit status unknown: %s", why.message);
  exec->trouble.http_status = why.http_status;
  if (http)
    cdam_exec_explain(exec, &exec->trouble);
  else
    cdam_exec_finish(exec, &exec->trouble);
}

static void settled(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_exec_state state;
  if (cdam_exec_read_state(reply, &state, &exec->trouble) == CDAM_OK) {
    if (state.ended) {
      succeed(exec, &state);
      return;
    }
    cdam_fail(&exec->trouble, CDAM_ERR_EXEC, "%s",
              state.running ? "the output ended, but the command is still running"
                            : "the engine does not give it");
  }
  /* The exec or the container is gone, or the container does not run; anything else may pass. */
  if (reply->http == 404 || reply->http == 409 || cdam_now_ms() >= exec->settle_until) {
    give_up(exec, reply->http);
    return;
  }
  cdam_operation_after(op, exec->settle_ms, ask);
  exec->settle_ms *= 2;
  if (exec->settle_ms > SETTLE_LONGEST_MS) exec->settle_ms = SETTLE_LONGEST_MS;
}

static void ask(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->id, "json", path, sizeof path);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, settled);
}

void cdam_exec_settle(cdam_exec_operation *exec) {
  unsigned limit = exec->op.client->config.timeout_ms;
  if (limit > SETTLE_LIMIT_MS) limit = SETTLE_LIMIT_MS;
  exec->settle_until = cdam_now_ms() + limit;
  exec->settle_ms = SETTLE_FIRST_MS;
  ask(&exec->op, NULL);
}

/* ---- while the output is silent ---- */

/* An output that is not read, for its sink is slow, is not silent. */
static bool has_moved(cdam_exec_operation *exec) {
  bool moved = exec->stream.offset != exec->watch_offset || exec->stirred;
  exec->stirred = cdam_exec_ends_wait(exec);
  return moved || exec->stirred;
}

static void look_in(cdam_exec_operation *exec, int64_t ms) {
  exec->watch_offset = exec->stream.offset;
  exec->watch = cdam_operation_after(&exec->op, ms, look);
}

/* The command is over, and so is the time in which the rest of its output should have come. */
static void drained(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->watch = NULL;
  if (has_moved(exec)) {
    exec->watch_offset = exec->stream.offset;
    exec->watch = cdam_operation_after(op, WATCH_GRACE_MS, drained);
    return;
  }
  cdam_exec_close_stream(exec);
  cdam_operation_cancel(op, exec->deadline);
  exec->deadline = NULL;
  cdam_error error;
  if (cdam_exec_stream_end(&exec->stream, &error))
    cdam_exec_settle(exec);
  else
    cdam_exec_finish(exec, &error);
}

static void looked(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->watch = NULL;
  cdam_exec_state state;
  cdam_error error;
  if (cdam_exec_read_state(reply, &state, &error) != CDAM_OK) {
    /* A conflict is a container that somebody has paused. */
    if (reply->http != 409 && ++exec->watch_failures == WATCH_FAILURES) {
      cdam_fail(&exec->trouble, CDAM_ERR_EXEC, "the engine lost sight of the command: %s",
                error.message);
      cdam_exec_explain(exec, &exec->trouble);
      return;
    }
  } else {
    exec->watch_failures = 0;
    if (state.ended) {
      exec->watch_offset = exec->stream.offset;
      exec->watch = cdam_operation_after(op, WATCH_GRACE_MS, drained);
      return;
    }
  }
  exec->watch_ms *= 2;
  if (exec->watch_ms > WATCH_LONGEST_MS) exec->watch_ms = WATCH_LONGEST_MS;
  look_in(exec, exec->watch_ms);
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->watch = NULL;
  if (has_moved(exec)) {
    exec->watch_ms = WATCH_FIRST_MS;
    look_in(exec, exec->watch_ms);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->id, "json", path, sizeof path);
  exec->watch = cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, looked);
}

void cdam_exec_watch(cdam_exec_operation *exec) {
  exec->watch_ms = WATCH_FIRST_MS;
  look_in(exec, exec->watch_ms);
}

void cdam_exec_unwatch(cdam_exec_operation *exec) {
  cdam_operation_cancel(&exec->op, exec->watch);
  exec->watch = NULL;
}
