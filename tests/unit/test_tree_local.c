/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/tree: local trees, and what a hostile sandbox may send to become one. */
#include "tree_support.h"

#include <errno.h>
#include <fcntl.h>

#include "tree/walk.h"
#include "tree/writer.h"

static cdam_tree_target *writer_of(const char *name, bool replace) {
  cdam_tree_options options = {.replace = replace};
  cdam_tree_target *target = NULL;
  cdam_error err;
  if (cdam_tree_writer_new(in_scratch(name), &options, &target, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  return target;
}

static cdam_tree_feed *walk_of(const char *name) {
  cdam_tree_feed *feed = NULL;
  cdam_error err;
  if (cdam_tree_walk_new(in_scratch(name), &feed, &err) != CDAM_OK) fail_msg("%s", err.message);
  return feed;
}

/* ---- what is honest ---- */

static void copy(const char *from, const char *to, bool replace) {
  cdam_tree_feed *feed = walk_of(from);
  cdam_tree_target *target = writer_of(to, replace);
  uint64_t entries = 0;
  cdam_error err;
  if (move(feed, target, &entries, &err) != CDAM_OK) fail_msg("%s", err.message);
  feed->free(feed);
  target->free(target);
}

static void copies_everything(void **unused) {
  (void)unused;
  make_sample("from");
  copy("from", "to", false);
  assert_same("from", "to");
  assert_int_equal(temporaries(), 0);
  /* Again over itself, read-only directories and all. */
  copy("from", "to", true);
  assert_same("from", "to");
  assert_int_equal(temporaries(), 0);
}

static void copies_one_file(void **unused) {
  (void)unused;
  here("echo content >file");
  copy("file", "other", false);
  assert_int_equal(here("cmp file other"), 0);
  copy("file", "other", true);
}

static void skips_sockets(void **unused) {
  (void)unused;
  here("mkdir from && cd from && python3 -c \"import socket; "
       "[socket.socket(socket.AF_UNIX).bind(str(n)) for n in range(200)]\" && touch real");
  cdam_tree_feed *feed = walk_of("from");
  cdam_tree_target *target = writer_of("to", false);
  uint64_t entries = 0;
  cdam_error err;
  assert_int_equal(move(feed, target, &entries, &err), CDAM_OK);
  assert_int_equal(feed->skipped, 200);
  assert_int_equal(entries, 2);
  feed->free(feed);
  target->free(target);
  assert_int_equal(here("test \"$(ls to)\" = real"), 0);
}

static void a_shorter_file_is_an_error(void **unused) {
  (void)unused;
  here("head -c 200000 /dev/zero >file");
  cdam_tree_feed *feed = walk_of("file");
  cdam_tree_part part;
  cdam_error err;
  assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
  assert_int_equal(part.entry.size, 200000);
  assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
  here("truncate -s 1000 file");
  assert_int_equal(feed->next(feed, &part, &err), CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "shorter"));
  assert_non_null(strstr(err.message, in_scratch("file")));
  feed->free(feed);
}

static void a_growing_file_is_cut(void **unused) {
  (void)unused;
  here("echo one >file");
  cdam_tree_feed *feed = walk_of("file");
  cdam_tree_part part;
  cdam_error err;
  assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
  here("echo two >>file");
  assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
  assert_int_equal(part.length, 4);
  assert_true(part.end);
  feed->free(feed);
}

static void too_deep_is_an_error(void **unused) {
  (void)unused;
  cdam_error err;
  uint64_t entries;
  assert_int_equal(here("mkdir -p d/$(seq -s/ 1 127)"), 0);
  copy("d", "fits", false);
  assert_same("d", "fits");
  assert_int_equal(here("mkdir -p d/$(seq -s/ 1 128)"), 0);
  cdam_tree_feed *feed = walk_of("d");
  cdam_tree_target *target = writer_of("to", false);
  assert_int_equal(move(feed, target, &entries, &err), CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "deeper"));
  feed->free(feed);
  target->free(target);
}

/* ---- what is there already ---- */

typedef struct existing {
  const char *setup;
  bool replace;
  cdam_status status;
  const char *then; /* holds afterwards */
} existing;

static const existing things[] = {
    {"echo old >to/name", false, CDAM_ERR_IO, "grep -q old to/name"},
    {"echo old >to/name", true, CDAM_OK, "grep -q new to/name"},
    {"echo old >out; ln -s ../out to/name", false, CDAM_ERR_IO, "grep -q old out"},
    {"echo old >out; ln -s ../out to/name", true, CDAM_OK, "grep -q old out && test ! -L to/name"},
    {"echo old >out; ln out to/name", true, CDAM_OK, "grep -q old out && grep -q new to/name"},
    {"mkdir to/name", false, CDAM_ERR_IO, "test -d to/name"},
    {"mkdir to/name", true, CDAM_ERR_IO, "test -d to/name"},
    {"mkfifo to/name", true, CDAM_OK, "test -f to/name"},
};

static void existing_files(void **unused) {
  (void)unused;
  here("mkdir from && echo new >from/name");
  for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
    here("rm -rf to out; mkdir to; %s", things[i].setup);
    cdam_tree_feed *feed = walk_of("from");
    cdam_tree_target *target = writer_of("to", things[i].replace);
    uint64_t entries;
    cdam_error err;
    cdam_status status = move(feed, target, &entries, &err);
    if (status != things[i].status) fail_msg("%zu: %d %s", i, status, err.message);
    if (status != CDAM_OK) assert_non_null(strstr(err.message, "/to/name"));
    feed->free(feed);
    target->free(target);
    if (here("%s", things[i].then) != 0) fail_msg("%zu: not '%s'", i, things[i].then);
    assert_int_equal(temporaries(), 0);
  }
}

/* Not when all of the content has come. */
static void told_before_the_content(void **unused) {
  (void)unused;
  cdam_error err;
  bool made;
  here("mkdir to to/d && echo old >to/f");
  for (int i = 0; i < 3; i++) {
    cdam_tree_target *target = writer_of("to", i == 2);
    cdam_entry top = entry_of(CDAM_ENTRY(DIRECTORY), "");
    cdam_entry file = entry_of(CDAM_ENTRY(FILE), i ? "d" : "f");
    assert_int_equal(target->entry(target, &top, "", &made, &err), CDAM_OK);
    assert_int_equal(target->entry(target, &file, i ? "d" : "f", &made, &err), CDAM_ERR_IO);
    assert_int_equal(err.system_errno, i ? EISDIR : EEXIST);
    target->free(target);
  }
}

/* What comes must be able to come into a directory that is read-only for now. */
static void read_only_ones_are_opened(void **unused) {
  (void)unused;
  cdam_error err;
  bool made;
  here("mkdir to && chmod 0555 to");
  cdam_tree_target *target = writer_of("to", false);
  cdam_entry top = entry_of(CDAM_ENTRY(DIRECTORY), "");
  assert_int_equal(target->entry(target, &top, "", &made, &err), CDAM_OK);
  assert_int_equal(here("test $(stat -c %%a to) = 755"), 0);
  top = entry_of(CDAM_ENTRY(LEAVE_DIRECTORY), "");
  top.mode = 0500;
  assert_int_equal(target->entry(target, &top, "", &made, &err), CDAM_OK);
  assert_int_equal(here("test $(stat -c %%a to) = 500"), 0);
  target->free(target);
}

/* The way into a directory is never a link. */
static void existing_directories(void **unused) {
  (void)unused;
  here("mkdir -p from/sub && echo new >from/sub/name");
  for (int replace = 0; replace < 2; replace++) {
    here("rm -rf to out; mkdir to out; ln -s ../out to/sub");
    cdam_tree_feed *feed = walk_of("from");
    cdam_tree_target *target = writer_of("to", replace);
    uint64_t entries;
    cdam_error err;
    assert_int_equal(move(feed, target, &entries, &err), replace ? CDAM_OK : CDAM_ERR_IO);
    feed->free(feed);
    target->free(target);
    assert_int_equal(here("test -z \"$(ls out)\""), 0);
    assert_int_equal(here("test %s to/sub", replace ? "! -L" : "-L"), 0);
  }
}

/* ---- what lies ---- */

typedef struct step {
  int type; /* of an entry; 0: content, -1: its end, -2: all of it */
  const char *path;
  const char *target;
  size_t size;
} step;

#define TREE                                                                                       \
  { CDAM_ENTRY(DIRECTORY), "", NULL, 0 }

static const step lies[][6] = {
    {{CDAM_ENTRY(DIRECTORY), "x", NULL, 0}},
    {{CDAM_ENTRY(HARD_LINK), "", "x", 0}},
    {{CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}},
    {{CDAM_ENTRY(SOCKET), "", NULL, 0}},
    {{CDAM_ENTRY(CHARACTER_DEVICE), "", NULL, 0}},
    {{99, "", NULL, 0}},
    {{0, NULL, NULL, 1}},
    {{-2, NULL, NULL, 0}},
    {{CDAM_ENTRY(FILE), "", NULL, 1}, {0, NULL, NULL, 2}},
    {{CDAM_ENTRY(FILE), "", NULL, 1}, {CDAM_ENTRY(FILE), "x", NULL, 1}},
    {{CDAM_ENTRY(FILE), "", NULL, 1}, {-2, NULL, NULL, 0}},
    {{CDAM_ENTRY(FILE), "", NULL, 1}, {-1, NULL, NULL, 0}, {CDAM_ENTRY(FILE), "x", NULL, 1}},
    {{CDAM_ENTRY(FILE), "", NULL, 1}, {-1, NULL, NULL, 0}, {0, NULL, NULL, 1}},
    {TREE, {-2, NULL, NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "/etc/passwd", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "../x", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "..", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), ".", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "..", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "a/b", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "a/", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "b", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "a/../b", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "a//b", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "ab", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(LEAVE_DIRECTORY), "b", NULL, 0}},
    {TREE, {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}, {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}},
    {TREE, {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}, TREE},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "axb", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(FILE), "b/x", NULL, 0}},
    {TREE, {CDAM_ENTRY(DIRECTORY), "a", NULL, 0}, {CDAM_ENTRY(LEAVE_DIRECTORY), "ab", NULL, 0}},
    {TREE, {CDAM_ENTRY(FILE), "a", NULL, 1}, {CDAM_ENTRY(FILE), "d", NULL, 1}},
    {TREE, {CDAM_ENTRY(LINK), "a", "", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "b", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "../old", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "/etc/passwd", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "old", 0}},      /* there, but not of this copy */
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "door/old", 0}}, /* by a link that is there */
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "./sub/../old", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", ".", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "sub/..", 0}},
    {TREE, {CDAM_ENTRY(HARD_LINK), "a", "sub", 0}},
    {TREE, {CDAM_ENTRY(LINK), "d", "sub", 0}, {CDAM_ENTRY(HARD_LINK), "a", "d/old", 0}},
    {TREE,
     {CDAM_ENTRY(FILE), "f", NULL, 0},
     {-1, NULL, NULL, 0},
     {CDAM_ENTRY(LINK), "d", ".", 0},
     {CDAM_ENTRY(HARD_LINK), "a", "d/f", 0}},
};

static cdam_status play(const step *steps, size_t count, cdam_tree_target *target,
                        cdam_error *err) {
  static cdam_tree_order order;
  cdam_status status = CDAM_OK;
  memset(&order, 0, sizeof order);
  for (size_t i = 0; i < count && status == CDAM_OK; i++) {
    const step *s = &steps[i];
    bool made;
    if (s->type > 0) {
      cdam_entry entry = link_of(s->type, s->path, s->target ? s->target : "");
      entry.size = s->size;
      entry.links = 2;
      entry.mode = 07777;
      status = cdam_tree_order_entry(&order, &entry, err);
      if (status == CDAM_OK) status = target->entry(target, &entry, order.name, &made, err);
    } else if (s->type == -2) {
      status = cdam_tree_order_end(&order, err);
    } else if (s->type == -1 || s->size) {
      bool end = s->type == -1;
      status = cdam_tree_order_data(&order, s->size, end, err);
      if (status == CDAM_OK) status = target->data(target, "xxxx", s->size, end, err);
    }
  }
  return status;
}

static void lies_are_told(void **unused) {
  (void)unused;
  here("mkdir -p world/to/sub; echo secret >world/old; echo secret >world/to/old; "
       "ln -s .. world/to/door; echo secret >world/to/sub/old; cp -a world before");
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    cdam_error err = {0};
    /* One whose top is no directory becomes something new. */
    bool tree = lies[i][0].type == CDAM_ENTRY(DIRECTORY);
    cdam_tree_target *target = writer_of(tree ? "world/to" : "world/new", true);
    cdam_status status = play(lies[i], 6, target, &err);
    target->free(target);
    if (status != CDAM_ERR_AGENT) fail_msg("lie %zu: %d %s", i, status, err.message);
    assert_non_null(strstr(err.message, "the agent sent a tree that is none"));
    assert_int_equal(temporaries(), 0);
    here("rm -rf world/new world/to/a world/to/d world/to/f; chmod 755 world/to");
    assert_int_equal(here("diff -r --no-dereference world before"), 0);
  }
}

static void long_names_and_bad_bytes(void **unused) {
  (void)unused;
  static cdam_tree_order order;
  char name[CDAM_TREE_PATH + 10];
  cdam_error err;
  memset(name, 'n', sizeof name);
  const size_t lengths[] = {255, 256, CDAM_TREE_PATH, CDAM_TREE_PATH + 1};
  for (size_t i = 0; i < 4; i++) {
    memset(&order, 0, sizeof order);
    cdam_entry entry = entry_of(CDAM_ENTRY(DIRECTORY), "");
    assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), CDAM_OK);
    entry.path = (ProtobufCBinaryData){.data = (uint8_t *)name, .len = lengths[i]};
    assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), i ? CDAM_ERR_AGENT : CDAM_OK);
  }
  cdam_entry entry = entry_of(CDAM_ENTRY(FILE), "");
  entry.path = (ProtobufCBinaryData){.data = (uint8_t *)"a\0b", .len = 3};
  memset(&order, 0, sizeof order);
  order.begun = true;
  order.depth = 1;
  assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), CDAM_ERR_AGENT);
  entry = entry_of(CDAM_ENTRY(FILE), "x");
  entry.mtime_ns = 1000000000;
  assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), CDAM_ERR_AGENT);
  entry = link_of(CDAM_ENTRY(LINK), "x", "y");
  entry.target = (ProtobufCBinaryData){.data = (uint8_t *)name, .len = CDAM_TREE_PATH + 1};
  assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), CDAM_ERR_AGENT);
  entry.target = (ProtobufCBinaryData){.data = (uint8_t *)"a\0b", .len = 3};
  assert_int_equal(cdam_tree_order_entry(&order, &entry, &err), CDAM_ERR_AGENT);
}

static void no_deeper_than_the_bound(void **unused) {
  (void)unused;
  static cdam_tree_order order;
  char path[2 * CDAM_TREE_DEPTH + 4] = "";
  cdam_error err;
  memset(&order, 0, sizeof order);
  for (int i = 0; i <= CDAM_TREE_DEPTH; i++) {
    cdam_entry entry = entry_of(CDAM_ENTRY(DIRECTORY), path);
    assert_int_equal(cdam_tree_order_entry(&order, &entry, &err),
                     i < CDAM_TREE_DEPTH ? CDAM_OK : CDAM_ERR_AGENT);
    memcpy(path + strlen(path), i ? "/d" : "d", i ? 3 : 2);
  }
}

static void no_set_id_bits(void **unused) {
  (void)unused;
  const step steps[] = {TREE,
                        {CDAM_ENTRY(FILE), "f", NULL, 1},
                        {0, NULL, NULL, 1},
                        {-1, NULL, NULL, 0},
                        {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}};
  cdam_error err;
  cdam_tree_target *target = writer_of("to", false);
  assert_int_equal(play(steps, 5, target, &err), CDAM_OK);
  target->free(target);
  assert_int_equal(here("test $(stat -c %%a to/f) = 777 && test $(stat -c %%a to) = 1777"), 0);
}

static const struct {
  const char *text;
  int level;
  bool stays;
} links[] = {
    {"a", 0, true},         {"a/b/c", 0, true},  {"./a", 0, true},
    {".", 0, true},         {"..", 0, false},    {"../a", 0, false},
    {"..", 1, true},        {"../a/b", 1, true}, {"../../a", 1, false},
    {"../../a", 2, true},   {"a/..", 3, false},  {"a/../../..", 0, false},
    {"/", 5, false},        {"/etc", 5, false},  {"//etc", 5, false},
    {".//..//x", 0, false}, {"./../x", 1, true}, {"..x", 0, true},
    {"...", 0, true},       {"a/..b", 0, true},  {"d/d/d/../..", 0, false},
    {"", 0, false},         {"../..", 1, false}, {"a/", 0, true},
};

static void links_that_stay(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    if (cdam_tree_link_stays(links[i].text, strlen(links[i].text), links[i].level) !=
        links[i].stays)
      fail_msg("'%s' at %d", links[i].text, links[i].level);
}

static void links_that_lead_out_are_left_out(void **unused) {
  (void)unused;
  const step steps[] = {TREE,
                        {CDAM_ENTRY(LINK), "in", "x", 0},
                        {CDAM_ENTRY(LINK), "out", "../x", 0},
                        {CDAM_ENTRY(LINK), "root", "/", 0},
                        {CDAM_ENTRY(LEAVE_DIRECTORY), "", NULL, 0}};
  const step top[] = {{CDAM_ENTRY(LINK), "", "x", 0}};
  cdam_error err;
  cdam_tree_target *target = writer_of("to", false);
  assert_int_equal(play(steps, 5, target, &err), CDAM_OK);
  assert_int_equal(target->skipped, 2);
  target->free(target);
  assert_int_equal(here("test \"$(ls to)\" = in"), 0);
  target = writer_of("link", false);
  assert_int_equal(play(top, 1, target, &err), CDAM_OK);
  assert_int_equal(target->skipped, 1);
  target->free(target);
  assert_int_equal(here("test ! -L link"), 0);
}

/* A link of the tree, and then something "in" it. */
static void no_link_is_entered(void **unused) {
  (void)unused;
  here("mkdir to to/sub");
  const step steps[] = {TREE,
                        {CDAM_ENTRY(LINK), "door", "sub", 0},
                        {CDAM_ENTRY(DIRECTORY), "door", NULL, 0},
                        {CDAM_ENTRY(FILE), "door/x", NULL, 0},
                        {-1, NULL, NULL, 0}};
  cdam_error err;
  cdam_tree_target *target = writer_of("to", false);
  assert_int_equal(play(steps, 5, target, &err), CDAM_ERR_IO);
  target->free(target);
  assert_int_equal(here("test -z \"$(ls to/sub)\""), 0);
  target = writer_of("to", true); /* here the link goes */
  assert_int_equal(play(steps, 5, target, &err), CDAM_OK);
  target->free(target);
  assert_int_equal(here("test -z \"$(ls to/sub)\" && test -f to/door/x"), 0);
}

static void what_is_not_complete_goes(void **unused) {
  (void)unused;
  const step steps[] = {TREE, {CDAM_ENTRY(FILE), "f", NULL, 2}, {0, NULL, NULL, 1}};
  cdam_error err;
  cdam_tree_target *target = writer_of("to", false);
  assert_int_equal(play(steps, 3, target, &err), CDAM_OK);
  assert_int_not_equal(temporaries(), 0);
  target->free(target);
  assert_int_equal(here("test -z \"$(ls -A to)\""), 0);
}

static void places_that_are_none(void **unused) {
  (void)unused;
  const cdam_tree_options options = {0};
  cdam_tree_target *target;
  cdam_tree_feed *feed;
  cdam_error err;
  assert_int_equal(cdam_tree_writer_new("", &options, &target, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_tree_writer_new(in_scratch("no/where"), &options, &target, &err),
                   CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "no/where"));
  assert_int_equal(cdam_tree_walk_new(in_scratch("no/where"), &feed, &err), CDAM_ERR_IO);
  feed = walk_of("missing");
  cdam_tree_part part;
  assert_int_equal(feed->next(feed, &part, &err), CDAM_ERR_IO);
  assert_int_equal(err.system_errno, 2);
  feed->free(feed);
  feed = walk_of("../../dev/null");
  assert_int_equal(feed->next(feed, &part, &err), CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "device"));
  feed->free(feed);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, make_scratch, remove_scratch)

int main(void) {
  umask(077);
  const struct CMUnitTest tests[] = {
      TEST(copies_everything),
      TEST(copies_one_file),
      TEST(skips_sockets),
      TEST(a_shorter_file_is_an_error),
      TEST(a_growing_file_is_cut),
      TEST(too_deep_is_an_error),
      TEST(existing_files),
      TEST(told_before_the_content),
      TEST(read_only_ones_are_opened),
      TEST(existing_directories),
      TEST(lies_are_told),
      TEST(long_names_and_bad_bytes),
      TEST(no_deeper_than_the_bound),
      TEST(no_set_id_bits),
      cmocka_unit_test(links_that_stay),
      TEST(links_that_lead_out_are_left_out),
      TEST(no_link_is_entered),
      TEST(what_is_not_complete_goes),
      TEST(places_that_are_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
