/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "engine/answer.h"
#include "engine/explain.h"
#include "link/session_link.h"
#include "session/exec_agent.h"
#include "session/exec_private.h"
#include "session/session.h"

#define DEFAULT_CAP ((size_t)1024 * 1024)

int64_t cdam_exec_until(int64_t timeout_ms) {
  bool fine = timeout_ms < CDAM_LONGEST_TIMEOUT_MS;
  return cdam_now_ms() + (fine ? timeout_ms : CDAM_LONGEST_TIMEOUT_MS);
}

/* ---- what the caller asks for ---- */

static bool is_text(const char *text) {
  return cdam_utf8_valid((const unsigned char *)text, strlen(text));
}

static cdam_status check_env(const char *const *env, cdam_error *err) {
  static const char marker[] = CDAM_EXEC_MARKER "=";
  for (size_t i = 0; env && env[i]; i++) {
    const char *wrong = NULL;
    if (!strchr(env[i], '=') || env[i][0] == '=')
      wrong = "is not KEY=VALUE";
    else if (!is_text(env[i]))
      wrong = "is not UTF-8";
    else if (strncmp(env[i], marker, sizeof marker - 1) == 0)
      wrong = "sets " CDAM_EXEC_MARKER ", which is ours";
    if (wrong) return cdam_fail(err, CDAM_ERR_ARGUMENT, "env[%zu] %s", i, wrong);
  }
  return CDAM_OK;
}

static cdam_status check_ends(const cdam_exec_command *command, cdam_error *err) {
  cdam_status status = cdam_source_check(command->input, "input", err);
  if (status == CDAM_OK) status = cdam_sink_check(command->stdout_sink, "stdout_sink", err);
  if (status == CDAM_OK) status = cdam_sink_check(command->stderr_sink, "stderr_sink", err);
  if (status != CDAM_OK) return status;
  if (command->flags & ~(uintptr_t)CDAM_EXEC_KEEP_TAIL)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command has flags that are not known");
  for (size_t i = 0; i < sizeof command->reserved / sizeof *command->reserved; i++)
    if (command->reserved[i])
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "a reserved member of the command is not NULL");
  return CDAM_OK;
}

static cdam_status check_command(const cdam_exec_command *command, cdam_error *err) {
  if (!command->argv || !command->argv[0])
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's argv is empty");
  if (!*command->argv[0])
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's argv[0] is an empty string");
  for (size_t i = 0; command->argv[i]; i++)
    if (!is_text(command->argv[i]))
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's argv[%zu] is not UTF-8", i);
  if (command->user && (!*command->user || !is_text(command->user)))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's user is empty or not UTF-8");
  if (command->workdir && (command->workdir[0] != '/' || !is_text(command->workdir)))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's workdir is not an absolute path");
  if (command->timeout_ms < 0)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command's timeout_ms is negative");
  cdam_status status = check_ends(command, err);
  return status == CDAM_OK ? check_env(command->env, err) : status;
}

/* ---- requests ---- */

void cdam_exec_send_create(cdam_exec_operation *exec, const char *body, cdam_step next) {
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/exec", exec->container_id);
  cdam_operation_send(&exec->op, &(cdam_request){.method = "POST", .path = path, .body = body},
                      next);
}

/* ---- the end ---- */

void cdam_exec_finish(cdam_exec_operation *exec, const cdam_error *error) {
  cdam_exec_close_stream(exec);
  cdam_exec_ends_drop(exec);
  cdam_operation_finish(&exec->op, error ? error->code : CDAM_OK, error);
}

static void explained(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_explain(reply, &exec->trouble, NULL); /* else it is what it was taken for */
  cdam_exec_finish(exec, &exec->trouble);
}

void cdam_exec_explain(cdam_exec_operation *exec, const cdam_error *error) {
  if (error != &exec->trouble) exec->trouble = *error;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", exec->container_id);
  cdam_operation_send(&exec->op, &(cdam_request){.method = "GET", .path = path}, explained);
}

/* ---- the steps ---- */

static bool take_output(void *user, const char *bytes, size_t length, cdam_error *failure) {
  cdam_exec_operation *exec = user;
  return cdam_exec_stream_feed(&exec->stream, bytes, length, failure);
}

/* The command may go on without us; what it wrote is not whole, so this is no success. */
static void broken(cdam_exec_operation *exec, const cdam_error *why) {
  cdam_error error = *why;
  if (why->code != CDAM_ERR_NO_MEMORY && why->code != CDAM_ERR_ENGINE)
    cdam_fail(&error, CDAM_ERR_PROTOCOL,
              "the command's output was lost, and the command may still be running: %s",
              why->message);
  cdam_exec_finish(exec, &error);
}

void cdam_exec_streamed(cdam_exec_operation *exec, bool answered, int http,
                        const cdam_error *error) {
  cdam_exec_close_stream(exec);
  exec->streamed = true;
  cdam_exec_unwatch(exec);
  if (exec->killing) {
    cdam_exec_kill_streamed(exec);
    return;
  }
  cdam_operation_cancel(&exec->op, exec->deadline);
  exec->deadline = NULL;
  cdam_error cut;
  /* Without an answer it was never started; or, when there is none at all, nobody knows. */
  if (!answered && http)
    cdam_exec_explain(exec, error);
  else if (!answered)
    cdam_exec_finish(exec, error);
  else if (error)
    broken(exec, error);
  else if (!cdam_exec_stream_end(&exec->stream, &cut))
    broken(exec, &cut);
  else
    cdam_exec_settle(exec);
}

static void streamed(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_error error;
  exec->streaming = NULL;
  bool answered = reply->http == 101 || (reply->http >= 200 && reply->http <= 299);
  if (!answered && cdam_answer_check(reply, "start command", &error) == CDAM_OK)
    cdam_fail(&error, CDAM_ERR_PROTOCOL, "start command: unexpected answer %d", reply->http);
  cdam_exec_streamed(exec, answered, reply->http, answered ? reply->error : &error);
}

static void begin_stream(cdam_exec_operation *exec) {
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(exec->id, "start", path, sizeof path);
  exec->streaming = cdam_operation_send(&exec->op,
                                        &(cdam_request){.method = "POST",
                                                        .path = path,
                                                        .body = CDAM_EXEC_START,
                                                        .upgrade = true,
                                                        .stream = true,
                                                        .sink = take_output,
                                                        .sink_user = exec},
                                        streamed);
}

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_error error;
  if (cdam_exec_read_id(reply, "run command", exec->id, &error) != CDAM_OK) {
    if (reply->status == CDAM_OK && reply->http >= 300)
      cdam_exec_explain(exec, &error);
    else
      cdam_exec_finish(exec, &error);
    return;
  }
  if (!cdam_exec_has_ends(exec)) {
    begin_stream(exec);
  } else if (cdam_exec_ends_stream(exec, &error) != CDAM_OK) {
    cdam_exec_finish(exec, &error);
    return;
  }
  cdam_exec_watch(exec);
}

static void start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  cdam_error error;
  if (cdam_exec_ends_open(exec, &error) != CDAM_OK) {
    cdam_exec_finish(exec, &error);
    return;
  }
  if (exec->until)
    exec->deadline = cdam_operation_after(op, exec->until - cdam_now_ms(), cdam_exec_deadline);
  cdam_exec_send_create(exec, exec->body, created);
}

/* ---- beginning and end ---- */

static void end(cdam_exec_operation *exec) {
  cdam_exec_ends_free(exec);
  cdam_exec_stream_clear(&exec->stream);
  cdam_exec_result_free(exec->result);
  free(exec->user);
  free(exec->body);
  free(exec);
}

/* Everything of the command that is needed later. */
static bool copy_command(cdam_exec_operation *exec, const cdam_exec_command *command) {
  exec->stream.cap = command->output_cap ? command->output_cap : DEFAULT_CAP;
  exec->stream.tail = command->flags & CDAM_EXEC_KEEP_TAIL;
  if (command->timeout_ms > 0) exec->until = cdam_exec_until(command->timeout_ms);
  exec->body = cdam_exec_body_text(&(cdam_exec_body){
      .argv = command->argv,
      .env = command->env,
      .user = command->user,
      .workdir = command->workdir,
      .marker = exec->marker,
      .input = command->input != NULL,
  });
  exec->user = command->user ? strdup(command->user) : NULL;
  exec->result = calloc(1, sizeof *exec->result);
  cdam_exec_ends_set(exec, command);
  return exec->body && exec->result && (exec->user || !command->user);
}

static cdam_status prepare(const cdam_session *session, const cdam_exec_command *command,
                           cdam_exec_operation **out, cdam_error *err) {
  cdam_exec_operation *exec = calloc(1, sizeof *exec);
  if (!exec) return cdam_fail_memory(err);
  exec->op.abort = cdam_exec_abort;
  cdam_session_container_id(session, exec->container_id);
  cdam_exec_make_marker(exec->marker);
  if (!copy_command(exec, command)) {
    end(exec);
    return cdam_fail_memory(err);
  }
  *out = exec;
  return CDAM_OK;
}

/* The result, when there is one; what the stream has kept changes hands. */
static cdam_exec_result *take_result(cdam_exec_operation *exec, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_exec_result *result = exec->result;
  exec->result = NULL;
  for (int i = 0; i < 2; i++)
    result->to_sink[i] = exec->has_sink[i];
  if (!result->not_started) cdam_exec_stream_forget_diverted(&exec->stream);
  cdam_exec_stream_trim(&exec->stream);
  result->out = exec->stream.out;
  result->err = exec->stream.err;
  exec->stream.out = exec->stream.err = (cdam_exec_output){0};
  return result;
}

static cdam_status exec_by_engine(cdam_session *session, const cdam_exec_command *command,
                                  cdam_exec_result **out, cdam_error *err) {
  cdam_exec_operation *exec;
  cdam_status status = prepare(session, command, &exec, err);
  if (status != CDAM_OK) return status;
  status = cdam_operation_run(&exec->op, session->client, start, err);
  *out = take_result(exec, status);
  end(exec);
  return status;
}

static cdam_status exec_by_agent(cdam_session *session, const cdam_exec_command *command,
                                 cdam_exec_result **out, cdam_error *err) {
  cdam_own_loop *own;
  cdam_link *link;
  cdam_exec_agent *exec;
  cdam_status status = cdam_session_own_link(session, &own, &link, err);
  if (status != CDAM_OK) return status;
  status = cdam_exec_agent_new(link, command, &exec, err);
  cdam_link_unref(link);
  if (status != CDAM_OK) return status;
  status = cdam_operation_run_in(&exec->op, own->loop, cdam_exec_agent_start, err);
  *out = cdam_exec_agent_take(exec, status);
  cdam_exec_agent_free(exec);
  return status;
}

cdam_status cdam_exec(cdam_session *session, const cdam_exec_command *command,
                      cdam_exec_result **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!session || !command || !out)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "session, command or out is NULL");
  cdam_status status = check_command(command, err);
  if (status != CDAM_OK) return status;
  return session->has_agent ? exec_by_agent(session, command, out, err)
                            : exec_by_engine(session, command, out, err);
}

static void completed(cdam_operation *op) {
  cdam_exec_operation *exec = (cdam_exec_operation *)op;
  exec->callback(op->user, op->status, take_result(exec, op->status), &op->error);
  end(exec);
}

static cdam_status start_by_engine(cdam_loop *loop, cdam_session *session,
                                   const cdam_exec_command *command, cdam_exec_callback callback,
                                   void *user, cdam_operation **operation, cdam_error *err) {
  cdam_exec_operation *exec;
  cdam_status status = prepare(session, command, &exec, err);
  if (status != CDAM_OK) return status;
  exec->callback = callback;
  exec->op.user = user;
  status = cdam_operation_submit(&exec->op, loop, start, completed, err);
  if (status != CDAM_OK)
    end(exec);
  else if (operation)
    *operation = &exec->op;
  return status;
}

static void completed_by_agent(cdam_operation *op) {
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  exec->callback(op->user, op->status, cdam_exec_agent_take(exec, op->status), &op->error);
  cdam_exec_agent_free(exec);
}

static cdam_status start_by_agent(cdam_loop *loop, cdam_session *session,
                                  const cdam_exec_command *command, cdam_exec_callback callback,
                                  void *user, cdam_operation **operation, cdam_error *err) {
  cdam_link *link;
  cdam_exec_agent *exec;
  cdam_status status = cdam_session_link(session, loop, &link, err);
  if (status != CDAM_OK) return status;
  status = cdam_exec_agent_new(link, command, &exec, err);
  cdam_link_unref(link);
  if (status != CDAM_OK) return status;
  exec->callback = callback;
  exec->op.user = user;
  status = cdam_operation_submit(&exec->op, loop, cdam_exec_agent_start, completed_by_agent, err);
  if (status != CDAM_OK)
    cdam_exec_agent_free(exec);
  else if (operation)
    *operation = &exec->op;
  return status;
}

cdam_status cdam_exec_start(cdam_loop *loop, cdam_session *session,
                            const cdam_exec_command *command, cdam_exec_callback callback,
                            void *user, cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  if (status != CDAM_OK) return status;
  if (!command) return cdam_fail(err, CDAM_ERR_ARGUMENT, "command is NULL");
  status = check_command(command, err);
  if (status != CDAM_OK) return status;
  return (session->has_agent ? start_by_agent : start_by_engine)(loop, session, command, callback,
                                                                 user, operation, err);
}
