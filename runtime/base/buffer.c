/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(cdam_buffer *buffer, size_t more) {
  if (more > SIZE_MAX / 2 - buffer->length - 1) return false;
  size_t needed = buffer->length + more + 1;
  if (needed <= buffer->capacity) return true;
  size_t capacity = buffer->capacity ? buffer->capacity : 256;
  while (capacity < needed)
    capacity *= 2;
  char *data = realloc(buffer->data, capacity);
  if (!data) return false;
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

bool cdam_buffer_append(cdam_buffer *buffer, const void *bytes, size_t length) {
  if (!reserve(buffer, length)) return false;
  if (length) memcpy(buffer->data + buffer->length, bytes, length);
  buffer->length += length;
  buffer->data[buffer->length] = '\0';
  return true;
}

bool cdam_buffer_append_text(cdam_buffer *buffer, const char *text) {
  return cdam_buffer_append(buffer, text, strlen(text));
}

static bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool cdam_buffer_append_escaped(cdam_buffer *buffer, const char *text) {
  static const char digits[] = "0123456789ABCDEF";
  size_t before = buffer->length;
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};
    bool ok = is_unreserved(*text) ? cdam_buffer_append(buffer, text, 1)
                                   : cdam_buffer_append(buffer, escaped, sizeof escaped);
    if (ok) continue;
    buffer->length = before;
    if (buffer->data) buffer->data[before] = '\0';
    return false;
  }
  return true;
}

const char *cdam_buffer_text(const cdam_buffer *buffer) {
  return buffer->data ? buffer->data : "";
}

void cdam_buffer_clear(cdam_buffer *buffer) {
  free(buffer->data);
  *buffer = (cdam_buffer){0};
}
