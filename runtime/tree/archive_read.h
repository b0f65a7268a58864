/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive as a feed. Its entries may be in any order and need not have entries for their
 * directories; Upload wants directories entered before what is in them, and their modes and times
 * once that is there. So directories are open as long as entries in them follow; one that is
 * entered without an entry of its own, or again, keeps what it has: the sandbox is asked (ASK).
 */
#ifndef COFFERDAM_TREE_ARCHIVE_READ_H
#define COFFERDAM_TREE_ARCHIVE_READ_H

#include <sys/types.h>

#include "tree/part.h"

/* Gives up to `size` bytes: how many, 0 at the end, -1 with *err. It may block. */
typedef ssize_t (*cdam_archive_bytes)(void *user, void *buffer, size_t size, cdam_error *err);

/* Nothing is read yet. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_archive_read_new(cdam_archive_bytes bytes, void *user, cdam_tree_feed **out,
                                  cdam_error *err);

/* Makes a relative path of an archive's: "./a//b/" is "a/b", "." is "". False for one that is
 * absolute, has "..", or is too long; else `clean` has the result and its NUL. */
bool cdam_archive_clean_path(const char *path, char clean[CDAM_TREE_PATH + 1], size_t *length);

#endif
