/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef COFFERDAM_BASE_UTF8_H
#define COFFERDAM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the first character of a non-empty text takes; 0 when it is none. */
size_t cdam_utf8_width(const unsigned char *text, size_t length);

bool cdam_utf8_valid(const unsigned char *text, size_t length);

/* Valid, and without a NUL: what a C string can hold. */
bool cdam_utf8_text(const unsigned char *text, size_t length);

#endif
