/* SPDX-License-Identifier: Apache-2.0 */
/* A client, a key and what is only read may be used by several threads at once. Each thread looks
 * at what it gets; data races are for the thread sanitizer to find. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "../faults/scripted_engine.h"

#define THREADS 16
#define ROUNDS 8
#define CONTAINER "2222222222222222222222222222222222222222222222222222222222222222"
#define IMAGE "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define SESSION "01234567-89ab-4def-8123-456789abcdef"

static const char state_json[] =
    "{\"schemaRevision\":2,\"requiredFeatures\":[\"FEATURE_NETWORK_ISOLATION\"],\"sessionId\":"
    "\"" SESSION "\",\"options\":{\"image\":\"busybox:1\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
    "\"networkMode\":\"NETWORK_MODE_NONE\"},\"imageId\":\"" IMAGE "\",\"containerId\":"
    "\"" CONTAINER "\",\"engine\":{\"id\":\"ENGINE:ONE\"}}";

static const char inspect_json[] =
    "{\"Id\":\"" CONTAINER "\",\"Image\":\"" IMAGE "\",\"State\":{\"Status\":\"running\"},"
    "\"Config\":{\"Labels\":{\"io.cofferdam.session-id\":\"" SESSION "\",\"a\":\"1\",\"b\":\"2\"}},"
    "\"HostConfig\":{\"NetworkMode\":\"none\",\"Privileged\":false},"
    "\"NetworkSettings\":{\"Networks\":{\"none\":{\"IPAddress\":\"\"}}}}";

static const char exec_stream[] =
    "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    "\1\0\0\0\0\0\0\6hello\n";

static const scripted_rule rules[] = {
    {.method = "GET", .path = "/containers/*/json", .reply = {200, .body = inspect_json}},
    {.method = "GET", .path = "/info", .reply = {200, .body = "{\"ID\":\"ENGINE:ONE\"}"}},
    {.method = "POST",
     .path = "/containers/*/exec",
     .reply = {201, .body = "{\"Id\":\"" CONTAINER "\"}"}},
    {.method = "POST",
     .path = "/exec/*/start",
     .reply = {.raw = exec_stream, .raw_length = sizeof exec_stream - 1, .end = SCRIPTED_CLOSE}},
    {.method = "GET",
     .path = "/exec/*/json",
     .reply = {200, .body = "{\"Running\":false,\"ExitCode\":3,\"Pid\":17}"}},
};

typedef struct shared {
  cdam_client *client;
  const cdam_state *state;
  const cdam_key *key;
  unsigned char *bytes;
  size_t length;
  atomic_int good;
  char why[THREADS][600]; /* what went wrong in each thread */
} shared;

typedef struct worker {
  shared *with;
  int number;
} worker;

static bool note(worker *w, const char *what, const cdam_error *err) {
  snprintf(w->with->why[w->number], sizeof w->with->why[0], "%s: %s", what, err->message);
  return false;
}

static bool run_command(worker *w) {
  static const char *const argv[] = {"echo", "hello", NULL};
  cdam_error err = {0};
  cdam_session *session = NULL;
  cdam_exec_result *result = NULL;
  bool good = cdam_resume(w->with->client, w->with->state, NULL, &session, &err) == CDAM_OK &&
              cdam_exec(session, &(cdam_exec_command){.argv = argv}, &result, &err) == CDAM_OK;
  if (!good) note(w, "engine", &err);
  if (good && (cdam_exec_result_exit_code(result) != 3 ||
               strcmp(cdam_exec_result_stdout(result, NULL), "hello\n") != 0))
    good = note(w, "another result", &err);
  cdam_exec_result_free(result);
  cdam_session_free(session);
  return good;
}

typedef struct looped {
  cdam_status status;
  cdam_error err;
  cdam_session *session;
  cdam_exec_result *result;
} looped;

static void resumed(void *user, cdam_status status, cdam_session *session, const cdam_error *err) {
  looped *this = user;
  this->session = session;
  this->err = *err;
  this->status = status;
}

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  looped *this = user;
  this->result = result;
  this->err = *err;
  this->status = status;
}

static void drive(cdam_loop *loop) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  while (cdam_loop_dispatch(loop))
    poll(&ready, 1, 20000);
}

/* The same in a loop of this thread's own. */
static bool run_in_loop(worker *w) {
  static const char *const argv[] = {"echo", "hello", NULL};
  looped this = {0};
  cdam_loop *loop = NULL;
  bool good = cdam_loop_new(w->with->client, &loop, &this.err) == CDAM_OK &&
              cdam_resume_start(loop, w->with->state, NULL, resumed, &this, NULL, &this.err) == 0;
  if (good) drive(loop);
  good = good && this.session &&
         cdam_exec_start(loop, this.session, &(cdam_exec_command){.argv = argv}, ended, &this, NULL,
                         &this.err) == CDAM_OK;
  if (good) drive(loop);
  good = good && this.result && cdam_exec_result_exit_code(this.result) == 3;
  if (!good) note(w, "loop", &this.err);
  cdam_exec_result_free(this.result);
  cdam_session_free(this.session);
  cdam_loop_free(loop);
  return good;
}

static bool read_and_write(worker *w) {
  cdam_error err = {0};
  cdam_state *state = NULL;
  unsigned char *bytes = NULL;
  size_t length = 0;
  bool good =
      cdam_state_parse(w->with->bytes, w->with->length, w->with->key, &state, &err) == CDAM_OK &&
      cdam_state_serialize(w->with->state, w->with->key, &bytes, &length, &err) == CDAM_OK;
  if (!good) note(w, "state", &err);
  if (good && (length != w->with->length || memcmp(bytes, w->with->bytes, length) != 0))
    good = note(w, "other bytes", &err);
  free(bytes);
  cdam_state_free(state);
  return good;
}

static void *work(void *user) {
  worker *w = user;
  for (int i = 0; i < ROUNDS; i++)
    if (!read_and_write(w) || !run_command(w) || !run_in_loop(w)) return NULL;
  atomic_fetch_add(&w->with->good, 1);
  return NULL;
}

static void test_shared(void **unused) {
  (void)unused;
  cdam_state *state;
  cdam_key *key;
  shared with = {0};
  scripted_engine *engine = scripted_engine_start(rules, sizeof rules / sizeof *rules);
  with.client = scripted_engine_client(engine, 20000);
  assert_int_equal(cdam_state_from_json(state_json, strlen(state_json), NULL, &state, NULL), 0);
  assert_int_equal(cdam_key_new("k", "0123456789abcdef", 16, &key, NULL), CDAM_OK);
  assert_int_equal(cdam_state_serialize(state, key, &with.bytes, &with.length, NULL), CDAM_OK);
  with.state = state;
  with.key = key;
  pthread_t threads[THREADS];
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){&with, i};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    if (with.why[i][0]) fail_msg("thread %d: %s", i, with.why[i]);
  assert_int_equal(with.good, THREADS);
  free(with.bytes);
  cdam_key_free(key);
  cdam_state_free(state);
  cdam_client_free(with.client);
  scripted_engine_stop(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared)};
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
