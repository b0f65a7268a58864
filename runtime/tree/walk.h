/* SPDX-License-Identifier: Apache-2.0 */
/* A local file or tree as a feed: depth-first, one open directory for each level, in constant
 * memory. Links are sent and not followed, whatever becomes of the tree meanwhile. */
#ifndef COFFERDAM_TREE_WALK_H
#define COFFERDAM_TREE_WALK_H

#include "tree/part.h"

/* CDAM_ERR_NO_MEMORY, CDAM_ERR_IO. */
cdam_status cdam_tree_walk_new(const char *local, cdam_tree_feed **out, cdam_error *err);

#endif
