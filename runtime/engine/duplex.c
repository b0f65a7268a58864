/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/duplex.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cofferdam/version.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "engine/duplex_head.h"
#include "engine/duplex_queue.h"
#include "engine/exchange.h"
#include "engine/poller.h"
#include "engine/rest.h"
#include "engine/sigpipe.h"

/* Of each direction in a turn, so that one stream does not keep the others waiting. */
#define TURN_BYTES ((size_t)256 * 1024)

typedef enum phase {
  CONNECTING, /* no socket yet */
  ASKED,      /* the request is on its way, the answer not yet there */
  OPEN,
  ENDED, /* the end is to be told */
  TOLD,
} phase;

/* The connection is an exchange, which waits for its turn, connects and keeps the time for the head
 * of the answer as all exchanges do. */
struct cdam_duplex {
  cdam_operation op;
  cdam_exchange *exchange; /* NULL before and after */
  const cdam_duplex_events *events;
  void *user;
  cdam_posted work;
  cdam_posted at_end;
  cdam_socket_watch watch;
  cdam_rest rest;
  phase phase;
  cdam_duplex_head head;
  cdam_buffer request;
  size_t request_sent;
  cdam_duplex_queue queue;
  size_t retry;      /* bytes that were offered in vain, and have to be offered again; or 0 */
  cdam_buffer early; /* came with the head, and is not wanted yet */
  bool reading;
  bool readable; /* the socket, or the TLS library, may have something */
  bool blocked;  /* the socket takes no more for now */
  bool deaf;     /* the engine takes nothing any more */
  bool above;    /* `drained` is to be told */
  bool ending;   /* half-closed after the queue */
  bool shut;     /* that is done */
  bool busy;     /* in a callback: it is freed later */
  bool closed;   /* by the owner */
  cdam_status status;
  cdam_error error;
};

#define CONTAINER(pointer, member)                                                                 \
  ((cdam_duplex *)(void *)((char *)(pointer)-offsetof(cdam_duplex, member)))

static bool is_live(const cdam_duplex *d) {
  return !d->closed && (d->phase == ASKED || d->phase == OPEN);
}

static bool uses_tls(const cdam_duplex *d) {
  return d->op.client->config.tls && !d->op.client->endpoint.socket_path;
}

/* ---- the end ---- */

static void drop_connection(cdam_duplex *d) {
  cdam_exchange *exchange = d->exchange;
  d->exchange = NULL;
  if (exchange) cdam_operation_cancel(&d->op, exchange);
}

/* Told later, where callbacks may run. The error stands in d->error. */
static void end(cdam_duplex *d, cdam_status status) {
  d->status = status;
  d->phase = ENDED;
  cdam_duplex_queue_clear(&d->queue);
  cdam_rest_end(d->op.loop, &d->rest);
  drop_connection(d);
  cdam_loop_post(d->op.loop, &d->work);
}

static void end_without_memory(cdam_duplex *d) {
  end(d, cdam_fail_memory(&d->error));
}

/* The connection failed, or its time was over. */
static void failed(cdam_operation *op, const cdam_reply *reply) {
  cdam_duplex *d = CONTAINER(op, op);
  d->exchange = NULL;
  if (reply->error) d->error = *reply->error;
  end(d, reply->status);
}

/* By what libcurl says of reading or writing. */
static void end_broken(cdam_duplex *d, CURLcode code) {
  cdam_exchange *exchange = d->exchange;
  exchange->head_bytes = d->head.taken;
  exchange->http = d->head.http;
  cdam_status status = cdam_exchange_outcome(exchange, code);
  d->error = exchange->error;
  end(d, status);
}

/* ---- sending ---- */

static CURLcode send_some(cdam_duplex *d, const char *bytes, size_t length, size_t *sent) {
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, uses_tls(d));
  *sent = 0;
  CURLcode code = curl_easy_send(d->exchange->easy, bytes, length, sent);
  cdam_sigpipe_release(&guard);
  if (code == CURLE_AGAIN)
    d->blocked = true;
  else if (code != CURLE_OK)
    d->deaf = true; /* reading tells why, or there is still something to read */
  return code;
}

static CURLcode send_request(cdam_duplex *d) {
  while (!d->blocked && !d->deaf && d->request_sent < d->request.length) {
    size_t sent;
    CURLcode code =
        send_some(d, d->request.data + d->request_sent, d->request.length - d->request_sent, &sent);
    if (code != CURLE_OK && code != CURLE_AGAIN) return code;
    d->request_sent += sent;
  }
  return CURLE_OK;
}

static void send_queue(cdam_duplex *d) {
  const char *bytes;
  size_t length, sent;
  for (size_t done = 0; !d->blocked && !d->deaf && done < TURN_BYTES; done += sent) {
    length = cdam_duplex_queue_front(&d->queue, &bytes);
    if (length == 0) return;
    if (d->retry) length = d->retry;
    d->retry = send_some(d, bytes, length, &sent) == CURLE_AGAIN ? length : 0;
    if (sent) cdam_duplex_queue_take(&d->queue, sent);
  }
  if (!d->blocked && !d->deaf) cdam_loop_post(d->op.loop, &d->work);
}

static void half_close(cdam_duplex *d) {
  if (d->deaf || d->shut || !d->ending || d->queue.length) return;
  d->shut = true;
  shutdown(d->watch.fd, SHUT_WR);
}

static void write_out(cdam_duplex *d) {
  send_request(d);
  if (d->phase != OPEN) return;
  send_queue(d);
  if (d->deaf) cdam_duplex_queue_clear(&d->queue);
  half_close(d);
  if (!d->above || d->queue.length > CDAM_DUPLEX_LOW) return;
  d->above = false;
  if (d->events->drained) d->events->drained(d->user);
}

/* ---- receiving ---- */

static void hand_out(cdam_duplex *d, const char *bytes, size_t length) {
  if (!length || !is_live(d)) return;
  if (d->reading)
    d->events->received(d->user, bytes, length);
  else if (!cdam_buffer_append(&d->early, bytes, length))
    end_without_memory(d);
}

static void hand_out_early(cdam_duplex *d) {
  if (!d->early.length || !d->reading) return;
  cdam_buffer early = d->early;
  d->early = (cdam_buffer){0};
  hand_out(d, early.data, early.length);
  cdam_buffer_clear(&early);
}

static void open_stream(cdam_duplex *d, const char *rest, size_t length) {
  d->phase = OPEN;
  d->exchange->due = 0;
  cdam_exchange_schedule(d->exchange);
  cdam_buffer_clear(&d->request);
  d->request_sent = 0;
  cdam_duplex_head_clear(&d->head);
  if (d->events->opened) d->events->opened(d->user);
  hand_out(d, rest, length);
}

static void end_with_answer(cdam_duplex *d) {
  const cdam_reply reply = {
      .status = CDAM_OK,
      .http = d->head.http,
      .body = cdam_buffer_text(&d->head.body),
      .length = d->head.body.length,
  };
  cdam_status status = cdam_answer_check(&reply, "open stream", &d->error);
  if (status == CDAM_OK) {
    status = cdam_fail(&d->error, CDAM_ERR_PROTOCOL, "the engine answered %d instead of a stream",
                       d->head.http);
    d->error.http_status = d->head.http;
  }
  end(d, status);
}

static void take(cdam_duplex *d, const char *bytes, size_t length) {
  if (d->phase == OPEN) {
    hand_out(d, bytes, length);
    return;
  }
  size_t used;
  switch (cdam_duplex_head_feed(&d->head, bytes, length, &used, &d->error)) {
  case CDAM_HEAD_MORE:
    break;
  case CDAM_HEAD_STREAM:
    open_stream(d, bytes + used, length - used);
    break;
  case CDAM_HEAD_ANSWER:
    end_with_answer(d);
    break;
  case CDAM_HEAD_BAD:
    end(d, d->error.code);
    break;
  }
}

static void take_end(cdam_duplex *d) {
  if (d->phase == OPEN)
    end(d, cdam_ok(&d->error));
  else if (cdam_duplex_head_may_end(&d->head))
    end_with_answer(d);
  else
    end_broken(d, CURLE_GOT_NOTHING);
}

/* An engine that closes a unix socket before it has read all leaves this error instead of the end
 * of the stream; nothing that it had sent is lost. */
static bool is_end_of_unix_socket(const cdam_duplex *d) {
  long number = 0;
  if (!d->op.client->endpoint.socket_path) return false;
  curl_easy_getinfo(d->exchange->easy, CURLINFO_OS_ERRNO, &number);
  return number == ECONNRESET;
}

/* How many bytes; 0 when there are none now, or it has ended. */
static size_t receive(cdam_duplex *d) {
  char *scratch = d->op.loop->scratch;
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, uses_tls(d));
  size_t length = 0;
  CURLcode code = curl_easy_recv(d->exchange->easy, scratch, CDAM_SCRATCH_SIZE, &length);
  cdam_sigpipe_release(&guard);
  if (code == CURLE_AGAIN)
    d->readable = false;
  else if (code == CURLE_RECV_ERROR && is_end_of_unix_socket(d))
    take_end(d);
  else if (code != CURLE_OK)
    end_broken(d, code);
  else if (length == 0)
    take_end(d);
  else
    take(d, scratch, length);
  return length;
}

static bool wants_to_read(const cdam_duplex *d) {
  return is_live(d) && !d->rest.resting && (d->reading || d->phase == ASKED);
}

static void rested(cdam_rest *rest) {
  cdam_duplex *d = CONTAINER(rest, rest);
  d->readable = true;
  cdam_loop_post(d->op.loop, &d->work);
}

/* The TLS library may hold back what epoll knows nothing of, so it is asked until it has nothing.
 * Without it, less than there was room for was all. */
static void read_in(cdam_duplex *d) {
  hand_out_early(d);
  for (size_t done = 0; d->readable && wants_to_read(d) && done < TURN_BYTES;) {
    size_t length = receive(d);
    if (length < CDAM_SCRATCH_SIZE && !uses_tls(d)) d->readable = false;
    if (!d->readable && is_live(d) && d->op.client->endpoint.socket_path)
      cdam_rest_after(d->op.loop, &d->rest, done + length);
    done += length;
  }
  if (d->readable && wants_to_read(d)) cdam_loop_post(d->op.loop, &d->work);
}

/* ---- a turn ---- */

static bool has_to_write(const cdam_duplex *d) {
  return d->blocked && !d->deaf && (d->phase == ASKED || d->queue.length);
}

/* Nothing that is not waited for stays in the set: the end of a connection is told again and
 * again. */
static void update_watch(cdam_duplex *d) {
  uint32_t events = (wants_to_read(d) ? EPOLLIN : 0) | (has_to_write(d) ? EPOLLOUT : 0);
  if (!cdam_poller_watch(d->op.loop, &d->watch, events)) end_without_memory(d);
}

static void ready(cdam_socket_watch *watch, uint32_t events) {
  cdam_duplex *d = CONTAINER(watch, watch);
  if (events & ~(uint32_t)EPOLLOUT) d->readable = true;
  if (events & ~(uint32_t)EPOLLIN) d->blocked = false;
  cdam_loop_post(d->op.loop, &d->work);
}

static void tell_end(cdam_duplex *d) {
  d->phase = TOLD;
  d->events->closed(d->user, d->status, d->status == CDAM_OK ? NULL : &d->error);
}

static void work(cdam_posted *posted) {
  cdam_duplex *d = CONTAINER(posted, work);
  d->busy = true;
  if (is_live(d)) read_in(d); /* an engine may answer before it has taken all, and close */
  if (is_live(d)) write_out(d);
  if (is_live(d)) update_watch(d);
  if (!d->closed && d->phase == ENDED) tell_end(d);
  d->busy = false;
  if (d->closed) cdam_duplex_close(d);
}

/* ---- opening ---- */

static bool append_number(cdam_buffer *text, size_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%zu", number);
  return cdam_buffer_append_text(text, digits);
}

static bool make_request(cdam_duplex *d) {
  const cdam_exchange *exchange = d->exchange;
  const cdam_buffer *body = &exchange->upload;
  const char *host = strstr(d->op.client->endpoint.base_url, "://") + 3;
  cdam_buffer *text = &d->request;
  text->length = 0; /* it may be the second time */
  return cdam_buffer_append_text(text, "POST ") && cdam_exchange_target(exchange, text) &&
         cdam_buffer_append_text(text, " HTTP/1.1\r\nHost: ") &&
         cdam_buffer_append_text(text, host) &&
         cdam_buffer_append_text(text, "\r\nUser-Agent: cofferdam/" CDAM_VERSION
                                       "\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n") &&
         (!body->length || cdam_buffer_append_text(text, "Content-Type: application/json\r\n")) &&
         cdam_buffer_append_text(text, "Content-Length: ") && append_number(text, body->length) &&
         cdam_buffer_append_text(text, "\r\n\r\n") &&
         (!body->length || cdam_buffer_append(text, body->data, body->length));
}

/* Nothing was sent, so it may be tried again. */
static void connect_again(cdam_duplex *d) {
  cdam_exchange_stop(d->exchange);
  d->exchange->sendings = 0;
  d->phase = CONNECTING;
  d->deaf = false;
  cdam_exchange_pause(d->exchange);
}

/* Sending at once keeps libcurl from taking the connection for one that nobody uses; if it has
 * closed it before, the socket is not known any more. */
static void connected(void *user) {
  cdam_duplex *d = user;
  curl_socket_t fd = CURL_SOCKET_BAD;
  d->phase = ASKED;
  if (!make_request(d)) {
    end_without_memory(d);
    return;
  }
  curl_easy_getinfo(d->exchange->easy, CURLINFO_ACTIVESOCKET, &fd);
  if (fd == CURL_SOCKET_BAD || send_request(d) == CURLE_UNSUPPORTED_PROTOCOL) {
    connect_again(d);
    return;
  }
  d->watch.fd = fd;
  d->exchange->watch = &d->watch;
  d->readable = true;
  update_watch(d);
}

static void loop_ended(cdam_posted *posted) {
  cdam_duplex *d = CONTAINER(posted, at_end);
  cdam_loop *loop = d->op.loop;
  if (!loop) return;
  cdam_rest_end(loop, &d->rest);
  drop_connection(d);
  cdam_operation_finish(&d->op, CDAM_OK, NULL);
  cdam_loop_unpost(loop, &d->work);
  cdam_loop_forget_end(loop, &d->at_end);
  cdam_duplex_queue_clear(&d->queue);
  loop->duplexes--;
  d->op.loop = NULL;
  d->phase = TOLD;
}

static bool enter_loop(cdam_duplex *d, cdam_loop *loop) {
  if (!loop->scratch) loop->scratch = malloc(CDAM_SCRATCH_SIZE);
  cdam_operation_init_in(&d->op, loop);
  loop->duplexes++;
  cdam_loop_on_end(loop, &d->at_end);
  return loop->scratch && cdam_exchange_reserve(loop);
}

cdam_duplex *cdam_duplex_open(cdam_loop *loop, const char *path, const char *body,
                              int64_t timeout_ms, const cdam_duplex_events *events, void *user,
                              cdam_error *err) {
  cdam_duplex *d = calloc(1, sizeof *d);
  if (d) {
    d->events = events;
    d->user = user;
    d->reading = true;
    d->work.run = work;
    d->at_end.run = loop_ended;
    d->watch = (cdam_socket_watch){.fd = -1, .ready = ready};
    d->rest.over = rested;
    const cdam_request request = {
        .method = "POST",
        .path = path,
        .body = body,
        .upgrade = true,
        .stream = true,
        .timeout_ms = timeout_ms,
        .connected = connected,
        .sink_user = d,
    };
    if (enter_loop(d, loop)) d->exchange = cdam_operation_send(&d->op, &request, failed);
    if (d->exchange) {
      cdam_loop_post(loop, &d->work); /* which wakes the loop */
      cdam_ok(err);
      return d;
    }
    cdam_duplex_close(d);
  }
  cdam_fail_memory(err);
  return NULL;
}

/* ---- what the owner does ---- */

bool cdam_duplex_is_writable(const cdam_duplex *d) {
  return !d->deaf && !d->ending && d->phase != ENDED && d->phase != TOLD;
}

bool cdam_duplex_was_sent(const cdam_duplex *d) {
  return d->phase != CONNECTING;
}

bool cdam_duplex_has_hung_up(const cdam_duplex *d) {
  if (!is_live(d)) return d->phase != CONNECTING;
  struct pollfd look = {.fd = d->watch.fd, .events = POLLRDHUP};
  return poll(&look, 1, 0) > 0;
}

bool cdam_duplex_write(cdam_duplex *d, const void *bytes, size_t length) {
  if (!cdam_duplex_is_writable(d)) return true;
  if (!cdam_duplex_queue_add(&d->queue, bytes, length)) return false;
  if (d->queue.length > CDAM_DUPLEX_LOW) d->above = true;
  if (d->phase == OPEN && !d->blocked) cdam_loop_post(d->op.loop, &d->work);
  return true;
}

size_t cdam_duplex_pending(const cdam_duplex *d) {
  return d->queue.length;
}

void cdam_duplex_end_writing(cdam_duplex *d) {
  d->ending = true;
  if (d->phase == OPEN) cdam_loop_post(d->op.loop, &d->work);
}

void cdam_duplex_set_reading(cdam_duplex *d, bool reading) {
  if (d->reading == reading) return;
  d->reading = reading;
  if (d->phase != OPEN) return;
  if (reading) d->readable = true; /* the TLS library may have something */
  cdam_loop_post(d->op.loop, &d->work);
}

void cdam_duplex_close(cdam_duplex *d) {
  if (!d) return;
  if (d->op.loop) cdam_loop_wake(d->op.loop); /* another may have the connection now */
  loop_ended(&d->at_end);
  d->closed = true;
  if (d->busy) return;
  cdam_duplex_head_clear(&d->head);
  cdam_buffer_clear(&d->request);
  cdam_buffer_clear(&d->early);
  free(d);
}
