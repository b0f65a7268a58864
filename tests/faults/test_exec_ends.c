/* SPDX-License-Identifier: Apache-2.0 */
/* Input and sinks of a command without the agent, on an engine that lags, refuses, does not read
 * and breaks off. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec_fixture.h"

typedef struct both_ends {
  size_t given, most; /* bytes of the source */
  bool source_fails;
  char came[64]; /* to the sink */
  size_t length;
  bool sink_fails;
} both_ends;

static int64_t give(void *user, void *buffer, size_t size) {
  both_ends *this = user;
  if (size > this->most - this->given) size = this->most - this->given;
  if (size == 0 && this->source_fails) return -1;
  memset(buffer, 'i', size);
  this->given += size;
  return (int64_t)size;
}

static bool take(void *user, const void *bytes, size_t length) {
  both_ends *this = user;
  if (this->sink_fails) return false;
  assert_true(this->length + length < sizeof this->came);
  memcpy(this->came + this->length, bytes, length);
  this->length += length;
  return true;
}

static cdam_exec_result *run_with(fixture *this, both_ends *ends, int64_t timeout_ms,
                                  cdam_status code, const char *words) {
  cdam_source source = {.read = give, .user = ends};
  cdam_sink sink = {.write = take, .user = ends};
  cdam_exec_command command = {
      .argv = exec_argv, .timeout_ms = timeout_ms, .input = &source, .stdout_sink = &sink};
  cdam_exec_result *result;
  cdam_error err = {0};
  cdam_status status = cdam_exec(&this->session, &command, &result, &err);
  if (status != code || !strstr(err.message, words))
    fail_msg("%s: %s", cdam_status_name(status), err.message);
  assert_int_equal(result != NULL, status == CDAM_OK);
  return result;
}

static void write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes += n;
    length -= (size_t)n;
  }
}

/* What an engine does with the stream. */
typedef struct conduct {
  unsigned head_ms; /* the head comes so late */
  bool was_early;   /* input came before it */
  bool reads;       /* the input, to its end */
  bool deaf;        /* tells that it does not */
  size_t got;
  unsigned stay_ms; /* before the connection is closed */
} conduct;

static void talk(void *user, int fd, const scripted_request *request, const char *early,
                 size_t early_length) {
  (void)early, (void)request;
  conduct *this = user;
  static char bytes[65536];
  struct pollfd at = {.fd = fd, .events = POLLIN};
  this->was_early = early_length || poll(&at, 1, (int)this->head_ms) != 0;
  if (this->deaf) shutdown(fd, SHUT_RD);
  write_all(fd, HEAD, HEAD_LENGTH);
  for (ssize_t n; this->reads && (n = read(fd, bytes, sizeof bytes)) > 0;)
    this->got += (size_t)n;
  write_all(fd, HELLO, sizeof HELLO - 1);
  usleep(this->stay_ms * 1000);
}

static void expect_hello(fixture *this, both_ends *ends) {
  cdam_exec_result *result = run_with(this, ends, 0, CDAM_OK, "");
  assert_int_equal(cdam_exec_result_exit_code(result), 7);
  assert_int_equal(ends->length, 6);
  assert_memory_equal(ends->came, "hello\n", 6);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "");
  assert_int_equal(cdam_exec_result_stdout_total(result), 6);
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "oops");
  assert_false(cdam_exec_result_stdout_truncated(result));
  cdam_exec_result_free(result);
}

static void run_talker(conduct *talker, size_t most) {
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk, .user = talker},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
  };
  fixture *this = BEGIN(rules, 20000);
  both_ends ends = {.most = most};
  int64_t before = cdam_now_ms();
  expect_hello(this, &ends);
  assert_true(cdam_now_ms() - before < 2900); /* nothing found it silent */
  const char *body = scripted_engine_request(this->engine, "POST", CREATE, 0)->body;
  assert_non_null(strstr(body, "\"AttachStdin\":true,"));
  end(this);
}

/* Input that comes before the head is lost, so none does. */
static void a_late_head(void **state) {
  (void)state;
  conduct talker = {.head_ms = 300, .reads = true};
  run_talker(&talker, 300000);
  assert_false(talker.was_early);
  assert_int_equal(talker.got, 300000);
}

/* An engine that closes before it has read all is no failure, and neither is one that takes
 * nothing, however much there would be. */
static void input_that_is_not_read(void **state) {
  (void)state;
  run_talker(&(conduct){.stay_ms = 50}, 10);
  run_talker(&(conduct){.stay_ms = 50}, SIZE_MAX);
  run_talker(&(conduct){.deaf = true, .stay_ms = 300}, SIZE_MAX);
}

/* How much an engine gets rid of while nobody takes it. */
static void talk_on(void *user, int fd, const scripted_request *request, const char *early,
                    size_t early_length) {
  (void)request, (void)early, (void)early_length;
  static const char frame[8 + 4096] = {1, 0, 0, 0, 0, 0, 0x10, 0};
  size_t *sent = user;
  write_all(fd, HEAD, HEAD_LENGTH);
  while (*sent < 1000 && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 200) > 0) {
    write_all(fd, frame, sizeof frame);
    ++*sent;
  }
  usleep(200 * 1000);
}

static void *empty_later(void *user) {
  static char bytes[65536];
  size_t total = 0;
  usleep(700 * 1000);
  for (ssize_t n; (n = read(*(int *)user, bytes, sizeof bytes)) > 0;)
    total += (size_t)n;
  return (void *)total;
}

static void a_full_sink_slows_the_engine(void **state) {
  (void)state;
  size_t sent = 0;
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk_on, .user = &sent},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
  };
  fixture *this = BEGIN(rules, 2000);
  int out[2];
  pthread_t reader;
  void *total;
  assert_int_equal(pipe(out), 0);
  assert_int_equal(pthread_create(&reader, NULL, empty_later, &out[0]), 0);
  cdam_sink sink = {.to_fd = true, .fd = out[1]};
  cdam_exec_command command = {.argv = exec_argv, .stdout_sink = &sink};
  cdam_exec_result *result;
  assert_int_equal(cdam_exec(&this->session, &command, &result, NULL), CDAM_OK);
  close(out[1]);
  pthread_join(reader, &total);
  close(out[0]);
  assert_in_range(sent, 16, 300); /* of 1000: the pipe, a piece that waits, the sockets */
  assert_int_equal((size_t)total, sent * 4096);
  assert_int_equal(cdam_exec_result_stdout_total(result), sent * 4096);
  cdam_exec_result_free(result);
  end(this);
}

static void refusals(void **state) {
  (void)state;
  static const char *const containers[] = {"{\"State\":{\"Running\":true,\"Paused\":true}}",
                                           "{\"State\":{\"Running\":false,\"Paused\":false}}",
                                           RUNNING_CONTAINER};
  static const cdam_status codes[] = {CDAM_ERR_PAUSED, CDAM_ERR_EXITED, CDAM_ERR_ENGINE};
  for (int i = 0; i < 3; i++) {
    scripted_rule rules[] = {
        {.method = "POST", .path = CREATE, .reply = CREATED},
        {.path = "/exec/aaaa/start", .reply = {409, .body = "{\"message\":\"conflict\"}"}},
        {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = containers[i]}},
    };
    fixture *this = BEGIN(rules, 2000);
    both_ends ends = {.most = 1000};
    run_with(this, &ends, 0, codes[i], "");
    assert_int_equal(ends.given, 0);
    assert_int_equal(ends.length, 0);
    end(this);
  }
}

static void no_head_in_time(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {.raw = "H", .end = SCRIPTED_HANG}},
  };
  fixture *this = BEGIN(rules, 300);
  both_ends ends = {.most = 1000};
  run_with(this, &ends, 0, CDAM_ERR_TIMEOUT, "start command");
  assert_int_equal(ends.given, 0);
  end(this);
}

static void cut_while_input_flows(void **state) {
  (void)state;
  size_t cut = 0;
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start",
       .answer = cut_later,
       .user = &cut,
       .reply = {RAW(HELLO), .end = SCRIPTED_RESET}},
      {.method = "GET", .path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
  };
  fixture *this = BEGIN(rules, 2000);
  for (cut = 1; cut <= HEAD_LENGTH + sizeof HELLO - 1; cut++) {
    both_ends ends = {.most = SIZE_MAX};
    size_t frames = cut < HEAD_LENGTH ? 1 : cut - HEAD_LENGTH;
    bool whole = frames == 0 || frames == 14 || frames == 26;
    cdam_source source = {.read = give, .user = &ends};
    cdam_sink sink = {.write = take, .user = &ends};
    cdam_exec_command command = {.argv = exec_argv, .input = &source, .stdout_sink = &sink};
    cdam_exec_result *result;
    cdam_error err = {0};
    cdam_status status = cdam_exec(&this->session, &command, &result, &err);
    if ((status == CDAM_OK) != whole) fail_msg("cut %zu: %s", cut, err.message);
    if (!whole && cut >= HEAD_LENGTH) assert_int_equal(status, CDAM_ERR_PROTOCOL);
    assert_memory_equal(ends.came, "hello\n", ends.length);
    cdam_exec_result_free(result);
  }
  end(this);
}

/* The connection stays, and so does the input; the command is over. */
static void a_stream_that_is_never_closed(void **state) {
  (void)state;
  conduct talker = {.stay_ms = 6000};
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk, .user = &talker},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
  };
  fixture *this = BEGIN(rules, 2000);
  both_ends ends = {.most = SIZE_MAX};
  int64_t before = cdam_now_ms();
  expect_hello(this, &ends);
  assert_in_range(cdam_now_ms() - before, 2900, 5900);
  end(this);
}

/* ---- ends that fail ---- */

static void run_failing(both_ends *ends, bool kill_works) {
  conduct talker = {.stay_ms = 500};
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .times = 1, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk, .user = &talker},
      {.method = "POST", .path = CREATE, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
      {.path = "/exec/bbbb/start", .reply = {.status = 200}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = kill_works ? ENDED("0") : ENDED("3")}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
  };
  fixture *this = BEGIN(rules, 2000);
  run_with(this, ends, 0, CDAM_ERR_IO, kill_works ? "callback failed" : "may still be running");
  assert_int_equal(scripted_engine_count(this->engine, "POST", CREATE), 2);
  end(this);
}

static void ends_that_fail(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    run_failing(&(both_ends){.most = 10, .source_fails = true}, i);
    run_failing(&(both_ends){.most = 10, .sink_fails = true}, i);
  }
}

/* A pipe that nobody reads, and a source that waits for ever: the deadline ends them. */
static void the_deadline(void **state) {
  (void)state;
  conduct talker = {.stay_ms = 300};
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .times = 1, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk, .user = &talker},
      {.method = "POST", .path = CREATE, .reply = {201, .body = "{\"Id\":\"bbbb\"}"}},
      {.path = "/exec/bbbb/start", .reply = {.status = 200}},
      {.path = "/exec/bbbb/json", .reply = {200, .body = ENDED("0")}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("137")}},
  };
  static char zeros[4096];
  int in[2], out[2];
  assert_int_equal(pipe(in) | pipe(out), 0);
  while (poll(&(struct pollfd){.fd = out[1], .events = POLLOUT}, 1, 0) > 0)
    assert_int_equal(write(out[1], zeros, sizeof zeros), sizeof zeros);
  fixture *this = BEGIN(rules, 2000);
  cdam_source source = {.from_fd = true, .fd = in[0]};
  cdam_sink sink = {.to_fd = true, .fd = out[1]};
  cdam_exec_command command = {
      .argv = exec_argv, .timeout_ms = 200, .input = &source, .stdout_sink = &sink};
  cdam_exec_result *result;
  int64_t before = cdam_now_ms();
  assert_int_equal(cdam_exec(&this->session, &command, &result, NULL), CDAM_OK);
  assert_true(cdam_now_ms() - before < 1900); /* the rest of the output was read */
  assert_true(cdam_exec_result_timed_out(result));
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);
  end(this);
  for (int i = 0; i < 2; i++) {
    close(in[i]);
    close(out[i]);
  }
}

/* The reason is no output, and it is on stderr as without sinks. */
static void a_program_that_does_not_start(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start",
       .reply = {RAW("\1\0\0\0\0\0\0\7no such"), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json",
       .reply = {200, .body = "{\"Running\":false,\"ExitCode\":127,\"Pid\":0}"}},
  };
  fixture *this = BEGIN(rules, 2000);
  both_ends ends = {.most = 10};
  cdam_exec_result *result = run_with(this, &ends, 0, CDAM_OK, "");
  assert_true(cdam_exec_result_not_started(result));
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "no such");
  cdam_exec_result_free(result);
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_late_head),
      cmocka_unit_test(input_that_is_not_read),
      cmocka_unit_test(a_full_sink_slows_the_engine),
      cmocka_unit_test(refusals),
      cmocka_unit_test(no_head_in_time),
      cmocka_unit_test(cut_while_input_flows),
      cmocka_unit_test(a_stream_that_is_never_closed),
      cmocka_unit_test(ends_that_fail),
      cmocka_unit_test(the_deadline),
      cmocka_unit_test(a_program_that_does_not_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
