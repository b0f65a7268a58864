/* SPDX-License-Identifier: Apache-2.0 */
/* Timeouts of processes and commands, and an agent that does not mind them. */
#include <poll.h>

#include "process_agent.h"

/* The agent reckons with the timeout, too. */
static uint64_t asked_timeout;

SCRIPT(asked) {
  ONLY(START);
  asked_timeout = m->start->timeout_ms;
  say_started(a, m->channel, 5, 10);
  usleep(100 * 1000);
  say_ends(a, m->channel);
  say_exited(a, m->channel, exited_of(5));
  say_done(a, m->channel);
}

static void the_longest_timeout(void **state) {
  (void)state;
  fixture *this = begin(asked, 5000);
  cdam_process *process;
  cdam_exec_result *result;
  cdam_error err = {0};
  const cdam_process_command command = {.argv = argv, .timeout_ms = INT64_MAX};
  assert_int_equal(cdam_process_spawn(&this->session, &command, &process, &err), CDAM_OK);
  assert_int_equal(to_the_end(process, &err), CDAM_OK);
  assert_in_range(asked_timeout, 1, INT64_MAX / 2);
  cdam_process_free(process);
  assert_int_equal(cdam_exec(&this->session,
                             &(cdam_exec_command){.argv = argv, .timeout_ms = INT64_MAX}, &result,
                             &err),
                   CDAM_OK);
  assert_false(cdam_exec_result_timed_out(result));
  assert_in_range(asked_timeout, 1, INT64_MAX / 2);
  cdam_exec_result_free(result);
  end(this);
}

/* ---- an agent that says nothing when it is asked to end a command ---- */

SCRIPT(deaf) {
  ONLY(START);
  say_started(a, m->channel, 5, 10);
  say_output(a, m->channel, STREAM(OUTPUT), 0, "some", false);
}

static void a_deadline_that_nobody_minds(void **state) {
  (void)state;
  fixture *this = begin(deaf, 5000);
  cdam_exec_result *result;
  cdam_error err = {0};
  int64_t before = cdam_now_ms();
  assert_int_equal(cdam_exec(&this->session, &(cdam_exec_command){.argv = argv, .timeout_ms = 200},
                             &result, &err),
                   CDAM_OK);
  assert_in_range(cdam_now_ms() - before, 200, 12000);
  assert_true(cdam_exec_result_timed_out(result));
  assert_true(cdam_exec_result_still_running(result));
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "some");
  cdam_exec_result_free(result);
  end(this);
}

/* ---- and one that answers, but ends nothing at its timeout ---- */

/* By the command's name: it runs on, never says that it was started, or ends a little later. */
SCRIPT(stubborn) {
  ONLY(START);
  const ProtobufCBinaryData *name = &m->start->argv[0];
  if (name->len == 4 && memcmp(name->data, "mute", 4) == 0) return;
  say_started(a, m->channel, 5, 10);
  if (name->len != 5 || memcmp(name->data, "later", 5) != 0) return;
  usleep(100 * 1000);
  say_ends(a, m->channel);
  say_exited(a, m->channel, exited_of(5));
  say_done(a, m->channel);
}

typedef struct waiter {
  cdam_process *process;
  cdam_status status;
  cdam_error error;
  bool over;
} waiter;

static void became_ready(void *user, cdam_process *process) {
  waiter *w = user;
  cdam_process_event event = {0};
  do
    w->status = cdam_process_next(process, 0, &event, &w->error);
  while (w->status == CDAM_OK && event.kind != CDAM_PROCESS_NOTHING &&
         event.kind != CDAM_PROCESS_CLOSED);
  w->over = w->status != CDAM_OK || event.kind == CDAM_PROCESS_CLOSED;
}

static void was_spawned(void *user, cdam_status status, cdam_process *process,
                        const cdam_error *err) {
  waiter *w = user;
  w->status = status;
  w->error = *err;
  w->over = status != CDAM_OK;
  w->process = process;
  cdam_process_on_ready(process, became_ready, w);
}

static void expect_given_up(cdam_status status, const cdam_error *err) {
  if (status != CDAM_ERR_AGENT || !strstr(err->message, "at its timeout"))
    fail_msg("%s: %s", cdam_status_name(status), err->message);
}

static cdam_loop *loop_with(fixture *this, const char *name, waiter *w) {
  cdam_loop *loop;
  cdam_error err = {0};
  const char *const names[] = {name, NULL};
  const cdam_process_command command = {.argv = names, .timeout_ms = 100};
  assert_int_equal(cdam_loop_new(this->session.client, &loop, &err), CDAM_OK);
  assert_int_equal(
      cdam_process_spawn_start(loop, &this->session, &command, was_spawned, w, NULL, &err),
      CDAM_OK);
  return loop;
}

static void turn_until(cdam_loop *loop, const waiter *w, bool spawned) {
  for (int64_t limit = cdam_now_ms() + 60000; !w->over && !(spawned && w->process);) {
    struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
    assert_true(cdam_now_ms() < limit);
    poll(&ready, 1, 1000);
    cdam_loop_dispatch(loop);
  }
}

/* The command's own timeout is not without end, whatever the agent does; and an honest end that was
 * not looked at for as long is one all the same. */
static void a_timeout_that_nobody_minds(void **state) {
  (void)state;
  enum { RUNS, MUTE, LATER, COUNT };
  static const char *const names[COUNT] = {"runs", "mute", "later"};
  fixture *this = begin(stubborn, 60000); /* more than the timeout and what is beyond */
  waiter waiters[COUNT] = {0};
  cdam_loop *loops[COUNT];
  for (int i = 0; i < COUNT; i++)
    loops[i] = loop_with(this, names[i], &waiters[i]);
  turn_until(loops[LATER], &waiters[LATER], true);

  cdam_error err = {0};
  cdam_process *process;
  cdam_process_event event;
  int64_t before = cdam_now_ms();
  const cdam_process_command command = {
      .argv = (const char *const[]){"runs", NULL}, .timeout_ms = 100, .grace_ms = 100};
  assert_int_equal(cdam_process_spawn(&this->session, &command, &process, &err), CDAM_OK);
  expect_given_up(cdam_process_next(process, -1, &event, &err), &err);
  assert_true(cdam_now_ms() - before >= 200);
  expect_given_up(cdam_process_wait(process, -1, NULL, &err), &err);
  cdam_process_free(process);

  for (int i = 0; i < COUNT; i++)
    turn_until(loops[i], &waiters[i], false);
  expect_given_up(waiters[RUNS].status, &waiters[RUNS].error);
  expect_given_up(waiters[MUTE].status, &waiters[MUTE].error);
  assert_null(waiters[MUTE].process);
  assert_int_equal(waiters[LATER].status, CDAM_OK);
  for (int i = 0; i < COUNT; i++) {
    cdam_loop_free(loops[i]);
    cdam_process_free(waiters[i].process);
  }
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_longest_timeout),
      cmocka_unit_test(a_deadline_that_nobody_minds),
      cmocka_unit_test(a_timeout_that_nobody_minds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
