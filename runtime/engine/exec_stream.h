/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a command: how much of it is kept; and, of one without a terminal, how it is taken
 * out of its frames (stdcopy.h). */
#ifndef COFFERDAM_ENGINE_EXEC_STREAM_H
#define COFFERDAM_ENGINE_EXEC_STREAM_H

#include <stdint.h>

#include <cofferdam/error.h>

#include "base/buffer.h"
#include "engine/stdcopy.h"

/* What is kept of one stream: its first bytes, or its last. */
typedef struct cdam_exec_output {
  cdam_buffer kept;
  uint64_t total; /* bytes that came, kept or not */
} cdam_exec_output;

/* Takes the next bytes and keeps up to `cap` in all; of the last ones (`tail`) twice as many until
 * cdam_exec_output_trim. False when out of memory. */
bool cdam_exec_output_add(cdam_exec_output *output, size_t cap, bool tail, const void *bytes,
                          size_t length);

/* No more than the last `cap` bytes stay. */
void cdam_exec_output_trim(cdam_exec_output *output, size_t cap);

/* Start with the cap set, and the rest zero. */
typedef struct cdam_exec_stream {
  size_t cap; /* bytes kept of each of the two streams */
  bool tail;  /* the last ones */
  /* Gets the bytes of one of the two, and no more than a little is kept: what an engine has to say
   * of a program that it could not start; or NULL. */
  cdam_stdcopy_piece divert[2];
  void *divert_user;
  cdam_exec_output out;
  cdam_exec_output err;
  cdam_stdcopy frames;
  uint64_t offset; /* bytes taken so far */
} cdam_exec_stream;

/* Takes the next bytes. False with *failure set as by cdam_stdcopy_feed. */
bool cdam_exec_stream_feed(cdam_exec_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure);

/* The connection has ended. False with CDAM_ERR_PROTOCOL when that was inside a frame. */
bool cdam_exec_stream_end(const cdam_exec_stream *stream, cdam_error *failure);

/* Nothing is kept of what was diverted. */
void cdam_exec_stream_forget_diverted(cdam_exec_stream *stream);

/* Nothing follows: what is kept becomes no more than the cap. */
void cdam_exec_stream_trim(cdam_exec_stream *stream);

/* Frees what the stream holds. */
void cdam_exec_stream_clear(cdam_exec_stream *stream);

#endif
