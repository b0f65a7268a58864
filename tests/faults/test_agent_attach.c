/* SPDX-License-Identifier: Apache-2.0 */
/* The link that is made before a sandbox starts, on an engine whose agent says nothing. */
#include "agent_fixture.h"

#include "base/clock.h"
#include "loop_support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ATTACH "/containers/*/attach?stream=1&stdin=1&stdout=1&stderr=1"

static size_t attaches(agent_fixture *this) {
  return model_requests(this->model, "POST", "/containers/*/attach*");
}

static void fail_attaching(agent_fixture *this, scripted_reply reply) {
  this->model->fail_path = "POST /containers/*/attach*";
  this->model->fail_reply = reply;
}

static void before_the_start(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  assert_int_equal(attaches(this), 1);
  const scripted_request *attach = scripted_engine_request(this->model->engine, "POST", ATTACH, 0);
  char value[32];
  assert_true(scripted_request_header(attach, "Upgrade", value, sizeof value));
  assert_string_equal(value, "tcp");
  assert_true(scripted_request_header(attach, "Content-Length", value, sizeof value));
  assert_string_equal(value, "0");
  size_t all = model_requests(this->model, NULL, NULL), attached = 0, started = 0;
  for (size_t i = 0; i < all; i++) {
    const scripted_request *request = scripted_engine_request(this->model->engine, NULL, NULL, i);
    if (strstr(request->path, "/attach?")) attached = i;
    if (strstr(request->path, "/start")) started = i;
  }
  assert_true(attached && attached < started);
}

/* It is a gift, and no condition. */
static void refused_or_late(void **state) {
  agent_fixture *this = *state;
  const scripted_reply replies[] = {
      {500, .body = "{\"message\":\"no\"}"},
      {404, .body = "{\"message\":\"page not found\"}"},
      {200, .body = "{}", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 101 UPGR", .end = SCRIPTED_CLOSE},
      {.raw = "nonsense\r\n\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "", .end = SCRIPTED_RESET},
      {.raw = "", .end = SCRIPTED_HANG},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    fail_attaching(this, replies[i]);
    int64_t begun = cdam_now_ms();
    assert_created(this);
    assert_true(cdam_now_ms() - begun < 20000);
    assert_int_equal(attaches(this), i + 1);
  }
}

/* Two clients on one container's streams would spoil it for each other. */
static void only_by_its_maker(void **state) {
  agent_fixture *this = *state;
  cdam_session *session, *again;
  assert_int_equal(agent_create(this, &session, NULL), CDAM_OK);
  assert_int_equal(attaches(this), 1);
  const cdam_state *saved = cdam_session_state(session);
  /* Running, stopped, or created by another who has not started it yet. */
  const char *const statuses[] = {"running", "exited", "created"};
  for (size_t i = 0; i < COUNT(statuses); i++) {
    snprintf(this->model->status, sizeof this->model->status, "%s", statuses[i]);
    assert_int_equal(cdam_resume(this->model->client, saved, NULL, &again, NULL), CDAM_OK);
    assert_true(cdam_session_has_agent(again));
    cdam_session_free(again);
    assert_int_equal(attaches(this), 1);
  }
  this->model->id[0] = '\0';
  assert_int_equal(cdam_resume(this->model->client, saved, NULL, &again, NULL), CDAM_OK);
  assert_true(cdam_session_was_recreated(again));
  assert_int_equal(attaches(this), 2);
  cdam_session_free(again);
  cdam_session_free(session);
}

static void not_without_an_agent(void **state) {
  agent_fixture *this = *state;
  model_use_agent(this->model, this->directory, CDAM_AGENT_OFF);
  assert_int_equal(agent_create(this, NULL, NULL), CDAM_OK);
  assert_int_equal(attaches(this), 0);
}

static void a_start_that_fails(void **state) {
  agent_fixture *this = *state;
  this->model->fail_path = "POST *start";
  this->model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"the first failure\"}"};
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_ENGINE);
  assert_non_null(strstr(err.message, "the first failure"));
  assert_int_equal(attaches(this), 1);
  assert_false(model_has_container(this->model));
}

/* Streams that nobody uses must not keep a loop's other streams from theirs. */
static void no_more_than_half(void **state) {
  agent_fixture *this = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_loop *loop = loop_of(this->model->client);
  outcome out[5] = {0};
  cdam_loop_set_max_connections(loop, 8);
  for (size_t i = 0; i < COUNT(out); i++) {
    this->model->id[0] = '\0';
    assert_int_equal(cdam_create_start(loop, options, note_session, &out[i], NULL, NULL), CDAM_OK);
    drive(loop);
    assert_int_equal(out[i].status, CDAM_OK);
    assert_int_equal(attaches(this), i < 4 ? i + 1 : 4);
  }
  for (size_t i = 0; i < COUNT(out); i++)
    outcome_clear(&out[i]);
  cdam_loop_free(loop);
  cdam_options_free(options);
}

static void cancelled_while_it_waits(void **state) {
  agent_fixture *this = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  fail_attaching(this, (scripted_reply){.raw = "", .end = SCRIPTED_HANG});
  cdam_loop *loop = loop_of(this->model->client);
  cdam_operation *operation;
  outcome out = {0};
  assert_int_equal(cdam_create_start(loop, options, note_session, &out, &operation, NULL), CDAM_OK);
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  for (bool cancelled = false; cdam_loop_pending(loop);) {
    if (!cancelled && attaches(this)) {
      cdam_cancel(operation);
      cancelled = true;
    }
    poll(&ready, 1, 1);
    cdam_loop_dispatch(loop);
  }
  assert_int_equal(out.status, CDAM_ERR_CANCELLED);
  assert_false(model_has_container(this->model));
  cdam_loop_free(loop);
  cdam_options_free(options);
}

/* The loop goes while a create waits; and a session outlives the loop that its link lived in. */
static void the_loop_goes(void **state) {
  agent_fixture *this = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  outcome out = {0};
  cdam_loop *loop = loop_of(this->model->client);
  assert_int_equal(cdam_create_start(loop, options, note_session, &out, NULL, NULL), CDAM_OK);
  drive(loop);
  assert_int_equal(out.status, CDAM_OK);
  cdam_loop_free(loop);
  assert_true(cdam_session_has_agent(out.session));
  outcome_clear(&out);

  this->model->id[0] = '\0';
  fail_attaching(this, (scripted_reply){.raw = "", .end = SCRIPTED_HANG});
  loop = loop_of(this->model->client);
  assert_int_equal(cdam_create_start(loop, options, note_session, &out, NULL, NULL), CDAM_OK);
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  for (size_t before = attaches(this); attaches(this) == before;) {
    poll(&ready, 1, 1);
    cdam_loop_dispatch(loop);
  }
  cdam_loop_free(loop);
  assert_int_equal(out.status, CDAM_ERR_CANCELLED);
  cdam_options_free(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(before_the_start),         AGENT_TEST(refused_or_late),
      AGENT_TEST(only_by_its_maker),        AGENT_TEST(not_without_an_agent),
      AGENT_TEST(a_start_that_fails),       AGENT_TEST(no_more_than_half),
      AGENT_TEST(cancelled_while_it_waits), AGENT_TEST(the_loop_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
