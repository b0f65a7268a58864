/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

bool agent_loop_open(agent_loop *loop) {
  *loop = (agent_loop){.epoll = epoll_create1(EPOLL_CLOEXEC)};
  return loop->epoll >= 0;
}

bool agent_loop_watch(agent_loop *loop, agent_source *source, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = source};
  if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) return false;
  source->fd = fd;
  source->events = events;
  return true;
}

void agent_loop_want(agent_loop *loop, agent_source *source, uint32_t events) {
  if (source->fd < 0 || source->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = source};
  if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, source->fd, &event) == 0) source->events = events;
}

void agent_loop_forget(agent_loop *loop, agent_source *source) {
  if (source->fd < 0) return;
  epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
  source->fd = -1;
}

void agent_loop_close(agent_loop *loop, agent_source *source) {
  int fd = source->fd;
  agent_loop_forget(loop, source);
  if (fd >= 0) close(fd);
}

void agent_loop_queue(agent_loop *loop, agent_task *task) {
  if (task->queued) return;
  task->queued = true;
  task->next = NULL;
  task->previous = loop->last;
  if (loop->last)
    loop->last->next = task;
  else
    loop->first = task;
  loop->last = task;
}

void agent_loop_unqueue(agent_loop *loop, agent_task *task) {
  if (!task->queued) return;
  task->queued = false;
  if (task->previous)
    task->previous->next = task->next;
  else
    loop->first = task->next;
  if (task->next)
    task->next->previous = task->previous;
  else
    loop->last = task->previous;
}

void agent_loop_free(agent_loop *loop, void *memory) {
  if (!memory) return;
  if (loop->grave_count == loop->grave_room) {
    size_t room = loop->grave_room ? loop->grave_room * 2 : 64;
    void **graves = realloc(loop->graves, room * sizeof *graves);
    /* Out of memory: a leak of this one is the harmless choice. */
    if (!graves) return;
    loop->graves = graves;
    loop->grave_room = room;
  }
  loop->graves[loop->grave_count++] = memory;
}

static void bury(agent_loop *loop) {
  for (size_t i = 0; i < loop->grave_count; i++)
    free(loop->graves[i]);
  loop->grave_count = 0;
}

/* Tasks that are queued while these run wait for the next turn. */
static void run_tasks(agent_loop *loop) {
  agent_task *end = loop->last;
  while (loop->first) {
    agent_task *task = loop->first;
    bool last = task == end;
    agent_loop_unqueue(loop, task);
    task->run(task);
    if (last) break;
    if (!end->queued) end = loop->last; /* the mark itself was taken off meanwhile */
  }
}

void agent_loop_run(agent_loop *loop) {
  struct epoll_event events[64];
  while (!loop->stop) {
    int count = epoll_wait(loop->epoll, events, 64, loop->first ? 0 : -1);
    for (int i = 0; i < count; i++) {
      agent_source *source = events[i].data.ptr;
      if (source->fd >= 0) source->ready(source, events[i].events);
    }
    if (loop->first) run_tasks(loop);
    bury(loop);
  }
}

uint64_t agent_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t agent_now_ms(void) {
  return agent_now_us() / 1000;
}
