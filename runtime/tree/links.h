/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a tree that have several names, by device and inode: a bounded number of them. */
#ifndef COFFERDAM_TREE_LINKS_H
#define COFFERDAM_TREE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
  CDAM_TREE_LINK_BUCKETS = 256,
  CDAM_TREE_MOST_LINKS = 16384,
  CDAM_TREE_MOST_LINK_TEXT = 2 * 1024 * 1024
};

typedef struct cdam_tree_link {
  struct cdam_tree_link *next;
  dev_t device;
  ino_t inode;
  size_t length;
  char path[]; /* where it was first */
} cdam_tree_link;

/* {0} is empty. */
typedef struct cdam_tree_links {
  cdam_tree_link *buckets[CDAM_TREE_LINK_BUCKETS];
  unsigned count;
  size_t text; /* bytes of all paths */
} cdam_tree_links;

const cdam_tree_link *cdam_tree_links_find(const cdam_tree_links *links, dev_t device, ino_t inode);

/* False when out of memory. Beyond the bound nothing is added, and that is fine. */
bool cdam_tree_links_add(cdam_tree_links *links, dev_t device, ino_t inode, const char *path,
                         size_t length);

void cdam_tree_links_clear(cdam_tree_links *links);

#endif
