/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of runtime/tree share: a directory of their own, and entries. */
#ifndef COFFERDAM_TESTS_TREE_SUPPORT_H
#define COFFERDAM_TESTS_TREE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../scratch.h"
#include "base/fail.h"
#include "tree/order.h"
#include "tree/part.h"

__attribute__((unused)) static cdam_entry entry_of(int type, const char *path) {
  cdam_entry entry = CDAM_ENTRY_INIT;
  entry.path = (ProtobufCBinaryData){.data = (uint8_t *)path, .len = strlen(path)};
  entry.type = (Cofferdam__Agent__V1__EntryType)type;
  entry.mode = type == CDAM_ENTRY(FILE) ? 0644 : 0755;
  entry.mtime_s = 1000000000;
  entry.links = 1;
  return entry;
}

__attribute__((unused)) static cdam_entry link_of(int type, const char *path, const char *target) {
  cdam_entry entry = entry_of(type, path);
  entry.target = (ProtobufCBinaryData){.data = (uint8_t *)target, .len = strlen(target)};
  return entry;
}

/* A tree with everything in it that can be copied. */
__attribute__((unused)) static void make_sample(const char *name) {
  assert_int_equal(
      here("mkdir %s && cd %s && mkdir -p a/b/c empty 'with\nnewline' && echo one >a/one && "
           "head -c 300000 /dev/urandom >a/b/big && : >a/b/c/nothing && ln a/one a/b/again && "
           "ln -s one a/link && ln -s ../one a/b/up && ln -s nowhere dangling && mkfifo pipe && "
           "echo x >'with\nnewline/\x01 \xff\"' && echo x >caf\xc3\xa9 && ln -s caf\xc3\xa9 "
           "latin\xe9 && "
           "chmod 0400 a/one && chmod 0751 a/b && "
           "chmod 0555 a/b/c && touch -d '2001-02-03 04:05:06.789' a/b/big && "
           "touch -h -d '1999-01-01' a/link && mkdir -p $(seq -s/ 1 100) && "
           "touch -d '2002-02-02' a/b/c a/b a .",
           name, name),
      0);
}

/* Names, types, modes, times, link texts, numbers of names and contents. */
__attribute__((unused)) static void assert_same(const char *left, const char *right) {
  const char *list = "find . -printf '%p %y %m %n %T@ %l %s\\0' | sed -z 's/ d \\(.*\\) [0-9]*$/ d "
                     "\\1/' | sort -z";
  assert_int_equal(here("(cd %s && %s) >left; (cd %s && %s) >right; cmp left right || { tr '\\0' "
                        "'\\n' <left >l; tr '\\0' '\\n' <right >r; diff l r; false; }",
                        left, list, right, list),
                   0);
  assert_int_equal(
      here("(cd %s && find . -type f -print0 | sort -z | xargs -0 sha256sum -z) >left; (cd %s && "
           "find . -type f -print0 | sort -z | xargs -0 sha256sum -z) >right; cmp left right",
           left, right),
      0);
}

__attribute__((unused)) static int temporaries(void) {
  return here("test -z \"$(find . -name '.cofferdam-*')\"");
}

/* Moves a whole feed into a target. */
__attribute__((unused)) static cdam_status move(cdam_tree_feed *feed, cdam_tree_target *target,
                                                uint64_t *entries, cdam_error *err) {
  static cdam_tree_order order;
  cdam_status status = CDAM_OK;
  memset(&order, 0, sizeof order);
  *entries = 0;
  for (;;) {
    cdam_tree_part part;
    bool made = false;
    status = feed->next(feed, &part, err);
    if (status != CDAM_OK) return status;
    switch (part.kind) {
    case CDAM_TREE_PART_ENTRY:
      if (part.entry.type == CDAM_ENTRY(FILE)) part.entry.links = 2; /* may get more names */
      status = cdam_tree_order_entry(&order, &part.entry, err);
      if (status == CDAM_OK) status = target->entry(target, &part.entry, order.name, &made, err);
      if (made && part.entry.type != CDAM_ENTRY(LEAVE_DIRECTORY)) ++*entries;
      break;
    case CDAM_TREE_PART_DATA:
      status = cdam_tree_order_data(&order, part.length, part.end, err);
      if (status == CDAM_OK) status = target->data(target, part.bytes, part.length, part.end, err);
      break;
    case CDAM_TREE_PART_ASK:
      feed->told(feed, NULL);
      break;
    case CDAM_TREE_PART_END:
      status = cdam_tree_order_end(&order, err);
      return status == CDAM_OK ? target->finish(target, err) : status;
    default:
      break;
    }
    if (status != CDAM_OK) return status;
  }
}

#endif
