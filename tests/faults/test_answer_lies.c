/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that answers Pings, and not what it was asked: nobody waits for it for ever. What takes
 * its time for a reason is waited for. */
#include "engine/client_private.h"
#include "loop_support.h"
#include "process_agent.h"

/* For what is answered; what is not is waited for as long as each test says. */
#define PATIENT_MS 20000
#define IMPATIENT_MS 500

/* What it does not answer; the rest it does. */
static volatile unsigned unanswered;
static agent_script volatile instead; /* of this one */

SCRIPT(mute) {
  if (instead) {
    instead(a, m);
    return;
  }
  if (m->body_case == unanswered || m->body_case == TO(CANCEL)) return;
  if (m->body_case == TO(START) || m->body_case == TO(ATTACH))
    say_started(a, m->channel, 5, 10);
  else
    say_done(a, m->channel);
}

static void wait_for(fixture *this, unsigned timeout_ms) {
  this->session.client->config.timeout_ms = timeout_ms;
}

static void expect_silence(cdam_status status, const cdam_error *err, const char *what,
                           unsigned timeout_ms) {
  char text[200];
  snprintf(text, sizeof text, "the sandbox's agent did not answer the request to %s within %u ms",
           what, timeout_ms);
  if (status != CDAM_ERR_AGENT || strcmp(err->message, text) != 0)
    fail_msg("%s: %s: %s", what, cdam_status_name(status), err->message);
}

/* ---- the calls ---- */

static const cdam_exec_command exec_command = {.argv = argv};
static const cdam_process_command process_command = {.argv = argv},
                                  terminal_command = {.argv = argv, .terminal = true};

static cdam_process *spawn(fixture *this) {
  cdam_process *process;
  cdam_error err = {0};
  wait_for(this, PATIENT_MS);
  if (cdam_process_spawn(&this->session, &terminal_command, &process, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  wait_for(this, IMPATIENT_MS);
  return process;
}

static cdam_status call_exec(fixture *this, cdam_error *err) {
  cdam_exec_result *result;
  return cdam_exec(&this->session, &exec_command, &result, err);
}

static cdam_status call_spawn(fixture *this, cdam_error *err) {
  cdam_process *process;
  cdam_status status = cdam_process_spawn(&this->session, &process_command, &process, err);
  assert_null(process);
  return status;
}

static cdam_status call_attach(fixture *this, cdam_error *err) {
  cdam_process *process;
  cdam_status status = cdam_process_attach(&this->session, INSTANCE ":5", NULL, &process, err);
  assert_null(process);
  return status;
}

static cdam_status call_signal(fixture *this, cdam_error *err) {
  cdam_process *process = spawn(this);
  cdam_status status = cdam_process_signal(process, 15, CDAM_TARGET_TREE, err);
  cdam_process_free(process);
  return status;
}

static cdam_status call_kill(fixture *this, cdam_error *err) {
  cdam_process *process = spawn(this);
  cdam_status status = cdam_process_kill(process, 0, err);
  cdam_process_free(process);
  return status;
}

static cdam_status call_resize(fixture *this, cdam_error *err) {
  cdam_process *process = spawn(this);
  cdam_status status = cdam_process_resize(process, 24, 80, err);
  cdam_process_free(process);
  return status;
}

static cdam_status call_list(fixture *this, cdam_error *err) {
  cdam_process_list *list;
  cdam_status status = cdam_processes(&this->session, &list, err);
  assert_null(list);
  return status;
}

static cdam_status call_forget(fixture *this, cdam_error *err) {
  return cdam_process_forget(&this->session, INSTANCE ":5", err);
}

static void expect_well(fixture *this) {
  cdam_error err;
  wait_for(this, PATIENT_MS);
  if (call_forget(this, &err) != CDAM_OK) fail_msg("%s", err.message);
}

static const struct call {
  unsigned request;
  bool first; /* it is only asked on a link that is not up yet */
  const char *what;
  cdam_status (*call)(fixture *this, cdam_error *err);
} calls[] = {
    {TO(START), false, "run a command", call_exec},
    {TO(START), false, "start a process", call_spawn},
    {TO(ATTACH), false, "attach to a process", call_attach},
    {TO(GET_STATUS), true, "attach to a process", call_attach},
    {TO(SIGNAL), false, "signal a process", call_signal},
    {TO(KILL), false, "kill a process", call_kill},
    {TO(RESIZE), false, "resize a terminal", call_resize},
    {TO(LIST_PROCESSES), false, "list the processes", call_list},
    {TO(FORGET), false, "forget a process", call_forget},
    {TO(GET_STATUS), true, "forget a process", call_forget},
};

/* The link is as good as before. */
static void what_is_not_answered(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const struct call *call = &calls[i];
    const unsigned timeout_ms = call->first ? 2000 : IMPATIENT_MS;
    fixture *this = begin(mute, PATIENT_MS);
    cdam_error err = {0};
    unanswered = 0;
    if (!call->first) expect_well(this);
    unanswered = call->request;
    wait_for(this, timeout_ms);
    expect_silence(call->call(this, &err), &err, call->what, timeout_ms);
    unanswered = 0;
    expect_well(this);
    assert_int_equal(scripted_engine_count(this->engine, "POST", "/exec/aaaa/start"), 1);
    end(this);
  }
}

/* It is the engine that knows why. */
static void what_the_engine_says(void **state) {
  (void)state;
  fixture *this = begin(mute, PATIENT_MS);
  cdam_error err;
  unanswered = TO(LIST_PROCESSES);
  expect_well(this);
  wait_for(this, IMPATIENT_MS);
  this->rules[2].reply.body = "{\"State\":{\"Running\":true,\"Paused\":true}}";
  assert_int_equal(call_list(this, &err), CDAM_ERR_PAUSED);
  this->rules[2].reply.body = "{\"State\":{\"Running\":false,\"Paused\":false}}";
  assert_int_equal(call_list(this, &err), CDAM_ERR_EXITED);
  this->rules[2].reply = (scripted_reply){404, .body = "{\"message\":\"No such container\"}"};
  assert_int_equal(call_list(this, &err), CDAM_ERR_NOT_FOUND);
  this->rules[2].reply = (scripted_reply){500, .body = "{\"message\":\"oops\"}"};
  expect_silence(call_list(this, &err), &err, "list the processes", IMPATIENT_MS);
  end(this);
}

/* ---- in a loop ---- */

static void note_process(void *user, cdam_status status, cdam_process *process,
                         const cdam_error *err) {
  note_outcome(user, status, err);
  cdam_process_free(process);
}

static void note_processes(void *user, cdam_status status, cdam_process_list *list,
                           const cdam_error *err) {
  note_outcome(user, status, err);
  cdam_process_list_free(list);
}

enum { EXEC, SPAWN, ATTACH, LIST, FORGET, IN_LOOP };

static void start_all(fixture *this, cdam_loop *loop, outcome *o) {
  cdam_session *session = &this->session;
  const cdam_status begun[] = {
      cdam_exec_start(loop, session, &exec_command, note_exec, &o[EXEC], NULL, NULL),
      cdam_process_spawn_start(loop, session, &process_command, note_process, &o[SPAWN], NULL,
                               NULL),
      cdam_process_attach_start(loop, session, INSTANCE ":5", NULL, note_process, &o[ATTACH], NULL,
                                NULL),
      cdam_processes_start(loop, session, note_processes, &o[LIST], NULL, NULL),
      cdam_process_forget_start(loop, session, INSTANCE ":5", note_done, &o[FORGET], NULL, NULL),
  };
  for (size_t i = 0; i < IN_LOOP; i++)
    assert_int_equal(begun[i], CDAM_OK);
}

/* All requests come; they are answered when the test says so, or never. */
static volatile bool may_answer;
static volatile unsigned came, answered;

SCRIPT(late) {
  static struct {
    unsigned kind;
    uint32_t channel;
  } asked[IN_LOOP];
  if (m->body_case == TO(CANCEL)) return;
  asked[came].kind = m->body_case;
  asked[came++].channel = m->channel;
  for (size_t i = 0; came == IN_LOOP && i < IN_LOOP; i++) {
    while (!may_answer)
      usleep(1000);
    if (asked[i].kind == TO(START))
      say_all(a, asked[i].channel, 5 + i);
    else if (asked[i].kind == TO(ATTACH))
      say_started(a, asked[i].channel, 5, 10);
    else
      say_done(a, asked[i].channel);
    answered++;
  }
}

SCRIPT(silent) {
  (void)a, (void)m;
}

/* A loop with a link that is up. */
static cdam_loop *loop_with_link(fixture *this) {
  outcome o = {0};
  cdam_loop *loop = loop_of(this->session.client);
  assert_int_equal(
      cdam_process_forget_start(loop, &this->session, INSTANCE ":5", note_done, &o, NULL, NULL),
      CDAM_OK);
  drive(loop);
  assert_int_equal(o.status, CDAM_OK);
  return loop;
}

static void in_a_loop(void **state) {
  (void)state;
  static const char *const whats[IN_LOOP] = {"run a command", "start a process",
                                             "attach to a process", "list the processes",
                                             "forget a process"};
  outcome o[IN_LOOP] = {0};
  fixture *this = begin(mute, PATIENT_MS);
  unanswered = 0;
  cdam_loop *loop = loop_with_link(this);
  instead = silent;
  wait_for(this, IMPATIENT_MS);
  start_all(this, loop, o);
  drive(loop);
  instead = NULL;
  for (size_t i = 0; i < IN_LOOP; i++) {
    assert_int_equal(o[i].calls, 1);
    expect_silence(o[i].status, &o[i].error, whats[i], IMPATIENT_MS);
  }
  cdam_loop_free(loop);
  end(this);
}

/* The answers wait, and the time is over as well. */
static void a_loop_that_nobody_turned(void **state) {
  (void)state;
  outcome o[IN_LOOP] = {0};
  fixture *this = begin(mute, PATIENT_MS);
  unanswered = 0;
  cdam_loop *loop = loop_with_link(this);
  instead = late;
  wait_for(this, 1500);
  start_all(this, loop, o);
  for (int64_t limit = cdam_now_ms() + 20000; came < IN_LOOP;) {
    assert_true(cdam_now_ms() < limit);
    cdam_loop_dispatch(loop);
    usleep(1000);
  }
  may_answer = true;
  while (answered < IN_LOOP)
    usleep(1000);
  usleep(3000 * 1000);
  drive(loop);
  instead = NULL;
  for (size_t i = 0; i < IN_LOOP; i++) {
    if (o[i].status != CDAM_OK) fail_msg("%zu: %s", i, o[i].error.message);
    outcome_clear(&o[i]);
  }
  cdam_loop_free(loop);
  end(this);
}

/* ---- what takes its time ---- */

/* The whole list takes longer than the client waits, and each piece does not. */
SCRIPT(slow_list) {
  ONLY(LIST_PROCESSES);
  for (uint64_t id = 1; id <= 9; id++) {
    MSG(ProcessInfo) info = COFFERDAM__AGENT__V1__PROCESS_INFO__INIT;
    info.process_id = id;
    info.running = true;
    say_info(a, m->channel, info);
    usleep(500 * 1000);
  }
  say_done(a, m->channel);
}

static void a_list_that_goes_on(void **state) {
  (void)state;
  fixture *this = begin(slow_list, 2000);
  cdam_process_list *list;
  cdam_error err = {0};
  if (cdam_processes(&this->session, &list, &err) != CDAM_OK) fail_msg("%s", err.message);
  assert_int_equal(cdam_process_list_count(list), 9);
  cdam_process_list_free(list);
  end(this);
}

/* A kill is answered when the tree is gone, which may take its grace. */
SCRIPT(slow_kill) {
  if (m->body_case == TO(START)) say_started(a, m->channel, 5, 10);
  ONLY(KILL);
  usleep(900 * 1000);
  say_done(a, m->channel);
}

static void a_kill_with_grace(void **state) {
  (void)state;
  fixture *this = begin(slow_kill, PATIENT_MS);
  cdam_process *process = spawn(this);
  cdam_error err = {0};
  if (cdam_process_kill(process, 60000, &err) != CDAM_OK) fail_msg("%s", err.message);
  cdam_process_free(process);
  end(this);
}

/* What was started runs as long as it likes. */
static volatile uint32_t running;

SCRIPT(started) {
  ONLY(START);
  running = m->channel;
  say_started(a, m->channel, 5, 10);
}

static void a_command_that_runs(void **state) {
  (void)state;
  fixture *this = begin(started, 1500);
  cdam_loop *loop = loop_of(this->session.client);
  outcome o = {0};
  assert_int_equal(cdam_exec_start(loop, &this->session, &exec_command, note_exec, &o, NULL, NULL),
                   CDAM_OK);
  for (int64_t limit = cdam_now_ms() + 4000; cdam_now_ms() < limit && !o.calls;) {
    cdam_loop_dispatch(loop);
    usleep(1000);
  }
  if (o.calls) fail_msg("%s", o.error.message);
  say_ends(&this->agent, running);
  say_exited(&this->agent, running, exited_of(5));
  say_done(&this->agent, running);
  drive(loop);
  if (o.status != CDAM_OK) fail_msg("%s", o.error.message);
  outcome_clear(&o);
  cdam_loop_free(loop);
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_answered),
      cmocka_unit_test(what_the_engine_says),
      cmocka_unit_test(in_a_loop),
      cmocka_unit_test(a_loop_that_nobody_turned),
      cmocka_unit_test(a_list_that_goes_on),
      cmocka_unit_test(a_kill_with_grace),
      cmocka_unit_test(a_command_that_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
