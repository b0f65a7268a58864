/* SPDX-License-Identifier: Apache-2.0 */
/* One output stream of a process: what was read from it last, in a ring, by absolute offset. */
#ifndef COFFERDAM_AGENT_OUTPUT_H
#define COFFERDAM_AGENT_OUTPUT_H

#include "gather.h"
#include "loop.h"

#include <sys/types.h>

typedef struct agent_output {
  agent_source source; /* fd -1: ended */
  uint8_t *ring;
  size_t room;    /* of the ring, also while it is not there yet */
  uint64_t begin; /* offset of the first byte that is kept */
  uint64_t end;   /* offset after the last */
  bool open;
  agent_rest rest;
} agent_output;

/* Reads up to `limit` bytes; older ones make room. 0 at the end (the source is closed then), -1
 * when there is nothing or no memory now. */
ssize_t agent_output_read(agent_loop *loop, agent_output *output, size_t limit);

/* The bytes from `offset` (begin <= offset < end) that lie in one piece. */
const uint8_t *agent_output_at(const agent_output *output, uint64_t offset, size_t *length);

void agent_output_close(agent_loop *loop, agent_output *output);

#endif
