/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_exec on an engine that cuts, garbles, lags, lies and hangs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec_fixture.h"

static void expect_output(const cdam_exec_result *result, const char *out, const char *err) {
  size_t length;
  assert_string_equal(cdam_exec_result_stdout(result, &length), out);
  assert_int_equal(length, strlen(out));
  assert_int_equal(cdam_exec_result_stdout_total(result), length);
  assert_string_equal(cdam_exec_result_stderr(result, &length), err);
  assert_int_equal(length, strlen(err));
  assert_int_equal(cdam_exec_result_stderr_total(result), length);
}

static void expect_hello(fixture *this, int exit_code) {
  cdam_exec_result *result;
  cdam_error err = {0};
  if (run(this, 0, &result, &err) != CDAM_OK) fail_msg("%s", err.message);
  expect_output(result, "hello\n", "oops");
  assert_int_equal(cdam_exec_result_exit_code(result), exit_code);
  assert_false(cdam_exec_result_not_started(result));
  assert_false(cdam_exec_result_timed_out(result));
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);
}

static void expect_failure(fixture *this, cdam_status code, const char *words) {
  cdam_exec_result *result;
  cdam_error err = {0};
  run(this, 0, &result, &err);
  if (err.code != code || !strstr(err.message, words))
    fail_msg("%s: %s", cdam_status_name(err.code), err.message);
}

/* ---- ways to say the same ---- */

static void requests(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.method = "POST", .path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.method = "GET", .path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
  };
  fixture *this = BEGIN(rules, 2000);
  expect_hello(this, 7);
  const scripted_request *create = scripted_engine_request(this->engine, "POST", CREATE, 0);
  static const char start[] =
      "{\"AttachStdin\":false,\"AttachStdout\":true,\"AttachStderr\":true,\"Tty\":false,"
      "\"Cmd\":[\"/bin/prog\",\"arg\"],\"Env\":[\"COFFERDAM_EXEC_ID=";
  assert_memory_equal(create->body, start, sizeof start - 1);
  assert_string_equal(create->body + sizeof start - 1 + 36, "\"]}");
  const scripted_request *begun = scripted_engine_request(this->engine, "POST", "/exec/*", 0);
  assert_string_equal(begun->body, "{\"Detach\":false,\"Tty\":false}");
  char value[32];
  assert_true(scripted_request_header(begun, "Upgrade", value, sizeof value));
  assert_string_equal(value, "tcp");
  assert_true(scripted_request_header(begun, "Connection", value, sizeof value));
  assert_string_equal(value, "Upgrade");

  /* With everything that can be set. */
  static const char *const env[] = {"A=1", "B=x=y\n", NULL};
  cdam_exec_command command = {.argv = exec_argv, .env = env, .user = "1:2", .workdir = "/w d"};
  cdam_exec_result *result;
  assert_int_equal(cdam_exec(&this->session, &command, &result, NULL), CDAM_OK);
  cdam_exec_result_free(result);
  create = scripted_engine_request(this->engine, "POST", CREATE, 1);
  assert_non_null(strstr(create->body, "\"Env\":[\"A=1\",\"B=x=y\\n\",\"COFFERDAM_EXEC_ID="));
  assert_non_null(strstr(create->body, "\"],\"User\":\"1:2\",\"WorkingDir\":\"/w d\"}"));
  end(this);
}

static void any_framing_of_the_answer(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {RAW(HELLO), .end = SCRIPTED_CLOSE},
      {RAW(HELLO), .piece = 1, .end = SCRIPTED_CLOSE},
      {RAW(HELLO), .piece = HEAD_LENGTH - 2, .piece_delay_ms = 5, .end = SCRIPTED_CLOSE},
      {RAW(HELLO), .piece = HEAD_LENGTH, .piece_delay_ms = 5, .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\n\r\n" HELLO,
       .raw_length = sizeof("HTTP/1.1 200 OK\r\n\r\n" HELLO) - 1,
       .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" HELLO,
       .raw_length = sizeof("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" HELLO) - 1,
       .end = SCRIPTED_CLOSE},
      {200, .body = HELLO, .body_length = sizeof HELLO - 1, .chunked = true, .piece = 5},
  };
  for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
    if (exec_input && replies[i].chunked) continue; /* no stream of both ways */
    scripted_rule rules[] = {
        {.method = "POST", .path = CREATE, .reply = CREATED},
        {.method = "POST", .path = "/exec/aaaa/start", .reply = replies[i]},
        {.method = "GET", .path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
    };
    fixture *this = BEGIN(rules, 2000);
    expect_hello(this, 0);
    end(this);
  }
}

/* ---- the stream ---- */

/* Success only at the end of a frame, and then only because the engine says that it is one. */
static void cut_at_every_byte(void **state) {
  (void)state;
  size_t cut = 0;
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start",
       .answer = cut_later,
       .user = &cut,
       .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.method = "GET", .path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
  };
  fixture *this = BEGIN(rules, 2000);
  for (cut = 1; cut <= HEAD_LENGTH + sizeof HELLO - 1; cut++) {
    cdam_exec_result *result;
    cdam_error err = {0};
    bool ok = run(this, 0, &result, &err) == CDAM_OK;
    size_t frames = cut < HEAD_LENGTH ? 1 : cut - HEAD_LENGTH;
    if (ok != (frames == 0 || frames == 14 || frames == 26))
      fail_msg("cut %zu: %s", cut, err.message);
    if (!ok && cut >= HEAD_LENGTH) assert_int_equal(err.code, CDAM_ERR_PROTOCOL);
    cdam_exec_result_free(result);
  }
  end(this);
}

static void cut_while_it_runs(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = RUNNING}},
      {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
  };
  fixture *this = BEGIN(rules, 400);
  expect_failure(this, CDAM_ERR_EXEC, "still running");
  end(this);
}

static void broken_streams(void **state) {
  (void)state;
  static const struct {
    scripted_reply reply;
    cdam_status code;
    const char *words;
  } cases[] = {
      {{RAW("\7\0\0\0\0\0\0\1x"), .end = SCRIPTED_CLOSE}, CDAM_ERR_PROTOCOL, "(at byte 0)"},
      {{RAW(HELLO "\1\0\1\0\0\0\0\1x"), .end = SCRIPTED_CLOSE}, CDAM_ERR_PROTOCOL, "(at byte 26)"},
      {{RAW(HELLO "\1\0\0\0\xff\xff\xff\xffrest"), .end = SCRIPTED_CLOSE},
       CDAM_ERR_PROTOCOL,
       "payload"},
      {{RAW(HELLO "\3\0\0\0\0\0\0\5woe!\n"), .end = SCRIPTED_CLOSE}, CDAM_ERR_ENGINE, "woe!"},
      {{RAW(HELLO), .cut = HEAD_LENGTH + 17, .end = SCRIPTED_RESET},
       CDAM_ERR_PROTOCOL,
       "still be running"},
      {{200, .headers = "Transfer-Encoding: chunked\r\n", .body = "1a\r\n" HELLO,
        .body_length = 4 + sizeof HELLO - 1, .end = SCRIPTED_CLOSE},
       CDAM_ERR_PROTOCOL,
       "still be running"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scripted_rule rules[] = {
        {.method = "POST", .path = CREATE, .reply = CREATED},
        {.path = "/exec/aaaa/start", .reply = cases[i].reply},
        {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
        {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
    };
    bool chunked = cases[i].reply.headers != NULL;
    fixture *this = BEGIN(rules, 2000);
    expect_failure(this, cases[i].code,
                   exec_input && chunked ? "a body instead of a stream" : cases[i].words);
    end(this);
  }
}

static void write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n <= 0) return;
    bytes += n;
    length -= (size_t)n;
  }
}

/* 64 MiB, which are still on their way when the engine says that the command is over. */
static void talk_much(void *user, int fd, const scripted_request *request, const char *early,
                      size_t early_length) {
  (void)user, (void)request, (void)early, (void)early_length;
  static char block[1 << 20];
  write_all(fd, HEAD, HEAD_LENGTH);
  for (int i = 0; i < 64; i++) {
    write_all(fd, "\1\0\0\0\0\x10\0\0", 8);
    write_all(fd, block, sizeof block);
  }
  write_all(fd, "\1\0\0\0\0\0\0\3END", 11);
}

static void much_output(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk_much},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
  };
  fixture *this = BEGIN(rules, 2000);
  for (size_t cap = 5; cap <= 100 << 20; cap *= 100 << 17) {
    cdam_exec_command command = {.argv = exec_argv, .output_cap = cap, .input = exec_input};
    cdam_exec_result *result;
    cdam_error err = {0};
    if (cdam_exec(&this->session, &command, &result, &err) != CDAM_OK) fail_msg("%s", err.message);
    size_t length;
    const char *out = cdam_exec_result_stdout(result, &length);
    size_t total = (64 << 20) + 3;
    assert_int_equal(cdam_exec_result_stdout_total(result), total);
    assert_int_equal(length, cap < total ? cap : total);
    if (length == total) assert_memory_equal(out + length - 3, "END", 4);
    cdam_exec_result_free(result);
  }
  end(this);
}

/* Longer than the client's timeout, which is not for the silence of commands. */
static void talk_late(void *user, int fd, const scripted_request *request, const char *early,
                      size_t early_length) {
  (void)user, (void)request, (void)early, (void)early_length;
  write_all(fd, HEAD, HEAD_LENGTH);
  usleep(3200 * 1000);
  write_all(fd, HELLO, sizeof HELLO - 1);
}

static void a_silent_command(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .talk = talk_late},
      {.path = "/exec/aaaa/json", .times = 1, .reply = {200, .body = RUNNING}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("3")}},
  };
  fixture *this = BEGIN(rules, 500);
  expect_hello(this, 3);
  assert_int_equal(scripted_engine_count(this->engine, "GET", "/exec/aaaa/json"), 2);
  end(this);
}

static void a_connection_that_is_never_closed(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .times = 1, .reply = {RAW(HELLO), .end = SCRIPTED_HANG}},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO "\1\0\0"), .end = SCRIPTED_HANG}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("9")}},
  };
  fixture *this = BEGIN(rules, 2000);
  int64_t before = cdam_now_ms();
  expect_hello(this, 9);
  assert_in_range(cdam_now_ms() - before, 3000, 30000);
  expect_failure(this, CDAM_ERR_PROTOCOL, "header");
  end(this);
}

/* ---- how it ended ---- */

typedef struct ending {
  const char *answers[5]; /* one after the other; the last one again and again */
  cdam_status code;
  int exit_code;
  const char *words;
} ending;

static void next_answer(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)request;
  const char *const **answers = user;
  reply->body = **answers;
  if ((*answers)[1]) ++*answers;
}

static void run_ending(const ending *this_ending) {
  const char *const *answers = this_ending->answers;
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json",
       .answer = next_answer,
       .user = &answers,
       .reply = {.status = 200}},
      {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
  };
  fixture *this = BEGIN(rules, 300);
  if (this_ending->code == CDAM_OK)
    expect_hello(this, this_ending->exit_code);
  else
    expect_failure(this, this_ending->code, this_ending->words);
  end(this);
}

static void exit_codes(void **state) {
  (void)state;
  static const char null[] = "{\"Running\":false,\"ExitCode\":null,\"Pid\":5}";
  static const ending cases[] = {
      {{null, null, null, ENDED("42")}, CDAM_OK, 42, NULL},
      {{null, RUNNING, ENDED("7")}, CDAM_OK, 7, NULL},
      /* Podman's 0 while it runs. */
      {{"{\"Running\":true,\"ExitCode\":0,\"Pid\":5}", ENDED("7")}, CDAM_OK, 7, NULL},
      {{"{\"Running\":true,\"ExitCode\":0,\"Pid\":5}"}, CDAM_ERR_EXEC, 0, "still running"},
      {{ENDED("0")}, CDAM_OK, 0, NULL},
      {{ENDED("255")}, CDAM_OK, 255, NULL},
      {{ENDED("126")}, CDAM_OK, 126, NULL},
      {{"{\"Running\":false,\"ExitCode\":127,\"Pid\":0,\"CanRemove\":true}"}, CDAM_OK, 127, NULL},
      {{"{\"Running\":false,\"ExitCode\":0,\"Pid\":0,\"CanRemove\":true}"}, CDAM_OK, 0, NULL},
      {{null}, CDAM_ERR_EXEC, 0, "exit status unknown"},
      {{"{\"Running\":false,\"Pid\":5}"}, CDAM_ERR_EXEC, 0, "exit status unknown"},
      {{"{\"Running\":false,\"ExitCode\":0,\"Pid\":0,\"CanRemove\":false}"},
       CDAM_ERR_EXEC,
       0,
       "exit status unknown"},
      {{"{\"ExitCode\":0,\"Pid\":5}"}, CDAM_ERR_EXEC, 0, "Running"},
      {{"{\"Running\":\"false\",\"ExitCode\":0}"}, CDAM_ERR_EXEC, 0, "Running"},
      {{ENDED("\"0\"")}, CDAM_ERR_EXEC, 0, "ExitCode"},
      {{ENDED("0.0")}, CDAM_ERR_EXEC, 0, "ExitCode"},
      {{ENDED("false")}, CDAM_ERR_EXEC, 0, "ExitCode"},
      {{ENDED("256")}, CDAM_ERR_EXEC, 0, ": 256"},
      {{ENDED("-1")}, CDAM_ERR_EXEC, 0, ": -1"},
      {{ENDED("3221225786")}, CDAM_ERR_EXEC, 0, ": 3221225786"},
      {{ENDED("4294967296")}, CDAM_ERR_EXEC, 0, ": 4294967296"},
      {{ENDED("9223372036854775808")}, CDAM_ERR_EXEC, 0, "exit status unknown"},
      {{"[]"}, CDAM_ERR_EXEC, 0, "exit status unknown"},
      {{"{\"Running\":false,\"ExitCode\":0,\"ExitCode\":1}"}, CDAM_ERR_EXEC, 0, "unknown"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    run_ending(&cases[i]);
}

static void expect_not_started(const scripted_reply *stream, const char *inspect) {
  scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = *stream},
      {.path = "/exec/aaaa/json", .reply = {200, .body = inspect}},
  };
  fixture *this = BEGIN(rules, 2000);
  cdam_exec_result *result;
  cdam_error err = {0};
  assert_int_equal(run(this, 0, &result, &err), CDAM_OK);
  assert_true(cdam_exec_result_not_started(result));
  expect_output(result, "", "exec failed: x\n");
  cdam_exec_result_free(result);
  end(this);
}

static void programs_that_do_not_start(void **state) {
  (void)state;
  static const scripted_reply docker = {RAW("\1\0\0\0\0\0\0\xf"
                                            "exec failed: x\n"),
                                        .end = SCRIPTED_CLOSE};
  static const scripted_reply podman = {RAW("\2\0\0\0\0\0\0\xf"
                                            "exec failed: x\n"),
                                        .end = SCRIPTED_CLOSE};
  expect_not_started(&docker, "{\"Running\":false,\"ExitCode\":126,\"Pid\":0}");
  expect_not_started(&docker, "{\"Running\":false,\"ExitCode\":127,\"Pid\":0}");
  expect_not_started(&podman, "{\"Running\":false,\"ExitCode\":127,\"Pid\":0,\"CanRemove\":true}");
}

/* ---- engines and containers that go away ---- */

static void refusals(void **state) {
  (void)state;
  static const scripted_reply paused = {200,
                                        .body = "{\"State\":{\"Running\":true,\"Paused\":true}}"};
  static const scripted_reply stopped = {
      200, .body = "{\"State\":{\"Running\":false,\"Paused\":false}}"};
  static const scripted_reply running = {200, .body = RUNNING_CONTAINER};
  static const scripted_reply gone = {404, .body = "{\"message\":\"No such container\"}"};
  static const scripted_reply conflict = {409, .body = "{\"message\":\"conflict\"}"};
  static const scripted_reply odd = {500, .body = "{\"message\":\"odd\"}"};
  static const scripted_reply created = CREATED;
  static const scripted_reply hello = {RAW(HELLO), .end = SCRIPTED_CLOSE};
  static const struct {
    const scripted_reply *create, *start, *exec, *container;
    cdam_status code;
    const char *words;
  } cases[] = {
      {&conflict, NULL, NULL, &paused, CDAM_ERR_PAUSED, "paused"},
      {&conflict, NULL, NULL, &stopped, CDAM_ERR_EXITED, "not running"},
      {&gone, NULL, NULL, &gone, CDAM_ERR_NOT_FOUND, "gone"},
      {&odd, NULL, NULL, &paused, CDAM_ERR_PAUSED, "paused"},
      {&odd, NULL, NULL, &stopped, CDAM_ERR_EXITED, "not running"},
      {&odd, NULL, NULL, &gone, CDAM_ERR_NOT_FOUND, "gone"},
      {&odd, NULL, NULL, &odd, CDAM_ERR_ENGINE, "odd"},
      {&odd, NULL, NULL, &running, CDAM_ERR_ENGINE, "run command: odd"},
      {&created, &conflict, NULL, &paused, CDAM_ERR_PAUSED, "paused"},
      {&created, &conflict, NULL, &stopped, CDAM_ERR_EXITED, "not running"},
      {&created, &conflict, NULL, &running, CDAM_ERR_ENGINE, "conflict"},
      {&created, &gone, NULL, &running, CDAM_ERR_NOT_FOUND, "start command"},
      {&created, &odd, NULL, &gone, CDAM_ERR_NOT_FOUND, "gone"},
      {&created, &hello, &gone, &running, CDAM_ERR_EXEC, "exit status unknown"},
      {&created, &hello, &gone, &gone, CDAM_ERR_NOT_FOUND, "gone"},
      {&created, &hello, &conflict, &stopped, CDAM_ERR_EXITED, "not running"},
      {&created, &hello, &odd, &running, CDAM_ERR_EXEC, "exit status unknown"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scripted_rule rules[] = {
        {.method = "POST", .path = CREATE, .reply = *cases[i].create},
        {.path = "/containers/" CONTAINER "/json", .reply = *cases[i].container},
        {.path = "/exec/aaaa/start", .reply = cases[i].start ? *cases[i].start : odd},
        {.path = "/exec/aaaa/json", .reply = cases[i].exec ? *cases[i].exec : odd},
    };
    fixture *this = BEGIN(rules, 300);
    expect_failure(this, cases[i].code, cases[i].words);
    end(this);
  }
}

static void odd_ids(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "{}",
      "{\"Id\":null}",
      "{\"Id\":\"\"}",
      "{\"Id\":\"../x\"}",
      "{\"Id\":\"a b\"}",
      "{\"Id\":\"aaaa?x\"}",
      "[]",
      "nonsense",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    scripted_rule rules[] = {{.method = "POST", .path = CREATE, .reply = {201, .body = bodies[i]}}};
    fixture *this = BEGIN(rules, 2000);
    expect_failure(this, CDAM_ERR_PROTOCOL, "");
    end(this);
  }
}

/* The engine restarts: the stream ends, questions are not answered, and then it knows nothing. */
static void an_engine_that_restarts(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .times = 4, .reply = {.raw = "H", .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {404, .body = "{\"message\":\"No such exec\"}"}},
      {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
  };
  fixture *this = BEGIN(rules, 2000);
  expect_failure(this, CDAM_ERR_EXEC, "No such exec");
  end(this);
}

static void an_engine_that_stays_away(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {.raw = "H", .end = SCRIPTED_CLOSE}},
  };
  fixture *this = BEGIN(rules, 300);
  expect_failure(this, CDAM_ERR_EXEC, "exit status unknown");
  end(this);
}

/* ---- arguments ---- */

static void refuse_command(const cdam_exec_command *command, const char *words) {
  untouchable_engine *engine = untouchable_start();
  cdam_state state = {0};
  state.message.container_id = (char *)CONTAINER;
  cdam_session session = {.state = &state, .client = untouchable_client(engine)};
  cdam_exec_result *result = (cdam_exec_result *)&state;
  cdam_error err = {0};
  assert_int_equal(cdam_exec(&session, command, &result, &err), CDAM_ERR_ARGUMENT);
  assert_null(result);
  if (!strstr(err.message, words) || strstr(err.message, "secret")) fail_msg("%s", err.message);
  assert_int_equal(cdam_exec(&session, command, NULL, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_exec(NULL, command, &result, NULL), CDAM_ERR_ARGUMENT);
  cdam_client_free(session.client);
  untouchable_stop(engine);
}

static void arguments(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  static const char *const empty[] = {"", NULL};
  static const char *const bad[] = {"a", "\xff", NULL};
  static const char *const no_value[] = {"A=1", "secret", NULL};
  static const char *const no_key[] = {"=secret", NULL};
  static const char *const bad_env[] = {"A=\xc3(secret", NULL};
  static const char *const marker[] = {"COFFERDAM_EXEC_ID=secret", NULL};
  refuse_command(NULL, "NULL");
  refuse_command(&(cdam_exec_command){0}, "argv is empty");
  refuse_command(&(cdam_exec_command){.argv = none}, "argv is empty");
  refuse_command(&(cdam_exec_command){.argv = empty}, "argv[0]");
  refuse_command(&(cdam_exec_command){.argv = bad}, "argv[1] is not UTF-8");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .env = no_value},
                 "env[1] is not KEY=VALUE");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .env = no_key}, "env[0] is not KEY=VALUE");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .env = bad_env}, "env[0] is not UTF-8");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .env = marker}, "COFFERDAM_EXEC_ID");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .user = ""}, "user");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .workdir = "tmp"}, "workdir");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .workdir = ""}, "workdir");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .timeout_ms = -1}, "timeout_ms");
  refuse_command(&(cdam_exec_command){.argv = exec_argv, .reserved = {[3] = (void *)""}},
                 "reserved");
}

static void no_result(void **state) {
  (void)state;
  size_t length = 7;
  cdam_exec_result_free(NULL);
  assert_int_equal(cdam_exec_result_exit_code(NULL), -1);
  assert_string_equal(cdam_exec_result_stdout(NULL, &length), "");
  assert_int_equal(length, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests),
      BOTH(any_framing_of_the_answer),
      BOTH(cut_at_every_byte),
      BOTH(cut_while_it_runs),
      BOTH(broken_streams),
      BOTH(much_output),
      BOTH(a_silent_command),
      BOTH(a_connection_that_is_never_closed),
      cmocka_unit_test(exit_codes),
      cmocka_unit_test(programs_that_do_not_start),
      BOTH(refusals),
      cmocka_unit_test(odd_ids),
      cmocka_unit_test(an_engine_that_restarts),
      cmocka_unit_test(an_engine_that_stays_away),
      cmocka_unit_test(arguments),
      cmocka_unit_test(no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
