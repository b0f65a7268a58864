/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that are cancelled: at every step, and what is left on the engine. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exec_fixture.h"
#include "loop_support.h"
#include "model_engine.h"

/* ---- create and resume ---- */

typedef cdam_status (*starter)(cdam_loop *loop, const void *what, outcome *out,
                               cdam_operation **operation);

static cdam_status start_create(cdam_loop *loop, const void *what, outcome *out,
                                cdam_operation **operation) {
  return cdam_create_start(loop, what, note_session, out, operation, NULL);
}

static cdam_status start_resume(cdam_loop *loop, const void *what, outcome *out,
                                cdam_operation **operation) {
  return cdam_resume_start(loop, what, NULL, note_session, out, operation, NULL);
}

static cdam_status start_delete(cdam_loop *loop, const void *what, outcome *out,
                                cdam_operation **operation) {
  return cdam_delete_start(loop, what, note_done, out, operation, NULL);
}

/* Cancels as soon as the engine has so many requests; their answers may be on the way. */
static void cancel_at(model_engine *model, starter start, const void *what, size_t step,
                      outcome *out) {
  size_t before = model_requests(model, NULL, NULL);
  cdam_loop *loop = loop_of(model->client);
  cdam_operation *operation;
  assert_int_equal(start(loop, what, out, &operation), CDAM_OK);
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  bool cancelled = false;
  for (int64_t limit = cdam_now_ms() + 15000; cdam_loop_pending(loop);) {
    assert_true(cdam_now_ms() < limit);
    if (!cancelled && model_requests(model, NULL, NULL) - before >= step) {
      cdam_cancel(operation);
      cancelled = true;
      assert_int_equal(out->calls, 0); /* never inside */
    }
    poll(&ready, 1, 1);
    cdam_loop_dispatch(loop);
  }
  assert_int_equal(out->calls, 1);
  cdam_loop_free(loop);
}

static void test_create_at_each_step(void **state) {
  (void)state;
  model_engine *model = model_start();
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  int cancelled = 0;
  for (size_t step = 0; step < 12; step++) {
    outcome out = {0};
    int made = model->made;
    cancel_at(model, start_create, options, step, &out);
    if (out.status == CDAM_OK) {
      assert_true(model_has_container(model));
      model->id[0] = '\0';
    } else {
      assert_int_equal(out.status, CDAM_ERR_CANCELLED);
      assert_false(model_has_container(model));
      cancelled += model->made > made; /* there was something to undo */
    }
    outcome_clear(&out);
  }
  assert_true(cancelled >= 2);
  cdam_options_free(options);
  model_stop(model);
}

static void test_resume_at_each_step(void **state) {
  (void)state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  for (int missing = 0; missing < 2; missing++)
    for (size_t step = 0; step < 11; step++) {
      model_engine *model = model_start();
      cdam_state *sandbox = model_create_state(model, options);
      snprintf(model->status, sizeof model->status, "exited");
      if (missing) model->id[0] = '\0';
      outcome out = {0};
      cancel_at(model, start_resume, sandbox, step, &out);
      if (out.status == CDAM_OK) {
        assert_string_equal(model->status, "running");
      } else {
        assert_int_equal(out.status, CDAM_ERR_CANCELLED);
        assert_int_equal(model_has_container(model), !missing);
        if (!missing) assert_string_equal(model->status, "exited"); /* as it was */
      }
      outcome_clear(&out);
      cdam_state_free(sandbox);
      model_stop(model);
    }
  cdam_options_free(options);
}

static void test_delete_at_each_step(void **state) {
  (void)state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  for (size_t step = 0; step < 5; step++) {
    model_engine *model = model_start();
    cdam_state *sandbox = model_create_state(model, options);
    outcome out = {0};
    cancel_at(model, start_delete, sandbox, step, &out);
    assert_true(out.status == CDAM_OK || out.status == CDAM_ERR_CANCELLED);
    if (out.status == CDAM_OK) assert_false(model_has_container(model));
    cdam_state_free(sandbox);
    model_stop(model);
  }
  cdam_options_free(options);
}

/* The engine has done it, and its answer is on the way for a while; reads are not waited for. */
static void test_slow_answers(void **state) {
  (void)state;
  static const char id[] =
      "{\"Id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}";
  static const struct {
    const char *path;
    scripted_reply reply;
    bool does;
  } cases[] = {
      {"POST /containers/create*", {201, .body = id, .delay_ms = 300}, true},
      {"POST /containers/create*", {500, .body = "{}", .delay_ms = 300}, false},
      {"POST /containers/*/start", {204, .delay_ms = 300}, true},
      {"GET /containers/*/json", {200, .delay_ms = 60000}, false},
      {"GET /images/*/json", {200, .delay_ms = 60000}, false},
      {"GET /info", {200, .delay_ms = 60000}, false},
  };
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model_engine *model = model_start();
    model->fail_path = cases[i].path;
    model->fail_reply = cases[i].reply;
    model->fail_but_do = cases[i].does;
    cdam_loop *loop = loop_of(model->client);
    cdam_operation *operation;
    outcome out = {0};
    assert_int_equal(start_create(loop, options, &out, &operation), CDAM_OK);
    const char *wanted = strchr(cases[i].path, ' ') + 1;
    char method[8];
    snprintf(method, sizeof method, "%.*s", (int)(wanted - cases[i].path - 1), cases[i].path);
    for (struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
         !model_requests(model, method, wanted); poll(&ready, 1, 1))
      cdam_loop_dispatch(loop);
    cdam_cancel(operation);
    cdam_cancel(operation);
    int64_t begin = cdam_now_ms();
    drive(loop);
    assert_in_range(cdam_now_ms() - begin, 0, 1900);
    /* A failure of its own is told rather than the cancelling. */
    assert_int_equal(out.status, i == 1 ? CDAM_ERR_ENGINE : CDAM_ERR_CANCELLED);
    assert_false(model_has_container(model));
    cdam_loop_free(loop);
    model_stop(model);
  }
  cdam_options_free(options);
}

/* What cannot be undone is told. */
static void test_a_rollback_that_fails(void **state) {
  (void)state;
  model_engine *model = model_start();
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  model->fail_path = "DELETE *";
  model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"device busy\"}"};
  outcome out = {0};
  cancel_at(model, start_create, options, 5, &out);
  assert_int_equal(out.status, CDAM_ERR_CANCELLED);
  assert_non_null(strstr(out.error.message, "cancelled"));
  assert_non_null(strstr(out.error.message, "device busy"));
  cdam_options_free(options);
  model_stop(model);
}

/* ---- commands ---- */

static const cdam_exec_command command = {.argv = exec_argv, .user = "me"};

static const scripted_rule killable[] = {
    {.path = CREATE, .times = 1, .reply = CREATED},
    {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
    {.path = CREATE, .times = 1, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
    {.path = "/exec/bbbb/start", .reply = {.status = 200}},
    {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("0")}},
    {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
};

static void cancel_command(fixture *on, const char *path, outcome *out) {
  cdam_loop *loop = loop_of(on->session.client);
  cdam_operation *operation;
  assert_int_equal(cdam_exec_start(loop, &on->session, &command, note_exec, out, &operation, NULL),
                   CDAM_OK);
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  while (path && !scripted_engine_count(on->engine, "POST", path)) {
    cdam_loop_dispatch(loop);
    poll(&ready, 1, 1);
  }
  cdam_cancel(operation);
  drive(loop);
  assert_int_equal(out->calls, 1);
  assert_int_equal(out->status, CDAM_ERR_CANCELLED);
  cdam_loop_free(loop);
}

static void test_a_command_that_runs(void **state) {
  (void)state;
  fixture *on = BEGIN(killable, 5000);
  outcome out = {0};
  cancel_command(on, "/exec/aaaa/start", &out);
  assert_null(strstr(out.error.message, "still"));
  assert_int_equal(scripted_engine_count(on->engine, "POST", "/exec/bbbb/start"), 1);
  const char *body = scripted_engine_request(on->engine, "POST", CREATE, 1)->body;
  assert_non_null(strstr(body, "\"User\":\"me\""));
  end(on);
}

static void test_a_command_that_has_not_begun(void **state) {
  (void)state;
  fixture *on = BEGIN(killable, 5000);
  outcome out = {0};
  cancel_command(on, NULL, &out);
  assert_int_equal(scripted_engine_count(on->engine, NULL, NULL), 0);
  end(on);
  on = BEGIN(killable, 5000);
  outcome created = {0};
  cancel_command(on, CREATE, &created);
  assert_int_equal(scripted_engine_count(on->engine, NULL, "/exec/*"), 0);
  end(on);
}

static void test_a_command_that_cannot_be_killed(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .times = 1, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = CREATE, .reply = {500, .body = "{\"message\":\"odd\"}"}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = RUNNING}},
  };
  fixture *on = BEGIN(rules, 5000);
  outcome out = {0};
  cancel_command(on, "/exec/aaaa/start", &out);
  assert_non_null(strstr(out.error.message, "may still be running"));
  end(on);
}

/* ---- in a pull ---- */

typedef struct pulling {
  cdam_operation *operation;
  cdam_loop *loop;
  int calls;
  bool frees;
} pulling;

static bool stop_pulling(void *user, const char *status, const char *layer, unsigned long long now,
                         unsigned long long total) {
  (void)status;
  (void)layer;
  (void)now;
  (void)total;
  pulling *this = user;
  this->calls++;
  if (this->frees)
    cdam_loop_free(this->loop);
  else
    cdam_cancel(this->operation);
  return true;
}

static void test_in_the_progress_of_a_pull(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = "/images/*/json", .reply = {404, .body = "{\"message\":\"no such image\"}"}},
      {.path = "/images/create*",
       .reply = {200, .body = "{\"status\":\"Downloading\",\"id\":\"x\"}\n{\"status\":\"Done\"}\n",
                 .chunked = true, .piece = 1, .piece_delay_ms = 1}},
  };
  for (int frees = 0; frees < 2; frees++) {
    scripted_engine *engine = scripted_engine_start(rules, 2);
    pulling this = {.frees = frees};
    cdam_client_config *config;
    cdam_client *client;
    assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
    assert_int_equal(
        cdam_client_config_set_endpoint(config, scripted_engine_endpoint(engine), NULL), CDAM_OK);
    cdam_client_config_set_pull_progress(config, stop_pulling, &this);
    cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
    assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
    cdam_client_config_free(config);
    cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
    outcome out = {0};
    this.loop = loop_of(client);
    assert_int_equal(start_create(this.loop, options, &out, &this.operation), CDAM_OK);
    drive(this.loop);
    assert_int_equal(out.calls, 1);
    assert_int_equal(out.status, CDAM_ERR_CANCELLED);
    assert_int_equal(this.calls, 1);
    if (!frees) cdam_loop_free(this.loop);
    cdam_options_free(options);
    cdam_client_free(client);
    scripted_engine_stop(engine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create_at_each_step),
      cmocka_unit_test(test_resume_at_each_step),
      cmocka_unit_test(test_delete_at_each_step),
      cmocka_unit_test(test_slow_answers),
      cmocka_unit_test(test_a_rollback_that_fails),
      cmocka_unit_test(test_a_command_that_runs),
      cmocka_unit_test(test_a_command_that_has_not_begun),
      cmocka_unit_test(test_a_command_that_cannot_be_killed),
      cmocka_unit_test(test_in_the_progress_of_a_pull),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
