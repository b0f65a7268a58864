/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may be like that uses the library: without standard streams, with signals that
 * interrupt every call, with SIGPIPE at its default, with children. Each in a process of its own.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "real_engine.h"

static cdam_client *client;
static cdam_session *session;

static int group_setup(void **state) {
  (void)state;
  require_engine();
  client = engine_client();
  session = create_with(client, CDAM_NETWORK_MODE_NONE);
  return 0;
}

static int group_teardown(void **state) {
  (void)state;
  end_session(client, session);
  cdam_client_free(client);
  return 0;
}

/* 0 when all went well, else a number that tells where it did not. */
static int exec_code(cdam_session *in, const char *script, int want) {
  const char *const argv[] = {"/bin/sh", "-c", script, NULL};
  cdam_exec_result *result = NULL;
  cdam_status status = cdam_exec(in, &(cdam_exec_command){.argv = argv}, &result, NULL);
  int code = status == CDAM_OK ? cdam_exec_result_exit_code(result) : -1;
  cdam_exec_result_free(result);
  return code == want ? 0 : 1;
}

/* In a child with a client of its own; asserts that it returned 0. */
static void in_a_child(int (*run)(cdam_client *, cdam_session *)) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    cdam_client *own = NULL;
    cdam_session *resumed = NULL;
    int failed = 90;
    if (cdam_client_new(NULL, &own, NULL) == CDAM_OK &&
        cdam_resume(own, cdam_session_state(session), NULL, &resumed, NULL) == CDAM_OK)
      failed = run(own, resumed);
    cdam_session_free(resumed);
    cdam_client_free(own);
    _exit(failed);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static int without_streams(cdam_client *own, cdam_session *unused) {
  (void)unused;
  const cdam_source text = {.bytes = "text", .length = 4};
  cdam_session *in = NULL;
  cdam_client *late = NULL;
  for (int fd = 0; fd < 3; fd++)
    close(fd);
  if (cdam_client_new(NULL, &late, NULL) != CDAM_OK) return 2;
  if (cdam_resume(late, cdam_session_state(session), NULL, &in, NULL) != CDAM_OK) return 3;
  int failed = exec_code(in, "cat; echo out; echo err >&2; exit 7", 7);
  /* A descriptor of that number is the library's now, and a command's input never. */
  if (!failed && cdam_file_write(in, "caller", &text, NULL, NULL) != CDAM_OK) failed = 4;
  if (!failed) failed = exec_code(in, "test \"$(cat /workspace/caller)\" = text", 0);
  cdam_session_free(in);
  cdam_client_free(late);
  (void)own;
  return failed;
}

static void test_standard_streams_that_are_closed(void **state) {
  (void)state;
  in_a_child(without_streams);
}

static void nothing(int number) {
  (void)number;
}

static int interrupted(cdam_client *own, cdam_session *in) {
  struct sigaction action = {.sa_handler = nothing}; /* without SA_RESTART */
  const struct itimerval often = {{.tv_usec = 200}, {.tv_usec = 200}};
  const struct itimerval never = {0};
  char *bytes = calloc(1, 1 << 20);
  const cdam_source source = {.bytes = bytes, .length = 1 << 20};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  int failed = bytes ? 0 : 5;
  for (int i = 0; i < 20 && !failed; i++)
    failed = exec_code(in, "head -c 300000 /dev/zero; exit 3", 3);
  if (!failed && cdam_file_write(in, "large", &source, NULL, NULL) != CDAM_OK) failed = 6;
  if (!failed) failed = exec_code(in, "test $(stat -c %s /workspace/large) = 1048576", 0);
  cdam_session *again = NULL;
  if (!failed && cdam_resume(own, cdam_session_state(in), NULL, &again, NULL) != CDAM_OK)
    failed = 7;
  if (!failed) failed = exec_code(again, "exit 4", 4);
  setitimer(ITIMER_REAL, &never, NULL);
  cdam_session_free(again);
  free(bytes);
  return failed;
}

static void test_signals_that_interrupt(void **state) {
  (void)state;
  in_a_child(interrupted);
}

/* The sandbox ends while we write into it. */
static int broken_pipe(cdam_client *own, cdam_session *unused) {
  (void)unused;
  static const char *const argv[] = {"/bin/cat", NULL};
  static char bytes[60000];
  cdam_session *in = create_with(own, CDAM_NETWORK_MODE_NONE);
  const cdam_process_command command = {.argv = argv, .input = true};
  cdam_process *process = NULL;
  cdam_error err;
  signal(SIGPIPE, SIG_DFL);
  if (cdam_process_spawn(in, &command, &process, &err) != CDAM_OK) return 8;
  cdam_status status = CDAM_OK;
  for (int i = 0; i < 1000000 && status == CDAM_OK; i++) {
    cdam_process_event event = {0};
    status = cdam_process_write(process, bytes, sizeof bytes, &err);
    if (i == 20) docker("kill %s", cdam_state_container_id(cdam_session_state(in)));
    if (status == CDAM_OK) status = cdam_process_next(process, 0, &event, &err);
  }
  cdam_process_free(process);
  for (int i = 0; i < 3 && status != CDAM_OK; i++)
    if (exec_code(in, "exit 0", 0) == 0) return 9;
  end_session(own, in);
  return status == CDAM_OK ? 10 : 0;
}

static void test_no_sigpipe(void **state) {
  (void)state;
  in_a_child(broken_pipe);
}

/* The parent's streams are open in it, and it leaves them alone. */
static void test_a_child_that_ends(void **state) {
  (void)state;
  static const char *const argv[] = {"/bin/sh", "-c", "read x; echo $x; exit 9", NULL};
  const cdam_process_command command = {.argv = argv, .input = true};
  cdam_process *process;
  cdam_error err;
  assert_ok(cdam_process_spawn(session, &command, &process, &err), &err);
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0 && i == 0) _exit(0);
    if (child == 0) execl("/bin/true", "true", (char *)NULL);
    assert_int_equal(waitpid(child, NULL, 0), child);
  }
  assert_ok(cdam_process_write(process, "text\n", 5, &err), &err);
  size_t length = 0;
  for (cdam_process_event event = {0}; event.kind != CDAM_PROCESS_CLOSED;) {
    assert_ok(cdam_process_next(process, -1, &event, &err), &err);
    if (event.kind == CDAM_PROCESS_OUTPUT) length += event.length;
  }
  assert_int_equal(length, 5);
  cdam_process_free(process);
  assert_int_equal(exec_code(session, "exit 5", 5), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_standard_streams_that_are_closed),
      cmocka_unit_test(test_signals_that_interrupt),
      cmocka_unit_test(test_no_sigpipe),
      cmocka_unit_test(test_a_child_that_ends),
  };
  return cmocka_run_group_tests_name("caller", tests, group_setup, group_teardown);
}
