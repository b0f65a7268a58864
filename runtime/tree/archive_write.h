/* SPDX-License-Identifier: Apache-2.0 */
/* A tree from a sandbox becomes a pax archive. Links and modes are in it as they are. */
#ifndef COFFERDAM_TREE_ARCHIVE_WRITE_H
#define COFFERDAM_TREE_ARCHIVE_WRITE_H

#include "tree/part.h"

/* Takes all of the bytes; false with *err. It may block. */
typedef bool (*cdam_archive_take)(void *user, const void *bytes, size_t length, cdam_error *err);

/* `name` is that of a top which is no directory. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_archive_write_new(const char *name, bool keep_owner, cdam_archive_take take,
                                   void *user, cdam_tree_target **out, cdam_error *err);

#endif
