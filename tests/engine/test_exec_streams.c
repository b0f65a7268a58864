/* SPDX-License-Identifier: Apache-2.0 */
/* Input and sinks of commands, by the agent and by the engine: what is slow, endless or fails, and
 * large amounts there and back. */
#include "exec_support.h"

#define CAT ((const char *const[]){"cat", NULL})

/* ---- sources ---- */

/* A source that is never at its end, nor makes anybody wait. */
static int64_t give_zeros(void *user, void *buffer, size_t size) {
  (void)user;
  memset(buffer, 0, size);
  return (int64_t)size;
}

static int64_t count_down(void *user, void *buffer, size_t size) {
  int *left = user;
  if (*left == 0) return 0;
  if (*left < 0) return -1;
  --*left;
  size_t length = size < 1000 ? size : 1000;
  memset(buffer, 'c', length);
  return (ssize_t)length;
}

static void inputs(void **state) {
  cdam_source source = {.bytes = "from memory", .length = 11};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "from memory", "");
  source = (cdam_source){0};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "", "");
  source = (cdam_source){.bytes = "", .length = 0};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "", "");

  int left = 5;
  source = (cdam_source){.read = count_down, .user = &left};
  expect(*state, (cdam_exec_command){.argv = SH("wc -c"), .input = &source}, 0, "5000\n", "");

  char path[] = "/tmp/cofferdam-input-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "from a file", 11), 11);
  assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
  source = (cdam_source){.from_fd = true, .fd = fd};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "a file", "");
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC & fcntl(fd, F_GETFD));
  close(fd);
  unlink(path);
  expect_failure(*state, (cdam_exec_command){.argv = CAT, .input = &source}, CDAM_ERR_ARGUMENT);

  fd = open("/dev/null", O_RDONLY);
  source = (cdam_source){.from_fd = true, .fd = fd};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0, "", "");
  close(fd);
}

static void *type_slowly(void *user) {
  int fd = *(int *)user;
  for (int i = 0; i < 5; i++) {
    usleep(50000);
    if (write(fd, "tick\n", 5) != 5) break;
  }
  close(fd);
  return NULL;
}

/* A pipe that has nothing yet is waited for; its flags are left alone. */
static void a_slow_pipe(void **state) {
  int ends[2];
  pthread_t thread;
  assert_int_equal(pipe(ends), 0);
  pthread_create(&thread, NULL, type_slowly, &ends[1]);
  cdam_source source = {.from_fd = true, .fd = ends[0]};
  expect(*state, (cdam_exec_command){.argv = CAT, .input = &source}, 0,
         "tick\ntick\ntick\ntick\ntick\n", "");
  pthread_join(thread, NULL);
  assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
  close(ends[0]);
}

/* A command that does not read its input ends all the same, and so does one whose input never ends.
 */
static void input_that_nobody_reads(void **state) {
  int64_t before = cdam_now_ms();
  static char zeros[8 << 20];
  int ends[2];
  cdam_source source = {.bytes = zeros, .length = sizeof zeros};
  expect(*state, (cdam_exec_command){.argv = SH("exit 3"), .input = &source}, 3, "", "");
  expect(*state, (cdam_exec_command){.argv = SH("head -c 10 | wc -c; exit 4"), .input = &source}, 4,
         "10\n", "");
  source = (cdam_source){.read = give_zeros};
  expect(*state, (cdam_exec_command){.argv = SH("exec <&-; sleep 0.3; exit 6"), .input = &source},
         6, "", "");
  int zeros_fd = open("/dev/zero", O_RDONLY);
  source = (cdam_source){.from_fd = true, .fd = zeros_fd};
  expect(*state, (cdam_exec_command){.argv = SH("exec <&-; sleep 0.3; exit 7"), .input = &source},
         7, "", "");
  close(zeros_fd);
  assert_int_equal(pipe(ends), 0);
  source = (cdam_source){.from_fd = true, .fd = ends[0]};
  expect(*state, (cdam_exec_command){.argv = SH("exit 5"), .input = &source}, 5, "", "");
  assert_true(cdam_now_ms() - before < 3600); /* its end was told, and not only found */
  close(ends[0]);
  close(ends[1]);
}

static void sources_that_fail(void **state) {
  int left = -1;
  cdam_source source = {.read = count_down, .user = &left};
  expect_failure(*state, (cdam_exec_command){.argv = SH("sleep 8601"), .input = &source},
                 CDAM_ERR_IO);
  assert_false(runs(*state, "8601"));
  int fd = open("/tmp", O_RDONLY);
  source = (cdam_source){.from_fd = true, .fd = fd};
  expect_failure(*state, (cdam_exec_command){.argv = SH("sleep 8602"), .input = &source},
                 CDAM_ERR_IO);
  close(fd);
  source = (cdam_source){.from_fd = true, .fd = 0, .bytes = "x", .length = 1};
  expect_failure(*state, (cdam_exec_command){.argv = CAT, .input = &source}, CDAM_ERR_ARGUMENT);
  source = (cdam_source){.length = 1};
  expect_failure(*state, (cdam_exec_command){.argv = CAT, .input = &source}, CDAM_ERR_ARGUMENT);
  source = (cdam_source){.from_fd = true, .fd = -1};
  expect_failure(*state, (cdam_exec_command){.argv = CAT, .input = &source}, CDAM_ERR_ARGUMENT);
}

/* ---- sinks ---- */

typedef struct bag {
  cdam_buffer bytes;
  size_t limit;
} bag;

static bool put(void *user, const void *bytes, size_t length) {
  bag *to = user;
  if (to->limit && to->bytes.length + length > to->limit) return false;
  return cdam_buffer_append(&to->bytes, bytes, length);
}

static void sinks(void **state) {
  bag all = {0};
  cdam_sink sink = {.write = put, .user = &all}, nowhere = {0};
  cdam_exec_result *result =
      run(*state,
          (cdam_exec_command){.argv = SH("echo out; echo err >&2; exit 6"), .stdout_sink = &sink});
  assert_string_equal(cdam_buffer_text(&all.bytes), "out\n");
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "");
  assert_int_equal(cdam_exec_result_stdout_total(result), 4);
  assert_false(cdam_exec_result_stdout_truncated(result));
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "err\n");
  assert_int_equal(cdam_exec_result_exit_code(result), 6);
  cdam_exec_result_free(result);
  cdam_buffer_clear(&all.bytes);

  result = run(*state, (cdam_exec_command){.argv = SH("head -c 9000000 /dev/zero; echo e >&2"),
                                           .stdout_sink = &nowhere,
                                           .stderr_sink = &sink});
  assert_int_equal(cdam_exec_result_stdout_total(result), 9000000);
  assert_string_equal(cdam_buffer_text(&all.bytes), "e\n");
  cdam_exec_result_free(result);
  cdam_buffer_clear(&all.bytes);
}

static void *read_slowly(void *user) {
  int fd = *(int *)user;
  static char bytes[65536];
  size_t total = 0;
  ssize_t n;
  for (int i = 0; (n = read(fd, bytes, sizeof bytes)) > 0; i++) {
    total += (size_t)n;
    if (i < 20 || total > 19500000) usleep(2000);
  }
  return (void *)total;
}

static void a_slow_reader(void **state) {
  int ends[2];
  pthread_t thread;
  void *total;
  assert_int_equal(pipe(ends), 0);
  pthread_create(&thread, NULL, read_slowly, &ends[0]);
  cdam_sink sink = {.to_fd = true, .fd = ends[1]};
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH("head -c 20000000 /dev/zero; echo done >&2"),
                                      .stdout_sink = &sink});
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "done\n");
  assert_int_equal(cdam_exec_result_stdout_total(result), 20000000);
  cdam_exec_result_free(result);
  assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
  close(ends[1]);
  pthread_join(thread, &total);
  assert_int_equal((size_t)total, 20000000);
  close(ends[0]);
}

static void sinks_that_fail(void **state) {
  bag all = {.limit = 100000};
  cdam_sink sink = {.write = put, .user = &all};
  expect_failure(*state, (cdam_exec_command){.argv = SH("yes 8701"), .stdout_sink = &sink},
                 CDAM_ERR_IO);
  assert_false(runs(*state, "8701"));
  cdam_buffer_clear(&all.bytes);

  /* A pipe whose reader has gone, without a SIGPIPE. */
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  sink = (cdam_sink){.to_fd = true, .fd = ends[1]};
  expect_failure(*state, (cdam_exec_command){.argv = SH("yes 8702"), .stdout_sink = &sink},
                 CDAM_ERR_IO);
  close(ends[1]);
  assert_false(runs(*state, "8702"));
  expect_failure(*state, (cdam_exec_command){.argv = CAT, .stdout_sink = &sink}, CDAM_ERR_ARGUMENT);
}

/* Nobody reads, and the deadline ends it all the same. */
static void a_sink_that_takes_nothing(void **state) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  /* There is room for one page, so a write of more would wait for ever. */
  static char zeros[4096];
  for (int left = fcntl(ends[1], F_GETPIPE_SZ) - 4096; left > 0; left -= 4096)
    assert_int_equal(write(ends[1], zeros, sizeof zeros), sizeof zeros);
  cdam_sink sink = {.to_fd = true, .fd = ends[1]};
  int64_t before = cdam_now_ms();
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH("dd if=/dev/zero bs=64k count=99; sleep 8703"),
                                      .stdout_sink = &sink,
                                      .timeout_ms = 700});
  assert_in_range(cdam_now_ms() - before, 700, 20000);
  assert_true(cdam_exec_result_timed_out(result));
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);
  assert_false(runs(*state, "8703"));
  close(ends[0]);
  close(ends[1]);
}

/* ---- there and back ---- */

static void there_and_back_on(fixture *this, const char *way) {
  const char *megabytes = getenv("COFFERDAM_TEST_MEGABYTES");
  struct rusage before, after;
  pattern in = {.limit = (size_t)(megabytes ? strtoul(megabytes, NULL, 10) : 64) << 20}, out = {0};
  cdam_source source = {.read = give, .user = &in};
  cdam_sink sink = {.write = take, .user = &out};
  getrusage(RUSAGE_SELF, &before);
  int64_t began = cdam_now_ms();
  cdam_exec_result *result =
      run(this, (cdam_exec_command){.argv = CAT, .input = &source, .stdout_sink = &sink});
  int64_t took = cdam_now_ms() - began;
  getrusage(RUSAGE_SELF, &after);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  assert_int_equal(out.total, in.limit);
  assert_int_equal(out.wrong, 0);
  cdam_exec_result_free(result);
  printf("# %zu MiB there and back%s in %lld ms, %ld KiB more\n", in.limit >> 20, way,
         (long long)took, after.ru_maxrss - before.ru_maxrss);
#ifndef __SANITIZE_ADDRESS__
  assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024);
#endif
}

static void there_and_back(void **state) {
  there_and_back_on(*state, "");
}

static void there_and_back_over_tls(void **state) {
  fixture *this = *state;
  const char *endpoint = getenv("COFFERDAM_TEST_TLS_HOST");
  const char *certs = getenv("COFFERDAM_TEST_TLS_CERTS");
  if (!endpoint || !certs) {
    printf("# COFFERDAM_TEST_TLS_HOST and COFFERDAM_TEST_TLS_CERTS are not set\n");
    skip();
  }
  cdam_client_config *config;
  fixture tls;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  assert_ok(cdam_client_config_set_tls(config, certs, &err), &err);
  assert_ok(cdam_client_config_set_endpoint(config, endpoint, &err), &err);
  assert_ok(cdam_client_new(config, &tls.client, &err), &err);
  cdam_client_config_free(config);
  assert_ok(cdam_resume(tls.client, cdam_session_state(this->session), NULL, &tls.session, &err),
            &err);
  there_and_back_on(&tls, " over TLS");
  cdam_session_free(tls.session);
  cdam_client_free(tls.client);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs),
      cmocka_unit_test(a_slow_pipe),
      cmocka_unit_test(input_that_nobody_reads),
      cmocka_unit_test(sources_that_fail),
      cmocka_unit_test(sinks),
      cmocka_unit_test(a_slow_reader),
      cmocka_unit_test(sinks_that_fail),
      cmocka_unit_test(a_sink_that_takes_nothing),
      cmocka_unit_test(there_and_back),
      cmocka_unit_test(there_and_back_over_tls),
      BY_ENGINE(inputs),
      BY_ENGINE(a_slow_pipe),
      BY_ENGINE(input_that_nobody_reads),
      BY_ENGINE(sources_that_fail),
      BY_ENGINE(sinks),
      BY_ENGINE(a_slow_reader),
      BY_ENGINE(sinks_that_fail),
      BY_ENGINE(a_sink_that_takes_nothing),
      BY_ENGINE(there_and_back),
      BY_ENGINE(there_and_back_over_tls),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
