/* SPDX-License-Identifier: Apache-2.0 */
#include "process/engine_exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "engine/answer.h"
#include "engine/explain.h"
#include "session/session.h"

/* No more is read while so much waits to be fetched: what one turn brings comes on top. */
#define MOST_UNFETCHED ((size_t)768 * 1024)

/* At the timeout: one that was just starting may slip through. */
#define KILLS 6
#define KILL_AGAIN_MS 1000
/* All that is done then is done so long after the grace. */
#define PATIENCE_MS 10000

/* ---- what can be asked ---- */

static const char *beyond_engines(const cdam_process_command *command) {
  if (command->limit_count) return "limits";
  if (command->outlive) return "outlive";
  if (command->retain) return "retain";
  if (command->no_new_privileges) return "no_new_privileges";
  if (command->kill_rest) return "kill_rest";
  if (command->clear_env) return "clear_env";
  return NULL;
}

static bool is_text(const char *text) {
  return !text || cdam_utf8_valid((const unsigned char *)text, strlen(text));
}

static bool are_texts(const char *const *texts) {
  for (size_t i = 0; texts && texts[i]; i++)
    if (!is_text(texts[i])) return false;
  return true;
}

static const char *not_text(const cdam_process_command *command) {
  if (!are_texts(command->argv)) return "argv";
  if (!are_texts(command->env)) return "env";
  if (!is_text(command->user)) return "user";
  return is_text(command->workdir) ? NULL : "workdir";
}

static cdam_status refuse(cdam_error *err, const char *member, const char *why) {
  cdam_fail(err, CDAM_ERR_NO_AGENT, "%s %s", member, why);
  if (err) snprintf(err->field, sizeof err->field, "%s", member);
  return CDAM_ERR_NO_AGENT;
}

cdam_status cdam_engine_exec_check(const cdam_process_command *command, cdam_error *err) {
  static const char marker[] = CDAM_EXEC_MARKER "=";
  const char *beyond = beyond_engines(command), *odd = not_text(command);
  if (beyond)
    return refuse(err, beyond,
                  "needs the agent, and the sandbox has none: it was adopted, or made without "
                  "one");
  if (odd) return refuse(err, odd, "is not UTF-8, which needs the agent, and the sandbox has none");
  for (size_t i = 0; command->env && command->env[i]; i++)
    if (strncmp(command->env[i], marker, sizeof marker - 1) == 0)
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "env[%zu] sets " CDAM_EXEC_MARKER ", which is ours",
                       i);
  return CDAM_OK;
}

/* ---- what happens to it ---- */

void cdam_engine_exec_tell(cdam_engine_exec *exec) {
  cdam_process *process = exec->process;
  if (!process->opening && process->ready && exec->loop) cdam_loop_post(exec->loop, &process->told);
}

static void finish_opening(cdam_process *process, cdam_status status, const cdam_error *error) {
  cdam_operation *op = process->opening;
  process->opening = NULL;
  if (op) process->opened(op, status, error);
}

/* Nothing of it goes on in the loop. */
static void stop(cdam_engine_exec *exec) {
  exec->phase = CDAM_ENGINE_OVER;
  cdam_operation_drop_all(&exec->op);
  exec->looking = NULL;
  cdam_duplex_close(exec->duplex);
  exec->duplex = NULL;
  exec->process->closed = true;
  exec->process->has_room = true;
}

void cdam_engine_exec_close(cdam_engine_exec *exec) {
  stop(exec);
  finish_opening(exec->process, CDAM_OK, NULL);
  cdam_engine_exec_tell(exec);
}

void cdam_engine_exec_fail(cdam_engine_exec *exec, const cdam_error *error) {
  cdam_process *process = exec->process;
  if (process->closed) return;
  process->failed = true;
  process->failure = *error;
  exec->gone |= error->code == CDAM_ERR_EXITED || error->code == CDAM_ERR_NOT_FOUND ||
                error->code == CDAM_ERR_NOT_STARTED;
  stop(exec);
  if (process->opening)
    finish_opening(process, error->code, &process->failure);
  else
    cdam_engine_exec_tell(exec);
}

static void fail_memory(cdam_engine_exec *exec) {
  cdam_error error;
  cdam_fail_memory(&error);
  cdam_engine_exec_fail(exec, &error);
}

static void explained(cdam_operation *op, const cdam_reply *reply) {
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  cdam_explain(reply, &exec->trouble, NULL); /* else it is what it was taken for */
  cdam_engine_name_refusal(&exec->trouble);
  cdam_engine_exec_fail(exec, &exec->trouble);
}

void cdam_engine_exec_explain(cdam_engine_exec *exec, const cdam_error *error) {
  if (error != &exec->trouble) exec->trouble = *error;
  cdam_engine_look_away(exec);
  cdam_duplex_close(exec->duplex);
  exec->duplex = NULL;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", exec->name.container_id);
  cdam_engine_exec_send(exec, "GET", path, explained);
}

static cdam_exchange *checked(cdam_engine_exec *exec, cdam_exchange *exchange) {
  if (!exchange) fail_memory(exec);
  return exchange;
}

cdam_exchange *cdam_engine_exec_send(cdam_engine_exec *exec, const char *method, const char *path,
                                     cdam_step next) {
  return checked(
      exec, cdam_operation_send(&exec->op, &(cdam_request){.method = method, .path = path}, next));
}

cdam_exchange *cdam_engine_exec_after(cdam_engine_exec *exec, int64_t ms, cdam_step next) {
  return checked(exec, cdam_operation_after(&exec->op, ms, next));
}

/* ---- its time is over ---- */

static void deadline(cdam_operation *op, const cdam_reply *reply);

static void timed_out(cdam_operation *op, cdam_exec_shell_end end, const cdam_error *error) {
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  if (exec->phase == CDAM_ENGINE_OVER) return;
  cdam_error failure;
  if (end == CDAM_SHELL_FAILED) {
    cdam_fail(&failure, error->code, "the process was timed out, and could not be ended: %s",
              error->message);
    cdam_engine_exec_explain(exec, &failure);
  } else if (end == CDAM_SHELL_REST) {
    cdam_fail(&failure, CDAM_ERR_EXEC,
              "the process was timed out, and could not be ended: it may still be running");
    cdam_engine_exec_fail(exec, &failure);
  } else if (++exec->kills < KILLS) {
    if (exec->kills == 1) cdam_engine_look(exec);
    cdam_engine_exec_after(exec, KILL_AGAIN_MS, deadline);
  } else {
    cdam_fail(&failure, CDAM_ERR_EXEC,
              "the process was timed out, and the engine does not tell its end");
    cdam_engine_exec_fail(exec, &failure);
  }
}

/* A shell of the image may come to no end. */
static void out_of_patience(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  if (exec->process->track.exited || exec->phase == CDAM_ENGINE_SETTLING) return;
  cdam_error failure;
  cdam_fail(&failure, CDAM_ERR_EXEC,
            "the process was timed out, and is not ended: it may still be running");
  cdam_engine_exec_fail(exec, &failure);
}

static void deadline(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  if (exec->process->track.exited || exec->phase == CDAM_ENGINE_SETTLING) return;
  if (!exec->kills &&
      !cdam_engine_exec_after(exec, PATIENCE_MS + (int64_t)exec->grace_ms, out_of_patience))
    return;
  exec->ended_by = CDAM_ENDED_TIMEOUT;
  exec->killer = (cdam_exec_shell){
      .container_id = exec->name.container_id,
      .user = exec->name.user[0] ? exec->name.user : NULL,
      .marker = exec->name.marker,
      .grace = (unsigned)(exec->grace_ms / 100 + (exec->grace_ms % 100 != 0)),
      .done = timed_out,
  };
  cdam_exec_shell_run(&exec->killer, op);
}

/* ---- it runs ---- */

/* A command that has ended meanwhile has no terminal any more, which is no error. */
static void sized(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  finish_opening(((cdam_engine_exec *)op)->process, CDAM_OK, NULL);
}

void cdam_engine_exec_started(cdam_engine_exec *exec) {
  cdam_process *process = exec->process;
  process->track.started = true;
  if (exec->timeout_ms && !cdam_engine_exec_after(exec, exec->timeout_ms, deadline)) return;
  if (!process->terminal) {
    finish_opening(process, CDAM_OK, NULL);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 48];
  snprintf(path, sizeof path, "/exec/%s/resize?h=%u&w=%u", exec->name.id, exec->rows,
           exec->columns);
  cdam_engine_exec_send(exec, "POST", path, sized);
}

/* ---- output ---- */

/* What a program that was not started has to say is in its first words. */
static void remember(cdam_engine_exec *exec, const char *bytes, size_t length) {
  size_t room = sizeof exec->said - 1 - exec->said_length;
  if (length > room) length = room;
  memcpy(exec->said + exec->said_length, bytes, length);
  exec->said_length += length;
}

static bool take_piece(void *user, cdam_stdcopy_stream from, const char *bytes, size_t length,
                       cdam_error *failure) {
  cdam_engine_exec *exec = user;
  remember(exec, bytes, length);
  if (from != CDAM_STDCOPY_ERR) exec->spoke = true;
  int index = from == CDAM_STDCOPY_ERR && !exec->join ? 1 : 0;
  bool dropped = exec->discard[from == CDAM_STDCOPY_ERR ? 1 : 0];
  if (dropped || (from == CDAM_STDCOPY_ERR && exec->join && exec->discard[0])) return true;
  cdam_process_output *output = &exec->process->track.outputs[index];
  if (!cdam_process_add_output(exec->process, index ? CDAM_PROCESS_STDERR : CDAM_PROCESS_STDOUT,
                               output->next, 0, bytes, length, length)) {
    cdam_fail_memory(failure);
    return false;
  }
  output->next += length;
  exec->unfetched += length;
  return true;
}

static void received(void *user, const char *bytes, size_t length) {
  cdam_engine_exec *exec = user;
  cdam_error failure;
  exec->received += length;
  bool fine = exec->process->terminal
                  ? take_piece(exec, CDAM_STDCOPY_OUT, bytes, length, &failure)
                  : cdam_stdcopy_feed(&exec->copy, bytes, length, take_piece, exec, &failure);
  if (!fine) {
    cdam_engine_exec_fail(exec, &failure);
    return;
  }
  if (exec->unfetched >= MOST_UNFETCHED) {
    exec->paused = true;
    cdam_duplex_set_reading(exec->duplex, false);
  }
  cdam_engine_exec_tell(exec);
}

void cdam_engine_exec_fetched(cdam_engine_exec *exec, size_t length) {
  exec->unfetched -= length < exec->unfetched ? length : exec->unfetched;
  if (!exec->paused || exec->unfetched > MOST_UNFETCHED / 2) return;
  exec->paused = false;
  if (exec->duplex && exec->loop) cdam_duplex_set_reading(exec->duplex, true);
}

/* ---- the stream ---- */

static void stream_opened(void *user) {
  cdam_engine_exec *exec = user;
  exec->phase = CDAM_ENGINE_STARTING;
  cdam_engine_look(exec);
}

static void drained(void *user) {
  cdam_engine_exec *exec = user;
  exec->process->has_room = true;
  if (exec->process->wants_room) cdam_engine_exec_tell(exec);
}

static bool end_outputs(cdam_process *process) {
  for (int i = 0; i < 2; i++) {
    cdam_process_output *output = &process->track.outputs[i];
    if (!output->wanted || output->ended) continue;
    output->ended = true;
    if (!cdam_process_add(process, CDAM_PROCESS_OUTPUT_END,
                          i ? CDAM_PROCESS_STDERR : CDAM_PROCESS_STDOUT))
      return false;
  }
  return true;
}

static void broken(cdam_engine_exec *exec, const cdam_error *why) {
  cdam_error error = *why;
  if (why->code != CDAM_ERR_NO_MEMORY && why->code != CDAM_ERR_ENGINE)
    cdam_fail(&error, CDAM_ERR_PROTOCOL,
              "the output was lost, and the process may still be running: %s", why->message);
  cdam_engine_exec_explain(exec, &error);
}

static void stream_closed(void *user, cdam_status status, const cdam_error *error) {
  cdam_engine_exec *exec = user;
  cdam_process *process = exec->process;
  bool was_open = exec->phase != CDAM_ENGINE_MAKING;
  cdam_duplex_close(exec->duplex);
  exec->duplex = NULL;
  process->has_room = true;
  cdam_error cut;
  if (status != CDAM_OK && !was_open) {
    exec->gone = error->http_status != 0;
    if (error->http_status)
      cdam_engine_exec_explain(exec, error);
    else
      cdam_engine_exec_fail(exec, error);
  } else if (status != CDAM_OK) {
    broken(exec, error);
  } else if (!process->terminal && !cdam_stdcopy_end(&exec->copy, &cut)) {
    broken(exec, &cut);
  } else if (!end_outputs(process)) {
    fail_memory(exec);
  } else if (process->track.exited) {
    cdam_engine_exec_close(exec);
  } else {
    exec->phase = CDAM_ENGINE_SETTLING;
    cdam_engine_look(exec);
    cdam_engine_exec_tell(exec);
  }
}

static const cdam_duplex_events stream_events = {
    .opened = stream_opened,
    .received = received,
    .drained = drained,
    .closed = stream_closed,
};

/* Older engines only know the size of a terminal that is there. */
static bool takes_size(const cdam_loop *loop) {
  unsigned major = 0, minor = 0;
  if (sscanf(loop->api_version, "%3u.%5u", &major, &minor) != 2) return false;
  return major > 1 || (major == 1 && minor >= 42);
}

static void make_start_body(const cdam_engine_exec *exec, char *body, size_t size) {
  char console[48] = "";
  if (exec->process->terminal && takes_size(exec->loop))
    snprintf(console, sizeof console, ",\"ConsoleSize\":[%u,%u]", exec->rows, exec->columns);
  snprintf(body, size, "{\"Detach\":false,\"Tty\":%s%s}",
           exec->process->terminal ? "true" : "false", console);
}

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_engine_exec *exec = (cdam_engine_exec *)op;
  cdam_error error;
  if (cdam_exec_read_id(reply, "run command", exec->name.id, &error) != CDAM_OK) {
    exec->gone = true;
    if (reply->status == CDAM_OK && reply->http >= 300)
      cdam_engine_exec_explain(exec, &error);
    else
      cdam_engine_exec_fail(exec, &error);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->name.id, "start", path, sizeof path);
  char body[96];
  make_start_body(exec, body, sizeof body);
  exec->duplex = cdam_duplex_open(exec->loop, path, body, 0, &stream_events, exec, &error);
  if (exec->duplex)
    exec->sent = true;
  else
    cdam_engine_exec_fail(exec, &error);
}

/* ---- the loop ends first ---- */

static void leave_loop(cdam_engine_exec *exec) {
  cdam_loop *loop = exec->loop;
  if (!loop) return;
  exec->loop = NULL;
  cdam_duplex_close(exec->duplex);
  exec->duplex = NULL;
  cdam_operation_finish(&exec->op, CDAM_OK, NULL);
  cdam_loop_forget_end(loop, &exec->at_end);
  cdam_loop_unpost(loop, &exec->process->told);
}

static bool may_run(const cdam_engine_exec *exec) {
  return exec->sent && !exec->gone && !exec->process->track.exited;
}

static void loop_ended(cdam_posted *posted) {
  cdam_engine_exec *exec =
      (cdam_engine_exec *)(void *)((char *)posted - offsetof(cdam_engine_exec, at_end));
  cdam_process *process = exec->process;
  leave_loop(exec);
  if (may_run(exec)) cdam_engine_kill_off(&exec->name, exec->client, NULL);
  exec->gone = true;
  if (!process->closed && !process->track.exited) {
    process->failed = true;
    cdam_fail(&process->failure, CDAM_ERR_CANCELLED, "the loop was freed");
  }
  process->closed = process->has_room = true;
  exec->phase = CDAM_ENGINE_OVER;
}

/* ---- beginning and end ---- */

void cdam_engine_exec_start(cdam_engine_exec *exec, cdam_loop *loop) {
  exec->loop = loop;
  cdam_operation_init_in(&exec->op, loop);
  exec->at_end.run = loop_ended;
  cdam_loop_on_end(loop, &exec->at_end);
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/exec", exec->name.container_id);
  const cdam_request request = {.method = "POST", .path = path, .body = exec->body};
  checked(exec, cdam_operation_send(&exec->op, &request, created));
}

static bool copy_command(cdam_engine_exec *exec, const cdam_process_command *command) {
  exec->rows = command->rows ? command->rows : 24;
  exec->columns = command->columns ? command->columns : 80;
  exec->join = command->join_stderr;
  exec->discard[0] = command->discard_stdout;
  exec->discard[1] = command->discard_stderr;
  if (command->timeout_ms) exec->timeout_ms = cdam_exec_until(command->timeout_ms) - cdam_now_ms();
  exec->grace_ms = command->grace_ms;
  if (command->user) snprintf(exec->name.user, sizeof exec->name.user, "%s", command->user);
  cdam_exec_make_marker(exec->name.marker);
  exec->body = cdam_exec_body_text(&(cdam_exec_body){
      .argv = command->argv,
      .env = command->env,
      .user = command->user,
      .workdir = command->workdir,
      .marker = exec->name.marker,
      .input = command->input,
      .terminal = command->terminal,
  });
  return exec->body != NULL;
}

cdam_status cdam_engine_exec_new(cdam_process *process, const cdam_session *session,
                                 const cdam_process_command *command, cdam_error *err) {
  cdam_engine_exec *exec = calloc(1, sizeof *exec);
  if (!exec) return cdam_fail_memory(err);
  exec->process = process;
  exec->client = session->client;
  exec->ended_by = CDAM_ENDED_ITSELF;
  process->engine = exec;
  cdam_session_container_id(session, exec->name.container_id);
  return copy_command(exec, command) ? CDAM_OK : cdam_fail_memory(err);
}

void cdam_engine_exec_free(cdam_engine_exec *exec) {
  if (!exec) return;
  cdam_loop *loop = exec->process->own ? NULL : exec->loop;
  leave_loop(exec);
  if (may_run(exec)) cdam_engine_kill_off(&exec->name, exec->client, loop);
  cdam_stdcopy_clear(&exec->copy);
  free(exec->body);
  free(exec);
}

/* ---- input ---- */

bool cdam_engine_exec_can_write(const cdam_engine_exec *exec) {
  return !exec->duplex || cdam_duplex_pending(exec->duplex) <= CDAM_DUPLEX_LOW;
}

cdam_status cdam_engine_exec_write(cdam_engine_exec *exec, const void *bytes, size_t length,
                                   cdam_error *err) {
  bool fine = !exec->duplex || cdam_duplex_write(exec->duplex, bytes, length);
  return fine ? CDAM_OK : cdam_fail_memory(err);
}

void cdam_engine_exec_end_input(cdam_engine_exec *exec) {
  if (exec->duplex) cdam_duplex_end_writing(exec->duplex);
}
