/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exec_stream.h"

#include "base/fail.h"

static bool take(void *user, cdam_stdcopy_stream which, const char *bytes, size_t length,
                 cdam_error *failure) {
  cdam_exec_stream *stream = user;
  cdam_exec_output *output = which == CDAM_STDCOPY_ERR ? &stream->err : &stream->out;
  output->total += length;
  size_t room = stream->cap - output->kept.length;
  if (length > room) length = room;
  if (length == 0 || cdam_buffer_append(&output->kept, bytes, length)) return true;
  cdam_fail_memory(failure);
  return false;
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

void cdam_exec_stream_clear(cdam_exec_stream *stream) {
  cdam_buffer_clear(&stream->out.kept);
  cdam_buffer_clear(&stream->err.kept);
  cdam_stdcopy_clear(&stream->frames);
}
