/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen threads share a client, on a real engine: each has a session of its own, four of them to
 * one sandbox, and runs commands, moves files, and drives a loop. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../engine/real_engine.h"

#include <cofferdam/file.h>
#include <cofferdam/process.h>

#define THREADS 16
#define SANDBOXES 4
#define ROUNDS 12
#define LENGTH 300000

typedef struct worker {
  cdam_client *client;
  const cdam_state *state;
  int number;
  pthread_t thread;
  char why[600];
} worker;

static bool note(worker *this, const char *what, const cdam_error *err) {
  snprintf(this->why, sizeof this->why, "%s: %s", what, err->message);
  return false;
}

static bool run_command(worker *this, cdam_session *session) {
  char word[32], line[40];
  cdam_exec_result *result = NULL;
  cdam_error err = {0};
  snprintf(word, sizeof word, "thread-%d", this->number);
  snprintf(line, sizeof line, "%s\n", word);
  const cdam_exec_command command = {.argv = (const char *const[]){"echo", word, NULL}};
  if (cdam_exec(session, &command, &result, &err) != CDAM_OK) return note(this, "exec", &err);
  bool right = strcmp(cdam_exec_result_stdout(result, NULL), line) == 0;
  cdam_exec_result_free(result);
  return right || note(this, "another output", &err);
}

static bool move_file(worker *this, cdam_session *session) {
  char name[32], *back = NULL, *bytes = malloc(LENGTH);
  size_t length = 0;
  cdam_error err = {0};
  if (!bytes) return note(this, "memory", &err);
  memset(bytes, 'a' + this->number, LENGTH);
  snprintf(name, sizeof name, "file-%d", this->number);
  const cdam_source source = {.bytes = bytes, .length = LENGTH};
  bool right = (cdam_file_write(session, name, &source, NULL, &err) == CDAM_OK &&
                cdam_file_read(session, name, LENGTH, &back, &length, &err) == CDAM_OK) ||
               note(this, "file", &err);
  if (right && (length != LENGTH || memcmp(back, bytes, LENGTH) != 0))
    right = note(this, "another content", &err);
  free(bytes);
  free(back);
  return right;
}

typedef struct ending {
  bool ended;
  cdam_status status;
  cdam_error err;
} ending;

static void written(void *user, cdam_status status, const cdam_error *err) {
  ending *this = user;
  *this = (ending){true, status, *err};
}

static bool drive_loop(worker *this, cdam_session *session) {
  char name[32];
  cdam_loop *loop = NULL;
  ending end = {0};
  snprintf(name, sizeof name, "loop-%d", this->number);
  const cdam_source source = {.bytes = name, .length = strlen(name)};
  if (cdam_loop_new(this->client, &loop, &end.err) != CDAM_OK) return note(this, "loop", &end.err);
  bool right = cdam_file_write_start(loop, session, name, &source, NULL, written, &end, NULL,
                                     &end.err) == CDAM_OK;
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  while (right && cdam_loop_dispatch(loop))
    poll(&ready, 1, 30000);
  cdam_loop_free(loop);
  return (right && end.ended && end.status == CDAM_OK) || note(this, "in a loop", &end.err);
}

static void *work(void *user) {
  worker *this = user;
  cdam_session *session = NULL;
  cdam_error err = {0};
  if (cdam_resume(this->client, this->state, NULL, &session, &err) != CDAM_OK)
    note(this, "resume", &err);
  for (int i = 0; session && i < ROUNDS; i++)
    if (!run_command(this, session) || !move_file(this, session) ||
        (i % 4 == 0 && !drive_loop(this, session)))
      break;
  cdam_session_free(session);
  return NULL;
}

static void sixteen_threads(void **unused) {
  (void)unused;
  static worker workers[THREADS];
  cdam_session *sessions[SANDBOXES];
  cdam_client *client = engine_client();
  for (int i = 0; i < SANDBOXES; i++) {
    sessions[i] = create_with(client, CDAM_NETWORK_MODE_NONE);
    assert_true(cdam_session_has_agent(sessions[i]));
  }
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){
        .client = client, .state = cdam_session_state(sessions[i % SANDBOXES]), .number = i};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < SANDBOXES; i++)
    end_session(client, sessions[i]);
  cdam_client_free(client);
  for (int i = 0; i < THREADS; i++)
    if (workers[i].why[0]) fail_msg("thread %d: %s", i, workers[i].why);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {cmocka_unit_test(sixteen_threads)};
  return cmocka_run_group_tests_name("threads on an engine", tests, NULL, NULL);
}
