/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by the engine's exec, on an engine, and with shells, that do what no good ones do. */
#include <cofferdam/process.h>

#include "base/clock.h"
#include "exec_fixture.h"
#include "link/session_link.h"

#include <errno.h>
#include <string.h>

#define MADE(id, often)                                                                            \
  {                                                                                                \
    .method = "POST", .path = CREATE, .times = (often), .reply = {                                 \
      201,                                                                                         \
      .body = "{\"Id\":\"" id "\"}"                                                                \
    }                                                                                              \
  }
#define CONTAINER_RULE                                                                             \
  {                                                                                                \
    .path = "/containers/" CONTAINER "/json", .reply = { 200, .body = RUNNING_CONTAINER }          \
  }

static void finish(fixture *this) {
  cdam_session_drop_links(&this->session);
  end(this);
}

static cdam_process *spawn(fixture *this, int64_t timeout_ms) {
  const cdam_process_command command = {.argv = exec_argv, .timeout_ms = timeout_ms};
  cdam_process *process;
  cdam_error err = {0};
  if (cdam_process_spawn(&this->session, &command, &process, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  return process;
}

static cdam_status to_the_end(cdam_process *process, cdam_error *err) {
  cdam_process_event event = {0};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, -1, &event, err);
  return status;
}

/* The image's shell is to end the process, and comes to no end itself. */
static void a_shell_without_end(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      MADE("aaaa", 1),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      MADE("bbbb", 0),
      {.path = "/exec/bbbb/start", .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = "/exec/*/json", .reply = {200, .body = RUNNING}},
      CONTAINER_RULE,
  };
  fixture *this = BEGIN(rules, 2000);
  cdam_process *process = spawn(this, 100);
  cdam_error err = {0};
  int64_t before = cdam_now_ms();
  assert_int_equal(to_the_end(process, &err), CDAM_ERR_EXEC);
  assert_non_null(strstr(err.message, "may still be running"));
  assert_true(cdam_now_ms() - before >= 5000);
  cdam_process_free(process);
  finish(this);
}

/* A time that nobody can wait for is no time that is over. */
static void the_longest_timeout(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      MADE("aaaa", 0),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE, .delay_ms = 300}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
  };
  fixture *this = BEGIN(rules, 2000);
  cdam_process *process = spawn(this, INT64_MAX);
  cdam_error err = {0};
  cdam_process_exit exit;
  assert_int_equal(to_the_end(process, &err), CDAM_OK);
  assert_true(cdam_process_exit_status(process, &exit));
  assert_int_equal(exit.code, 7);
  cdam_process_free(process);

  cdam_exec_result *result;
  assert_int_equal(run(this, INT64_MAX, &result, &err), CDAM_OK);
  assert_false(cdam_exec_result_timed_out(result));
  assert_int_equal(cdam_exec_result_exit_code(result), 7);
  cdam_exec_result_free(result);
  finish(this);
}

/* Podman has a number of its own for what its runtime could not do, and forgets process ids. */
#define PODMAN(code) "{\"Running\":false,\"ExitCode\":" code ",\"Pid\":0,\"CanRemove\":true}"
#define RUNTIME_SAID                                                                               \
  "\2\0\0\0\0\0\0\x69"                                                                             \
  "Error: runc: exec failed: unable to start: chdir to cwd (\"/x\") failed: "                      \
  "not a directory: OCI runtime error"

static void what_a_runtime_could_not_do(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      MADE("aaaa", 0),
      {.path = "/exec/aaaa/start", .reply = {RAW(RUNTIME_SAID), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = PODMAN("125")}},
  };
  fixture *this = BEGIN(rules, 2000);
  const cdam_process_command command = {.argv = exec_argv};
  cdam_process *process;
  cdam_error err = {0};
  assert_int_equal(cdam_process_spawn(&this->session, &command, &process, &err),
                   CDAM_ERR_NOT_STARTED);
  assert_null(process);
  assert_string_equal(err.field, "workdir");
  assert_int_equal(err.system_errno, ENOTDIR);
  cdam_exec_result *result;
  assert_int_equal(run(this, 0, &result, &err), CDAM_OK);
  assert_true(cdam_exec_result_not_started(result));
  assert_int_equal(cdam_exec_result_exit_code(result), 126);
  cdam_exec_result_free(result);
  finish(this);
}

/* A command that ends with this number ended with it. */
static void a_command_with_that_number(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      MADE("aaaa", 0),
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = PODMAN("125")}},
  };
  fixture *this = BEGIN(rules, 2000);
  cdam_process *process = spawn(this, 0);
  cdam_process_exit exit;
  cdam_error err = {0};
  assert_int_equal(cdam_process_wait(process, -1, &exit, &err), CDAM_OK);
  assert_int_equal(exit.code, 125);
  cdam_process_free(process);
  cdam_exec_result *result;
  assert_int_equal(run(this, 0, &result, &err), CDAM_OK);
  assert_false(cdam_exec_result_not_started(result));
  assert_int_equal(cdam_exec_result_exit_code(result), 125);
  cdam_exec_result_free(result);
  finish(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shell_without_end),
      cmocka_unit_test(the_longest_timeout),
      cmocka_unit_test(what_a_runtime_could_not_do),
      cmocka_unit_test(a_command_with_that_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
