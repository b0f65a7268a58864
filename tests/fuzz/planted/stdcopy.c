/* SPDX-License-Identifier: Apache-2.0 */
/* The demultiplexer with a fault planted in it: of a header that comes in pieces, three bytes at
 * the end of it get lost. Fuzzing the target `exec_stream` with this in it must find that out. */
#include <string.h>

static void *forgetful_memcpy(void *to, const void *from, size_t length) {
  return length == 3 ? memset(to, 0, length) : memcpy(to, from, length);
}

#define memcpy forgetful_memcpy
#include "engine/stdcopy.c"
