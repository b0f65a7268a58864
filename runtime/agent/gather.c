/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Busy is who filled less than LARGE so many times within a window; it no longer is when it wrote
 * less than SMALL while it rested. */
enum { REST_US = 250, WINDOW_US = 1000, BUSY_READS = 8, SMALL = 8 * 1024, LARGE = 32 * 1024 };

void agent_gather_forget(agent_rest *rest) {
  if (!rest->place) return;
  *rest->place = rest->next;
  if (rest->next) rest->next->place = rest->place;
  rest->place = NULL;
}

static void timer_ready(agent_source *source, uint32_t events) {
  agent_gather *gather = AGENT_OWNER(source, agent_gather, timer);
  uint64_t expirations;
  (void)events;
  if (read(source->fd, &expirations, sizeof expirations) < 0) return;
  while (gather->first) {
    agent_rest *rest = gather->first;
    agent_gather_forget(rest);
    rest->over(rest);
  }
}

bool agent_gather_open(agent_gather *gather, agent_loop *loop) {
  *gather = (agent_gather){.timer = {.ready = timer_ready, .fd = -1}};
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  return fd >= 0 && agent_loop_watch(loop, &gather->timer, fd, EPOLLIN);
}

static bool is_busy(agent_rest *rest, size_t bytes) {
  if (rest->busy) return bytes >= SMALL;
  if (bytes >= LARGE) return false;
  uint64_t now = agent_now_us();
  if (now - rest->counted_at > WINDOW_US) {
    rest->counted_at = now;
    rest->reads = 0;
  }
  return ++rest->reads > BUSY_READS;
}

bool agent_gather_read(agent_gather *gather, agent_rest *rest, size_t bytes) {
  rest->busy = is_busy(rest, bytes);
  if (!rest->busy) return false;
  rest->reads = 0;
  const struct itimerspec soon = {.it_value = {.tv_nsec = REST_US * 1000}};
  if (!gather->first && timerfd_settime(gather->timer.fd, 0, &soon, NULL) != 0) return false;
  rest->next = gather->first;
  rest->place = &gather->first;
  if (rest->next) rest->next->place = &rest->next;
  gather->first = rest;
  return true;
}
