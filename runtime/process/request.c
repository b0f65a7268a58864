/* SPDX-License-Identifier: Apache-2.0 */
#include "process/request.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "link/answer_limit.h"
#include "process/engine_exec.h"
#include "process/process_private.h"

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME

static bool message_came(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  (void)channel;
  if (message->body_case == COFFERDAM__AGENT__V1__FROM_AGENT__BODY_STATUS) return true;
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent broke the protocol: an answer to another request");
  return false;
}

static void done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                 const cdam_agent_done *message) {
  (void)message;
  cdam_agent_request *request = (cdam_agent_request *)channel;
  request->done(request->user, status, error);
}

static const cdam_channel_events events = {.message = message_came, .done = done};

cdam_status cdam_agent_request_open(cdam_agent_request *request, cdam_link *link,
                                    cdam_to_agent *message, cdam_agent_request_done on_done,
                                    void *user, cdam_error *err) {
  request->done = on_done;
  request->user = user;
  return cdam_channel_open(link, &request->channel, message, &events, err);
}

cdam_status cdam_agent_request_kill(cdam_agent_request *request, cdam_link *link, uint64_t id,
                                    uint32_t grace_ms, cdam_agent_request_done on_done, void *user,
                                    cdam_error *err) {
  Cofferdam__Agent__V1__Kill kill = COFFERDAM__AGENT__V1__KILL__INIT;
  kill.process_id = id;
  kill.grace_ms = grace_ms;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(KILL);
  message.kill = &kill;
  return cdam_agent_request_open(request, link, &message, on_done, user, err);
}

/* No answer is wanted but the link's hello, which comes before it. */
void cdam_agent_request_meet(cdam_agent_request *request, cdam_link *link,
                             cdam_agent_request_done on_done, void *user) {
  if (*cdam_link_instance(link)) {
    on_done(user, CDAM_OK, NULL);
    return;
  }
  cdam_error error;
  Cofferdam__Agent__V1__GetStatus get = COFFERDAM__AGENT__V1__GET_STATUS__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(GET_STATUS);
  message.get_status = &get;
  cdam_status status = cdam_agent_request_open(request, link, &message, on_done, user, &error);
  if (status != CDAM_OK) on_done(user, status, &error);
}

/* ---- without an answer ---- */

static void told(void *user, cdam_status status, const cdam_error *error) {
  (void)status, (void)error;
  free(user);
}

cdam_status cdam_agent_tell(cdam_link *link, cdam_to_agent *message, cdam_error *err) {
  cdam_agent_request *request = calloc(1, sizeof *request);
  if (!request) return cdam_fail_memory(err);
  cdam_status status = cdam_agent_request_open(request, link, message, told, request, err);
  if (status != CDAM_OK) free(request);
  return status;
}

/* ---- with one that is waited for ---- */

typedef struct waiting {
  cdam_operation op;
  cdam_agent_request request;
  cdam_answer_limit limit;
  cdam_link *link;
  cdam_to_agent *message;
  const char *what;
  uint32_t grace_ms;
} waiting;

static void answered(void *user, cdam_status status, const cdam_error *error) {
  waiting *this = user;
  cdam_operation_finish(&this->op, status, error);
}

static void start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  waiting *this = (waiting *)op;
  cdam_error error;
  cdam_status status =
      cdam_agent_request_open(&this->request, this->link, this->message, answered, this, &error);
  if (status != CDAM_OK) {
    cdam_operation_finish(op, status, &error);
    return;
  }
  cdam_operation_hold(op);
  cdam_answer_limit_begin(&this->limit, op, &this->request.channel, this->what, this->grace_ms);
}

/* A system call that finds no process, or a record that is gone. */
static cdam_status explain(cdam_status status, cdam_error *err) {
  if (status == CDAM_OK || status == CDAM_ERR_NO_PROCESS || err->system_errno != ESRCH)
    return status;
  return cdam_fail(err, CDAM_ERR_NO_PROCESS, "the process has ended");
}

static cdam_status ask(cdam_process *process, cdam_to_agent *message, const char *what,
                       uint32_t grace_ms, cdam_error *err) {
  if (!process->own) {
    cdam_status status = cdam_agent_tell(process->link, message, err);
    return status == CDAM_OK ? cdam_ok(err) : status;
  }
  waiting this = {.link = process->link, .message = message, .what = what, .grace_ms = grace_ms};
  cdam_error own, *error = err ? err : &own;
  cdam_status status = cdam_operation_run_in(&this.op, process->own->loop, start, error);
  if (cdam_channel_is_open(&this.request.channel)) cdam_channel_abandon(&this.request.channel);
  return explain(status, error);
}

/* ---- the calls ---- */

static cdam_status check(const cdam_process *process, bool also_after, cdam_error *err) {
  if (!process) return cdam_fail(err, CDAM_ERR_ARGUMENT, "process is NULL");
  bool fine = also_after && process->track.exited && !process->failed;
  return fine ? CDAM_OK : cdam_process_check_alive(process, err);
}

static cdam_status signal_by_engine(cdam_process *process, int signal, cdam_process_target target,
                                    cdam_error *err) {
  static const char *const targets[] = {
      [CDAM_TARGET_PROCESS] = "process",
      [CDAM_TARGET_GROUP] = "group",
      [CDAM_TARGET_TREE] = "tree",
  };
  return cdam_engine_ask(
      process,
      &(cdam_engine_request){.order = CDAM_ENGINE_SIGNAL, .number = signal, .to = targets[target]},
      err);
}

cdam_status cdam_process_signal(cdam_process *process, int signal, cdam_process_target target,
                                cdam_error *err) {
  static const Cofferdam__Agent__V1__Target targets[] = {
      [CDAM_TARGET_PROCESS] = COFFERDAM__AGENT__V1__TARGET__TARGET_PROCESS,
      [CDAM_TARGET_GROUP] = COFFERDAM__AGENT__V1__TARGET__TARGET_GROUP,
      [CDAM_TARGET_TREE] = COFFERDAM__AGENT__V1__TARGET__TARGET_TREE,
  };
  if (signal < 1 || signal > 64)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "%d is no signal", signal);
  if ((unsigned)target > CDAM_TARGET_TREE)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the target is none");
  cdam_status status = check(process, target == CDAM_TARGET_TREE, err);
  if (status != CDAM_OK) return status;
  if (process->engine) return signal_by_engine(process, signal, target, err);
  Cofferdam__Agent__V1__Signal request = COFFERDAM__AGENT__V1__SIGNAL__INIT;
  request.process_id = process->track.id;
  request.signal = (uint32_t)signal;
  request.target = targets[target];
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(SIGNAL);
  message.signal = &request;
  return ask(process, &message, "signal a process", 0, err);
}

cdam_status cdam_process_kill(cdam_process *process, uint32_t grace_ms, cdam_error *err) {
  cdam_status status = check(process, true, err);
  if (status != CDAM_OK) return status;
  if (process->engine)
    return cdam_engine_ask(
        process, &(cdam_engine_request){.order = CDAM_ENGINE_KILL, .grace_ms = grace_ms}, err);
  Cofferdam__Agent__V1__Kill request = COFFERDAM__AGENT__V1__KILL__INIT;
  request.process_id = process->track.id;
  request.grace_ms = grace_ms;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(KILL);
  message.kill = &request;
  return ask(process, &message, "kill a process", grace_ms, err);
}

cdam_status cdam_process_resize(cdam_process *process, uint16_t rows, uint16_t columns,
                                cdam_error *err) {
  cdam_status status = check(process, false, err);
  if (status != CDAM_OK) return status;
  if (!rows || !columns)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "a terminal has one row and one column at least");
  if (!process->terminal && !process->track.attached)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the process has no terminal");
  if (process->engine)
    return cdam_engine_ask(
        process,
        &(cdam_engine_request){.order = CDAM_ENGINE_RESIZE, .rows = rows, .columns = columns}, err);
  Cofferdam__Agent__V1__Size size = COFFERDAM__AGENT__V1__SIZE__INIT;
  size.rows = rows;
  size.columns = columns;
  Cofferdam__Agent__V1__Resize request = COFFERDAM__AGENT__V1__RESIZE__INIT;
  request.process_id = process->track.id;
  request.size = &size;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(RESIZE);
  message.resize = &request;
  return ask(process, &message, "resize a terminal", 0, err);
}
