/* SPDX-License-Identifier: Apache-2.0 */
/* Commands by the agent: how they end, what is kept, deadlines, cancelling; and images that have
 * little or nothing. */
#include <signal.h>

#include "exec_support.h"

#define CAT ((const char *const[]){"cat", NULL})

/* ---- ends ---- */

static void signals_and_codes(void **state) {
  cdam_exec_result *result = run(*state, (cdam_exec_command){.argv = SH("kill -9 $$")});
  assert_int_equal(cdam_exec_result_exit_code(result), 137);
  assert_int_equal(cdam_exec_result_signal(result), 9);
  cdam_exec_result_free(result);
  result = run(*state, (cdam_exec_command){.argv = SH("exit 137")});
  assert_int_equal(cdam_exec_result_exit_code(result), 137);
  assert_int_equal(cdam_exec_result_signal(result), 0);
  assert_false(cdam_exec_result_out_of_memory(result));
  cdam_exec_result_free(result);
}

static void expect_not_started(fixture *this, cdam_exec_command command, int code,
                               const char *words) {
  cdam_exec_result *result = run(this, command);
  assert_true(cdam_exec_result_not_started(result));
  assert_int_equal(cdam_exec_result_exit_code(result), code);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "");
  if (!strstr(cdam_exec_result_stderr(result, NULL), words))
    fail_msg("\"%s\" is not in \"%s\"", words, cdam_exec_result_stderr(result, NULL));
  cdam_exec_result_free(result);
}

static void what_does_not_start(void **state) {
  static const char *const missing[] = {"no-such-program", NULL};
  static const char *const path[] = {"/no/such/program", NULL};
  static const char *const directory[] = {"/bin", NULL};
  expect_not_started(*state, (cdam_exec_command){.argv = missing}, 127, "No such file");
  expect_not_started(*state, (cdam_exec_command){.argv = path}, 127, "No such file");
  expect_not_started(*state, (cdam_exec_command){.argv = directory}, 126, "Permission denied");
  expect_not_started(*state, (cdam_exec_command){.argv = SH("true"), .workdir = "/no/such/place"},
                     126, "working directory");
  expect_not_started(*state, (cdam_exec_command){.argv = SH("true"), .user = "nosuchuser"}, 126,
                     "user");
  /* With a source and a sink it is the same. */
  cdam_source source = {.bytes = "abc", .length = 3};
  cdam_sink sink = {0};
  expect_not_started(*state,
                     (cdam_exec_command){.argv = missing, .input = &source, .stderr_sink = &sink},
                     127, "No such file");
}

/* ---- what is kept ---- */

static void heads_and_tails(void **state) {
  static const char script[] = "i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; "
                               "echo 12345678 >&2";
  cdam_exec_result *result = run(*state, (cdam_exec_command){.argv = SH(script), .output_cap = 8});
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "0\n1\n2\n3\n");
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "12345678");
  assert_true(cdam_exec_result_stdout_truncated(result));
  assert_true(cdam_exec_result_stderr_truncated(result));
  assert_int_equal(cdam_exec_result_stderr_total(result), 9);
  cdam_exec_result_free(result);
  result =
      run(*state,
          (cdam_exec_command){.argv = SH(script), .output_cap = 10, .flags = CDAM_EXEC_KEEP_TAIL});
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "2998\n2999\n");
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "12345678\n");
  assert_true(cdam_exec_result_stdout_truncated(result));
  assert_false(cdam_exec_result_stderr_truncated(result));
  assert_int_equal(cdam_exec_result_stdout_total(result), 10 * 2 + 90 * 3 + 900 * 4 + 2000 * 5);
  cdam_exec_result_free(result);
}

/* ---- time ---- */

static void deadlines(void **state) {
  for (int i = 0; i < 3; i++) {
    static const char *const scripts[] = {
        "echo first; sleep 8801", "trap '' TERM; echo first; setsid sleep 8802 & sleep 8803 8804",
        ("echo first; (setsid sh -c 'trap \"\" TERM; sleep 8805; true' >/dev/null 2>&1 &); "
         "sleep 8806")};
    int64_t before = cdam_now_ms();
    cdam_exec_result *result =
        run(*state, (cdam_exec_command){.argv = SH(scripts[i]), .timeout_ms = 1500});
    assert_in_range(cdam_now_ms() - before, 1500, 20000);
    assert_true(cdam_exec_result_timed_out(result));
    assert_false(cdam_exec_result_still_running(result));
    assert_int_equal(cdam_exec_result_exit_code(result), -1);
    assert_string_equal(cdam_exec_result_stdout(result, NULL), "first\n");
    cdam_exec_result_free(result);
    assert_false(runs(*state, "880"));
  }
  /* One that is over in time leaves what it started. */
  expect(*state,
         (cdam_exec_command){.argv = SH("(setsid sleep 8807 >/dev/null 2>&1 &); echo x"),
                             .timeout_ms = 5000},
         0, "x\n", "");
  assert_true(runs(*state, "8807"));
  /* It does not wait for what holds its output. */
  int64_t before = cdam_now_ms();
  expect(*state, (cdam_exec_command){.argv = SH("sleep 8808 & echo y")}, 0, "y\n", "");
  assert_true(cdam_now_ms() - before < 60000);
  assert_true(runs(*state, "8808"));
}

/* ---- in a loop ---- */

typedef struct outcome {
  int count;
  cdam_status status;
  int exit_code;
  cdam_operation *cancel; /* at the first bytes */
} outcome;

static void came(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  outcome *this = user;
  (void)err;
  this->count++;
  this->status = status;
  this->exit_code = cdam_exec_result_exit_code(result);
  cdam_exec_result_free(result);
}

static bool cancel_it(void *user, const void *bytes, size_t length) {
  outcome *this = user;
  (void)bytes, (void)length;
  cdam_cancel(this->cancel);
  return true;
}

static void dispatch_until(cdam_loop *loop, const int *count, int wanted) {
  int64_t until = cdam_now_ms() + 20000;
  while (*count < wanted) {
    cdam_loop_dispatch(loop);
    usleep(500);
    if (cdam_now_ms() > until) fail_msg("it does not end");
  }
}

static void cancelling(void **state) {
  fixture *this = *state;
  cdam_loop *loop;
  cdam_error err;
  cdam_operation *operation;
  assert_ok(cdam_loop_new(this->client, &loop, &err), &err);
  for (int wait_ms = 0; wait_ms < 100; wait_ms = wait_ms * 2 + 1) {
    outcome end = {0};
    cdam_exec_command command = {.argv = SH("trap '' TERM; setsid sleep 8901 & sleep 8902")};
    assert_ok(cdam_exec_start(loop, this->session, &command, came, &end, &operation, &err), &err);
    for (int i = 0; i < wait_ms; i++) {
      cdam_loop_dispatch(loop);
      usleep(1000);
    }
    cdam_cancel(operation);
    dispatch_until(loop, &end.count, 1);
    assert_int_equal(end.status, CDAM_ERR_CANCELLED);
    assert_false(runs(this, "890"));
  }
  /* From inside of its own sink. */
  outcome end = {0};
  cdam_sink sink = {.write = cancel_it, .user = &end};
  cdam_exec_command command = {.argv = SH("yes 8903"), .stdout_sink = &sink};
  assert_ok(cdam_exec_start(loop, this->session, &command, came, &end, &end.cancel, &err), &err);
  dispatch_until(loop, &end.count, 1);
  assert_int_equal(end.status, CDAM_ERR_CANCELLED);
  assert_false(runs(this, "8903"));
  /* A loop that goes takes its links, and with them its commands, along. */
  command = (cdam_exec_command){.argv = SH("sleep 8904")};
  outcome last = {0};
  assert_ok(cdam_exec_start(loop, this->session, &command, came, &last, NULL, &err), &err);
  for (int i = 0; i < 50; i++) {
    cdam_loop_dispatch(loop);
    usleep(1000);
  }
  cdam_loop_free(loop);
  assert_int_equal(last.count, 1);
  assert_int_equal(last.status, CDAM_ERR_CANCELLED);
  if (cdam_session_has_agent(this->session))
    await_gone(this, "8904"); /* the engine lets it go on */
}

/* A blocking call inside of a callback of another of the same session is refused. */
static bool call_inside(void *user, const void *bytes, size_t length) {
  fixture *this = user;
  (void)bytes, (void)length;
  expect_failure(this, (cdam_exec_command){.argv = SH("true")}, CDAM_ERR_ARGUMENT);
  return true;
}

static void calls_inside_of_calls(void **state) {
  cdam_sink sink = {.write = call_inside, .user = *state};
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH("echo x; exit 7"), .stdout_sink = &sink});
  assert_int_equal(cdam_exec_result_exit_code(result), 7);
  cdam_exec_result_free(result);
}

/* ---- many ---- */

static unsigned open_descriptors(void) {
  unsigned count = 0;
  for (int fd = 0; fd < 1024; fd++)
    if (fcntl(fd, F_GETFD) >= 0) count++;
  return count;
}

static void run_many(void **state, long many) {
  cdam_source source = {.bytes = "abc", .length = 3};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "abc", "");
  unsigned before = open_descriptors();
  struct rusage first, last;
  int64_t began = cdam_now_us();
  for (long i = 0; i < many; i++) {
    if (i == many / 10) getrusage(RUSAGE_SELF, &first);
    expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "abc", "");
  }
  getrusage(RUSAGE_SELF, &last);
  printf("# %ld commands, %lld us each\n", many, (long long)(cdam_now_us() - began) / many);
  assert_int_equal(open_descriptors(), before);
#ifndef __SANITIZE_ADDRESS__
  assert_true(last.ru_maxrss - first.ru_maxrss < 512);
#endif
}

static void ten_thousand(void **state) {
  const char *number = getenv("COFFERDAM_TEST_COMMANDS");
  run_many(state, number ? strtol(number, NULL, 10) : 1000);
}

/* The end of the input comes as soon as the command has begun. */
static void many_by_the_engine(void **state) {
  run_many(state, 40);
}

/* ---- other images ---- */

static cdam_session *session_of(fixture *this, const char *image) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_options_set_image(options, image, &err), &err);
  assert_ok(cdam_create(this->client, options, &session, &err), &err);
  cdam_options_free(options);
  assert_true(cdam_session_has_agent(session));
  return session;
}

static void images_that_have_little(void **state) {
  fixture *this = *state;
  if (try_docker("image inspect cofferdam-empty:latest >/dev/null 2>&1") == 0) {
    fixture empty = {this->client, session_of(this, "cofferdam-empty:latest")};
    expect_not_started(&empty, (cdam_exec_command){.argv = SH("true")}, 127, "No such file");
    end_session(empty.client, empty.session);
  }
  if (try_docker("image inspect busybox:test >/dev/null 2>&1") == 0) {
    fixture busybox = {this->client, session_of(this, "busybox:test")};
    expect(&busybox, (cdam_exec_command){.argv = SH("echo here")}, 0, "here\n", "");
    cdam_exec_result *result = run(
        &busybox,
        (cdam_exec_command){.argv = (const char *const[]){"/bin/busybox", "sleep", "9001", NULL},
                            .timeout_ms = 1});
    assert_true(cdam_exec_result_timed_out(result));
    assert_int_equal(cdam_exec_result_exit_code(result), -1);
    cdam_exec_result_free(result);
    assert_false(runs(&busybox, "9001"));
    end_session(busybox.client, busybox.session);
  }
}

/* ---- memory ---- */

static void out_of_memory(void **state) {
  fixture *this = *state;
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  fixture small = {.client = this->client};
  cdam_error err;
  cdam_options_set_memory_bytes(options, 32 << 20);
  cdam_status status = cdam_create(this->client, options, &small.session, &err);
  cdam_options_free(options);
  if (status == CDAM_ERR_UNSUPPORTED || status == CDAM_ERR_DRIFT) {
    printf("# the engine cannot limit memory: %s\n", err.message);
    skip();
  }
  assert_ok(status, &err);
  static const char script[] = "x=1234567890; while :; do x=$x$x$x$x; done";
  cdam_exec_result *result =
      run(&small, (cdam_exec_command){.argv = SH(script), .timeout_ms = 20000});
  assert_false(cdam_exec_result_timed_out(result));
  assert_true(cdam_exec_result_out_of_memory(result));
  assert_int_equal(cdam_exec_result_signal(result), SIGKILL);
  cdam_exec_result_free(result);
  /* The sandbox and its agent live on. */
  expect(&small, (cdam_exec_command){.argv = SH("echo on; exit 9")}, 9, "on\n", "");
  result = run(&small, (cdam_exec_command){.argv = SH("kill -9 $$")});
  assert_false(cdam_exec_result_out_of_memory(result));
  cdam_exec_result_free(result);
  end_session(small.client, small.session);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_and_codes),
      cmocka_unit_test(what_does_not_start),
      cmocka_unit_test(heads_and_tails),
      cmocka_unit_test(deadlines),
      cmocka_unit_test(cancelling),
      cmocka_unit_test(calls_inside_of_calls),
      cmocka_unit_test(ten_thousand),
      cmocka_unit_test(images_that_have_little),
      cmocka_unit_test(out_of_memory),
      BY_ENGINE(heads_and_tails),
      BY_ENGINE(cancelling),
      BY_ENGINE(many_by_the_engine),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
