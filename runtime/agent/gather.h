/* SPDX-License-Identifier: Apache-2.0 */
/* A command that writes much in small pieces, as most do, would have each of them sent on by
 * itself: a frame, and a wake-up of everything between here and the client, for 4 KiB. A stream
 * that is busy in this way is left alone for a moment after each read, so that more comes at once.
 * What is written now and then is read at once. */
#ifndef COFFERDAM_AGENT_GATHER_H
#define COFFERDAM_AGENT_GATHER_H

#include "loop.h"

typedef struct agent_rest agent_rest;

/* Of one stream; lives inside it. */
struct agent_rest {
  void (*over)(agent_rest *rest); /* it may be read again */
  agent_rest *next;
  agent_rest **place;  /* what points to it while it rests; NULL: it does not */
  uint64_t counted_at; /* agent_now_us() of the first of `reads` */
  unsigned reads;
  bool busy;
};

/* Those that rest, and the moment when all of them have rested enough. */
typedef struct agent_gather {
  agent_source timer;
  agent_rest *first;
} agent_gather;

bool agent_gather_open(agent_gather *gather, agent_loop *loop);

/* So many bytes were read. True: it rests now, and is not to be read. */
bool agent_gather_read(agent_gather *gather, agent_rest *rest, size_t bytes);

/* The stream is going. */
void agent_gather_forget(agent_rest *rest);

#endif
