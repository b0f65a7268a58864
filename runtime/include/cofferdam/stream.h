/* SPDX-License-Identifier: Apache-2.0 */
/* Where bytes come from and where they go: memory, a descriptor, or a callback. */
#ifndef COFFERDAM_STREAM_H
#define COFFERDAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/export.h>

CDAM_BEGIN_DECLS

/*
 * Gives up to `size` bytes: how many, 0 at the end, -1 for an error (CDAM_ERR_IO).
 * It is called where the operation runs: in the blocking call, or in cdam_loop_dispatch, where it
 * should not wait. Since 0.1.
 */
typedef int64_t (*cdam_read_callback)(void *user, void *buffer, size_t size);

/* Takes all of the bytes; false ends the operation (CDAM_ERR_IO). Called as above. Since 0.1. */
typedef bool (*cdam_write_callback)(void *user, const void *bytes, size_t length);

/* Bytes for a sandbox; one of the three, after `cdam_source s = {0}`, which is no bytes at all.
 * Everything is borrowed until the operation is over. A descriptor is read to its end and stays
 * open; one that would block (a pipe, a terminal) is waited for, and nothing else is held up. */
typedef struct cdam_source {
  const void *bytes;
  size_t length; /* of bytes */
  bool from_fd;  /* `fd` is used */
  int fd;
  cdam_read_callback read; /* or NULL */
  void *user;
} cdam_source;

/* Where bytes of a sandbox go; one of the two, after `cdam_sink s = {0}`, which throws them away.
 * Borrowed until the operation is over. */
typedef struct cdam_sink {
  bool to_fd; /* `fd` is used; it stays open */
  int fd;
  cdam_write_callback write; /* or NULL */
  void *user;
} cdam_sink;

CDAM_END_DECLS

#endif
