/* SPDX-License-Identifier: Apache-2.0 */
/* The container is paused, stopped, killed, removed under our feet, the agent's relay dies: the
 * right errors, and no call that hangs. */
#include <signal.h>
#include <unistd.h>

#include "test_process_support.h"

/* Short, for silence is measured by it. */
#define TIMEOUT_MS 3000

#define LONGEST_MS 40000

static int begin_quick(void **state) {
  static fixture this;
  cdam_client_config *config;
  cdam_error err;
  cdam_client *patient = engine_client();
  cdam_session *made = create_with(patient, CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_timeout(config, TIMEOUT_MS);
  assert_ok(cdam_client_new(config, &this.client, &err), &err);
  cdam_client_config_free(config);
  assert_ok(cdam_resume(this.client, cdam_session_state(made), NULL, &this.session, &err), &err);
  cdam_session_free(made);
  cdam_client_free(patient);
  *state = &this;
  return 0;
}

static int end_quick(void **state) {
  fixture *this = *state;
  try_docker("rm -f %s >/dev/null 2>&1", container_of(this));
  cdam_session_free(this->session);
  cdam_client_free(this->client);
  return 0;
}

/* Does something to the container in a while. */
static void later(fixture *this, const char *verb) {
  char command[160];
  snprintf(command, sizeof command, "(sleep 0.3; docker %s %s) >/dev/null 2>&1 &", verb,
           container_of(this));
  assert_int_equal(system(command), 0);
}

static void expect_status(cdam_status status, const cdam_error *err, const cdam_status *wanted) {
  for (; *wanted; wanted++)
    if (status == *wanted) return;
  fail_msg("%s: %s", cdam_status_name(status), err->message);
}

/* All kinds of calls that wait meanwhile. What they need they have when it begins. */
static cdam_status read_a_process(fixture *this, const char *verb, cdam_error *err) {
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("echo x; sleep 600")});
  cdam_process_event event = {0};
  later(this, verb);
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, -1, &event, err);
  cdam_process_exit exit;
  /* An agent that is told to stop can tell that its processes end. */
  if (status == CDAM_OK && cdam_process_exit_status(process, &exit) &&
      exit.ended_by == CDAM_ENDED_SHUTDOWN)
    status = CDAM_ERR_EXITED;
  cdam_process_free(process);
  return status;
}

static cdam_status run_a_command(fixture *this, const char *verb, cdam_error *err) {
  cdam_exec_result *result;
  later(this, verb);
  cdam_status status =
      cdam_exec(this->session, &(cdam_exec_command){.argv = SH("sleep 600")}, &result, err);
  assert_null(result);
  return status;
}

static cdam_status write_much(fixture *this, const char *verb, cdam_error *err) {
  static char bytes[1 << 20];
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("sleep 600"), .input = true});
  cdam_status status = CDAM_OK;
  later(this, verb);
  while (status == CDAM_OK)
    status = cdam_process_write(process, bytes, sizeof bytes, err);
  cdam_process_free(process);
  return status == CDAM_ERR_NO_PROCESS ? CDAM_ERR_EXITED : status;
}

typedef cdam_status (*waiting_call)(fixture *this, const char *verb, cdam_error *err);
static const waiting_call calls[] = {read_a_process, run_a_command, write_much};

/* The old link may be the last to hear of it. */
static void expect_well_again(fixture *this) {
  cdam_exec_result *result;
  cdam_error err = {0};
  cdam_status status = CDAM_ERR_AGENT;
  for (int i = 0; i < 5 && status == CDAM_ERR_AGENT; i++)
    status = cdam_exec(this->session, &(cdam_exec_command){.argv = SH("echo well again")}, &result,
                       &err);
  assert_ok(status, &err);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "well again\n");
  cdam_exec_result_free(result);
}

static void while_waiting(void **state, const char *verb, const cdam_status *wanted,
                          const char *undo) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    cdam_error err = {0};
    if (i) assert_int_equal(begin_quick(state), 0);
    fixture *this = *state;
    free(output_of(this->session, SH("true")));
    int64_t before = cdam_now_ms();
    cdam_status status = calls[i](this, verb, &err);
    assert_true(cdam_now_ms() - before < LONGEST_MS);
    expect_status(status, &err, wanted);
    if (undo) {
      if (wanted[0] == CDAM_ERR_EXITED) docker("wait %s", container_of(this));
      docker("%s %s", undo, container_of(this));
      expect_well_again(this);
    }
    if (i + 1 < sizeof calls / sizeof *calls) end_quick(state);
  }
}

static void it_is_killed(void **state) {
  while_waiting(state, "kill", (cdam_status[]){CDAM_ERR_EXITED, 0}, "start");
}

static void it_is_stopped(void **state) {
  while_waiting(state, "stop -t 3", (cdam_status[]){CDAM_ERR_EXITED, 0}, "start");
}

static void it_is_removed(void **state) {
  while_waiting(state, "rm -f", (cdam_status[]){CDAM_ERR_NOT_FOUND, CDAM_ERR_EXITED, 0}, NULL);
}

static void it_is_paused(void **state) {
  while_waiting(state, "pause", (cdam_status[]){CDAM_ERR_PAUSED, 0}, "unpause");
}

/* Calls that begin when it has happened. */
static void expect_all(fixture *this, cdam_status code) {
  cdam_process *process;
  cdam_exec_result *result;
  cdam_process_list *list;
  cdam_error err = {0};
  const cdam_process_command command = {.argv = SH("true")};
  const cdam_status wanted[] = {code, 0};
  int64_t before = cdam_now_ms();
  expect_status(cdam_process_spawn(this->session, &command, &process, &err), &err, wanted);
  assert_null(process);
  expect_status(cdam_process_attach(this->session, "ab:1", NULL, &process, &err), &err, wanted);
  assert_null(process);
  expect_status(cdam_processes(this->session, &list, &err), &err, wanted);
  expect_status(cdam_process_forget(this->session, "ab:1", &err), &err, wanted);
  expect_status(cdam_exec(this->session, &(cdam_exec_command){.argv = SH("true")}, &result, &err),
                &err, wanted);
  assert_null(result);
  assert_true(cdam_now_ms() - before < 5 * LONGEST_MS);
}

static void calls_after_it(void **state) {
  fixture *this = *state;
  for (int with_link = 0; with_link < 2; with_link++) {
    if (with_link) free(output_of(this->session, SH("true")));
    docker("pause %s", container_of(this));
    expect_all(this, CDAM_ERR_PAUSED);
    docker("unpause %s", container_of(this));
    if (with_link) free(output_of(this->session, SH("true")));
    docker("kill %s", container_of(this));
    docker("wait %s", container_of(this));
    expect_all(this, CDAM_ERR_EXITED);
    docker("start %s", container_of(this));
  }
  docker("rm -f %s", container_of(this));
  expect_all(this, CDAM_ERR_NOT_FOUND);
}

/* The relay, and with it the client's side, is killed from inside by root. */
static void the_relay_dies(void **state) {
  fixture *this = *state;
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("sleep 600")});
  docker("exec %s /bin/busybox sh -c "
         "'for p in $(pidof cofferdam-agent); do [ $p = 1 ] || kill -9 $p; done'",
         container_of(this));
  cdam_process_event event;
  cdam_error err;
  int64_t before = cdam_now_ms();
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK) {
    status = cdam_process_next(process, 1000, &event, &err);
    if (status == CDAM_OK && event.kind == CDAM_PROCESS_CLOSED) break;
  }
  assert_true(cdam_now_ms() - before < LONGEST_MS);
  cdam_process_free(process);
  /* Another link is made. */
  char *text = output_of(this->session, SH("echo well"));
  assert_string_equal(text, "well\n");
  free(text);
}

/* A deadline while it is paused: what became of the command nobody can know. */
static void a_deadline_while_paused(void **state) {
  fixture *this = *state;
  later(this, "pause");
  cdam_exec_result *result = NULL;
  cdam_error err = {0};
  int64_t before = cdam_now_ms();
  cdam_status status = cdam_exec(
      this->session, &(cdam_exec_command){.argv = SH("echo a; sleep 60"), .timeout_ms = 2500},
      &result, &err);
  assert_true(cdam_now_ms() - before < LONGEST_MS);
  assert_ok(status, &err);
  assert_true(cdam_exec_result_timed_out(result));
  assert_true(cdam_exec_result_still_running(result));
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "a\n");
  cdam_exec_result_free(result);
  docker("unpause %s", container_of(this));
  await_gone(this, "sleep 60");
}

int main(void) {
  require_engine();
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_quick, end_quick)
  const struct CMUnitTest tests[] = {
      TEST(it_is_killed),   TEST(it_is_stopped),  TEST(it_is_removed),           TEST(it_is_paused),
      TEST(calls_after_it), TEST(the_relay_dies), TEST(a_deadline_while_paused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
