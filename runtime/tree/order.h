/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what an agent sends in answer to a Download a tree? It may lie: names with slashes, things
 * outside the directory that is open, a directory left that was not entered, content without a file
 * or more of it than was said. Each of these ends the link.
 */
#ifndef COFFERDAM_TREE_ORDER_H
#define COFFERDAM_TREE_ORDER_H

#include "tree/part.h"

/* Zeroed at the start. */
typedef struct cdam_tree_order {
  bool begun;
  bool in_file;
  uint64_t left;                   /* that the file may still have */
  int depth;                       /* of directories that are open */
  size_t lengths[CDAM_TREE_DEPTH]; /* of their paths */
  size_t length;                   /* of the innermost one's path */
  char path[CDAM_TREE_PATH + 1];
  char name[CDAM_TREE_NAME + 1]; /* of the last entry */
} cdam_tree_order;

/* Each is CDAM_OK or CDAM_ERR_AGENT. After the first the entry has a sane type, name, link text and
 * time; `name` is set. */
cdam_status cdam_tree_order_entry(cdam_tree_order *order, const cdam_entry *entry, cdam_error *err);
cdam_status cdam_tree_order_data(cdam_tree_order *order, size_t length, bool end, cdam_error *err);

/* May it be over now? */
cdam_status cdam_tree_order_end(const cdam_tree_order *order, cdam_error *err);

#endif
