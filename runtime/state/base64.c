/* SPDX-License-Identifier: Apache-2.0 */
#include "state/base64.h"

#include <openssl/evp.h>
#include <stdint.h>

size_t cdam_base64_encode(const unsigned char *bytes, size_t length, char *text) {
  return (size_t)EVP_EncodeBlock((unsigned char *)text, bytes, (int)length);
}

/* libcrypto's decoder keeps the padding as zero bytes and knows no alphabet for URLs. */
static int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

bool cdam_base64_decode(const char *text, size_t length, unsigned char *bytes, size_t *count) {
  if (length && length % 4 == 0 && text[length - 1] == '=')
    length -= text[length - 2] == '=' ? 2 : 1;
  uint32_t bits = 0;
  unsigned held = 0;
  *count = 0;
  for (size_t i = 0; i < length; i++) {
    int value = digit(text[i]);
    if (value < 0) return false;
    bits = bits << 6 | (uint32_t)value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[(*count)++] = (unsigned char)(bits >> held);
    bits &= (1U << held) - 1;
  }
  return held < 6 && bits == 0;
}
