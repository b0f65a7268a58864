/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"
#include "engine/negotiate.h"
#include "engine/poller.h"
#include "engine/rest.h"
#include "engine/sigpipe.h"

#define MAX_OPEN_CONNECTIONS 8L
#define MAX_LAUNCHED 8

static bool append(struct curl_slist **list, const char *line) {
  struct curl_slist *longer = curl_slist_append(*list, line);
  if (!longer) return false;
  *list = longer;
  return true;
}

/* "Name:" takes a header away that libcurl would add. */
static bool set_up(cdam_loop *loop) {
  loop->multi = curl_multi_init();
  return loop->multi && cdam_poller_open(loop) &&
         curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, MAX_OPEN_CONNECTIONS) == CURLM_OK &&
         append(&loop->headers, "Expect:") && append(&loop->headers, "Content-Type:") &&
         append(&loop->json_headers, "Expect:") &&
         append(&loop->json_headers, "Content-Type: application/json") &&
         cdam_exchange_reserve(loop);
}

cdam_loop *cdam_loop_make(cdam_client *client) {
  errno = 0;
  cdam_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->client = client;
  loop->epoll = loop->timer = -1;
  loop->max_connections = UINT_MAX;
  TAILQ_INIT(&loop->live);
  TAILQ_INIT(&loop->ended);
  TAILQ_INIT(&loop->spare);
  TAILQ_INIT(&loop->waiting);
  TAILQ_INIT(&loop->waiting_streams);
  TAILQ_INIT(&loop->operations);
  TAILQ_INIT(&loop->finished);
  TAILQ_INIT(&loop->posted);
  TAILQ_INIT(&loop->at_end);
  if (set_up(loop)) return loop;
  int error = errno;
  cdam_loop_destroy(loop);
  errno = error;
  return NULL;
}

static void drop_all(struct cdam_exchange_list *list) {
  while (!TAILQ_EMPTY(list))
    cdam_exchange_drop(TAILQ_FIRST(list));
}

static void take_from(struct cdam_posted_list *list, cdam_posted *posted) {
  TAILQ_REMOVE(list, posted, in_loop);
  posted->queued = false;
}

static void run_ends(cdam_loop *loop) {
  cdam_posted *posted;
  while ((posted = TAILQ_FIRST(&loop->at_end))) {
    take_from(&loop->at_end, posted);
    posted->run(posted);
  }
  while ((posted = TAILQ_FIRST(&loop->posted)))
    take_from(&loop->posted, posted);
}

void cdam_loop_settle(cdam_loop *loop) {
  run_ends(loop);
  drop_all(&loop->waiting);
  drop_all(&loop->waiting_streams);
  drop_all(&loop->live);
  drop_all(&loop->ended);
}

void cdam_loop_destroy(cdam_loop *loop) {
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
  cdam_poller_close(loop);
  cdam_timers_clear(&loop->timers);
  curl_slist_free_all(loop->headers);
  curl_slist_free_all(loop->json_headers);
  cdam_rests_free(loop->rests);
  free(loop->scratch);
  free(loop);
}

/* ---- what is posted ---- */

static void put_into(struct cdam_posted_list *list, cdam_posted *posted) {
  if (posted->queued) return;
  TAILQ_INSERT_TAIL(list, posted, in_loop);
  posted->queued = true;
}

void cdam_loop_wake(cdam_loop *loop) {
  if (loop->timer >= 0 && !loop->dispatching) cdam_poller_set_timer(loop, 0);
}

void cdam_loop_post(cdam_loop *loop, cdam_posted *posted) {
  put_into(&loop->posted, posted);
  cdam_loop_wake(loop);
}

void cdam_loop_unpost(cdam_loop *loop, cdam_posted *posted) {
  if (posted->queued) take_from(&loop->posted, posted);
}

void cdam_loop_on_end(cdam_loop *loop, cdam_posted *posted) {
  put_into(&loop->at_end, posted);
}

void cdam_loop_forget_end(cdam_loop *loop, cdam_posted *posted) {
  if (posted->queued) take_from(&loop->at_end, posted);
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
    if (result == CURLE_OK && exchange->connected) {
      exchange->connected(exchange->sink_user);
      continue;
    }
    cdam_exchange_stop(exchange);
    if (!cdam_exchange_back_off(exchange, result))
      cdam_exchange_end(exchange, cdam_exchange_outcome(exchange, result));
  }
}

static void time_out(cdam_exchange *exchange) {
  const char *endpoint = exchange->loop->client->config.endpoint;
  if (exchange->state != CDAM_EXCHANGE_WAITING && exchange->due && cdam_now_ms() >= exchange->due)
    cdam_fail(&exchange->error, CDAM_ERR_TIMEOUT,
              exchange->head_done  ? "the engine at %s sent nothing for %lld ms"
              : exchange->sendings ? "the engine at %s did not answer within %lld ms"
                                   : "no connection to the engine at %s within %lld ms",
              endpoint, (long long)exchange->timeout_ms);
  else
    cdam_fail(&exchange->error, CDAM_ERR_TIMEOUT,
              "the deadline of the call passed while it waited for the engine at %s", endpoint);
  cdam_exchange_stop(exchange);
  cdam_exchange_end(exchange, CDAM_ERR_TIMEOUT);
}

/* What is due may have become due later since it was put there: a stream has sent something. */
static void collect_due(cdam_loop *loop) {
  int64_t now = cdam_now_ms();
  unsigned launched = 0; /* connecting takes its time: the others a turn later */
  cdam_exchange *e;
  while (launched < MAX_LAUNCHED && (e = cdam_timers_first(&loop->timers)) && e->timer.due <= now) {
    int64_t due = cdam_exchange_due(e);
    if (e->state == CDAM_EXCHANGE_BACKOFF && now >= e->again_at && (!due || due > now))
      launched++, cdam_exchange_launch(e);
    else if (!due || due > now)
      cdam_exchange_schedule(e);
    else if (e->state == CDAM_EXCHANGE_TIMER)
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

/* Without its sockets watched libcurl would wait for ever. */
static void fail_all_running(cdam_loop *loop) {
  loop->lost = loop->broken;
  cdam_exchange *following;
  for (cdam_exchange *e = TAILQ_FIRST(&loop->live); e; e = following) {
    following = TAILQ_NEXT(e, in_loop);
    if (e->state != CDAM_EXCHANGE_RUNNING) continue;
    cdam_exchange_stop(e);
    cdam_exchange_end(e, cdam_fail_memory(&e->error));
  }
}

static void collect(cdam_loop *loop) {
  collect_orphans(loop);
  launch_late(loop);
  collect_results(loop);
  if (loop->lost) fail_all_running(loop);
  collect_due(loop);
}

void cdam_loop_perform(cdam_loop *loop, int wait_ms) {
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, loop->client->config.tls);
  loop->performing = true;
  cdam_poller_run(loop, wait_ms);
  loop->performing = false;
  loop->launched = 0;
  collect(loop);
  cdam_sigpipe_release(&guard);
}

void cdam_loop_kick(cdam_loop *loop) {
  cdam_exchange_admit(loop);
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, loop->client->config.tls);
  loop->performing = true;
  cdam_poller_kick(loop);
  loop->performing = false;
  loop->launched = 0;
  collect(loop);
  cdam_sigpipe_release(&guard);
}

/* ---- a turn ---- */

int64_t cdam_loop_wait_ms(cdam_loop *loop) {
  long curl = -1;
  if (loop->broken || curl_multi_timeout(loop->multi, &curl) != CURLM_OK) curl = -1;
  int64_t wait = curl;
  const cdam_exchange *first = cdam_timers_first(&loop->timers);
  if (!first) return wait;
  int64_t left = first->timer.due - cdam_now_ms();
  if (left < 0) left = 0;
  return wait < 0 || left < wait ? left : wait;
}

static int wait_time(cdam_loop *loop, int max_wait_ms) {
  int64_t wait = cdam_loop_wait_ms(loop);
  if (wait > INT_MAX) wait = INT_MAX;
  if (max_wait_ms >= 0 && (wait < 0 || wait > max_wait_ms)) wait = max_wait_ms;
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
  cdam_operation_stepped(op);
}

static void run_ended(cdam_loop *loop) {
  cdam_exchange *exchange = TAILQ_FIRST(&loop->ended);
  if (!exchange) return;
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

static void run_posted(cdam_loop *loop) {
  cdam_posted *posted = TAILQ_FIRST(&loop->posted);
  if (!posted) return;
  take_from(&loop->posted, posted);
  posted->run(posted);
}

/* Not those that end or are posted meanwhile: each turn comes to an end. Neither kind keeps the
 * other from its turn. */
void cdam_loop_run_steps(cdam_loop *loop, int64_t until_us) {
  size_t ended = 0, posted = 0;
  const cdam_exchange *exchange;
  const cdam_posted *entry;
  TAILQ_FOREACH(exchange, &loop->ended, in_loop) ended++;
  TAILQ_FOREACH(entry, &loop->posted, in_loop) posted++;
  while (!loop->closing && (ended || posted)) {
    if (ended) ended--, run_ended(loop);
    if (posted && !loop->closing) posted--, run_posted(loop);
    if (!until_us) continue;
    cdam_loop_kick(loop); /* what the step sent is a part of its work */
    if (cdam_now_us() >= until_us) break;
  }
}

cdam_status cdam_loop_check_blocking(const cdam_loop *loop, cdam_error *err) {
  if (!cdam_loop_is_at_work(loop)) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "a blocking call inside of a callback of another");
}

void cdam_loop_turn(cdam_loop *loop, int max_wait_ms) {
  if (TAILQ_EMPTY(&loop->ended)) {
    cdam_loop_kick(loop);
    bool more = !TAILQ_EMPTY(&loop->posted) || cdam_exchange_can_admit(loop);
    if (TAILQ_EMPTY(&loop->ended)) cdam_loop_perform(loop, more ? 0 : wait_time(loop, max_wait_ms));
  }
  cdam_loop_run_steps(loop, 0);
}
