/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_exec with a deadline, on an engine that is of little help. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "exec_fixture.h"

#define KILLER(id)                                                                                 \
  {                                                                                                \
    .method = "POST", .path = CREATE, .times = 1, .reply = { 201, .body = "{\"Id\":\"" id "\"}" }  \
  }

/* Runs with a deadline of 100 ms; what came so far is there. */
static void expect_timeout(fixture *this, const char *out, bool still_running, int64_t at_most) {
  cdam_exec_result *result;
  cdam_error err = {0};
  int64_t before = cdam_now_ms();
  if (run(this, 100, &result, &err) != CDAM_OK) fail_msg("%s", err.message);
  int64_t took = cdam_now_ms() - before;
  assert_in_range(took, 100, at_most + 10000); /* on a busy machine */
  assert_true(cdam_exec_result_timed_out(result));
  assert_int_equal(cdam_exec_result_still_running(result), still_running);
  assert_int_equal(cdam_exec_result_exit_code(result), -1);
  assert_false(cdam_exec_result_not_started(result));
  assert_string_equal(cdam_exec_result_stdout(result, NULL), out);
  cdam_exec_result_free(result);
}

static void deadline_before_the_start(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = {.raw = "H", .end = SCRIPTED_HANG}}};
  fixture *this = BEGIN(rules, 20000);
  expect_timeout(this, "", false, 1000);
  end(this);
}

static void kill_that_works(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      KILLER("aaaa"),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      KILLER("bbbb"),
      {.path = "/exec/bbbb/start", .reply = {.status = 200}},
      {.path = "/exec/bbbb/json", .times = 2, .reply = {200, .body = RUNNING}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("0")}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
  };
  fixture *this = BEGIN(rules, 2000);
  expect_timeout(this, "hello\n", false, 3000);
  const char *run_body = scripted_engine_request(this->engine, "POST", CREATE, 0)->body;
  const char *body = scripted_engine_request(this->engine, "POST", CREATE, 1)->body;
  assert_non_null(strstr(body, "\"Cmd\":[\"/bin/sh\",\"-c\","));
  assert_non_null(strstr(body, "\"WorkingDir\":\"/\""));
  assert_null(strstr(body, "\"User\""));
  assert_null(strstr(body, "\"Env\""));
  char marker[37];
  snprintf(marker, sizeof marker, "%s", strstr(run_body, "COFFERDAM_EXEC_ID=") + 18);
  assert_non_null(strstr(body, marker));
  /* Podman would say of a detached one that it runs for ever. */
  assert_non_null(strstr(body, "\"AttachStdout\":true"));
  assert_string_equal(scripted_engine_request(this->engine, "POST", "/exec/bbbb/start", 0)->body,
                      "{\"Detach\":false,\"Tty\":false}");
  end(this);
}

static void kill_with_the_second_shell(void **state) {
  (void)state;
  static const scripted_reply refused = {400, .body = "{\"message\":\"no such file\"}"};
  static const scripted_reply started = {.status = 200};
  for (int i = 0; i < 2; i++) {
    scripted_rule rules[] = {
        KILLER("aaaa"),
        {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
        KILLER("bbbb"),
        {.path = "/exec/bbbb/start", .reply = i ? refused : started},
        {.path = "/exec/bbbb/json",
         .reply = {200, .body = "{\"Running\":false,\"ExitCode\":126,\"Pid\":0}"}},
        KILLER("cccc"),
        {.path = "/exec/cccc/start", .reply = {.status = 200}},
        {.path = "/exec/cccc/json", .reply = {200, .body = ENDED("0")}},
        {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
    };
    fixture *this = BEGIN(rules, 2000);
    cdam_exec_command command = {
        .argv = exec_argv, .timeout_ms = 100, .user = "me", .input = exec_input};
    cdam_exec_result *result;
    assert_int_equal(cdam_exec(&this->session, &command, &result, NULL), CDAM_OK);
    assert_false(cdam_exec_result_still_running(result));
    cdam_exec_result_free(result);
    const char *body = scripted_engine_request(this->engine, "POST", CREATE, 2)->body;
    assert_non_null(strstr(body, "\"Cmd\":[\"/bin/busybox\",\"sh\",\"-c\","));
    assert_non_null(strstr(body, "\"User\":\"me\""));
    end(this);
  }
}

/* Whatever goes wrong, the caller hears that the command may run on. */
static void kills_that_fail(void **state) {
  (void)state;
  static const scripted_reply odd = {500, .body = "{\"message\":\"odd\"}"};
  static const scripted_reply created = {201, .body = "{\"Id\":\"bbbb\"}"};
  static const scripted_reply started = {.status = 200};
  static const scripted_reply no_shell = {200,
                                          .body = "{\"Running\":false,\"ExitCode\":126,\"Pid\":0}"};
  static const scripted_reply survivors = {200, .body = ENDED("3")};
  static const scripted_reply cut = {.raw = "H", .end = SCRIPTED_CLOSE};
  static const struct {
    const scripted_reply *create, *start, *inspect;
  } cases[] = {
      {&odd, &odd, &odd},
      {&cut, &odd, &odd},
      {&created, &cut, &odd},
      {&created, &odd, &odd},
      {&created, &started, &odd},
      {&created, &started, &no_shell},
      {&created, &started, &survivors},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scripted_rule rules[] = {
        KILLER("aaaa"),
        {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
        {.path = CREATE, .reply = *cases[i].create},
        {.path = "/exec/bbbb/start", .reply = *cases[i].start},
        {.path = "/exec/bbbb/json", .reply = *cases[i].inspect},
        {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
    };
    fixture *this = BEGIN(rules, 2000);
    expect_timeout(this, "hello\n", true, 3000);
    end(this);
  }
}

/* The shell found nothing, for the command was only about to begin: done again, and then given up.
 */
static void kill_of_a_late_starter(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      KILLER("aaaa"),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE, .delay_ms = 400}},
      {.path = CREATE, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
      {.path = "/exec/bbbb/start", .reply = {.status = 200}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("0")}},
      {.path = "/exec/aaaa/json", .times = 1, .reply = {200, .body = RUNNING}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
  };
  fixture *this = BEGIN(rules, 2000);
  expect_timeout(this, "hello\n", false, 4000);
  assert_int_equal(scripted_engine_count(this->engine, "POST", CREATE), 3);
  end(this);
}

static void a_command_that_cannot_be_killed(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      KILLER("aaaa"),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = CREATE, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
      {.path = "/exec/bbbb/start", .reply = {.status = 200}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("0")}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = RUNNING}},
  };
  fixture *this = BEGIN(rules, 20000);
  expect_timeout(this, "hello\n", true, 11000);
  assert_int_equal(scripted_engine_count(this->engine, "POST", CREATE), 6);
  end(this);
}

static void a_kill_that_hangs(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      KILLER("aaaa"),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = CREATE, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
      {.path = "/exec/bbbb/start", .reply = {.raw = "H", .end = SCRIPTED_HANG}},
  };
  fixture *this = BEGIN(rules, 60000);
  expect_timeout(this, "hello\n", true, 11000);
  end(this);
}

static void the_sandbox_is_gone_at_the_deadline(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      KILLER("aaaa"),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = CREATE, .reply = {404, .body = "{\"message\":\"No such container\"}"}},
  };
  fixture *this = BEGIN(rules, 2000);
  expect_timeout(this, "hello\n", false, 3000);
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(deadline_before_the_start),     BOTH(kill_that_works),
      BOTH(kill_with_the_second_shell),    BOTH(kills_that_fail),
      BOTH(kill_of_a_late_starter),        cmocka_unit_test(a_command_that_cannot_be_killed),
      cmocka_unit_test(a_kill_that_hangs), BOTH(the_sandbox_is_gone_at_the_deadline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
