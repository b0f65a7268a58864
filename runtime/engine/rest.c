/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rest.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A stream is busy when this much came in pieces of that size. The time is what dockerd takes to
 * fill its socket; with less it is found half full, and with more it waits. */
#define BUSY_BYTES ((size_t)512 * 1024)
#define LARGE_PIECE ((size_t)4 * 1024)
#define REST_US 350

/* Those of a loop that rest, and the moment when all of them have rested enough. */
struct cdam_rests {
  cdam_socket_watch timer;
  TAILQ_HEAD(, cdam_rest) resting;
};

void cdam_rests_free(cdam_rests *rests) {
  if (rests) close(rests->timer.fd);
  free(rests);
}

static void wake_all(cdam_socket_watch *timer, uint32_t events) {
  cdam_rests *rests = (cdam_rests *)(void *)((char *)timer - offsetof(cdam_rests, timer));
  uint64_t expirations;
  (void)events;
  if (read(timer->fd, &expirations, sizeof expirations) < 0) return;
  cdam_rest *rest;
  while ((rest = TAILQ_FIRST(&rests->resting))) {
    TAILQ_REMOVE(&rests->resting, rest, in_loop);
    rest->resting = false;
    rest->over(rest);
  }
}

/* NULL when out of memory or descriptors; then nothing rests. */
static cdam_rests *rests_of(cdam_loop *loop) {
  if (loop->rests) return loop->rests;
  cdam_rests *rests = calloc(1, sizeof *rests);
  if (!rests) return NULL;
  TAILQ_INIT(&rests->resting);
  rests->timer.ready = wake_all;
  rests->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (rests->timer.fd >= 0 && cdam_poller_watch(loop, &rests->timer, EPOLLIN))
    return loop->rests = rests;
  if (rests->timer.fd >= 0) close(rests->timer.fd);
  free(rests);
  return NULL;
}

bool cdam_rest_after(cdam_loop *loop, cdam_rest *rest, size_t length) {
  static const struct itimerspec soon = {.it_value = {.tv_nsec = REST_US * 1000}};
  rest->in_a_row = length < LARGE_PIECE ? 0 : rest->in_a_row + length;
  if (rest->in_a_row < BUSY_BYTES) return false;
  cdam_rests *rests = rests_of(loop);
  if (!rests) return false;
  if (TAILQ_EMPTY(&rests->resting) && timerfd_settime(rests->timer.fd, 0, &soon, NULL) != 0)
    return false;
  TAILQ_INSERT_TAIL(&rests->resting, rest, in_loop);
  return rest->resting = true;
}

void cdam_rest_end(cdam_loop *loop, cdam_rest *rest) {
  if (rest->resting) TAILQ_REMOVE(&loop->rests->resting, rest, in_loop);
  rest->resting = false;
}
