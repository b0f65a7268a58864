/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "session/exec_agent.h"

/* The last `cap` bytes move to the front. */
static void shift(cdam_buffer *kept, size_t cap) {
  if (kept->length <= cap) return;
  memmove(kept->data, kept->data + (kept->length - cap), cap);
  kept->length = cap;
  kept->data[cap] = '\0';
}

/* Twice the cap is kept for a while, so that bytes are moved seldom. */
static bool collect_tail(cdam_buffer *kept, size_t cap, const char *bytes, size_t length) {
  if (length >= cap) {
    kept->length = 0;
    return cdam_buffer_append(kept, bytes + (length - cap), cap);
  }
  if (kept->length + length > 2 * cap) shift(kept, cap);
  return cdam_buffer_append(kept, bytes, length);
}

bool cdam_exec_collect(cdam_exec_taker *taker, const void *bytes, size_t length) {
  cdam_buffer *kept = &taker->kept->kept;
  taker->kept->total += length;
  if (taker->tail) return collect_tail(kept, taker->cap, bytes, length);
  size_t room = taker->cap - kept->length;
  if (length > room) length = room;
  return !length || cdam_buffer_append(kept, bytes, length);
}

void cdam_exec_collect_end(cdam_exec_taker *taker) {
  if (taker->tail) shift(&taker->kept->kept, taker->cap);
}
