/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process: a channel to it, or an exec of the engine, and the events that came and were not
 * fetched yet.
 *
 *     command.c    what to run, as a request
 *     spawn.c      the operations that make a handle
 *     track.c      what the agent says, checked
 *     incoming.c   what comes on the channel
 *     events.c     what waits to be fetched
 *     patience.c   an agent that does not end it at its timeout
 *     process.c    fetching, waiting, the end of a handle
 *     input.c      writing
 *     request.c    requests that only have an end: signal, kill, resize, forget
 *     engine_*.c   the same without the agent
 *     list.c       the sandbox's processes
 *     key.c        names of processes
 */
#ifndef COFFERDAM_PROCESS_PROCESS_PRIVATE_H
#define COFFERDAM_PROCESS_PROCESS_PRIVATE_H

#include <cofferdam/process.h>

#include "engine/loop.h"
#include "link/link.h"
#include "link/own_loop.h"
#include "link/session_link.h"
#include "process/command.h"
#include "process/key.h"
#include "process/track.h"

typedef struct cdam_engine_exec cdam_engine_exec;
typedef struct cdam_process_item cdam_process_item;
typedef struct cdam_process_patience cdam_process_patience;
TAILQ_HEAD(cdam_process_items, cdam_process_item);

struct cdam_process {
  cdam_channel channel;     /* first: a callback's channel is its process */
  cdam_link *link;          /* a reference; NULL without the agent, */
  cdam_engine_exec *engine; /* and then this is what it runs by: engine_exec.h */
  cdam_own_loop *own;       /* a reference; NULL for a process of a loop */
  cdam_operation *opening;  /* waits for Started; NULL from then on */
  void (*opened)(cdam_operation *op, cdam_status status, const cdam_error *error);
  char key[CDAM_PROCESS_KEY_SIZE];
  cdam_process_track track;
  bool terminal;
  bool input_ended;
  bool wants_room; /* a write took less than it was given */
  bool has_room;   /* and there is room again */
  bool closed;     /* nothing more comes */
  bool failed;     /* and this is why */
  cdam_error failure;
  struct cdam_process_items items;
  cdam_process_item *last;    /* of items; bytes may still be added to it */
  cdam_process_item *current; /* what the caller looks at */
  cdam_process_item *spare;   /* to be used again */
  cdam_process_ready ready;
  void *ready_user;
  cdam_posted told;                /* tells what came before `ready` was set */
  cdam_process_patience *patience; /* or NULL */
};

/* ---- incoming.c ---- */

extern const cdam_channel_events cdam_process_channel_events;

/* ---- events.c ---- */

/* Adds what came. False when out of memory. `charge` is given back to the channel, or the exec,
 * when the item is dropped. */
bool cdam_process_add_output(cdam_process *process, cdam_process_stream stream, uint64_t offset,
                             uint64_t lost, const void *bytes, size_t length, size_t charge);
bool cdam_process_add(cdam_process *process, cdam_process_event_kind kind,
                      cdam_process_stream stream);

/* Makes the first one the current one. False when there is none. */
bool cdam_process_take(cdam_process *process, cdam_process_event *event);

/* Frees all of them, the current one too, and gives their credit back. */
void cdam_process_drop_all(cdam_process *process);

/* ---- process.c ---- */

/* A handle without a channel; `link` may be NULL. NULL when out of memory. */
cdam_process *cdam_process_new(cdam_link *link, cdam_own_loop *own);

/* Tells a process of a loop that something has happened. The process may be gone after it. */
void cdam_process_tell(cdam_process *process);

/* What happens to a handle of which nothing more can come. */
cdam_status cdam_process_check_alive(const cdam_process *process, cdam_error *err);

/* ---- patience.c ---- */

/* From now on the process fails with CDAM_ERR_AGENT when the agent has not told its end some time
 * after its timeout; or its start, when `opening`. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_process_set_patience(cdam_process *process, int64_t timeout_ms, uint32_t grace_ms,
                                      cdam_error *err);

/* NULL is fine. */
void cdam_process_patience_free(cdam_process_patience *patience);

#endif
