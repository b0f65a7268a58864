/* SPDX-License-Identifier: Apache-2.0 */
/* What is due when: a heap of exchanges, the earliest on top; of two that are due at once, the one
 * that was set first. */
#ifndef COFFERDAM_ENGINE_TIMERS_H
#define COFFERDAM_ENGINE_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/operation.h"

/* Start with zeros. */
typedef struct cdam_timers {
  cdam_exchange **heap;
  size_t count;
  size_t capacity;
  uint64_t order; /* of the last one that was set */
} cdam_timers;

/* An exchange's place in the heap. Start with zeros. */
typedef struct cdam_timer {
  size_t place; /* from 1; 0: it is not there */
  int64_t due;
  uint64_t order;
} cdam_timer;

/* Makes room for so many, so that setting them needs no memory. */
bool cdam_timers_reserve(cdam_timers *timers, size_t count);

/* Puts it in, or moves it; a time of 0 takes it out. */
void cdam_timers_set(cdam_timers *timers, cdam_exchange *exchange, int64_t due);

/* The earliest, or NULL. */
cdam_exchange *cdam_timers_first(const cdam_timers *timers);

void cdam_timers_clear(cdam_timers *timers);

#endif
