/* SPDX-License-Identifier: Apache-2.0 */
/* Commands by the agent on a real engine: input, sinks, what is kept, deadlines, cancelling; and
 * images that have little or nothing. What the engine's exec does as well is tried with it, too. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test_process_support.h"

#define CAT ((const char *const[]){"cat", NULL})

static bool by_agent = true;

static int make_sandbox_without(void **state) {
  static fixture this;
  cdam_client_config *config;
  cdam_error err;
  by_agent = false;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  assert_ok(cdam_client_new(config, &this.client, &err), &err);
  cdam_client_config_free(config);
  this.session = create_with(this.client, CDAM_NETWORK_MODE_NONE);
  assert_false(cdam_session_has_agent(this.session));
  *state = &this;
  return 0;
}

static int end_sandbox_without(void **state) {
  by_agent = true;
  return end_sandbox(state);
}

static cdam_exec_result *run(fixture *this, cdam_exec_command command) {
  cdam_exec_result *result;
  cdam_error err = {0};
  assert_ok(cdam_exec(this->session, &command, &result, &err), &err);
  return result;
}

static void expect(fixture *this, cdam_exec_command command, int code, const char *out,
                   const char *err) {
  cdam_exec_result *result = run(this, command);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), out);
  assert_string_equal(cdam_exec_result_stderr(result, NULL), err);
  assert_int_equal(cdam_exec_result_exit_code(result), code);
  cdam_exec_result_free(result);
}

static void expect_failure(fixture *this, cdam_exec_command command, cdam_status code) {
  cdam_exec_result *result;
  cdam_error err = {0};
  cdam_status status = cdam_exec(this->session, &command, &result, &err);
  if (status != code) fail_msg("%s: %s", cdam_status_name(status), err.message);
  assert_null(result);
}

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
  assert_true(cdam_now_ms() - before < 2000); /* its end was told, and not only found */
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
  assert_in_range(cdam_now_ms() - before, 700, 3000);
  assert_true(cdam_exec_result_timed_out(result));
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);
  assert_false(runs(*state, "8703"));
  close(ends[0]);
  close(ends[1]);
}

/* ---- there and back ---- */

typedef struct both_ways {
  size_t sent, total, got;
  unsigned wrong;
} both_ways;

static unsigned char byte_at(size_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 12));
}

static int64_t give(void *user, void *buffer, size_t size) {
  both_ways *this = user;
  unsigned char *to = buffer;
  if (size > this->total - this->sent) size = this->total - this->sent;
  for (size_t i = 0; i < size; i++)
    to[i] = byte_at(this->sent + i);
  this->sent += size;
  return (int64_t)size;
}

static bool take(void *user, const void *bytes, size_t length) {
  both_ways *this = user;
  const unsigned char *from = bytes;
  for (size_t i = 0; i < length; i += 61)
    this->wrong += from[i] != byte_at(this->got + i);
  this->got += length;
  return true;
}

static void there_and_back_on(fixture *this, const char *way) {
  const char *megabytes = getenv("COFFERDAM_TEST_MEGABYTES");
  struct rusage before, after;
  both_ways ways = {.total = (size_t)(megabytes ? strtoul(megabytes, NULL, 10) : 64) << 20};
  cdam_source source = {.read = give, .user = &ways};
  cdam_sink sink = {.write = take, .user = &ways};
  getrusage(RUSAGE_SELF, &before);
  int64_t began = cdam_now_ms();
  cdam_exec_result *result =
      run(this, (cdam_exec_command){.argv = CAT, .input = &source, .stdout_sink = &sink});
  int64_t took = cdam_now_ms() - began;
  getrusage(RUSAGE_SELF, &after);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  assert_int_equal(ways.got, ways.total);
  assert_int_equal(ways.wrong, 0);
  cdam_exec_result_free(result);
  printf("# %zu MiB there and back%s in %lld ms, %ld KiB more\n", ways.total >> 20, way,
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

/* ---- time ---- */

static void deadlines(void **state) {
  for (int i = 0; i < 3; i++) {
    static const char *const scripts[] = {
        "echo first; sleep 8801", "trap '' TERM; echo first; setsid sleep 8802 & sleep 8803 8804",
        ("echo first; (setsid sh -c 'trap \"\" TERM; sleep 8805; true' >/dev/null 2>&1 &); "
         "sleep 8806")};
    int64_t before = cdam_now_ms();
    cdam_exec_result *result =
        run(*state, (cdam_exec_command){.argv = SH(scripts[i]), .timeout_ms = 300});
    assert_in_range(cdam_now_ms() - before, 300, 2000);
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
  assert_true(cdam_now_ms() - before < 3000);
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
  if (by_agent) await_gone(this, "8904"); /* the engine lets it go on */
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
  expect(*state, (cdam_exec_command){.argv = SH("echo x; exit 7"), .stdout_sink = &sink}, 7, "",
         "");
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
    expect(&busybox,
           (cdam_exec_command){.argv = (const char *const[]){"/bin/busybox", "sleep", "9001", NULL},
                               .timeout_ms = 1},
           -1, "", "");
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
#define BY_ENGINE(name)                                                                            \
  { #name " by the engine", name, make_sandbox_without, end_sandbox_without, NULL }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_and_codes),
      cmocka_unit_test(what_does_not_start),
      cmocka_unit_test(heads_and_tails),
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
      cmocka_unit_test(deadlines),
      cmocka_unit_test(cancelling),
      cmocka_unit_test(calls_inside_of_calls),
      cmocka_unit_test(ten_thousand),
      cmocka_unit_test(images_that_have_little),
      cmocka_unit_test(out_of_memory),
      BY_ENGINE(heads_and_tails),
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
      BY_ENGINE(cancelling),
      BY_ENGINE(many_by_the_engine),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
