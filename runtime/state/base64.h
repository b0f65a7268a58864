/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, as ProtoJSON has it. */
#ifndef COFFERDAM_STATE_BASE64_H
#define COFFERDAM_STATE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* How large the result can be, the NUL of a text counted. */
#define CDAM_BASE64_TEXT_SIZE(length) (((length) + 2) / 3 * 4 + 1)
#define CDAM_BASE64_BYTES_SIZE(length) ((length) / 4 * 3 + 3)

/* The standard alphabet, padded, and a NUL. Returns the length of the text. */
size_t cdam_base64_encode(const unsigned char *bytes, size_t length, char *text);

/* Reads the standard alphabet and the one for URLs, padded or not. False for anything else, bits
 * that are left over included. */
bool cdam_base64_decode(const char *text, size_t length, unsigned char *bytes, size_t *count);

#endif
