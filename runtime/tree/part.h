/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tree on its way consists of: entries and the content of files, as Upload and Download of
 * PROTOCOL.md have them. An upload pulls them from a feed (a local tree, an archive), a download
 * pushes them into a target (a local tree, an archive).
 */
#ifndef COFFERDAM_TREE_PART_H
#define COFFERDAM_TREE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>
#include <cofferdam/tree.h>

#include "cofferdam/agent/v1/agent.pb-c.h"

typedef Cofferdam__Agent__V1__Entry cdam_entry;
#define CDAM_ENTRY_INIT COFFERDAM__AGENT__V1__ENTRY__INIT
#define CDAM_ENTRY(NAME) COFFERDAM__AGENT__V1__ENTRY_TYPE__ENTRY_TYPE_##NAME

enum {
  CDAM_TREE_DEPTH = 128,      /* directories, the top included */
  CDAM_TREE_PATH = 4095,      /* bytes of a path, and of a link's text */
  CDAM_TREE_NAME = 255,       /* of one name */
  CDAM_TREE_PIECE = 64 * 1024 /* of a file's content in one message */
};

typedef enum cdam_tree_kind {
  CDAM_TREE_PART_ENTRY,
  CDAM_TREE_PART_DATA,
  CDAM_TREE_PART_ASK,   /* what is there now at entry.path? See cdam_tree_feed.told */
  CDAM_TREE_PART_AGAIN, /* nothing yet, but ask again: a feed that looks at much between two parts
                         */
  CDAM_TREE_PART_END
} cdam_tree_kind;

/* Lives until the feed is asked again. */
typedef struct cdam_tree_part {
  cdam_tree_kind kind;
  cdam_entry entry;
  const void *bytes;
  size_t length;
  bool end; /* of the file */
} cdam_tree_part;

typedef struct cdam_tree_feed cdam_tree_feed;
struct cdam_tree_feed {
  cdam_status (*next)(cdam_tree_feed *feed, cdam_tree_part *part, cdam_error *err);
  /* The answer to an ASK: NULL when there is nothing. */
  void (*told)(cdam_tree_feed *feed, const cdam_entry *found);
  void (*free)(cdam_tree_feed *feed);
  uint64_t skipped;
};

/* Its order has been checked (order.h), and nothing else. */
typedef struct cdam_tree_target cdam_tree_target;
struct cdam_tree_target {
  /* `name` is the last part of the path; "" for the top. *made: it was not left out. */
  cdam_status (*entry)(cdam_tree_target *target, const cdam_entry *entry, const char *name,
                       bool *made, cdam_error *err);
  cdam_status (*data)(cdam_tree_target *target, const void *bytes, size_t length, bool end,
                      cdam_error *err);
  cdam_status (*finish)(cdam_tree_target *target, cdam_error *err);
  void (*free)(cdam_tree_target *target); /* removes what is not complete */
  uint64_t skipped;
};

#endif
