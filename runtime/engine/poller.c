/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/poller.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/client_private.h"

/* In one turn; so many pieces of 16 KiB are read and looked at before anything else is done. */
#define MAX_EVENTS 32
/* They are asked for a few at a time, and with TLS, whose handshakes take most of a millisecond,
 * one by one: what was told goes to the end of epoll's own list, so nobody has to wait for ever. */
#define EVENTS_AT_A_TIME 4
#define TURN_US 1000

/* ---- who is told ---- */

/* Descriptors are odd, and pointers even. */
static uint64_t tag_of_fd(int fd) {
  return (uint64_t)fd << 1 | 1;
}

static uint64_t tag_of_watch(const cdam_socket_watch *watch) {
  return (uintptr_t)watch;
}

/* ---- what libcurl wants to hear of ---- */

static int watch(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
  (void)easy;
  cdam_loop *loop = user;
  struct epoll_event event = {.data.u64 = tag_of_fd(fd)};
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
    return 0;
  }
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(loop->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) {
    loop->broken = loop->lost = true;
    return -1;
  }
  if (!known) curl_multi_assign(loop->multi, fd, loop);
  return 0;
}

bool cdam_poller_open(cdam_loop *loop) {
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  return loop->epoll >= 0 &&
         curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, watch) == CURLM_OK &&
         curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop) == CURLM_OK;
}

bool cdam_poller_add_timer(cdam_loop *loop) {
  loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag_of_fd(loop->timer)};
  return loop->timer >= 0 && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->timer, &event) == 0;
}

void cdam_poller_close(cdam_loop *loop) {
  if (loop->timer >= 0) close(loop->timer);
  if (loop->epoll >= 0) close(loop->epoll);
  loop->timer = loop->epoll = -1;
}

/* ---- what duplexes want to hear of ---- */

bool cdam_poller_watch(cdam_loop *loop, cdam_socket_watch *watch, uint32_t events) {
  if (watch->events == events) return true;
  struct epoll_event event = {.events = events, .data.u64 = tag_of_watch(watch)};
  int what = !events ? EPOLL_CTL_DEL : watch->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(loop->epoll, what, watch->fd, &event) != 0) return false;
  watch->events = events;
  return true;
}

void cdam_poller_unwatch(cdam_loop *loop, cdam_socket_watch *watch) {
  if (watch->events) epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
  watch->events = 0;
  watch->fd = -1;
  for (int i = 0; i < loop->batch_count; i++)
    if (loop->batch[i].data.u64 == tag_of_watch(watch)) loop->batch[i].data.u64 = 0;
}

/* ---- a turn ---- */

/* An error is found by reading or writing, which tells more about it. And whoever can write looks
 * for something to read first: an engine may answer before it has taken all, and close. */
static int what_of(uint32_t events) {
  int what = CURL_CSELECT_IN;
  if (events & (EPOLLOUT | EPOLLERR)) what |= CURL_CSELECT_OUT;
  return what;
}

static bool is_due(cdam_loop *loop) {
  long ms = -1;
  return curl_multi_timeout(loop->multi, &ms) == CURLM_OK && ms == 0;
}

/* When libcurl is out of memory in between, a socket may be left that nobody watches, in tables
 * that libcurl must not be let near before what runs is taken from it. */
static void act(cdam_loop *loop, curl_socket_t fd, int what) {
  int running;
  if (curl_multi_socket_action(loop->multi, fd, what, &running) != CURLM_OK) loop->lost = true;
}

static void hand_out(cdam_loop *loop, const struct epoll_event *event) {
  uint64_t tag = event->data.u64;
  if (!tag) return; /* its watch has ended meanwhile */
  if (!(tag & 1)) {
    cdam_socket_watch *watch = event->data.ptr;
    watch->ready(watch, event->events);
  } else if ((int)(tag >> 1) == loop->timer) {
    loop->timer_at = -1; /* it has gone off, and is readable until it is set again */
  } else if (!loop->lost) {
    act(loop, (int)(tag >> 1), what_of(event->events));
  }
}

/* Whether there may be more. */
static bool run_some(cdam_loop *loop, int most, int wait_ms) {
  struct epoll_event events[EVENTS_AT_A_TIME];
  int count = epoll_wait(loop->epoll, events, most, wait_ms);
  loop->batch = events;
  loop->batch_count = count < 0 ? 0 : count;
  for (int i = 0; i < loop->batch_count; i++)
    hand_out(loop, &events[i]);
  loop->batch = NULL;
  loop->batch_count = 0;
  return count == most;
}

void cdam_poller_run(cdam_loop *loop, int wait_ms) {
  int most = loop->client->config.tls ? 1 : EVENTS_AT_A_TIME;
  bool more = run_some(loop, most, wait_ms);
  int64_t until_us = cdam_now_us() + TURN_US;
  for (int done = most; more && done < MAX_EVENTS; done += most)
    more = cdam_now_us() < until_us && run_some(loop, most, 0);
  cdam_poller_kick(loop);
}

void cdam_poller_kick(cdam_loop *loop) {
  if (!loop->lost && is_due(loop)) act(loop, CURL_SOCKET_TIMEOUT, 0);
}

void cdam_poller_set_timer(cdam_loop *loop, int64_t wait_ms) {
  int64_t at = wait_ms < 0 ? 0 : cdam_now_ms() + wait_ms;
  /* One that goes off too early costs less than setting it each time. */
  bool early_enough = loop->timer_at > 0 ? at == 0 || loop->timer_at <= at : loop->timer_at == at;
  if (early_enough) return;
  struct itimerspec when = {.it_value = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000}};
  timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &when, NULL);
  loop->timer_at = at;
}
