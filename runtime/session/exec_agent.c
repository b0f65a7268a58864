/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

#define DEFAULT_CAP ((size_t)1024 * 1024)

/* Between TERM and KILL, when the command is ended early. */
#define GRACE_MS 250

/* How long an output may be silent after the command's end before it is taken to be held open by
 * something that the command has left running. */
#define SILENCE_MS 500

/* Of what is told of a command that could not be started. */
#define MAX_REASON ((size_t)8192)

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME

static cdam_exec_agent *of_channel(cdam_channel *channel) {
  return (cdam_exec_agent *)((char *)channel - offsetof(cdam_exec_agent, channel));
}

/* ---- the end ---- */

static void finish_ended(cdam_exec_agent *exec) {
  const cdam_process_exit *exit = &exec->track.exit;
  cdam_exec_result *result = exec->result;
  cdam_error error;
  if (exit->ended_by == CDAM_ENDED_SHUTDOWN) {
    cdam_fail(&error, CDAM_ERR_EXITED, "the sandbox was stopped while the command ran");
    cdam_operation_finish(&exec->op, error.code, &error);
  } else if (exit->code < 0 && !exit->signal) {
    cdam_fail(&error, CDAM_ERR_EXEC, "the agent could not learn how the command ended");
    cdam_operation_finish(&exec->op, error.code, &error);
  } else {
    result->signal = exit->signal;
    result->out_of_memory = exit->out_of_memory;
    result->exit_code = exit->signal ? 128 + exit->signal : exit->code;
    cdam_operation_finish(&exec->op, CDAM_OK, NULL);
  }
}

void cdam_exec_agent_finish_early(cdam_exec_agent *exec) {
  if (exec->failure.code != CDAM_OK) {
    cdam_operation_finish(&exec->op, exec->failure.code, &exec->failure);
    return;
  }
  exec->result->exit_code = -1;
  exec->result->timed_out = true;
  cdam_operation_finish(&exec->op, CDAM_OK, NULL);
}

static bool drains_are_empty(const cdam_exec_agent *exec) {
  for (int i = 0; i < 2; i++)
    if (exec->takers[i].drain && !cdam_drain_is_empty(exec->takers[i].drain)) return false;
  return true;
}

void cdam_exec_agent_settle(cdam_exec_agent *exec) {
  if (!exec->closed || exec->op.finished) return;
  /* What ended by itself just before its deadline has not run out of time. */
  bool early = exec->ending &&
               (exec->failure.code != CDAM_OK || exec->track.exit.ended_by != CDAM_ENDED_ITSELF);
  if (early ? !exec->gone : !drains_are_empty(exec)) return;
  if (early)
    cdam_exec_agent_finish_early(exec);
  else
    finish_ended(exec);
}

/* ---- what comes ---- */

static bool take_output(cdam_exec_agent *exec, const Cofferdam__Agent__V1__Output *output,
                        cdam_error *failure) {
  cdam_exec_taker *taker = &exec->takers[cdam_track_index(output)];
  size_t charge = cdam_channel_message_charge(&exec->channel);
  exec->bytes_came = true;
  if (!taker->drain) {
    if (exec->channel.hold) cdam_channel_grant(&exec->channel, charge);
    if (cdam_exec_output_add(taker->kept, taker->cap, taker->tail, output->data.data,
                             output->data.len))
      return true;
    cdam_fail_memory(failure);
    return false;
  }
  taker->kept->total += output->data.len;
  cdam_error error;
  if (cdam_drain_put(taker->drain, output->data.data, output->data.len, charge, &error) != CDAM_OK)
    cdam_exec_agent_give_up(exec, &error);
  return true;
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  exec->look = NULL;
  if (exec->closed) return;
  if (exec->bytes_came || !drains_are_empty(exec)) {
    exec->bytes_came = false;
    exec->look = cdam_operation_after(op, SILENCE_MS, look);
  } else {
    cdam_channel_cancel(&exec->channel); /* what runs on is not touched by it */
  }
}

/* The end of the command. When it was ended early, the rest of its tree has to be gone as well. */
static void take_exit(cdam_exec_agent *exec) {
  cdam_process_ended_by by = exec->track.exit.ended_by;
  if (by == CDAM_ENDED_TIMEOUT) cdam_exec_agent_end(exec);
  exec->bytes_came = false;
  exec->look = cdam_operation_after(&exec->op, SILENCE_MS, look);
}

static bool message_came(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  cdam_exec_agent *exec = of_channel(channel);
  if (!cdam_track_take(&exec->track, message, failure)) return false;
  switch (message->body_case) {
  case FROM(OUTPUT):
    return take_output(exec, message->output, failure);
  case FROM(STARTED):
    cdam_answer_limit_end(&exec->limit);
    if (exec->ending) cdam_exec_agent_end_tree(exec);
    return true;
  case FROM(EXITED):
    take_exit(exec);
    return true;
  default:
    cdam_feed_free(exec->feed); /* nobody reads its input any more */
    exec->feed = NULL;
    return true;
  }
}

static void writable(cdam_channel *channel) {
  cdam_exec_agent *exec = of_channel(channel);
  if (exec->feed) cdam_feed_go(exec->feed);
}

/* ---- the end of the channel ---- */

/* What it is about: the program, its directory, or its user. */
static const ProtobufCBinaryData *subject(const cdam_exec_agent *exec, int step) {
  const Cofferdam__Agent__V1__Start *start = exec->start;
  if (step == COFFERDAM__AGENT__V1__STEP__STEP_DIRECTORY) return &start->directory;
  bool user = step == COFFERDAM__AGENT__V1__STEP__STEP_UNSPECIFIED ||
              step == COFFERDAM__AGENT__V1__STEP__STEP_USER ||
              step == COFFERDAM__AGENT__V1__STEP__STEP_GROUPS;
  return user && start->user.len ? &start->user : &start->argv[0];
}

static void not_started(cdam_exec_agent *exec, const cdam_error *error,
                        const cdam_agent_done *done) {
  int step = (int)done->error->step;
  bool missing =
      step == COFFERDAM__AGENT__V1__STEP__STEP_EXEC && done->error->system_errno == ENOENT;
  const ProtobufCBinaryData *about = subject(exec, step);
  cdam_exec_output *output = &exec->result->err;
  exec->result->not_started = true;
  exec->result->exit_code = missing ? 127 : 126;
  bool well =
      cdam_exec_output_add(output, MAX_REASON, false, about->data, about->len) &&
      cdam_exec_output_add(output, MAX_REASON, false, ": ", 2) &&
      cdam_exec_output_add(output, MAX_REASON, false, error->message, strlen(error->message));
  cdam_operation_finish(&exec->op, well ? CDAM_OK : CDAM_ERR_NO_MEMORY, NULL);
}

/* The link broke, or the agent could not do it. At the deadline, it may be running still. */
static void broken(cdam_exec_agent *exec, const cdam_error *error, bool refused) {
  bool nothing_runs =
      refused || error->code == CDAM_ERR_NOT_FOUND || error->code == CDAM_ERR_EXITED;
  if (!exec->ending) {
    cdam_operation_finish(&exec->op, error->code, error);
    return;
  }
  if (exec->failure.code == CDAM_ERR_CANCELLED && !nothing_runs)
    cdam_fail(&exec->failure, CDAM_ERR_CANCELLED,
              "the command was cancelled, and may still be running: %s", error->message);
  exec->result->still_running = !nothing_runs;
  cdam_exec_agent_finish_early(exec);
}

static void done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                 const cdam_agent_done *message) {
  cdam_exec_agent *exec = of_channel(channel);
  cdam_error judged;
  exec->closed = true;
  if (status == CDAM_OK && (status = cdam_track_end(&exec->track, &judged)) != CDAM_OK)
    error = &judged;
  if (status == CDAM_OK || (status == CDAM_ERR_CANCELLED && exec->track.exited))
    cdam_exec_agent_settle(exec);
  /* What the agent refuses of a command that was checked is what only it can know: the user. */
  else if (!exec->track.started && !exec->ending && message && message->error &&
           (status == CDAM_ERR_NOT_STARTED || status == CDAM_ERR_ARGUMENT))
    not_started(exec, error, message);
  else
    broken(exec, error, message != NULL && !exec->track.started);
}

static const cdam_channel_events events = {
    .message = message_came, .writable = writable, .done = done};

/* ---- sources and sinks ---- */

static void fed(void *user, const cdam_error *error) {
  cdam_exec_agent *exec = user;
  if (error) cdam_exec_agent_give_up(exec, error);
}

static void emptied(void *user) {
  cdam_exec_agent_settle(user);
}

static void sink_failed(void *user, const cdam_error *error) {
  cdam_exec_agent_give_up(user, error);
}

static const cdam_drain_events drain_events = {.emptied = emptied, .failed = sink_failed};

static cdam_status open_ends(cdam_exec_agent *exec, cdam_error *err) {
  cdam_loop *loop = exec->op.loop;
  if (exec->has_input) {
    exec->feed = cdam_feed_new(loop, &exec->input, &exec->channel, fed, exec, err);
    if (!exec->feed) return err->code;
  }
  for (int i = 0; i < 2; i++) {
    if (!exec->has_sink[i]) continue;
    exec->takers[i].drain =
        cdam_drain_new(loop, &exec->sinks[i], &exec->channel, &drain_events, exec, err);
    if (!exec->takers[i].drain) return err->code;
  }
  return CDAM_OK;
}

/* ---- the beginning ---- */

static cdam_status open_channel(cdam_exec_agent *exec, cdam_error *err) {
  if (exec->until) {
    int64_t left = exec->until - cdam_now_ms();
    exec->start->timeout_ms = left > 1 ? (uint64_t)left : 1;
    exec->deadline = cdam_operation_after(&exec->op, left, cdam_exec_agent_deadline);
  }
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(START);
  message.start = exec->start;
  return cdam_channel_open(exec->link, &exec->channel, &message, &events, err);
}

void cdam_exec_agent_start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_exec_agent *exec = (cdam_exec_agent *)op;
  cdam_error error;
  cdam_operation_hold(op);
  cdam_status status = open_ends(exec, &error);
  if (status == CDAM_OK) status = open_channel(exec, &error);
  if (status != CDAM_OK) {
    cdam_operation_finish(op, status, &error);
    return;
  }
  cdam_answer_limit_begin(&exec->limit, op, &exec->channel, "run a command", 0);
  if (exec->has_sink[0] || exec->has_sink[1]) cdam_channel_set_hold(&exec->channel, true);
  if (exec->feed) cdam_feed_go(exec->feed);
}

static Cofferdam__Agent__V1__Start *make_start(const cdam_exec_command *command) {
  const cdam_process_command asked = {
      .argv = command->argv,
      .env = command->env,
      .user = command->user,
      .workdir = command->workdir,
      .input = command->input != NULL,
      .grace_ms = GRACE_MS,
  };
  return cdam_process_make_start(&asked);
}

static void set_ends(cdam_exec_agent *exec, const cdam_exec_command *command) {
  const cdam_sink *sinks[2] = {command->stdout_sink, command->stderr_sink};
  exec->has_input = command->input != NULL;
  if (exec->has_input) exec->input = *command->input;
  exec->track.has_input = exec->has_input;
  for (int i = 0; i < 2; i++) {
    exec->has_sink[i] = sinks[i] != NULL;
    if (sinks[i]) exec->sinks[i] = *sinks[i];
    exec->result->to_sink[i] = exec->has_sink[i];
    exec->track.outputs[i].wanted = true;
    exec->takers[i].kept = i == 0 ? &exec->result->out : &exec->result->err;
    exec->takers[i].cap = command->output_cap ? command->output_cap : DEFAULT_CAP;
    exec->takers[i].tail = command->flags & CDAM_EXEC_KEEP_TAIL;
  }
}

cdam_status cdam_exec_agent_new(cdam_link *link, const cdam_exec_command *command,
                                cdam_exec_agent **out, cdam_error *err) {
  cdam_exec_agent *exec = calloc(1, sizeof *exec);
  if (!exec) return cdam_fail_memory(err);
  exec->link = cdam_link_ref(link);
  exec->op.abort = cdam_exec_agent_abort;
  if (command->timeout_ms > 0) exec->until = cdam_exec_until(command->timeout_ms);
  exec->start = make_start(command);
  exec->result = calloc(1, sizeof *exec->result);
  if (!exec->start || !exec->result) {
    cdam_exec_agent_free(exec);
    return cdam_fail_memory(err);
  }
  set_ends(exec, command);
  *out = exec;
  return CDAM_OK;
}

cdam_exec_result *cdam_exec_agent_take(cdam_exec_agent *exec, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_exec_result *result = exec->result;
  exec->result = NULL;
  for (int i = 0; i < 2; i++)
    if (exec->takers[i].tail && !result->not_started)
      cdam_exec_output_trim(exec->takers[i].kept, exec->takers[i].cap);
  return result;
}

void cdam_exec_agent_free(cdam_exec_agent *exec) {
  if (cdam_channel_is_open(&exec->channel)) cdam_channel_abandon(&exec->channel);
  if (cdam_channel_is_open(&exec->kill.channel)) cdam_channel_abandon(&exec->kill.channel);
  cdam_feed_free(exec->feed);
  for (int i = 0; i < 2; i++)
    cdam_drain_free(exec->takers[i].drain);
  cdam_link_unref(exec->link);
  cdam_exec_result_free(exec->result);
  free(exec->start);
  free(exec);
}
