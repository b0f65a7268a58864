/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that wait to be sent, in chunks that stay where they are: TLS libraries want to be asked
 * again with the same bytes at the same place, and nothing is moved about. */
#ifndef COFFERDAM_ENGINE_DUPLEX_QUEUE_H
#define COFFERDAM_ENGINE_DUPLEX_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cdam_chunk cdam_chunk;

/* Start with zeros. */
typedef struct cdam_duplex_queue {
  cdam_chunk *first;
  cdam_chunk *last;
  cdam_chunk *spare; /* one that is used again, or NULL */
  size_t length;     /* of all the bytes in it */
} cdam_duplex_queue;

/* All of them, or, out of memory, none. */
bool cdam_duplex_queue_add(cdam_duplex_queue *queue, const char *bytes, size_t length);

/* The first bytes that stand together, and how many; 0 when it is empty. */
size_t cdam_duplex_queue_front(const cdam_duplex_queue *queue, const char **bytes);

/* Takes out some of those. */
void cdam_duplex_queue_take(cdam_duplex_queue *queue, size_t length);

void cdam_duplex_queue_clear(cdam_duplex_queue *queue);

#endif
