/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that a program drives by itself. */
#include <cofferdam/loop.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"
#include "engine/poller.h"

#define DEFAULT_CONNECTIONS 512
#define LEAST_CONNECTIONS 4

/* When a dispatch has done so much it leaves the rest to the next one. */
#define TURN_US 1000

/* ---- the loop ---- */

cdam_status cdam_loop_new(cdam_client *client, cdam_loop **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!client || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client or out is NULL");
  cdam_loop *loop = cdam_loop_make(client);
  if (!loop || !cdam_poller_add_timer(loop)) {
    cdam_status status = cdam_fail_loop(err);
    cdam_loop_destroy(loop);
    return status;
  }
  cdam_loop_set_max_connections(loop, DEFAULT_CONNECTIONS);
  *out = loop;
  return cdam_ok(err);
}

void cdam_loop_set_max_connections(cdam_loop *loop, unsigned count) {
  if (!loop) return;
  if (count < LEAST_CONNECTIONS) count = LEAST_CONNECTIONS;
  loop->max_connections = count;
  /* The second limit has libcurl close an idle connection when a stream needs one of its own. */
  curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)count);
  curl_multi_setopt(loop->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)count);
  cdam_poller_set_timer(loop, 0);
}

int cdam_loop_fd(const cdam_loop *loop) {
  return loop ? loop->epoll : -1;
}

size_t cdam_loop_pending(const cdam_loop *loop) {
  return loop ? loop->pending : 0;
}

/* ---- a turn ---- */

void cdam_loop_arm(cdam_loop *loop) {
  bool at_once = !TAILQ_EMPTY(&loop->ended) || !TAILQ_EMPTY(&loop->finished) ||
                 !TAILQ_EMPTY(&loop->posted) || cdam_exchange_can_admit(loop);
  cdam_poller_set_timer(loop, at_once ? 0 : cdam_loop_wait_ms(loop));
}

static void complete(cdam_loop *loop, cdam_operation *op) {
  TAILQ_REMOVE(&loop->finished, op, in_loop);
  loop->pending--;
  op->completed(op);
}

/* Those that have finished by now, as for the steps. */
static void complete_finished(cdam_loop *loop, int64_t until_us) {
  cdam_operation *op, *last = TAILQ_LAST(&loop->finished, cdam_operation_list);
  bool more = last != NULL;
  while (more && !loop->closing && (op = TAILQ_FIRST(&loop->finished))) {
    more = op != last && cdam_now_us() < until_us;
    complete(loop, op);
  }
}

static void end(cdam_loop *loop) {
  cdam_operation *op;
  loop->closing = loop->dispatching = true;
  while ((op = TAILQ_FIRST(&loop->operations)))
    cdam_operation_finish_cancelled(op);
  while ((op = TAILQ_FIRST(&loop->finished)))
    complete(loop, op);
  cdam_loop_destroy(loop);
}

void cdam_loop_free(cdam_loop *loop) {
  if (!loop || loop->closing) return;
  if (loop->dispatching)
    loop->closing = true;
  else
    end(loop);
}

size_t cdam_loop_dispatch(cdam_loop *loop) {
  if (!loop) return 0;
  if (loop->dispatching) return loop->pending;
  loop->dispatching = true;
  int64_t until_us = cdam_now_us() + TURN_US;
  cdam_loop_perform(loop, 0);
  if (!loop->closing) cdam_loop_run_steps(loop, until_us);
  if (!loop->closing) complete_finished(loop, until_us);
  if (!loop->closing) cdam_loop_kick(loop);
  loop->dispatching = false;
  if (loop->closing) {
    end(loop);
    return 0;
  }
  cdam_loop_arm(loop);
  return loop->pending;
}

/* ---- cancelling ---- */

void cdam_cancel(cdam_operation *op) {
  if (!op || op->finished) return;
  cdam_loop *loop = op->loop;
  cdam_operation_abort(op);
  if (!loop->dispatching) cdam_poller_set_timer(loop, 0); /* also for those that wait */
}
