/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/timers.h"

#include <stdlib.h>

#include "engine/exchange.h"

bool cdam_timers_reserve(cdam_timers *timers, size_t count) {
  if (count <= timers->capacity) return true;
  size_t capacity = timers->capacity ? timers->capacity * 2 : 8;
  if (capacity < count) capacity = count;
  cdam_exchange **grown = realloc(timers->heap, capacity * sizeof *grown);
  if (!grown) return false;
  timers->heap = grown;
  timers->capacity = capacity;
  return true;
}

static bool goes_before(const cdam_exchange *a, const cdam_exchange *b) {
  if (a->timer.due != b->timer.due) return a->timer.due < b->timer.due;
  return a->timer.order < b->timer.order;
}

static void put(cdam_timers *timers, size_t place, cdam_exchange *exchange) {
  timers->heap[place - 1] = exchange;
  exchange->timer.place = place;
}

static void move_up(cdam_timers *timers, cdam_exchange *exchange) {
  size_t place = exchange->timer.place;
  for (; place > 1 && goes_before(exchange, timers->heap[place / 2 - 1]); place /= 2)
    put(timers, place, timers->heap[place / 2 - 1]);
  put(timers, place, exchange);
}

static void move_down(cdam_timers *timers, cdam_exchange *exchange) {
  size_t place = exchange->timer.place, child;
  while ((child = place * 2) <= timers->count) {
    if (child < timers->count && goes_before(timers->heap[child], timers->heap[child - 1])) child++;
    if (!goes_before(timers->heap[child - 1], exchange)) break;
    put(timers, place, timers->heap[child - 1]);
    place = child;
  }
  put(timers, place, exchange);
}

static void take_out(cdam_timers *timers, cdam_exchange *exchange) {
  size_t place = exchange->timer.place;
  cdam_exchange *last = timers->heap[--timers->count];
  exchange->timer.place = 0;
  if (last == exchange) return;
  put(timers, place, last);
  move_up(timers, last);
  move_down(timers, last);
}

void cdam_timers_set(cdam_timers *timers, cdam_exchange *exchange, int64_t due) {
  if (exchange->timer.place) take_out(timers, exchange);
  if (!due) return;
  exchange->timer.due = due;
  exchange->timer.order = ++timers->order;
  put(timers, ++timers->count, exchange);
  move_up(timers, exchange);
}

cdam_exchange *cdam_timers_first(const cdam_timers *timers) {
  return timers->count ? timers->heap[0] : NULL;
}

void cdam_timers_clear(cdam_timers *timers) {
  free(timers->heap);
  *timers = (cdam_timers){0};
}
