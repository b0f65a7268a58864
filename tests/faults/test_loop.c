/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own loop on a scripted engine: results, lifetimes, connections. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exec_fixture.h"
#include "loop_support.h"
#include "model_engine.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define QUICK                                                                                      \
  {.path = CREATE, .reply = CREATED},                                                              \
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}}, {                \
    .path = "/exec/aaaa/json", .reply = { 200, .body = ENDED("3") }                                \
  }

static const cdam_exec_command command = {.argv = exec_argv};

static void start_exec(cdam_loop *loop, fixture *this, outcome *out) {
  assert_int_equal(cdam_exec_start(loop, &this->session, &command, note_exec, out, NULL, NULL),
                   CDAM_OK);
}

/* ---- each operation ---- */

static void test_all_operations(void **state) {
  (void)state;
  model_engine *model = model_start();
  cdam_loop *loop = loop_of(model->client);
  cdam_options *options = model_options(CDAM_NETWORK_MODE_UNSET);
  const uint32_t port = 8080;
  assert_int_equal(cdam_options_add_exposed_port(options, port, NULL), CDAM_OK);
  outcome ping = {0}, made = {0}, bound = {0}, stopped = {0}, resumed = {0}, gone = {0};

  assert_int_equal(cdam_client_ping_start(loop, note_ping, &ping, NULL, NULL), CDAM_OK);
  assert_int_equal(cdam_create_start(loop, options, note_session, &made, NULL, NULL), CDAM_OK);
  cdam_options_free(options);
  assert_int_equal(cdam_loop_pending(loop), 2);
  assert_int_equal(model_requests(model, NULL, NULL), 0); /* nothing before the dispatch */
  drive(loop);
  assert_int_equal(ping.status, CDAM_OK);
  assert_string_equal(ping.version, "1.41");
  if (made.status) fail_msg("%s", made.error.message);
  assert_true(model_has_container(model));

  assert_int_equal(
      cdam_session_resolve_port_start(loop, made.session, port, note_port, &bound, NULL, NULL),
      CDAM_OK);
  drive(loop);
  assert_int_equal(bound.status, CDAM_OK);
  assert_string_equal(bound.host, "127.0.0.1");
  assert_int_equal(bound.port, 49153);

  cdam_state *copy;
  assert_int_equal(cdam_state_copy(cdam_session_state(made.session), &copy, NULL), CDAM_OK);
  assert_int_equal(cdam_session_stop_start(loop, made.session, 0, note_done, &stopped, NULL, NULL),
                   CDAM_OK);
  outcome_clear(&made); /* the session, while it is being stopped */
  drive(loop);
  assert_int_equal(stopped.status, CDAM_OK);
  assert_string_equal(model->status, "exited");

  assert_int_equal(cdam_resume_start(loop, copy, NULL, note_session, &resumed, NULL, NULL),
                   CDAM_OK);
  cdam_state_free(copy);
  drive(loop);
  if (resumed.status) fail_msg("%s", resumed.error.message);
  assert_false(cdam_session_was_recreated(resumed.session));
  assert_string_equal(model->status, "running");

  assert_int_equal(
      cdam_delete_start(loop, cdam_session_state(resumed.session), note_done, &gone, NULL, NULL),
      CDAM_OK);
  outcome_clear(&resumed);
  drive(loop);
  assert_int_equal(gone.status, CDAM_OK);
  assert_false(model_has_container(model));
  outcome_clear(&bound);
  cdam_loop_free(loop);
  model_stop(model);
}

static void test_list(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = "/containers/json*",
       .reply = {200, .body = "[{\"Id\":\"" CONTAINER "\",\"Image\":\"a\",\"State\":\"running\","
                              "\"Labels\":{\"io.cofferdam.session-id\":"
                              "\"01234567-89ab-4def-8123-456789abcdef\"}}]"}}};
  fixture *this = BEGIN(rules, 2000);
  cdam_loop *loop = loop_of(this->session.client);
  outcome out = {0};
  assert_int_equal(cdam_list_start(loop, note_list, &out, NULL, NULL), CDAM_OK);
  drive(loop);
  assert_int_equal(cdam_list_count(out.list), 1);
  outcome_clear(&out);
  cdam_loop_free(loop);
  end(this);
}

static void test_arguments(void **state) {
  (void)state;
  model_engine *model = model_start();
  cdam_loop *loop = (cdam_loop *)model;
  cdam_options *none;
  cdam_operation *operation = (cdam_operation *)model;
  cdam_session stranger = {0};
  cdam_error err;
  outcome out = {0};
  assert_int_equal(cdam_options_new(&none, NULL), CDAM_OK);
  assert_int_equal(cdam_loop_new(NULL, &loop, NULL), CDAM_ERR_ARGUMENT);
  assert_null(loop);
  loop = loop_of(model->client);
  assert_int_equal(cdam_list_start(NULL, note_list, &out, &operation, NULL), CDAM_ERR_ARGUMENT);
  assert_null(operation);
  assert_int_equal(cdam_list_start(loop, NULL, &out, NULL, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_create_start(loop, NULL, note_session, &out, NULL, NULL),
                   CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_create_start(loop, none, note_session, &out, &operation, &err),
                   CDAM_ERR_INVALID); /* no image */
  assert_null(operation);
  assert_int_equal(cdam_exec_start(loop, NULL, &command, note_exec, &out, NULL, NULL),
                   CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_exec_start(loop, &stranger, &command, note_exec, &out, NULL, &err),
                   CDAM_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "another client"));
  assert_int_equal(cdam_loop_pending(loop), 0);
  assert_int_equal(cdam_loop_dispatch(loop), 0);
  assert_int_equal(cdam_loop_dispatch(NULL), 0);
  assert_int_equal(cdam_loop_fd(NULL), -1);
  cdam_cancel(NULL);
  cdam_loop_free(NULL);
  assert_int_equal(out.calls, 0);
  assert_int_equal(model_requests(model, NULL, NULL), 0);
  cdam_loop_free(loop);
  cdam_options_free(none);
  model_stop(model);
}

/* ---- interleaving ---- */

typedef struct finish_order {
  outcome out;
  int *next;
  int place;
} finish_order;

static void note_order(void *user, cdam_status status, cdam_exec_result *result,
                       const cdam_error *err) {
  finish_order *this = user;
  note_exec(&this->out, status, result, err);
  this->place = (*this->next)++;
}

/* The first of three answers last, and while it waits the others go all their ways. */
static void test_interleaving(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .times = 1, .reply = {201, .body = "{\"Id\":\"bbbb\"}", .delay_ms = 400}},
      {.path = "/exec/bbbb/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("7")}},
      QUICK};
  fixture *this = BEGIN(rules, 2000);
  cdam_loop *loop = loop_of(this->session.client);
  finish_order orders[3] = {{{0}, NULL, 0}};
  int next = 0;
  for (int i = 0; i < 3; i++) {
    orders[i].next = &next;
    assert_int_equal(
        cdam_exec_start(loop, &this->session, &command, note_order, &orders[i], NULL, NULL),
        CDAM_OK);
    if (i == 0)
      while (!scripted_engine_count(this->engine, "POST", CREATE)) {
        assert_int_equal(cdam_loop_dispatch(loop), 1);
        usleep(1000);
      }
  }
  drive(loop);
  assert_int_equal(orders[0].place, 2);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cdam_exec_result_exit_code(orders[i].out.result), i ? 3 : 7);
    assert_string_equal(cdam_exec_result_stdout(orders[i].out.result, NULL), "hello\n");
    outcome_clear(&orders[i].out);
  }
  cdam_loop_free(loop);
  end(this);
}

/* Nobody but the descriptor says when time is up; and a dispatch does not wait for it. */
static void test_timeouts(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = {.end = SCRIPTED_HANG, .raw = "H"}}};
  fixture *this = BEGIN(rules, 1000);
  cdam_loop *loop = loop_of(this->session.client);
  outcome out = {0};
  int64_t begin = cdam_now_ms(), longest = 0;
  int dispatches = 0;
  start_exec(loop, this, &out);
  do {
    wait_readable(loop, 30000);
    int64_t before = cdam_now_ms();
    cdam_loop_dispatch(loop);
    if (cdam_now_ms() - before > longest) longest = cdam_now_ms() - before;
    dispatches++;
  } while (!out.calls);
  assert_int_equal(out.status, CDAM_ERR_TIMEOUT);
  assert_in_range(cdam_now_ms() - begin, 1000, 20000);
  assert_in_range(longest, 0, 900);   /* no turn waits */
  assert_in_range(dispatches, 2, 40); /* it is quiet in between */
  cdam_loop_free(loop);
  end(this);
}

static void test_no_engine(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start(NULL, 0);
  cdam_client *client = scripted_engine_client(engine, 1000);
  scripted_engine_stop(engine);
  cdam_loop *loop = loop_of(client);
  outcome out[3] = {{0}};
  for (int i = 0; i < 3; i++)
    assert_int_equal(cdam_list_start(loop, note_list, &out[i], NULL, NULL), CDAM_OK);
  drive(loop);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(out[i].calls, 1);
    assert_int_equal(out[i].status, CDAM_ERR_CONNECT);
  }
  cdam_loop_free(loop);
  cdam_client_free(client);
}

/* ---- what callbacks may do ---- */

typedef struct chain {
  outcome out; /* of the last one */
  cdam_loop *loop;
  fixture *on;
  cdam_operation *own;
  cdam_operation *other;
  int left;
} chain;

static void start_next(void *user, cdam_status status, cdam_exec_result *result,
                       const cdam_error *err) {
  chain *this = user;
  outcome_clear(&this->out);
  note_exec(&this->out, status, result, err);
  cdam_cancel(this->own); /* over, though alive: nothing */
  assert_int_equal(cdam_loop_dispatch(this->loop), cdam_loop_pending(this->loop)); /* nothing */
  if (this->left-- > 0)
    assert_int_equal(cdam_exec_start(this->loop, &this->on->session, &command, start_next, this,
                                     &this->own, NULL),
                     CDAM_OK);
}

static void test_callbacks_that_start(void **state) {
  (void)state;
  static const scripted_rule rules[] = {QUICK};
  fixture *on = BEGIN(rules, 2000);
  chain this = {.loop = loop_of(on->session.client), .on = on, .left = 5};
  assert_int_equal(
      cdam_exec_start(this.loop, &on->session, &command, start_next, &this, &this.own, NULL),
      CDAM_OK);
  drive(this.loop);
  assert_int_equal(this.left, -1);
  assert_int_equal(this.out.status, CDAM_OK);
  assert_int_equal(scripted_engine_count(on->engine, "POST", CREATE), 6);
  outcome_clear(&this.out);
  cdam_loop_free(this.loop);
  end(on);
}

static void cancel_other(void *user, cdam_status status, cdam_exec_result *result,
                         const cdam_error *err) {
  chain *this = user;
  note_exec(&this->out, status, result, err);
  cdam_cancel(this->other);
  cdam_cancel(this->other);
}

static void test_callbacks_that_cancel_others(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .times = 1, .reply = {201, .body = "{\"Id\":\"bbbb\"}", .delay_ms = 9000}},
      QUICK};
  fixture *on = BEGIN(rules, 20000);
  chain this = {.loop = loop_of(on->session.client)};
  outcome other = {0};
  assert_int_equal(
      cdam_exec_start(this.loop, &on->session, &command, note_exec, &other, &this.other, NULL),
      CDAM_OK);
  while (!scripted_engine_count(on->engine, "POST", CREATE))
    cdam_loop_dispatch(this.loop);
  assert_int_equal(
      cdam_exec_start(this.loop, &on->session, &command, cancel_other, &this, NULL, NULL), CDAM_OK);
  int64_t begin = cdam_now_ms();
  drive(this.loop);
  assert_in_range(cdam_now_ms() - begin, 0, 10000);
  assert_int_equal(this.out.status, CDAM_OK);
  assert_int_equal(other.calls, 1);
  assert_int_equal(other.status, CDAM_ERR_CANCELLED);
  outcome_clear(&this.out);
  cdam_loop_free(this.loop);
  end(on);
}

static void free_loop(void *user, cdam_status status, cdam_exec_result *result,
                      const cdam_error *err) {
  chain *this = user;
  note_exec(&this->out, status, result, err);
  cdam_loop_free(this->loop);
  cdam_loop_free(this->loop);
  cdam_error refusal;
  assert_int_equal(
      cdam_exec_start(this->loop, &this->on->session, &command, note_exec, this, NULL, &refusal),
      CDAM_ERR_ARGUMENT);
}

static void test_callbacks_that_free_the_loop(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .times = 2, .reply = {201, .body = "{\"Id\":\"bbbb\"}", .delay_ms = 9000}},
      QUICK};
  fixture *on = BEGIN(rules, 20000);
  chain this = {.loop = loop_of(on->session.client), .on = on};
  outcome others[2] = {{0}}, unsent = {0};
  for (int i = 0; i < 2; i++)
    start_exec(this.loop, on, &others[i]);
  while (scripted_engine_count(on->engine, "POST", CREATE) < 2)
    cdam_loop_dispatch(this.loop);
  assert_int_equal(cdam_exec_start(this.loop, &on->session, &command, free_loop, &this, NULL, NULL),
                   CDAM_OK);
  while (scripted_engine_count(on->engine, "GET", "/exec/aaaa/json") < 1)
    cdam_loop_dispatch(this.loop);
  start_exec(this.loop, on, &unsent);
  drive(this.loop); /* the last dispatch returns 0 and has freed it */
  assert_int_equal(this.out.status, CDAM_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(others[i].calls, 1);
    assert_int_equal(others[i].status, CDAM_ERR_CANCELLED);
  }
  assert_int_equal(unsent.calls, 1);
  outcome_clear(&unsent);
  outcome_clear(&this.out);
  end(on);
}

static void test_freeing_a_busy_loop(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = {.raw = "H", .end = SCRIPTED_HANG}}};
  fixture *on = BEGIN(rules, 20000);
  cdam_loop *loop = loop_of(on->session.client);
  outcome out[3] = {{0}};
  for (int i = 0; i < 3; i++)
    start_exec(loop, on, &out[i]);
  while (scripted_engine_count(on->engine, "POST", CREATE) < 3)
    cdam_loop_dispatch(loop);
  int64_t begin = cdam_now_ms();
  cdam_loop_free(loop);
  assert_in_range(cdam_now_ms() - begin, 0, 10000);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(out[i].calls, 1);
    assert_int_equal(out[i].status, CDAM_ERR_CANCELLED);
  }
  end(on);
}

/* ---- connections ---- */

static void test_connections_are_bounded(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .delay_ms = 20, .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("3"), .delay_ms = 2}}};
  fixture *on = BEGIN(rules, 20000);
  cdam_loop *loop = loop_of(on->session.client);
  outcome out[60] = {{0}};
  unsigned most = 0;
  cdam_loop_set_max_connections(loop, 8);
  for (size_t i = 0; i < COUNT(out); i++)
    start_exec(loop, on, &out[i]);
  do {
    wait_readable(loop, 5000);
    unsigned open = 0;
    for (int fd = 3; fd < 256; fd++) { /* as this side sees it */
      struct sockaddr_un peer;
      socklen_t length = sizeof peer;
      open += getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && length > 2;
    }
    if (open > most) most = open;
  } while (cdam_loop_dispatch(loop));
  assert_in_range(most, 6, 8);
  for (size_t i = 0; i < COUNT(out); i++) {
    if (out[i].status) fail_msg("%s", out[i].error.message);
    assert_int_equal(cdam_exec_result_exit_code(out[i].result), 3);
    outcome_clear(&out[i]);
  }
  cdam_loop_free(loop);
  end(on);
}

/* Three commands that do not end have all the connections that streams may have; a fourth is never
 * started, and its deadline has nothing to kill. Others get through. */
static void test_streams_leave_connections(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = "/containers/json*", .reply = {200, .body = "[]"}}};
  fixture *on = BEGIN(rules, 20000);
  cdam_loop *loop = loop_of(on->session.client);
  outcome running[3] = {{0}}, fourth = {0}, list = {0};
  cdam_loop_set_max_connections(loop, 0); /* means 4 */
  for (int i = 0; i < 3; i++)
    start_exec(loop, on, &running[i]);
  while (scripted_engine_count(on->engine, "POST", "/exec/aaaa/start") < 3)
    cdam_loop_dispatch(loop);
  cdam_exec_command limited = {.argv = exec_argv, .timeout_ms = 150};
  assert_int_equal(cdam_exec_start(loop, &on->session, &limited, note_exec, &fourth, NULL, NULL),
                   CDAM_OK);
  assert_int_equal(cdam_list_start(loop, note_list, &list, NULL, NULL), CDAM_OK);
  while (!fourth.calls) {
    wait_readable(loop, 5000);
    cdam_loop_dispatch(loop);
  }
  assert_int_equal(list.status, CDAM_OK);
  assert_int_equal(fourth.status, CDAM_OK);
  assert_true(cdam_exec_result_timed_out(fourth.result));
  assert_false(cdam_exec_result_still_running(fourth.result));
  assert_int_equal(scripted_engine_count(on->engine, "POST", "/exec/aaaa/start"), 3);
  assert_int_equal(scripted_engine_count(on->engine, "POST", CREATE), 4);
  outcome_clear(&fourth);
  outcome_clear(&list);
  cdam_loop_free(loop);
  end(on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_operations),
      cmocka_unit_test(test_list),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_interleaving),
      cmocka_unit_test(test_timeouts),
      cmocka_unit_test(test_no_engine),
      cmocka_unit_test(test_callbacks_that_start),
      cmocka_unit_test(test_callbacks_that_cancel_others),
      cmocka_unit_test(test_callbacks_that_free_the_loop),
      cmocka_unit_test(test_freeing_a_busy_loop),
      cmocka_unit_test(test_connections_are_bounded),
      cmocka_unit_test(test_streams_leave_connections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
