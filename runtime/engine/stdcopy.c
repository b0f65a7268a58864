/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/stdcopy.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

/* More than a cdam_error can show. */
#define SYSTEM_CAP 1024

/* Its length is believed for counting only; nothing is allocated by it. */
static bool begin_frame(cdam_stdcopy *copy, cdam_error *failure) {
  const unsigned char *h = copy->header;
  if (h[0] > CDAM_STDCOPY_SYSTEM || h[1] || h[2] || h[3]) {
    cdam_fail(failure, CDAM_ERR_PROTOCOL,
              "the command's output is garbled: no frame begins with %02x %02x %02x %02x (at byte "
              "%" PRIu64 ")",
              h[0], h[1], h[2], h[3], copy->offset - sizeof copy->header);
    return false;
  }
  copy->left = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7];
  return true;
}

static bool keep_system(cdam_stdcopy *copy, const char *bytes, size_t length, cdam_error *failure) {
  size_t room = SYSTEM_CAP - copy->system.length;
  if (length > room) length = room;
  if (length == 0 || cdam_buffer_append(&copy->system, bytes, length)) return true;
  cdam_fail_memory(failure);
  return false;
}

static bool end_frame(cdam_stdcopy *copy, cdam_error *failure) {
  copy->header_length = 0;
  if (copy->header[0] != CDAM_STDCOPY_SYSTEM) return true;
  size_t length = copy->system.length;
  const char *text = cdam_buffer_text(&copy->system);
  while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    length--;
  cdam_fail(failure, CDAM_ERR_ENGINE, "the engine broke the command's output off: %.*s",
            (int)length, text);
  return false;
}

static size_t take_header(cdam_stdcopy *copy, const char *bytes, size_t length) {
  size_t room = sizeof copy->header - copy->header_length;
  if (length > room) length = room;
  memcpy(copy->header + copy->header_length, bytes, length);
  copy->header_length += (unsigned)length;
  return length;
}

bool cdam_stdcopy_feed(cdam_stdcopy *copy, const char *bytes, size_t length,
                       cdam_stdcopy_piece piece, void *user, cdam_error *failure) {
  while (length > 0) {
    size_t part;
    if (copy->header_length < sizeof copy->header) {
      part = take_header(copy, bytes, length);
      copy->offset += part;
      if (copy->header_length < sizeof copy->header) return true;
      if (!begin_frame(copy, failure)) return false;
    } else {
      unsigned stream = copy->header[0] ? copy->header[0] : CDAM_STDCOPY_OUT;
      part = length < copy->left ? length : copy->left;
      copy->left -= (uint32_t)part;
      copy->offset += part;
      bool ok = stream == CDAM_STDCOPY_SYSTEM ? keep_system(copy, bytes, part, failure)
                                              : piece(user, stream, bytes, part, failure);
      if (!ok) return false;
    }
    if (copy->left == 0 && !end_frame(copy, failure)) return false;
    bytes += part;
    length -= part;
  }
  return true;
}

bool cdam_stdcopy_end(const cdam_stdcopy *copy, cdam_error *failure) {
  if (copy->header_length == 0) return true;
  const char *where = copy->header_length < sizeof copy->header ? "header" : "payload";
  cdam_fail(failure, CDAM_ERR_PROTOCOL,
            "the command's output was cut in the %s of a frame, after %" PRIu64 " bytes", where,
            copy->offset);
  return false;
}

void cdam_stdcopy_clear(cdam_stdcopy *copy) {
  cdam_buffer_clear(&copy->system);
}
