/* SPDX-License-Identifier: Apache-2.0 */
/* When steps run, and when they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/operation.h"
#include "scripted_engine.h"

static const cdam_request get_info = {.method = "GET", .path = "/info"};
static const cdam_request get_slow = {.method = "GET", .path = "/slow"};
static const cdam_request get_stream = {.method = "GET", .path = "/stream", .stream = true};

static const scripted_rule rules[] = {
    {.path = "/info", .reply = {200, .body = "info"}},
    {.path = "/slow", .reply = {200, .delay_ms = 60000}},
    {.path = "/stream",
     .reply = {200, .body = "0123456789", .chunked = true, .piece = 1, .piece_delay_ms = 1}},
};

typedef struct trace {
  cdam_operation op;
  char steps[64]; /* a letter for each step that ran */
  bool sending;
  cdam_exchange *exchange;
} trace;

static void note(cdam_operation *op, char letter) {
  trace *this = (trace *)op;
  assert_false(this->sending);
  size_t length = strlen(this->steps);
  assert_true(length + 1 < sizeof this->steps);
  this->steps[length] = letter;
}

static void finish(cdam_operation *op) {
  cdam_operation_finish(op, CDAM_OK, NULL);
}

/* Runs it on a scripted engine, or where there is none. */
static cdam_status run(trace *this, cdam_step start, bool with_engine, cdam_error *error) {
  scripted_engine *engine = scripted_engine_start(rules, sizeof rules / sizeof rules[0]);
  cdam_client *client = scripted_engine_client(engine, 1000);
  if (!with_engine) scripted_engine_stop(engine);
  cdam_status status = cdam_operation_run(&this->op, client, start, error);
  assert_null(this->op.exchanges);
  assert_true(this->op.finished);
  cdam_client_free(client);
  if (with_engine) scripted_engine_stop(engine);
  return status;
}

/* ---- never inside ---- */

static void send_all_kinds(cdam_operation *op);

static void step_a(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  note(op, 'a');
  if (strlen(((trace *)op)->steps) < 10)
    send_all_kinds(op);
  else
    finish(op);
}

static void send_all_kinds(cdam_operation *op) {
  trace *this = (trace *)op;
  this->sending = true;
  cdam_operation_send(op, &get_info, step_a);
  cdam_operation_after(op, 0, step_a);
  cdam_operation_after(op, -5, step_a);
  this->sending = false;
}

static void start_all_kinds(cdam_operation *op, const cdam_reply *reply) {
  assert_int_equal(reply->status, CDAM_OK);
  assert_string_equal(reply->body, "");
  send_all_kinds(op);
}

static void test_steps_never_run_inside_send(void **state) {
  (void)state;
  for (int with_engine = 0; with_engine < 2; with_engine++) {
    trace this = {0};
    cdam_error error;
    assert_int_equal(run(&this, start_all_kinds, with_engine, &error), CDAM_OK);
    assert_string_equal(this.steps, "aaaaaaaaaa");
  }
}

/* ---- timers ---- */

static void step_t(cdam_operation *op, const cdam_reply *reply) {
  assert_int_equal(reply->status, CDAM_OK);
  assert_null(reply->error);
  assert_int_equal(reply->http, 0);
  note(op, 't');
}

static void step_u(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  note(op, 'u');
}

static void step_f(cdam_operation *op, const cdam_reply *reply) {
  assert_int_equal(reply->status, CDAM_ERR_TIMEOUT);
  note(op, 'f');
}

static void step_end(cdam_operation *op, const cdam_reply *reply) {
  assert_int_equal(reply->status, CDAM_OK);
  note(op, '.');
  finish(op);
}

static void start_timers(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_after(op, 120, step_end);
  cdam_operation_after(op, 60, step_u);
  cdam_operation_after(op, 20, step_t);
  cdam_operation_send(op, &get_slow, step_f);
}

static void test_timers(void **state) {
  (void)state;
  trace this = {0};
  int64_t begin = cdam_now_ms();
  assert_int_equal(run(&this, start_timers, true, NULL), CDAM_OK);
  assert_string_equal(this.steps, "tu.");
  assert_in_range(cdam_now_ms() - begin, 119, 20000);
}

/* A timer is no exchange: the deadline does not end it. */
static void test_timers_have_no_deadline(void **state) {
  (void)state;
  trace this = {.op.deadline = cdam_now_ms() - 1000};
  assert_int_equal(run(&this, start_timers, true, NULL), CDAM_OK);
  assert_string_equal(this.steps, "ftu."); /* the exchange failed at once */
}

/* ---- cancelling ---- */

static void cancel_it(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  trace *this = (trace *)op;
  note(op, 'c');
  cdam_operation_cancel(op, this->exchange);
  cdam_operation_cancel(op, NULL);
  cdam_operation_send(op, &get_info, step_end);
}

static void start_cancelling(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  trace *this = (trace *)op;
  this->exchange = cdam_operation_send(op, &get_slow, step_a);
  assert_non_null(this->exchange);
  cdam_operation_after(op, 50, cancel_it);
}

static void start_cancelling_a_timer(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  ((trace *)op)->exchange = cdam_operation_after(op, 60000, step_t);
  cdam_operation_after(op, 10, cancel_it);
}

static void start_cancelling_at_once(cdam_operation *op, const cdam_reply *reply) {
  ((trace *)op)->exchange = cdam_operation_send(op, &get_info, step_a);
  cancel_it(op, reply);
}

static void test_cancelling(void **state) {
  (void)state;
  static const cdam_step starts[] = {start_cancelling, start_cancelling_a_timer,
                                     start_cancelling_at_once};
  for (size_t i = 0; i < 3; i++) {
    trace this = {0};
    assert_int_equal(run(&this, starts[i], true, NULL), CDAM_OK);
    assert_string_equal(this.steps, "c.");
  }
}

/* Both have ended in the same turn; the first one's step cancels the second. */
static void start_two_that_end_together(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_after(op, 0, cancel_it);
  ((trace *)op)->exchange = cdam_operation_after(op, 0, step_t);
}

static void test_cancelling_what_has_ended(void **state) {
  (void)state;
  trace this = {0};
  assert_int_equal(run(&this, start_two_that_end_together, true, NULL), CDAM_OK);
  assert_string_equal(this.steps, "c.");
}

static void linger(cdam_operation *op, const cdam_reply *reply) {
  assert_int_equal(reply->status, CDAM_OK);
  note(op, 'l');
  cdam_operation_after(op, 50, step_end); /* while the stream would go on */
}

static bool cancel_in_sink(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)bytes;
  (void)length;
  (void)failure;
  trace *this = user;
  cdam_operation_cancel(&this->op, this->exchange);
  cdam_operation_send(&this->op, &get_info, linger);
  return true;
}

static bool finish_in_sink(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)bytes;
  (void)length;
  (void)failure;
  finish(user);
  return true;
}

static void start_stream(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  trace *this = (trace *)op;
  cdam_request request = get_stream;
  request.sink = this->sending ? finish_in_sink : cancel_in_sink;
  request.sink_user = op;
  this->sending = false;
  this->exchange = cdam_operation_send(op, &request, step_a);
}

static void test_sinks_may_cancel_and_finish(void **state) {
  (void)state;
  trace cancels = {0};
  assert_int_equal(run(&cancels, start_stream, true, NULL), CDAM_OK);
  assert_string_equal(cancels.steps, "l.");
  trace finishes = {.sending = true};
  assert_int_equal(run(&finishes, start_stream, true, NULL), CDAM_OK);
  assert_string_equal(finishes.steps, "");
}

/* ---- the end ---- */

static void start_and_finish(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_send(op, &get_info, step_a);
  cdam_operation_send(op, &get_slow, step_a);
  cdam_operation_after(op, 0, step_t);
  const cdam_error error = {.code = CDAM_ERR_DRIFT, .message = "the first one"};
  cdam_operation_finish(op, CDAM_ERR_DRIFT, &error);
  cdam_operation_finish(op, CDAM_OK, NULL); /* too late */
  assert_null(cdam_operation_send(op, &get_info, step_a));
  assert_null(cdam_operation_after(op, 0, step_t));
}

static void test_finishing_cancels_the_rest(void **state) {
  (void)state;
  trace this = {0};
  cdam_error error;
  assert_int_equal(run(&this, start_and_finish, true, &error), CDAM_ERR_DRIFT);
  assert_string_equal(this.steps, "");
  assert_string_equal(error.message, "the first one");
}

static void start_nothing(cdam_operation *op, const cdam_reply *reply) {
  (void)op;
  (void)reply;
}

static void test_an_operation_that_does_nothing(void **state) {
  (void)state;
  trace this = {0};
  cdam_error error;
  assert_int_equal(run(&this, start_nothing, true, &error), CDAM_ERR_ARGUMENT);
  assert_string_not_equal(error.message, "");
}

static void start_and_fail_bare(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_finish(op, CDAM_ERR_EXITED, NULL);
}

static void test_an_error_without_words(void **state) {
  (void)state;
  trace this = {0};
  cdam_error error;
  assert_int_equal(run(&this, start_and_fail_bare, true, &error), CDAM_ERR_EXITED);
  assert_int_equal(error.code, CDAM_ERR_EXITED);
  assert_string_not_equal(error.message, "");
}

/* ---- parts ---- */

static void step_of_part(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  note(op, *(const char *)op->part);
  if (strlen(((trace *)op)->steps) == 3) finish(op);
}

static void start_parts(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  static char names[] = "xyz";
  static const int delays[] = {60, 30, 1};
  for (int i = 0; i < 3; i++) {
    op->part = &names[i];
    cdam_operation_after(op, delays[i], step_of_part);
  }
}

static void test_steps_find_their_part(void **state) {
  (void)state;
  trace this = {0};
  assert_int_equal(run(&this, start_parts, true, NULL), CDAM_OK);
  assert_string_equal(this.steps, "zyx");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps_never_run_inside_send),
      cmocka_unit_test(test_timers),
      cmocka_unit_test(test_timers_have_no_deadline),
      cmocka_unit_test(test_cancelling),
      cmocka_unit_test(test_cancelling_what_has_ended),
      cmocka_unit_test(test_sinks_may_cancel_and_finish),
      cmocka_unit_test(test_finishing_cancels_the_rest),
      cmocka_unit_test(test_an_operation_that_does_nothing),
      cmocka_unit_test(test_an_error_without_words),
      cmocka_unit_test(test_steps_find_their_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
