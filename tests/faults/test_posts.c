/* SPDX-License-Identifier: Apache-2.0 */
/* What runs in a loop besides steps: calls that are posted, calls at its end, and operations that
 * wait for such a call. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/loop.h"
#include "loop_support.h"
#include "scripted_engine.h"

/* ---- the fixture ---- */

typedef struct stage {
  scripted_engine *engine;
  cdam_client *client;
  cdam_loop *loop;
} stage;

static void open_stage(stage *s) {
  s->engine = scripted_engine_start(NULL, 0);
  s->client = scripted_engine_client(s->engine, 2000);
  s->loop = loop_of(s->client);
}

static void close_stage(stage *s) {
  cdam_loop_free(s->loop);
  cdam_client_free(s->client);
  scripted_engine_stop(s->engine);
}

static bool is_readable(cdam_loop *loop, int ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  return poll(&ready, 1, ms) == 1;
}

typedef struct call {
  cdam_posted posted; /* first */
  cdam_loop *loop;
  int count;
  int again; /* it posts itself so many times more */
  int order;
  int *orders;
} call;

static void called(cdam_posted *posted) {
  call *this = (call *)posted;
  this->count++;
  if (this->orders) this->order = ++*this->orders;
  if (this->again && this->again--) cdam_loop_post(this->loop, posted);
}

/* ---- posting ---- */

static void test_posting(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  call a = {.posted.run = called, .loop = s.loop}, b = a, c = a;
  cdam_loop_dispatch(s.loop); /* a new loop has a first one */
  assert_false(is_readable(s.loop, 20));
  cdam_loop_post(s.loop, &a.posted);
  cdam_loop_post(s.loop, &a.posted); /* once is enough */
  cdam_loop_post(s.loop, &b.posted);
  cdam_loop_unpost(s.loop, &b.posted);
  cdam_loop_unpost(s.loop, &c.posted);
  assert_int_equal(a.count, 0);
  assert_true(is_readable(s.loop, 1000));
  cdam_loop_dispatch(s.loop);
  assert_int_equal(a.count, 1);
  assert_int_equal(b.count + c.count, 0);
  assert_false(is_readable(s.loop, 20));
  close_stage(&s);
}

static void test_posting_again_and_again(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  outcome ping = {0};
  call a = {.posted.run = called, .loop = s.loop, .again = 1000000000};
  cdam_loop_post(s.loop, &a.posted);
  assert_int_equal(cdam_client_ping_start(s.loop, note_ping, &ping, NULL, NULL), CDAM_OK);
  int before = 0;
  for (int64_t limit = cdam_now_ms() + 60000; !ping.calls && cdam_now_ms() < limit;) {
    assert_true(is_readable(s.loop, 1000));
    cdam_loop_dispatch(s.loop);
    assert_int_equal(a.count, before + 1); /* once in each turn */
    before = a.count;
  }
  assert_int_equal(ping.calls, 1);
  assert_int_equal(ping.status, CDAM_OK);
  close_stage(&s);
  assert_int_equal(a.count, before);
}

/* ---- the end ---- */

static void test_the_end_of_a_loop(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  int orders = 0;
  outcome ping = {0};
  call a = {.posted.run = called, .loop = s.loop, .orders = &orders}, b = a, c = a, posted = a;
  cdam_loop_on_end(s.loop, &a.posted);
  cdam_loop_on_end(s.loop, &b.posted);
  cdam_loop_on_end(s.loop, &c.posted);
  cdam_loop_forget_end(s.loop, &b.posted);
  cdam_loop_post(s.loop, &posted.posted);
  assert_int_equal(cdam_client_ping_start(s.loop, note_ping, &ping, NULL, NULL), CDAM_OK);
  cdam_loop_free(s.loop);
  assert_int_equal(ping.calls, 1);
  assert_int_equal(ping.status, CDAM_ERR_CANCELLED);
  assert_int_equal(a.order, 1);
  assert_int_equal(c.order, 2);
  assert_int_equal(b.count + posted.count, 0);
  cdam_loop_unpost(s.loop, &posted.posted); /* the loop is gone */
  cdam_loop_forget_end(s.loop, &a.posted);
  s.loop = NULL;
  close_stage(&s);
}

/* ---- operations that wait ---- */

typedef struct waiting {
  cdam_operation op;
  cdam_posted posted;
  enum { FINISHES, SENDS, DOES_NOTHING } then;
  int aborts;
  int completed;
} waiting;

static void got_answer(cdam_operation *op, const cdam_reply *reply) {
  cdam_operation_finish(op, reply->status, reply->error);
}

static void go_on(cdam_posted *posted) {
  waiting *w = (waiting *)(void *)((char *)posted - offsetof(waiting, posted));
  const cdam_request ping = {.method = "GET", .path = "/_ping", .unversioned = true};
  cdam_operation_release(&w->op);
  if (w->then == FINISHES) cdam_operation_finish(&w->op, CDAM_OK, NULL);
  if (w->then == SENDS) cdam_operation_send(&w->op, &ping, got_answer);
  cdam_operation_stepped(&w->op);
}

static void start_waiting(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  waiting *w = (waiting *)op;
  w->posted.run = go_on;
  cdam_operation_hold(op);
  cdam_loop_post(op->loop, &w->posted);
}

static void test_waiting_in_a_blocking_call(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  cdam_error err;
  for (int then = FINISHES; then <= DOES_NOTHING; then++) {
    waiting w = {.then = then};
    cdam_status status = cdam_operation_run(&w.op, s.client, start_waiting, &err);
    assert_int_equal(status, then == DOES_NOTHING ? CDAM_ERR_ARGUMENT : CDAM_OK);
  }
  cdam_loop *own = cdam_loop_make(s.client);
  for (int i = 0; i < 3; i++) {
    waiting w = {.then = SENDS};
    assert_int_equal(cdam_operation_run_in(&w.op, own, start_waiting, &err), CDAM_OK);
    assert_null(w.op.loop);
  }
  cdam_loop_destroy(own);
  close_stage(&s);
}

static void completed(cdam_operation *op) {
  ((waiting *)op)->completed++;
}

static void note_abort(cdam_operation *op) {
  waiting *w = (waiting *)op;
  w->aborts++;
  if (w->aborts == 2) cdam_operation_finish_cancelled(op);
}

static void test_waiting_in_a_program_s_loop(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  cdam_error err;
  for (int then = FINISHES; then <= DOES_NOTHING; then++) {
    waiting w = {.then = then};
    assert_int_equal(cdam_operation_submit(&w.op, s.loop, start_waiting, completed, &err), CDAM_OK);
    drive(s.loop);
    assert_int_equal(w.completed, 1);
    assert_int_equal(w.op.status, then == DOES_NOTHING ? CDAM_ERR_ARGUMENT : CDAM_OK);
  }
  close_stage(&s);
}

/* The callback is followed by abort, as a step is. */
static void test_cancelling_what_waits(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  cdam_error err;
  waiting w = {.then = DOES_NOTHING, .op.abort = note_abort};
  assert_int_equal(cdam_operation_submit(&w.op, s.loop, start_waiting, completed, &err), CDAM_OK);
  wait_readable(s.loop, 1000);
  cdam_loop_dispatch(s.loop);
  if (!w.posted.queued) wait_readable(s.loop, 1000), cdam_loop_dispatch(s.loop);
  assert_true(w.posted.queued);
  cdam_cancel(&w.op);
  assert_int_equal(w.aborts, 1);
  drive(s.loop);
  assert_int_equal(w.aborts, 2);
  assert_int_equal(w.completed, 1);
  assert_int_equal(w.op.status, CDAM_ERR_CANCELLED);
  close_stage(&s);
}

static cdam_status nested;

static void start_nested(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  waiting inner = {.then = FINISHES};
  cdam_error err;
  nested = cdam_operation_run_in(&inner.op, op->loop, start_waiting, &err);
  cdam_operation_finish(op, CDAM_OK, NULL);
}

static void test_a_blocking_call_in_another(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  cdam_error err;
  waiting w = {.then = FINISHES};
  assert_int_equal(cdam_operation_run(&w.op, s.client, start_nested, &err), CDAM_OK);
  assert_int_equal(nested, CDAM_ERR_ARGUMENT);
  close_stage(&s);
}

/* An operation that is nobody's call lives on without anything to do, and is not counted. */
static void test_an_inner_operation(void **state) {
  (void)state;
  stage s;
  open_stage(&s);
  waiting w = {.op.status = CDAM_ERR_CONNECT};
  const cdam_request ping = {.method = "GET", .path = "/_ping", .unversioned = true};
  cdam_operation_init_in(&w.op, s.loop);
  assert_int_equal(cdam_loop_pending(s.loop), 0);
  cdam_loop_dispatch(s.loop); /* a new loop has a first one */
  for (int i = 0; i < 10; i++)
    assert_false(is_readable(s.loop, 1)), cdam_loop_dispatch(s.loop);
  assert_false(w.op.finished);
  cdam_operation_send(&w.op, &ping, got_answer);
  cdam_loop_wake(s.loop);
  while (!w.op.finished)
    wait_readable(s.loop, 2000), cdam_loop_dispatch(s.loop);
  assert_int_equal(w.op.status, CDAM_OK);
  close_stage(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_posting),
      cmocka_unit_test(test_posting_again_and_again),
      cmocka_unit_test(test_the_end_of_a_loop),
      cmocka_unit_test(test_waiting_in_a_blocking_call),
      cmocka_unit_test(test_waiting_in_a_program_s_loop),
      cmocka_unit_test(test_cancelling_what_waits),
      cmocka_unit_test(test_a_blocking_call_in_another),
      cmocka_unit_test(test_an_inner_operation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
