/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exec_stream.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

enum { TYPE_STDIN, TYPE_STDOUT, TYPE_STDERR, TYPE_SYSTEM_ERROR };

/* More than a cdam_error can show. */
#define SYSTEM_ERROR_CAP 1024

static bool keep(cdam_buffer *buffer, size_t cap, const char *bytes, size_t length,
                 cdam_error *failure) {
  size_t room = cap - buffer->length;
  if (length > room) length = room;
  if (length == 0 || cdam_buffer_append(buffer, bytes, length)) return true;
  cdam_fail_memory(failure);
  return false;
}

static bool take_payload(cdam_exec_stream *stream, const char *bytes, size_t length,
                         cdam_error *failure) {
  unsigned type = stream->header[0];
  if (type == TYPE_SYSTEM_ERROR)
    return keep(&stream->system_error, SYSTEM_ERROR_CAP, bytes, length, failure);
  cdam_exec_output *output = type == TYPE_STDERR ? &stream->err : &stream->out;
  output->total += length;
  return keep(&output->kept, stream->cap, bytes, length, failure);
}

/* A header is complete. Its length is believed for counting only; nothing is allocated by it. */
static bool begin_frame(cdam_exec_stream *stream, cdam_error *failure) {
  const unsigned char *h = stream->header;
  if (h[0] > TYPE_SYSTEM_ERROR || h[1] || h[2] || h[3]) {
    cdam_fail(failure, CDAM_ERR_PROTOCOL,
              "the command's output is garbled: no frame begins with %02x %02x %02x %02x (at byte "
              "%" PRIu64 ")",
              h[0], h[1], h[2], h[3], stream->offset - sizeof stream->header);
    return false;
  }
  stream->left = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7];
  return true;
}

static bool end_frame(cdam_exec_stream *stream, cdam_error *failure) {
  stream->header_length = 0;
  if (stream->header[0] != TYPE_SYSTEM_ERROR) return true;
  size_t length = stream->system_error.length;
  const char *text = cdam_buffer_text(&stream->system_error);
  while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    length--;
  cdam_fail(failure, CDAM_ERR_ENGINE, "the engine broke the command's output off: %.*s",
            (int)length, text);
  return false;
}

bool cdam_exec_stream_feed(cdam_exec_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure) {
  while (length > 0) {
    size_t piece;
    if (stream->header_length < sizeof stream->header) {
      piece = sizeof stream->header - stream->header_length;
      if (piece > length) piece = length;
      memcpy(stream->header + stream->header_length, bytes, piece);
      stream->header_length += (unsigned)piece;
      stream->offset += piece;
      if (stream->header_length < sizeof stream->header) return true;
      if (!begin_frame(stream, failure)) return false;
    } else {
      piece = length < stream->left ? length : stream->left;
      stream->left -= (uint32_t)piece;
      stream->offset += piece;
      if (!take_payload(stream, bytes, piece, failure)) return false;
    }
    if (stream->left == 0 && !end_frame(stream, failure)) return false;
    bytes += piece;
    length -= piece;
  }
  return true;
}

bool cdam_exec_stream_end(const cdam_exec_stream *stream, cdam_error *failure) {
  if (stream->header_length == 0) return true;
  const char *where = stream->header_length < sizeof stream->header ? "header" : "payload";
  cdam_fail(failure, CDAM_ERR_PROTOCOL,
            "the command's output was cut in the %s of a frame, after %" PRIu64 " bytes", where,
            stream->offset);
  return false;
}

void cdam_exec_stream_clear(cdam_exec_stream *stream) {
  cdam_buffer_clear(&stream->out.kept);
  cdam_buffer_clear(&stream->err.kept);
  cdam_buffer_clear(&stream->system_error);
}
