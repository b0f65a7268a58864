/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the answer to a request that wants a stream: its head, byte by byte so that what follows is
 * left where it is, and, when it is no stream, its body. Strict and bounded, for nothing good can
 * come of guessing where a stream begins.
 */
#ifndef COFFERDAM_ENGINE_DUPLEX_HEAD_H
#define COFFERDAM_ENGINE_DUPLEX_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

#include "base/buffer.h"

typedef enum cdam_head_verdict {
  CDAM_HEAD_MORE,   /* more is to come */
  CDAM_HEAD_STREAM, /* 101 or 200 and no framing: the rest is the stream */
  CDAM_HEAD_ANSWER, /* a whole answer of another kind: http and body */
  CDAM_HEAD_BAD,    /* *failure says why: CDAM_ERR_PROTOCOL, CDAM_ERR_NO_MEMORY */
} cdam_head_verdict;

typedef enum cdam_head_stage {
  CDAM_STAGE_HEAD,
  CDAM_STAGE_BODY,       /* `left` bytes of it, or to the end of the connection */
  CDAM_STAGE_CHUNK_SIZE, /* a line */
  CDAM_STAGE_CHUNK,      /* `left` bytes */
  CDAM_STAGE_CHUNK_END,  /* an empty line */
  CDAM_STAGE_TRAILER,    /* lines up to an empty one */
} cdam_head_stage;

/* Start with zeros. */
typedef struct cdam_duplex_head {
  cdam_head_stage stage;
  int http;
  size_t taken;     /* bytes of heads, and of chunked coding, that have come */
  cdam_buffer line; /* the head, or a line of the chunked coding */
  cdam_buffer body;
  uint64_t left;
  bool has_length;
  bool chunked;
} cdam_duplex_head;

/* Takes bytes; *used of them, which is all of them unless it is a stream. Nothing may be fed after
 * a verdict other than CDAM_HEAD_MORE. */
cdam_head_verdict cdam_duplex_head_feed(cdam_duplex_head *head, const char *bytes, size_t length,
                                        size_t *used, cdam_error *failure);

/* The connection has ended: was that the end of an answer? */
bool cdam_duplex_head_may_end(const cdam_duplex_head *head);

void cdam_duplex_head_clear(cdam_duplex_head *head);

#endif
