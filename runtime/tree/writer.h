/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree from a sandbox becomes a local one. What comes is hostile: each name is one component,
 * used relative to the open directory that it belongs in, and never followed if it is a link.
 */
#ifndef COFFERDAM_TREE_WRITER_H
#define COFFERDAM_TREE_WRITER_H

#include "tree/part.h"

/* `local` is what the top becomes. CDAM_ERR_NO_MEMORY; CDAM_ERR_IO when the directory that it is in
 * cannot be opened. */
cdam_status cdam_tree_writer_new(const char *local, const cdam_tree_options *options,
                                 cdam_tree_target **out, cdam_error *err);

/* May a symbolic link with this text be made in a directory that is so many levels below the top
 * (0: in the top itself)? Not when it could lead out, whatever other links of the tree it goes
 * through. */
bool cdam_tree_link_stays(const char *text, size_t length, int level);

#endif
