/* SPDX-License-Identifier: Apache-2.0 */
/* A growing run of bytes, always followed by a NUL that the length does not count. */
#ifndef COFFERDAM_BASE_BUFFER_H
#define COFFERDAM_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* {0} is an empty buffer. */
typedef struct cdam_buffer {
  char *data; /* NULL while nothing was ever added */
  size_t length;
  size_t capacity;
} cdam_buffer;

/* False when out of memory; the buffer is then as it was. */
bool cdam_buffer_append(cdam_buffer *buffer, const void *bytes, size_t length);
bool cdam_buffer_append_text(cdam_buffer *buffer, const char *text);

/* Appends text with everything but RFC 3986's unreserved characters %-escaped. */
bool cdam_buffer_append_escaped(cdam_buffer *buffer, const char *text);

/* The text of the buffer; "" when empty. */
const char *cdam_buffer_text(const cdam_buffer *buffer);

/* Frees the bytes; the buffer is empty again. */
void cdam_buffer_clear(cdam_buffer *buffer);

#endif
