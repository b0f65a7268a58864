/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that end with a handle: spawn and attach. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "link/answer_limit.h"
#include "process/engine_exec.h"
#include "process/process_private.h"
#include "process/request.h"
#include "session/session.h"

/* An agent that is asked to end what it was just asked to start has so long. */
#define ABORT_LIMIT_MS 10000

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME

typedef struct opening {
  cdam_operation op; /* first */
  cdam_link *link;
  cdam_process *process; /* until it is handed out */
  cdam_agent_request request;
  cdam_answer_limit limit;            /* until it is told started */
  Cofferdam__Agent__V1__Start *start; /* spawn */
  bool outlive;
  cdam_process_name name; /* attach, with the next one */
  cdam_process_attachment attachment;
  bool aborting;
  cdam_process_callback callback;
} opening;

static opening *of(cdam_operation *op) {
  return (opening *)op;
}

static void finish(opening *this, cdam_status status, const cdam_error *error) {
  cdam_operation_finish(&this->op, status, error);
}

/* ---- the steps ---- */

static void kill_it(opening *this);

/* What the agent refuses of a command that was checked before is what only it can know: the user.
 */
static void finish_opened(opening *this, cdam_status status, const cdam_error *error) {
  if (status != CDAM_ERR_ARGUMENT || !this->start) {
    finish(this, status, error);
    return;
  }
  cdam_error refused;
  cdam_fail(&refused, CDAM_ERR_NOT_STARTED, "the command could not be started: %s", error->message);
  snprintf(refused.field, sizeof refused.field, "user");
  finish(this, CDAM_ERR_NOT_STARTED, &refused);
}

static void opened(cdam_operation *op, cdam_status status, const cdam_error *error) {
  opening *this = of(op);
  if (!this->aborting)
    finish_opened(this, status, error);
  else if (status == CDAM_OK)
    kill_it(this);
  else
    cdam_operation_finish_cancelled(op); /* it never ran, or the link is gone and it with it */
}

static void open_channel(opening *this, cdam_to_agent *message) {
  cdam_process *process = this->process;
  cdam_error error;
  cdam_status status = cdam_channel_open(this->link, &process->channel, message,
                                         &cdam_process_channel_events, &error);
  if (status != CDAM_OK) {
    finish(this, status, &error);
    return;
  }
  cdam_channel_set_hold(&process->channel, true);
  process->opening = &this->op;
  process->opened = opened;
  cdam_answer_limit_begin(&this->limit, &this->op, &process->channel,
                          this->start ? "start a process" : "attach to a process", 0);
}

/* What it refuses at once has finished already. */
static void set_patience(opening *this) {
  cdam_error error;
  const Cofferdam__Agent__V1__Start *start = this->start;
  if (this->op.finished || !start->timeout_ms) return;
  if (cdam_process_set_patience(this->process, (int64_t)start->timeout_ms, start->grace_ms,
                                &error) != CDAM_OK)
    finish(this, error.code, &error);
}

static void send_start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  opening *this = of(op);
  cdam_operation_hold(op);
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(START);
  message.start = this->start;
  open_channel(this, &message);
  set_patience(this);
}

static void send_attach(opening *this) {
  cdam_error error;
  cdam_status status =
      cdam_process_check_instance(&this->name, cdam_link_instance(this->link), &error);
  if (status != CDAM_OK) {
    finish(this, status, &error);
    return;
  }
  Cofferdam__Agent__V1__Attach attach = COFFERDAM__AGENT__V1__ATTACH__INIT;
  attach.process_id = this->name.id;
  attach.output = !this->attachment.no_output;
  attach.input = this->attachment.input;
  attach.paced = this->attachment.paced;
  attach.from_now = this->attachment.from_now;
  if (!attach.from_now) {
    attach.output_offset = this->attachment.stdout_offset;
    attach.error_offset = this->attachment.stderr_offset;
  }
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(ATTACH);
  message.attach = &attach;
  open_channel(this, &message);
}

static void met(void *user, cdam_status status, const cdam_error *error) {
  opening *this = user;
  if (status == CDAM_OK)
    send_attach(this);
  else
    finish(this, status, error);
}

/* A number means nothing to another agent than the one that gave it, so that one is met first. */
static void meet_agent(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  opening *this = of(op);
  cdam_operation_hold(op);
  cdam_agent_request_meet(&this->request, this->link, met, this);
  if (cdam_channel_is_open(&this->request.channel))
    cdam_answer_limit_begin(&this->limit, op, &this->request.channel, "attach to a process", 0);
}

/* ---- ending early ---- */

static void killed(void *user, cdam_status status, const cdam_error *error) {
  (void)status, (void)error;
  opening *this = user;
  if (this->outlive && !cdam_link_is_broken(this->link)) {
    Cofferdam__Agent__V1__Forget forget = COFFERDAM__AGENT__V1__FORGET__INIT;
    forget.process_id = this->process->track.id;
    cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
    message.body_case = TO(FORGET);
    message.forget = &forget;
    cdam_agent_tell(this->link, &message, NULL);
  }
  cdam_operation_finish_cancelled(&this->op);
}

static void kill_it(opening *this) {
  cdam_error error;
  if (cdam_agent_request_kill(&this->request, this->link, this->process->track.id, 0, killed, this,
                              &error) != CDAM_OK)
    finish(this, error.code, &error);
}

static void out_of_time(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_CANCELLED,
            "the process was cancelled, and may have been started: the agent does not answer");
  cdam_operation_finish(op, CDAM_ERR_CANCELLED, &error);
}

static void abort_opening(cdam_operation *op) {
  opening *this = of(op);
  if (this->process->engine) {
    cdam_operation_finish_cancelled(op); /* to free the handle ends what was started */
    return;
  }
  if (this->aborting) return;
  this->aborting = true;
  const cdam_channel *channel = &this->process->channel;
  bool was_sent = cdam_channel_is_open(channel) && channel->number != 0;
  if (!this->start || !was_sent) {
    cdam_operation_finish_cancelled(op);
    return;
  }
  cdam_answer_limit_end(&this->limit);
  cdam_operation_after(op, ABORT_LIMIT_MS, out_of_time);
  if (!this->outlive) cdam_channel_cancel(&this->process->channel);
}

/* ---- beginning and end ---- */

static opening *new_opening(cdam_link *link, cdam_own_loop *own) {
  opening *this = calloc(1, sizeof *this);
  if (!this) return NULL;
  this->op.abort = abort_opening;
  this->link = link ? cdam_link_ref(link) : NULL;
  this->process = cdam_process_new(link, own);
  if (this->process) return this;
  cdam_link_unref(this->link);
  free(this);
  return NULL;
}

static void end(opening *this) {
  if (cdam_channel_is_open(&this->request.channel)) cdam_channel_abandon(&this->request.channel);
  cdam_process_free(this->process);
  cdam_link_unref(this->link);
  free(this->start);
  free(this);
}

static cdam_process *take_process(opening *this, cdam_status status) {
  cdam_process *process = this->process;
  process->opening = NULL;
  if (status != CDAM_OK) return NULL;
  this->process = NULL;
  return process;
}

static void completed(cdam_operation *op) {
  opening *this = of(op);
  this->callback(op->user, op->status, take_process(this, op->status), &op->error);
  end(this);
}

static cdam_status run(opening *this, cdam_own_loop *own, cdam_step start, cdam_process **out,
                       cdam_error *err) {
  cdam_status status = cdam_operation_run_in(&this->op, own->loop, start, err);
  *out = take_process(this, status);
  end(this);
  return status;
}

static cdam_status submit(opening *this, cdam_loop *loop, cdam_step start,
                          cdam_process_callback callback, void *user, cdam_operation **operation,
                          cdam_error *err) {
  this->callback = callback;
  this->op.user = user;
  cdam_status status = cdam_operation_submit(&this->op, loop, start, completed, err);
  if (status != CDAM_OK)
    end(this);
  else if (operation)
    *operation = &this->op;
  return status;
}

/* ---- spawn ---- */

static void set_up(cdam_process *process, const cdam_process_command *command) {
  process->track.has_input = command->input;
  process->terminal = command->terminal;
  process->track.outputs[0].wanted = !command->discard_stdout;
  process->track.outputs[1].wanted =
      !command->discard_stderr && !command->join_stderr && !command->terminal;
}

static cdam_status make_spawn(cdam_link *link, cdam_own_loop *own,
                              const cdam_process_command *command, opening **out, cdam_error *err) {
  opening *this = new_opening(link, own);
  if (!this) return cdam_fail_memory(err);
  this->start = cdam_process_make_start(command);
  if (!this->start) {
    end(this);
    return cdam_fail_memory(err);
  }
  set_up(this->process, command);
  this->outlive = command->outlive;
  *out = this;
  return CDAM_OK;
}

static void start_exec(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  opening *this = of(op);
  cdam_operation_hold(op);
  this->process->opening = op;
  this->process->opened = opened;
  cdam_engine_exec_start(this->process->engine, op->loop);
}

static cdam_status make_exec(cdam_session *session, cdam_own_loop *own,
                             const cdam_process_command *command, opening **out, cdam_error *err) {
  cdam_status status = cdam_engine_exec_check(command, err);
  if (status != CDAM_OK) return status;
  opening *this = new_opening(NULL, own);
  if (!this) return cdam_fail_memory(err);
  set_up(this->process, command);
  status = cdam_engine_exec_new(this->process, session, command, err);
  if (status == CDAM_OK)
    *out = this;
  else
    end(this);
  return status;
}

static cdam_status spawn_by_engine(cdam_session *session, const cdam_process_command *command,
                                   cdam_process **out, cdam_error *err) {
  opening *this = NULL;
  cdam_own_loop *own;
  cdam_status status = cdam_session_own_blocking(session, &own, err);
  if (status == CDAM_OK) status = make_exec(session, own, command, &this, err);
  return status == CDAM_OK ? run(this, own, start_exec, out, err) : status;
}

cdam_status cdam_process_spawn(cdam_session *session, const cdam_process_command *command,
                               cdam_process **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!session || !command || !out)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "session, command or out is NULL");
  cdam_own_loop *own;
  cdam_link *link;
  opening *this = NULL;
  cdam_status status = cdam_process_check_command(command, err);
  if (status == CDAM_OK && !session->has_agent) return spawn_by_engine(session, command, out, err);
  if (status == CDAM_OK) status = cdam_session_own_link(session, &own, &link, err);
  if (status != CDAM_OK) return status;
  status = make_spawn(link, own, command, &this, err);
  if (status == CDAM_OK) status = run(this, own, send_start, out, err);
  cdam_link_unref(link);
  return status;
}

cdam_status cdam_process_spawn_start(cdam_loop *loop, cdam_session *session,
                                     const cdam_process_command *command,
                                     cdam_process_callback callback, void *user,
                                     cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  if (status != CDAM_OK) return status;
  if (!command) return cdam_fail(err, CDAM_ERR_ARGUMENT, "command is NULL");
  cdam_link *link;
  opening *this = NULL;
  status = cdam_process_check_command(command, err);
  if (status == CDAM_OK && !session->has_agent) {
    status = make_exec(session, NULL, command, &this, err);
    return status == CDAM_OK ? submit(this, loop, start_exec, callback, user, operation, err)
                             : status;
  }
  if (status == CDAM_OK) status = cdam_session_link(session, loop, &link, err);
  if (status != CDAM_OK) return status;
  status = make_spawn(link, NULL, command, &this, err);
  if (status == CDAM_OK) status = submit(this, loop, send_start, callback, user, operation, err);
  cdam_link_unref(link);
  return status;
}

/* ---- attach ---- */

static cdam_status check_attachment(const char *key, const cdam_process_attachment *attachment,
                                    cdam_process_name *name, cdam_error *err) {
  for (size_t i = 0; attachment && i < sizeof attachment->reserved; i++)
    if (attachment->reserved[i])
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "a reserved member of the attachment is not false");
  if (!key) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the key is NULL");
  return cdam_process_parse_key(key, name, err);
}

static cdam_status make_attach(cdam_link *link, cdam_own_loop *own, const cdam_process_name *name,
                               const cdam_process_attachment *attachment, opening **out,
                               cdam_error *err) {
  opening *this = new_opening(link, own);
  if (!this) return cdam_fail_memory(err);
  this->name = *name;
  if (attachment) this->attachment = *attachment;
  cdam_process *process = this->process;
  process->track.attached = true;
  process->track.id = name->id;
  process->track.has_input = this->attachment.input;
  for (int i = 0; i < 2; i++) {
    process->track.outputs[i].wanted = !this->attachment.no_output;
    process->track.outputs[i].any_offset = this->attachment.from_now;
  }
  if (!this->attachment.from_now) {
    process->track.outputs[0].next = this->attachment.stdout_offset;
    process->track.outputs[1].next = this->attachment.stderr_offset;
  }
  *out = this;
  return CDAM_OK;
}

cdam_status cdam_process_attach(cdam_session *session, const char *key,
                                const cdam_process_attachment *attachment, cdam_process **out,
                                cdam_error *err) {
  if (out) *out = NULL;
  if (!session || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session or out is NULL");
  cdam_process_name name;
  cdam_own_loop *own;
  cdam_link *link;
  opening *this = NULL;
  cdam_status status = check_attachment(key, attachment, &name, err);
  if (status == CDAM_OK) status = cdam_session_own_link(session, &own, &link, err);
  if (status != CDAM_OK) return status;
  status = make_attach(link, own, &name, attachment, &this, err);
  if (status == CDAM_OK) status = run(this, own, meet_agent, out, err);
  cdam_link_unref(link);
  return status;
}

cdam_status cdam_process_attach_start(cdam_loop *loop, cdam_session *session, const char *key,
                                      const cdam_process_attachment *attachment,
                                      cdam_process_callback callback, void *user,
                                      cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  if (status != CDAM_OK) return status;
  cdam_process_name name;
  cdam_link *link;
  opening *this = NULL;
  status = check_attachment(key, attachment, &name, err);
  if (status == CDAM_OK) status = cdam_session_link(session, loop, &link, err);
  if (status != CDAM_OK) return status;
  status = make_attach(link, NULL, &name, attachment, &this, err);
  if (status == CDAM_OK) status = submit(this, loop, meet_agent, callback, user, operation, err);
  cdam_link_unref(link);
  return status;
}
