/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelling operations on files, and an agent that takes its time over it. */
#include "test_file_agent.h"

#include "loop_support.h"

static char large[4 << 20];

#define SCRIPT(name) static void name(agent *a, const MSG(ToAgent) * m)

SCRIPT(silence) {
  (void)a;
  (void)m;
}
SCRIPT(late_end) {
  if (m->body_case != TO(CANCEL)) return;
  usleep(300000);
  say_error(a, m->channel, CODE(CANCELLED), 0);
}
SCRIPT(late_success) {
  if (m->body_case != TO(CANCEL)) return;
  usleep(100000);
  say_done(a, m->channel);
}
SCRIPT(late_failure) {
  if (m->body_case != TO(CANCEL)) return;
  say_error(a, m->channel, CODE(SYSTEM), EIO);
}

static cdam_loop *loop;
static outcome end_of;
static cdam_operation *operation;

static fixture *begin_loop(agent_script script, unsigned timeout_ms) {
  fixture *this = begin(script, timeout_ms);
  loop = loop_of(this->session.client);
  end_of = (outcome){0};
  return this;
}

static void end_loop(fixture *this) {
  cdam_loop_free(loop);
  end(this);
}

/* Until the agent has the request. */
static void let_it_begin(void) {
  for (int i = 0; i < 20; i++) {
    usleep(5000);
    cdam_loop_dispatch(loop);
  }
  assert_int_equal(end_of.calls, 0);
}

static int64_t cancel(void) {
  int64_t before = cdam_now_ms();
  cdam_cancel(operation);
  assert_int_equal(end_of.calls, 0); /* never inside */
  drive(loop);
  assert_int_equal(end_of.calls, 1);
  return cdam_now_ms() - before;
}

static void start_write(fixture *this, size_t length) {
  const cdam_source source = {.bytes = large, .length = length};
  assert_int_equal(cdam_file_write_start(loop, &this->session, "f", &source, NULL, note_done,
                                         &end_of, &operation, NULL),
                   CDAM_OK);
}

static void start_rename(fixture *this) {
  assert_int_equal(cdam_file_rename_start(loop, &this->session, "f", "g", false, note_done, &end_of,
                                          &operation, NULL),
                   CDAM_OK);
}

/* What it changed is undone before the callback comes. */
static void test_a_write(void **state) {
  (void)state;
  fixture *this = begin_loop(late_end, 5000);
  start_write(this, sizeof large);
  let_it_begin();
  assert_in_range(cancel(), 290, 3000);
  assert_int_equal(end_of.status, CDAM_ERR_CANCELLED);
  assert_string_equal(end_of.error.message, "cannot write \"f\": the operation was cancelled");
  assert_int_equal(this->agent.cancels, 1);
  end_loop(this);
}

/* It was over first. */
static void test_too_late(void **state) {
  (void)state;
  fixture *this = begin_loop(late_success, 5000);
  start_rename(this);
  let_it_begin();
  cancel();
  assert_int_equal(end_of.status, CDAM_OK);
  end_loop(this);
}

static void test_a_failure_meanwhile(void **state) {
  (void)state;
  fixture *this = begin_loop(late_failure, 5000);
  start_rename(this);
  let_it_begin();
  cancel();
  assert_int_equal(end_of.status, CDAM_ERR_CANCELLED);
  end_loop(this);
}

/* An agent that never says so holds nothing up for ever. */
static void test_an_agent_that_does_not_answer(void **state) {
  (void)state;
  fixture *this = begin_loop(silence, 400);
  start_write(this, 100);
  let_it_begin();
  assert_in_range(cancel(), 0, 2000);
  assert_int_equal(end_of.status, CDAM_ERR_CANCELLED);
  end_loop(this);
}

static void not_read(void *user, cdam_status status, char *bytes, size_t length,
                     const cdam_error *err) {
  assert_null(bytes);
  assert_int_equal(length, 0);
  note_done(user, status, err);
}

/* What changes nothing ends at once. */
static void test_a_read(void **state) {
  (void)state;
  fixture *this = begin_loop(silence, 5000);
  for (int begun = 0; begun < 2; begun++) {
    end_of = (outcome){0};
    assert_int_equal(
        cdam_file_read_start(loop, &this->session, "f", 100, not_read, &end_of, &operation, NULL),
        CDAM_OK);
    if (begun) let_it_begin();
    assert_in_range(cancel(), 0, 1000);
    assert_int_equal(end_of.status, CDAM_ERR_CANCELLED);
  }
  end_loop(this);
}

/* Before anything was sent there is nothing to wait for. */
static void test_before_it_begins(void **state) {
  (void)state;
  fixture *this = begin_loop(silence, 5000);
  start_write(this, 100);
  assert_in_range(cancel(), 0, 1000);
  assert_int_equal(end_of.status, CDAM_ERR_CANCELLED);
  assert_int_equal(scripted_engine_count(this->engine, "POST", "*"), 0);
  end_loop(this);
}

static int64_t break_off(void *user, void *buffer, size_t size) {
  (void)buffer;
  (void)size;
  return --*(int *)user < 0 ? -1 : 1;
}

/* A source that fails: the same, with its own error. */
static void test_a_source_that_fails(void **state) {
  (void)state;
  fixture *this = begin_loop(late_end, 5000);
  int calls = 3;
  const cdam_source source = {.read = break_off, .user = &calls};
  assert_int_equal(cdam_file_write_start(loop, &this->session, "f", &source, NULL, note_done,
                                         &end_of, &operation, NULL),
                   CDAM_OK);
  drive(loop);
  assert_int_equal(end_of.status, CDAM_ERR_IO);
  assert_int_equal(this->agent.cancels, 1);
  end_loop(this);

  this = begin_loop(late_success, 5000);
  calls = 3;
  assert_int_equal(cdam_file_write_start(loop, &this->session, "f", &source, NULL, note_done,
                                         &end_of, &operation, NULL),
                   CDAM_OK);
  drive(loop);
  assert_int_equal(end_of.status, CDAM_ERR_IO);
  end_loop(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_write),
      cmocka_unit_test(test_too_late),
      cmocka_unit_test(test_a_failure_meanwhile),
      cmocka_unit_test(test_an_agent_that_does_not_answer),
      cmocka_unit_test(test_a_read),
      cmocka_unit_test(test_before_it_begins),
      cmocka_unit_test(test_a_source_that_fails),
  };
  return cmocka_run_group_tests_name("file_cancel", tests, NULL, NULL);
}
