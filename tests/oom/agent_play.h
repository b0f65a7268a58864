/* SPDX-License-Identifier: Apache-2.0 */
/* A session of an agent that a test plays, opened and closed with failing allocations. */
#ifndef COFFERDAM_TESTS_AGENT_PLAY_H
#define COFFERDAM_TESTS_AGENT_PLAY_H

#include "../faults/test_file_agent.h"

#include <poll.h>

#include "calls.h"
#include "exhaust.h"

typedef struct agent_play {
  fixture *fixture;
  cdam_session session;
  cdam_loop *loop;
  cdam_status status; /* in the callbacks: the first that is no success */
  cdam_error error;
} agent_play;

static inline cdam_status open_session(agent_play *p, cdam_error *err) {
  p->session = (cdam_session){.state = &p->fixture->state, .has_agent = true};
  return open_client(p->fixture->engine, 1000, &p->session.client, err);
}

static inline cdam_status open_loop(agent_play *p, cdam_error *err) {
  cdam_status status = open_session(p, err);
  return status == CDAM_OK ? cdam_loop_new(p->session.client, &p->loop, err) : status;
}

static inline void note(agent_play *p, cdam_status status, const cdam_error *err) {
  if (status == CDAM_OK || p->status != CDAM_OK) return;
  p->status = status;
  p->error = *err;
}

/* That of submitting, or else the first of a callback. */
static inline cdam_status outcome_of(const agent_play *p, cdam_status status, cdam_error *err) {
  if (status != CDAM_OK || p->status == CDAM_OK) return status;
  *err = p->error;
  return p->status;
}

/* Dispatches until nothing is pending. */
static inline cdam_status run_to_end(agent_play *p, cdam_status status, cdam_error *err) {
  if (!p->loop) return status;
  struct pollfd ready = {.fd = cdam_loop_fd(p->loop), .events = POLLIN};
  while (cdam_loop_dispatch(p->loop))
    poll(&ready, 1, 5000);
  return outcome_of(p, status, err);
}

static inline void close_session(agent_play *p) {
  cdam_session_drop_links(&p->session);
  cdam_loop_free(p->loop);
  cdam_client_free(p->session.client);
  *p = (agent_play){.fixture = p->fixture};
}

#endif
