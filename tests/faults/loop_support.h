/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in a loop, and what became of each. */
#ifndef COFFERDAM_TESTS_LOOP_SUPPORT_H
#define COFFERDAM_TESTS_LOOP_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <poll.h>

#include <cofferdam/cofferdam.h>

#include "base/clock.h"

/* The result of one operation, whatever it was. Free with outcome_clear. */
typedef struct outcome {
  int calls; /* of the callback */
  cdam_status status;
  cdam_error error;
  cdam_session *session;
  cdam_exec_result *result;
  cdam_sandbox_list *list;
  char *host;
  uint16_t port;
  const char *version;
} outcome;

static inline outcome *note_outcome(void *user, cdam_status status, const cdam_error *err) {
  outcome *this = user;
  this->calls++;
  this->status = status;
  this->error = *err;
  assert_int_equal(err->code, status);
  return this;
}

static inline void note_done(void *user, cdam_status status, const cdam_error *err) {
  note_outcome(user, status, err);
}

static inline void note_session(void *user, cdam_status status, cdam_session *session,
                                const cdam_error *err) {
  note_outcome(user, status, err)->session = session;
  assert_int_equal(session != NULL, status == CDAM_OK);
}

static inline void note_exec(void *user, cdam_status status, cdam_exec_result *result,
                             const cdam_error *err) {
  note_outcome(user, status, err)->result = result;
  assert_int_equal(result != NULL, status == CDAM_OK);
}

static inline void note_list(void *user, cdam_status status, cdam_sandbox_list *list,
                             const cdam_error *err) {
  note_outcome(user, status, err)->list = list;
  assert_int_equal(list != NULL, status == CDAM_OK);
}

static inline void note_port(void *user, cdam_status status, char *host, uint16_t port,
                             const cdam_error *err) {
  outcome *this = note_outcome(user, status, err);
  this->host = host;
  this->port = port;
  assert_int_equal(host != NULL, status == CDAM_OK);
}

static inline void note_ping(void *user, cdam_status status, const char *version,
                             const cdam_error *err) {
  note_outcome(user, status, err)->version = version;
}

static inline void outcome_clear(outcome *this) {
  cdam_session_free(this->session);
  cdam_exec_result_free(this->result);
  cdam_list_free(this->list);
  free(this->host);
  *this = (outcome){0};
}

static inline cdam_loop *loop_of(cdam_client *client) {
  cdam_loop *loop;
  assert_int_equal(cdam_loop_new(client, &loop, NULL), CDAM_OK);
  return loop;
}

/* Waits until the loop has something to do; fails the test when that takes longer. */
static inline void wait_readable(cdam_loop *loop, int at_most_ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  if (poll(&ready, 1, at_most_ms) != 1) fail_msg("nothing to do for %d ms", at_most_ms);
}

/* Dispatches, always when the descriptor says so and only then, until nothing is pending. */
static inline void drive(cdam_loop *loop) {
  int64_t limit = cdam_now_ms() + 20000;
  do {
    wait_readable(loop, 15000);
    assert_true(cdam_now_ms() < limit);
  } while (cdam_loop_dispatch(loop));
}

#endif
