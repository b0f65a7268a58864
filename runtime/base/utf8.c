/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

size_t cdam_utf8_width(const unsigned char *text, size_t length) {
  unsigned char first = text[0];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  size_t width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length < width) return 0;
  for (size_t i = 1; i < width; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  unsigned char second = text[1];
  if (first == 0xe0 && second < 0xa0) return 0; /* overlong */
  if (first == 0xed && second > 0x9f) return 0; /* surrogates */
  if (first == 0xf0 && second < 0x90) return 0; /* overlong */
  if (first == 0xf4 && second > 0x8f) return 0; /* above U+10FFFF */
  return width;
}

/* Is each of the eight bytes from 1 to 0x7f? Most text is like that. */
static bool is_plain_word(const unsigned char *text) {
  uint64_t bytes;
  memcpy(&bytes, text, sizeof bytes);
  return ((bytes | (bytes - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080)) == 0;
}

static bool is_plain(const unsigned char *text, size_t length) {
  if (length < 8) {
    while (length && *text && *text < 0x80)
      text++, length--;
    return length == 0;
  }
  for (size_t i = 0; i + 8 < length; i += 8)
    if (!is_plain_word(text + i)) return false;
  return is_plain_word(text + length - 8);
}

bool cdam_utf8_valid(const unsigned char *text, size_t length) {
  if (is_plain(text, length)) return true;
  while (length) {
    size_t width = cdam_utf8_width(text, length);
    if (!width) return false;
    text += width;
    length -= width;
  }
  return true;
}

bool cdam_utf8_text(const unsigned char *text, size_t length) {
  return is_plain(text, length) || (!memchr(text, 0, length) && cdam_utf8_valid(text, length));
}
