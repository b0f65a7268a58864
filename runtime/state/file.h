/* SPDX-License-Identifier: Apache-2.0 */
/* Files, read whole and written whole. */
#ifndef COFFERDAM_STATE_FILE_H
#define COFFERDAM_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>

/* Reads to the end of the file, but never more than `size` bytes. False with errno set. */
bool cdam_read_all(int fd, unsigned char *buffer, size_t size, size_t *length);

/* Replaces the file by the bytes, durably and all or nothing; mode 0600. CDAM_ERR_IO,
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_local_file_replace(const char *path, const unsigned char *bytes, size_t length,
                                    cdam_error *err);

/* Reads a regular file or a pipe. Free *bytes with free(). CDAM_ERR_IO, CDAM_ERR_NO_MEMORY, and
 * CDAM_ERR_MALFORMED for one of more than `most` bytes. */
cdam_status cdam_local_file_read(const char *path, size_t most, unsigned char **bytes,
                                 size_t *length, cdam_error *err);

/* CDAM_ERR_IO: "cannot WHAT PATH: reason". */
cdam_status cdam_fail_file(cdam_error *err, const char *what, const char *path, int error_number);

#endif
