/* SPDX-License-Identifier: Apache-2.0 */
/* The one loop that everything in the agent runs in: descriptors, and tasks that do a small piece
 * of work at a time so that no operation keeps the others waiting. */
#ifndef COFFERDAM_AGENT_LOOP_H
#define COFFERDAM_AGENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct agent_source agent_source;
typedef struct agent_task agent_task;

/* A watched descriptor; lives inside what it belongs to. */
struct agent_source {
  void (*ready)(agent_source *source, uint32_t events);
  int fd; /* -1 while not watched */
  uint32_t events;
};

/* Work for the next turn; lives inside what it belongs to. */
struct agent_task {
  void (*run)(agent_task *task);
  agent_task *next;
  agent_task *previous;
  bool queued;
};

typedef struct agent_loop {
  int epoll;
  agent_task *first;
  agent_task *last;
  void **graves; /* freed when no event of this turn can refer to them any more */
  size_t grave_count;
  size_t grave_room;
  bool stop;
} agent_loop;

#define AGENT_OWNER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

bool agent_loop_open(agent_loop *loop);
/* Runs until `stop`. */
void agent_loop_run(agent_loop *loop);

/* Watches a descriptor for EPOLLIN and the like (0 is fine). False: errno says why. */
bool agent_loop_watch(agent_loop *loop, agent_source *source, int fd, uint32_t events);
void agent_loop_want(agent_loop *loop, agent_source *source, uint32_t events);
/* Stops watching; the descriptor stays open. */
void agent_loop_forget(agent_loop *loop, agent_source *source);
/* Stops watching and closes. */
void agent_loop_close(agent_loop *loop, agent_source *source);

void agent_loop_queue(agent_loop *loop, agent_task *task);
void agent_loop_unqueue(agent_loop *loop, agent_task *task);

/* free() at the end of the turn. */
void agent_loop_free(agent_loop *loop, void *memory);

uint64_t agent_now_ms(void);
uint64_t agent_now_us(void);

#endif
