/* SPDX-License-Identifier: Apache-2.0 */
/* The progress of a pull: JSON objects, one a line, in pieces of any size. An answer of 200 says
 * nothing; whether the pull failed stands in one of the objects. */
#ifndef COFFERDAM_ENGINE_PULL_STREAM_H
#define COFFERDAM_ENGINE_PULL_STREAM_H

#include "base/buffer.h"
#include <cofferdam/client.h>

/* No line of progress is longer. */
#define CDAM_PULL_LINE_MAX (64 * 1024)

/* Start with the members that are set here, and the rest zero. */
typedef struct cdam_pull_stream {
  cdam_pull_progress progress; /* or NULL */
  void *progress_user;
  const char *image; /* for messages; borrowed */
  cdam_buffer line;  /* what has come of the line that is not finished */
} cdam_pull_stream;

/* Takes the next bytes. False with *failure set when the engine reports an error or the caller
 * stops the pull (CDAM_ERR_PULL), or when this is no such stream (CDAM_ERR_PROTOCOL). */
bool cdam_pull_stream_feed(cdam_pull_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure);

/* The stream has ended; its last line may lack the newline. False as above, and with
 * CDAM_ERR_PULL when the last line is cut. */
bool cdam_pull_stream_end(cdam_pull_stream *stream, cdam_error *failure);

/* Frees what the stream holds. */
void cdam_pull_stream_clear(cdam_pull_stream *stream);

#endif
