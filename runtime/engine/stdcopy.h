/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's framing of the output of a command or container without a terminal: an 8-byte header
 * (stream, three zero bytes, length in network order) and a payload, taken apart in pieces of any
 * size. Nothing is collected but what the engine itself has to say. */
#ifndef COFFERDAM_ENGINE_STDCOPY_H
#define COFFERDAM_ENGINE_STDCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

#include "base/buffer.h"

typedef enum cdam_stdcopy_stream {
  CDAM_STDCOPY_OUT = 1, /* 0, which is standard input, counts as output, too */
  CDAM_STDCOPY_ERR = 2,
  CDAM_STDCOPY_SYSTEM = 3, /* the engine's own words. They are no piece: a whole frame ends
                              the stream */
} cdam_stdcopy_stream;

/* Takes a piece of a payload, which is never empty. False with *failure set ends it. */
typedef bool (*cdam_stdcopy_piece)(void *user, cdam_stdcopy_stream stream, const char *bytes,
                                   size_t length, cdam_error *failure);

/* Start with zeros. */
typedef struct cdam_stdcopy {
  unsigned char header[8];
  unsigned header_length; /* 8 while the payload of a frame is read */
  uint32_t left;          /* of that payload */
  uint64_t offset;        /* bytes taken so far */
  cdam_buffer system;
} cdam_stdcopy;

/* Takes the next bytes. False with *failure set for what is no frame (CDAM_ERR_PROTOCOL, with the
 * offset), for an error that the engine sends (CDAM_ERR_ENGINE), out of memory, and when `piece`
 * fails; nothing may be fed after that. */
bool cdam_stdcopy_feed(cdam_stdcopy *copy, const char *bytes, size_t length,
                       cdam_stdcopy_piece piece, void *user, cdam_error *failure);

/* The connection has ended. False with CDAM_ERR_PROTOCOL when that was inside a frame. */
bool cdam_stdcopy_end(const cdam_stdcopy *copy, cdam_error *failure);

void cdam_stdcopy_clear(cdam_stdcopy *copy);

#endif
