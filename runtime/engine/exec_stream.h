/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a command without a terminal: frames of an 8-byte header (type, three zero
 * bytes, length in network order) and a payload, taken apart in pieces of any size. */
#ifndef COFFERDAM_ENGINE_EXEC_STREAM_H
#define COFFERDAM_ENGINE_EXEC_STREAM_H

#include <stdint.h>

#include <cofferdam/error.h>

#include "base/buffer.h"

/* What is kept of one stream: its first bytes. */
typedef struct cdam_exec_output {
  cdam_buffer kept;
  uint64_t total; /* bytes that came, kept or not */
} cdam_exec_output;

/* Start with the cap set, and the rest zero. */
typedef struct cdam_exec_stream {
  size_t cap; /* bytes kept of each of the two streams */
  cdam_exec_output out;
  cdam_exec_output err;

  cdam_buffer system_error; /* what the engine itself has to say */
  unsigned char header[8];
  unsigned header_length; /* 8 while the payload of a frame is read */
  uint32_t left;          /* of that payload */
  uint64_t offset;        /* bytes taken so far */
} cdam_exec_stream;

/* Takes the next bytes. False with *failure set for what is no frame (CDAM_ERR_PROTOCOL, with
 * the offset), for an error that the engine sends (CDAM_ERR_ENGINE), and out of memory. */
bool cdam_exec_stream_feed(cdam_exec_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure);

/* The connection has ended. False with CDAM_ERR_PROTOCOL when that was inside a frame. */
bool cdam_exec_stream_end(const cdam_exec_stream *stream, cdam_error *failure);

/* Frees what the stream holds. */
void cdam_exec_stream_clear(cdam_exec_stream *stream);

#endif
