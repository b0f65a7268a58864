/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/links.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(ino_t inode) {
  return (size_t)(inode % CDAM_TREE_LINK_BUCKETS);
}

const cdam_tree_link *cdam_tree_links_find(const cdam_tree_links *links, dev_t device,
                                           ino_t inode) {
  const cdam_tree_link *link = links->buckets[bucket_of(inode)];
  while (link && (link->inode != inode || link->device != device))
    link = link->next;
  return link;
}

bool cdam_tree_links_add(cdam_tree_links *links, dev_t device, ino_t inode, const char *path,
                         size_t length) {
  if (links->count == CDAM_TREE_MOST_LINKS || length > CDAM_TREE_MOST_LINK_TEXT - links->text)
    return true;
  cdam_tree_link *link = malloc(sizeof *link + length);
  if (!link) return false;
  cdam_tree_link **bucket = &links->buckets[bucket_of(inode)];
  *link = (cdam_tree_link){.next = *bucket, .device = device, .inode = inode, .length = length};
  if (length) memcpy(link->path, path, length);
  *bucket = link;
  links->count++;
  links->text += length;
  return true;
}

void cdam_tree_links_clear(cdam_tree_links *links) {
  for (size_t i = 0; i < CDAM_TREE_LINK_BUCKETS; i++)
    while (links->buckets[i]) {
      cdam_tree_link *link = links->buckets[i];
      links->buckets[i] = link->next;
      free(link);
    }
  links->count = 0;
  links->text = 0;
}
