/* SPDX-License-Identifier: Apache-2.0 */
/* A session that no create has made: what cdam_exec needs of it, on a scripted engine. */
#ifndef COFFERDAM_TESTS_EXEC_FIXTURE_H
#define COFFERDAM_TESTS_EXEC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scripted_engine.h"
#include "session/session_private.h"

#define CONTAINER "c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0"
#define CREATE "/containers/" CONTAINER "/exec"
#define CREATED                                                                                    \
  { 201, .body = "{\"Id\":\"aaaa\"}" }
#define HEAD                                                                                       \
  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"                   \
  "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define HEAD_LENGTH (sizeof HEAD - 1)
#define RAW(bytes) .raw = HEAD bytes, .raw_length = sizeof(HEAD bytes) - 1
#define HELLO "\1\0\0\0\0\0\0\6hello\n\2\0\0\0\0\0\0\4oops"
#define ENDED(code) "{\"Running\":false,\"ExitCode\":" code ",\"Pid\":4294967295}"
#define RUNNING "{\"Running\":true,\"ExitCode\":null,\"Pid\":77}"
#define RUNNING_CONTAINER "{\"State\":{\"Running\":true,\"Paused\":false}}"

typedef struct fixture {
  scripted_engine *engine;
  cdam_state state;
  cdam_session session;
} fixture;

static const char *const exec_argv[] = {"/bin/prog", "arg", NULL};

static inline fixture *begin(const scripted_rule *rules, size_t count, unsigned timeout_ms) {
  static fixture this;
  this = (fixture){.engine = scripted_engine_start(rules, count)};
  this.state.message.container_id = (char *)CONTAINER;
  this.session.state = &this.state;
  this.session.client = scripted_engine_client(this.engine, timeout_ms);
  return &this;
}

#define BEGIN(rules, timeout_ms) begin(rules, sizeof(rules) / sizeof *(rules), timeout_ms)

static inline void end(fixture *this) {
  cdam_client_free(this->session.client);
  scripted_engine_stop(this->engine);
}

/* The answer of a rule whose `user` is after how many bytes (size_t) it is cut. */
static inline void cut_later(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)request;
  reply->cut = *(size_t *)user;
}

/* Given to each command; or NULL. With it the stream of a command goes both ways. */
static const cdam_source *exec_input;

static inline int give_input(void **state) {
  static const cdam_source source = {.bytes = "some input", .length = 10};
  (void)state;
  exec_input = &source;
  return 0;
}

static inline int give_no_input(void **state) {
  (void)state;
  exec_input = NULL;
  return 0;
}

/* A test without input, and once more with it. */
#define BOTH(name)                                                                                 \
  {#name, name, give_no_input, NULL, NULL}, {                                                      \
#name " with input", name, give_input, give_no_input, NULL                                     \
  }

static inline cdam_status run(fixture *this, int64_t timeout_ms, cdam_exec_result **result,
                              cdam_error *err) {
  cdam_exec_command command = {.argv = exec_argv, .timeout_ms = timeout_ms, .input = exec_input};
  cdam_status status = cdam_exec(&this->session, &command, result, err);
  assert_int_equal(status, err->code);
  if (status != CDAM_OK) assert_null(*result);
  return status;
}

#endif
