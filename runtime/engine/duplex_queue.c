/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/duplex_queue.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE ((size_t)64 * 1024 - sizeof(cdam_chunk))

struct cdam_chunk {
  cdam_chunk *next;
  size_t begin;
  size_t end;
  char bytes[];
};

static size_t room_in(const cdam_chunk *chunk) {
  return chunk ? CHUNK_SIZE - chunk->end : 0;
}

static void free_chunks(cdam_chunk *chunk) {
  while (chunk) {
    cdam_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
}

static cdam_chunk *make_chunk(cdam_duplex_queue *queue) {
  cdam_chunk *spare = queue->spare;
  queue->spare = NULL;
  return spare ? spare : malloc(sizeof(cdam_chunk) + CHUNK_SIZE);
}

/* So many bytes' worth of chunks, linked; NULL when out of memory. */
static cdam_chunk *make_chunks(cdam_duplex_queue *queue, size_t length) {
  cdam_chunk *first = NULL;
  for (size_t made = 0; made < length; made += CHUNK_SIZE) {
    cdam_chunk *chunk = make_chunk(queue);
    if (!chunk) {
      free_chunks(first);
      return NULL;
    }
    *chunk = (cdam_chunk){.next = first};
    first = chunk;
  }
  return first;
}

static void append_chunks(cdam_duplex_queue *queue, cdam_chunk *chunks) {
  if (queue->last)
    queue->last->next = chunks;
  else
    queue->first = queue->last = chunks;
}

bool cdam_duplex_queue_add(cdam_duplex_queue *queue, const char *bytes, size_t length) {
  size_t room = room_in(queue->last);
  if (length > room) {
    cdam_chunk *more = make_chunks(queue, length - room);
    if (!more) return false;
    append_chunks(queue, more);
  }
  queue->length += length;
  while (length) {
    if (!room_in(queue->last)) queue->last = queue->last->next;
    cdam_chunk *chunk = queue->last;
    size_t part = room_in(chunk) < length ? room_in(chunk) : length;
    memcpy(chunk->bytes + chunk->end, bytes, part);
    chunk->end += part;
    bytes += part;
    length -= part;
  }
  return true;
}

size_t cdam_duplex_queue_front(const cdam_duplex_queue *queue, const char **bytes) {
  if (!queue->length) return 0;
  *bytes = queue->first->bytes + queue->first->begin;
  return queue->first->end - queue->first->begin;
}

/* The last chunk is kept for what comes next. */
void cdam_duplex_queue_take(cdam_duplex_queue *queue, size_t length) {
  cdam_chunk *chunk = queue->first;
  queue->length -= length;
  chunk->begin += length;
  if (chunk->begin < chunk->end) return;
  if (chunk == queue->last) {
    chunk->begin = chunk->end = 0;
  } else {
    queue->first = chunk->next;
    free(queue->spare);
    queue->spare = chunk;
  }
}

void cdam_duplex_queue_clear(cdam_duplex_queue *queue) {
  free_chunks(queue->first);
  free(queue->spare);
  *queue = (cdam_duplex_queue){0};
}
