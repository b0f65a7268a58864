/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/operation.h"

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"
#include "engine/negotiate.h"

static cdam_exchange *begin(cdam_operation *op, cdam_step next, cdam_exchange_state state) {
  if (op->finished) return NULL;
  cdam_exchange *exchange = cdam_exchange_take(op->loop);
  if (!exchange) {
    /* The loop's reserve is used up as well, so there is nothing left to run `next` with. */
    cdam_fail_memory(&op->error);
    cdam_operation_finish(op, CDAM_ERR_NO_MEMORY, &op->error);
    return NULL;
  }
  exchange->op = op;
  exchange->part = op->part;
  exchange->next = next;
  exchange->state = state;
  exchange->op_next = op->exchanges;
  op->exchanges = exchange;
  TAILQ_INSERT_TAIL(&op->loop->live, exchange, in_loop);
  return exchange;
}

cdam_exchange *cdam_operation_send(cdam_operation *op, const cdam_request *request,
                                   cdam_step next) {
  cdam_exchange *exchange = begin(op, next, CDAM_EXCHANGE_HELD);
  if (!exchange) return NULL;
  cdam_status status = cdam_exchange_prepare(exchange, request, &exchange->error);
  if (status == CDAM_OK && op->deadline && cdam_now_ms() >= op->deadline)
    status = cdam_fail(&exchange->error, CDAM_ERR_TIMEOUT, "the deadline of the call passed");
  cdam_exchange_schedule(exchange);
  if (status != CDAM_OK)
    cdam_exchange_end(exchange, status);
  else if (exchange->versioned && !op->loop->api_version[0])
    cdam_negotiate_begin(op->loop);
  else
    cdam_exchange_launch(exchange);
  return exchange;
}

cdam_exchange *cdam_operation_after(cdam_operation *op, int64_t ms, cdam_step next) {
  cdam_exchange *exchange = begin(op, next, CDAM_EXCHANGE_TIMER);
  if (!exchange) return NULL;
  exchange->due = cdam_now_ms() + (ms > 0 ? ms : 0);
  cdam_exchange_schedule(exchange);
  return exchange;
}

void cdam_operation_forget(cdam_exchange *exchange) {
  cdam_exchange **link = &exchange->op->exchanges;
  while (*link && *link != exchange)
    link = &(*link)->op_next;
  if (*link) *link = exchange->op_next;
}

void cdam_operation_cancel(cdam_operation *op, cdam_exchange *exchange) {
  (void)op;
  if (exchange) cdam_exchange_drop(exchange);
}

void cdam_operation_finish(cdam_operation *op, cdam_status status, const cdam_error *error) {
  if (op->finished) return;
  op->finished = true;
  op->status = status;
  if (status == CDAM_OK)
    cdam_ok(&op->error);
  else if (!error)
    cdam_fail(&op->error, status, "%s", cdam_status_name(status));
  else if (error != &op->error)
    op->error = *error;
  cdam_operation_drop_all(op);
  if (!op->completed) return;
  TAILQ_REMOVE(&op->loop->operations, op, in_loop);
  TAILQ_INSERT_TAIL(&op->loop->finished, op, in_loop);
}

void cdam_operation_drop_all(cdam_operation *op) {
  while (op->exchanges)
    cdam_exchange_drop(op->exchanges);
}

/* It has nothing under way and no result, which is a mistake in its steps. */
static void finish_lost(cdam_operation *op) {
  cdam_fail(&op->error, CDAM_ERR_ARGUMENT, "an operation ended without a result");
  cdam_operation_finish(op, CDAM_ERR_ARGUMENT, &op->error);
}

/* ---- ending early ---- */

void cdam_operation_finish_cancelled(cdam_operation *op) {
  cdam_fail(&op->error, CDAM_ERR_CANCELLED, "the operation was cancelled");
  cdam_operation_finish(op, CDAM_ERR_CANCELLED, &op->error);
}

void cdam_operation_abort(cdam_operation *op) {
  if (op->finished) return;
  op->cancelled = true;
  if (op->abort)
    op->abort(op);
  else
    cdam_operation_finish_cancelled(op);
}

bool cdam_exchange_was_sent(const cdam_exchange *exchange) {
  return exchange->sendings > 0;
}

bool cdam_operation_is_committed(const cdam_operation *op) {
  for (const cdam_exchange *e = op->exchanges; e; e = e->op_next)
    if (!e->may_repeat && !e->stream && cdam_exchange_was_sent(e)) return true;
  return false;
}

/* ---- running ---- */

cdam_client *cdam_loop_client(const cdam_loop *loop) {
  return loop->client;
}

cdam_status cdam_start_check(const cdam_loop *loop, bool has_callback, cdam_operation **operation,
                             cdam_error *err) {
  if (operation) *operation = NULL;
  if (loop && has_callback) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "loop or callback is NULL");
}

static void prepare(cdam_operation *op, cdam_client *client, cdam_loop *loop) {
  op->client = client;
  op->loop = loop;
  op->finished = op->cancelled = false;
  op->completed = NULL;
  op->part = NULL;
  op->exchanges = NULL;
  op->holds = 0;
}

void cdam_operation_init_in(cdam_operation *op, cdam_loop *loop) {
  *op = (cdam_operation){0};
  prepare(op, loop->client, loop);
  op->holds = 1;
}

void cdam_operation_hold(cdam_operation *op) {
  op->holds++;
}

void cdam_operation_release(cdam_operation *op) {
  if (op->holds) op->holds--;
}

static bool is_lost(const cdam_operation *op) {
  return !op->finished && !op->exchanges && !op->holds;
}

void cdam_operation_stepped(cdam_operation *op) {
  /* What could not be interrupted has come to its end. */
  if (op->cancelled) cdam_operation_abort(op);
  if (is_lost(op)) finish_lost(op);
}

cdam_status cdam_operation_submit(cdam_operation *op, cdam_loop *loop, cdam_step start,
                                  cdam_operation_action completed, cdam_error *err) {
  if (loop->closing) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the loop is being freed");
  prepare(op, loop->client, loop);
  loop->pending++;
  if (!cdam_exchange_reserve(loop) || !cdam_operation_after(op, 0, start)) {
    loop->pending--;
    return cdam_fail_memory(err);
  }
  op->completed = completed;
  TAILQ_INSERT_TAIL(&loop->operations, op, in_loop);
  if (!loop->dispatching) cdam_loop_arm(loop);
  return cdam_ok(err);
}

cdam_status cdam_operation_run_in(cdam_operation *op, cdam_loop *loop, cdam_step start,
                                  cdam_error *err) {
  cdam_status status = cdam_loop_check_blocking(loop, err);
  if (status != CDAM_OK) return status;
  prepare(op, loop->client, loop);
  if (!cdam_exchange_reserve(loop)) return cdam_fail_memory(err);
  loop->turning = true;
  start(op, &(cdam_reply){.status = CDAM_OK, .body = ""});
  cdam_operation_stepped(op);
  while (!op->finished)
    cdam_loop_turn(loop, -1);
  loop->turning = false;
  op->loop = NULL;
  if (op->status == CDAM_OK) return cdam_ok(err);
  if (err) *err = op->error;
  return op->status;
}

cdam_status cdam_operation_run(cdam_operation *op, cdam_client *client, cdam_step start,
                               cdam_error *err) {
  cdam_loop *loop = cdam_client_borrow_loop(client);
  if (!loop) return cdam_fail_loop(err);
  cdam_status status = cdam_operation_run_in(op, loop, start, err);
  cdam_client_return_loop(client, loop);
  return status;
}
