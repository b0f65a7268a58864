/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/loop.h"

#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"
#include "engine/negotiate.h"
#include "engine/sigpipe.h"

#define MAX_OPEN_CONNECTIONS 8L

static bool append(struct curl_slist **list, const char *line) {
  struct curl_slist *longer = curl_slist_append(*list, line);
  if (!longer) return false;
  *list = longer;
  return true;
}

/* "Name:" takes a header away that libcurl would add. */
static bool set_up(cdam_loop *loop) {
  loop->multi = curl_multi_init();
  return loop->multi &&
         curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, MAX_OPEN_CONNECTIONS) == CURLM_OK &&
         append(&loop->headers, "Expect:") && append(&loop->headers, "Content-Type:") &&
         append(&loop->json_headers, "Expect:") &&
         append(&loop->json_headers, "Content-Type: application/json") &&
         cdam_exchange_reserve(loop);
}

cdam_loop *cdam_loop_new(cdam_client *client) {
  cdam_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->client = client;
  TAILQ_INIT(&loop->live);
  TAILQ_INIT(&loop->ended);
  TAILQ_INIT(&loop->spare);
  if (set_up(loop)) return loop;
  cdam_loop_free(loop);
  return NULL;
}

static void drop_all(struct cdam_exchange_list *list) {
  while (!TAILQ_EMPTY(list))
    cdam_exchange_drop(TAILQ_FIRST(list));
}

void cdam_loop_settle(cdam_loop *loop) {
  drop_all(&loop->live);
  drop_all(&loop->ended);
}

void cdam_loop_free(cdam_loop *loop) {
  if (!loop) return;
  cdam_loop_settle(loop);
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, loop->client->config.tls);
  while (!TAILQ_EMPTY(&loop->spare)) {
    cdam_exchange *exchange = TAILQ_FIRST(&loop->spare);
    TAILQ_REMOVE(&loop->spare, exchange, in_loop);
    cdam_exchange_free(exchange);
  }
  curl_multi_cleanup(loop->multi);
  cdam_sigpipe_release(&guard);
  curl_slist_free_all(loop->headers);
  curl_slist_free_all(loop->json_headers);
  free(loop);
}

bool cdam_loop_is_idle(const cdam_loop *loop) {
  return TAILQ_EMPTY(&loop->live) && TAILQ_EMPTY(&loop->ended);
}

/* ---- what has ended ---- */

static void collect_results(cdam_loop *loop) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(loop->multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode result = message->data.result;
    cdam_exchange *exchange = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
    curl_multi_remove_handle(loop->multi, exchange->easy);
    cdam_exchange_end(exchange, cdam_exchange_outcome(exchange, result));
  }
}

static void time_out(cdam_exchange *exchange) {
  const char *endpoint = exchange->loop->client->config.endpoint;
  if (exchange->due && cdam_now_ms() >= exchange->due)
    cdam_fail(&exchange->error, CDAM_ERR_TIMEOUT,
              exchange->head_done  ? "the engine at %s sent nothing for %lld ms"
              : exchange->sendings ? "the engine at %s did not answer within %lld ms"
                                   : "no connection to the engine at %s within %lld ms",
              endpoint, (long long)exchange->timeout_ms);
  else
    cdam_fail(&exchange->error, CDAM_ERR_TIMEOUT,
              "the deadline of the call passed while it waited for the engine at %s", endpoint);
  if (exchange->state == CDAM_EXCHANGE_RUNNING)
    curl_multi_remove_handle(exchange->loop->multi, exchange->easy);
  cdam_exchange_end(exchange, CDAM_ERR_TIMEOUT);
}

static void collect_due(cdam_loop *loop) {
  int64_t now = cdam_now_ms();
  cdam_exchange *following;
  for (cdam_exchange *e = TAILQ_FIRST(&loop->live); e; e = following) {
    following = TAILQ_NEXT(e, in_loop);
    int64_t due = cdam_exchange_due(e);
    if (!due || now < due) continue;
    if (e->state == CDAM_EXCHANGE_TIMER)
      cdam_exchange_end(e, CDAM_OK);
    else
      time_out(e);
  }
}

/* Takes those out of libcurl that were cancelled while it was at work. */
static void collect_orphans(cdam_loop *loop) {
  if (!loop->orphans) return;
  loop->orphans = false;
  cdam_exchange *following;
  for (cdam_exchange *e = TAILQ_FIRST(&loop->live); e; e = following) {
    following = TAILQ_NEXT(e, in_loop);
    if (!e->op && e != loop->ping) cdam_exchange_drop(e);
  }
}

/* Launches those that were sent while it was at work. */
static void launch_late(cdam_loop *loop) {
  if (!loop->late) return;
  loop->late = false;
  cdam_exchange *following;
  for (cdam_exchange *e = TAILQ_FIRST(&loop->live); e; e = following) {
    following = TAILQ_NEXT(e, in_loop);
    bool ready = !e->versioned || loop->api_version[0];
    if (e->state == CDAM_EXCHANGE_HELD && ready) cdam_exchange_launch(e);
  }
}

static void perform(cdam_loop *loop) {
  int running;
  loop->performing = true;
  curl_multi_perform(loop->multi, &running);
  loop->performing = false;
  collect_orphans(loop);
  launch_late(loop);
  collect_results(loop);
  collect_due(loop);
}

/* ---- a turn ---- */

static int wait_time(cdam_loop *loop, int max_wait_ms) {
  int64_t now = cdam_now_ms();
  int64_t wait = max_wait_ms < 0 ? INT_MAX : max_wait_ms;
  cdam_exchange *e;
  TAILQ_FOREACH(e, &loop->live, in_loop) {
    int64_t due = cdam_exchange_due(e);
    if (due && due - now < wait) wait = due > now ? due - now : 0;
  }
  return (int)wait;
}

static void run_step(cdam_exchange *exchange) {
  cdam_operation *op = exchange->op;
  cdam_reply reply = {
      .status = exchange->status,
      .error = exchange->status == CDAM_OK ? NULL : &exchange->error,
      .http = exchange->http,
      .body = cdam_buffer_text(&exchange->body),
      .length = exchange->body.length,
  };
  op->part = exchange->part;
  exchange->next(op, &reply);
}

/* Runs the steps of those that have ended by now, not of those that end meanwhile: each
 * turn comes to an end. */
static void run_steps(cdam_loop *loop) {
  size_t count = 0;
  cdam_exchange *exchange;
  TAILQ_FOREACH(exchange, &loop->ended, in_loop) count++;
  while (count-- && (exchange = TAILQ_FIRST(&loop->ended))) {
    TAILQ_REMOVE(&loop->ended, exchange, in_loop);
    if (exchange == loop->ping) {
      loop->ping = NULL;
      cdam_negotiate_settled(loop, exchange);
    } else {
      cdam_operation_forget(exchange);
      run_step(exchange);
    }
    cdam_exchange_give(exchange);
  }
}

void cdam_loop_turn(cdam_loop *loop, int max_wait_ms) {
  if (TAILQ_EMPTY(&loop->ended)) {
    cdam_sigpipe guard;
    cdam_sigpipe_hold(&guard, loop->client->config.tls);
    perform(loop);
    if (TAILQ_EMPTY(&loop->ended)) {
      curl_multi_poll(loop->multi, NULL, 0, wait_time(loop, max_wait_ms), NULL);
      perform(loop);
    }
    cdam_sigpipe_release(&guard);
  }
  run_steps(loop);
}
