/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exec_stream.h"

#include <string.h>

#include "base/fail.h"

/* ---- what is kept ---- */

void cdam_exec_output_trim(cdam_exec_output *output, size_t cap) {
  cdam_buffer *kept = &output->kept;
  if (kept->length <= cap) return;
  memmove(kept->data, kept->data + (kept->length - cap), cap);
  kept->length = cap;
  kept->data[cap] = '\0';
}

/* Twice the cap is kept for a while, so that bytes are moved seldom. */
static bool add_last(cdam_exec_output *output, size_t cap, const char *bytes, size_t length) {
  if (length > cap) {
    bytes += length - cap;
    length = cap;
    output->kept.length = 0;
  }
  if (output->kept.length + length > 2 * cap) cdam_exec_output_trim(output, cap);
  return !length || cdam_buffer_append(&output->kept, bytes, length);
}

bool cdam_exec_output_add(cdam_exec_output *output, size_t cap, bool tail, const void *bytes,
                          size_t length) {
  output->total += length;
  if (tail) return add_last(output, cap, bytes, length);
  size_t room = cap - output->kept.length;
  if (length > room) length = room;
  return !length || cdam_buffer_append(&output->kept, bytes, length);
}

/* ---- frames ---- */

/* Of what is diverted. */
#define KEPT_ASIDE ((size_t)1024)

static bool take(void *user, cdam_stdcopy_stream which, const char *bytes, size_t length,
                 cdam_error *failure) {
  cdam_exec_stream *stream = user;
  int index = which == CDAM_STDCOPY_ERR;
  cdam_exec_output *output = index ? &stream->err : &stream->out;
  cdam_stdcopy_piece divert = stream->divert[index];
  if (!cdam_exec_output_add(output, divert ? KEPT_ASIDE : stream->cap, !divert && stream->tail,
                            bytes, length)) {
    cdam_fail_memory(failure);
    return false;
  }
  return !divert || divert(stream->divert_user, which, bytes, length, failure);
}

bool cdam_exec_stream_feed(cdam_exec_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure) {
  bool ok = cdam_stdcopy_feed(&stream->frames, bytes, length, take, stream, failure);
  stream->offset = stream->frames.offset;
  return ok;
}

bool cdam_exec_stream_end(const cdam_exec_stream *stream, cdam_error *failure) {
  return cdam_stdcopy_end(&stream->frames, failure);
}

void cdam_exec_stream_forget_diverted(cdam_exec_stream *stream) {
  if (stream->divert[0]) cdam_buffer_clear(&stream->out.kept);
  if (stream->divert[1]) cdam_buffer_clear(&stream->err.kept);
}

void cdam_exec_stream_trim(cdam_exec_stream *stream) {
  cdam_exec_output_trim(&stream->out, stream->cap);
  cdam_exec_output_trim(&stream->err, stream->cap);
}

void cdam_exec_stream_clear(cdam_exec_stream *stream) {
  cdam_buffer_clear(&stream->out.kept);
  cdam_buffer_clear(&stream->err.kept);
  cdam_stdcopy_clear(&stream->frames);
}
