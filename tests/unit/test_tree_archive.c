/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/tree: archives as feeds and as targets. */
#include "tree_support.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>

#include "tree/archive_read.h"
#include "tree/archive_write.h"
#include "tree/walk.h"
#include "tree/writer.h"

static ssize_t from_stream(void *user, void *buffer, size_t size, cdam_error *err) {
  (void)err;
  /* Odd pieces. */
  return (ssize_t)fread(buffer, 1, size > 777 ? 777 : size, user);
}

static bool to_stream(void *user, const void *bytes, size_t length, cdam_error *err) {
  if (fwrite(bytes, 1, length, user) == length) return true;
  cdam_fail(err, CDAM_ERR_IO, "full");
  return false;
}

static cdam_status unpack(const char *archive, const char *to, bool replace, cdam_error *err) {
  cdam_tree_options options = {.replace = replace};
  cdam_tree_feed *feed = NULL;
  cdam_tree_target *target = NULL;
  uint64_t entries;
  FILE *stream = fopen(in_scratch(archive), "r");
  assert_non_null(stream);
  assert_int_equal(cdam_archive_read_new(from_stream, stream, &feed, err), CDAM_OK);
  assert_int_equal(cdam_tree_writer_new(in_scratch(to), &options, &target, err), CDAM_OK);
  cdam_status status = move(feed, target, &entries, err);
  feed->free(feed);
  target->free(target);
  fclose(stream);
  return status;
}

static void pack(const char *from, const char *archive) {
  cdam_tree_feed *feed = NULL;
  cdam_tree_target *target = NULL;
  uint64_t entries;
  cdam_error err;
  FILE *stream = fopen(in_scratch(archive), "w");
  assert_non_null(stream);
  assert_int_equal(cdam_tree_walk_new(in_scratch(from), &feed, &err), CDAM_OK);
  assert_int_equal(cdam_archive_write_new("name", false, to_stream, stream, &target, &err),
                   CDAM_OK);
  if (move(feed, target, &entries, &err) != CDAM_OK) fail_msg("%s", err.message);
  feed->free(feed);
  target->free(target);
  fclose(stream);
}

static void unpack_well(const char *archive, const char *to) {
  cdam_error err;
  if (unpack(archive, to, true, &err) != CDAM_OK) fail_msg("%s: %s", archive, err.message);
}

/* ---- round trips ---- */

static void there_and_back(void **unused) {
  (void)unused;
  make_sample("from");
  pack("from", "a.tar");
  unpack_well("a.tar", "to");
  assert_same("from", "to");
  /* Another program agrees. */
  assert_int_equal(here("mkdir gnu && tar -C gnu -xpf a.tar 2>log"), 0);
  assert_same("from", "gnu");
}

/* Names are bytes in a program that has set a locale as well. */
static void names_in_a_locale(void **unused) {
  assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
  there_and_back(unused);
  setlocale(LC_ALL, "C");
}

static void one_file(void **unused) {
  (void)unused;
  here("echo content >from && mkdir out");
  pack("from", "a.tar");
  unpack_well("a.tar", "to");
  assert_int_equal(here("test \"$(ls to)\" = name && cmp from to/name"), 0);
}

static void long_names(void **unused) {
  (void)unused;
  assert_int_equal(here("mkdir -p from/$(printf 'd%%.0s' $(seq 200))/$(printf 'e%%.0s' $(seq 255)) "
                        "&& echo x >from/$(printf 'd%%.0s' $(seq 200))/$(printf 'f%%.0s' $(seq "
                        "255)) && ln -s $(printf 'l%%.0s' $(seq 4000)) from/link"),
                   0);
  pack("from", "a.tar");
  unpack_well("a.tar", "to");
  assert_same("from", "to");
}

static const char *const makers[] = {
    "tar -C from -cf a .",
    "tar -C from --format=ustar -cf a .",
    "tar -C from --format=v7 -cf a .",
    "tar -C from --format=pax -cf a .",
    "tar -C from -czf a .",
    "tar -C from -cjf a .",
    "tar -C from -cJf a .",
    "tar -C from -c . | zstd -q >a",
    "cd from && find . | cpio -o -H newc --quiet >../a",
};

static void other_programs_archives(void **unused) {
  (void)unused;
  assert_int_equal(here("mkdir -p from/a/b && echo one >from/a/one && head -c 70000 /dev/urandom "
                        ">from/a/b/two && ln -s one from/a/link && chmod 0500 from/a/b && "
                        "touch -h -d 2005-05-05 from/a/link from/a/b/two from/a/one && "
                        "touch -d 2004-04-04 from/a/b from/a from"),
                   0);
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    if (here("%s 2>/dev/null", makers[i]) != 0) {
      print_message("not here: %s\n", makers[i]);
      continue;
    }
    here("chmod -R u+w to 2>/dev/null; rm -rf to");
    unpack_well("a", "to");
    /* The time of a link is not in all of them. */
    here("touch -h -d 2005-05-05 to/a/link && touch -d 2004-04-04 to/a");
    assert_same("from", "to");
  }
}

/* ---- archives that are made by hand ---- */

typedef struct item {
  int type;
  const char *path;
  const char *link;
  int mode;
  long mtime;
  const char *content;
} item;

static void write_items(const char *name, const item *items, size_t count) {
  struct archive *a = archive_write_new();
  archive_write_set_format_pax(a);
  assert_int_equal(archive_write_open_filename(a, in_scratch(name)), ARCHIVE_OK);
  for (size_t i = 0; i < count && items[i].path; i++) {
    struct archive_entry *entry = archive_entry_new();
    size_t length = items[i].content ? strlen(items[i].content) : 0;
    archive_entry_set_pathname(entry, items[i].path);
    archive_entry_set_filetype(entry, items[i].type ? (unsigned)items[i].type : AE_IFREG);
    if (!items[i].type) archive_entry_set_hardlink(entry, items[i].link);
    if (items[i].type == AE_IFLNK) archive_entry_set_symlink(entry, items[i].link);
    archive_entry_set_perm(entry, (unsigned)items[i].mode);
    archive_entry_set_size(entry, (la_int64_t)length);
    archive_entry_set_mtime(entry, items[i].mtime, 0);
    assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
    if (length) archive_write_data(a, items[i].content, length);
    archive_entry_free(entry);
  }
  archive_write_close(a);
  archive_write_free(a);
}

#define FILE_AT(path)                                                                              \
  { AE_IFREG, path, NULL, 0644, 1000000000, "x" }

static const item any_order[] = {
    {AE_IFREG, "a/b/c", NULL, 0600, 900000000, "deep"},
    {AE_IFDIR, "z/", NULL, 0555, 800000000, NULL},
    {AE_IFREG, "z/in", NULL, 0644, 700000000, "in z"},
    {AE_IFREG, "./top", NULL, 0644, 700000000, "top"},
    {AE_IFDIR, "a/b", NULL, 0711, 600000000, NULL},
    {AE_IFREG, "a//b/./d", NULL, 0644, 500000000, "later"},
    {0, "z/again", "./a/b/c", 0600, 900000000, NULL},
    {AE_IFDIR, ".", NULL, 0750, 400000000, NULL},
    {AE_IFDIR, "a", NULL, 0705, 300000000, NULL},
};

static void any_order_will_do(void **unused) {
  (void)unused;
  write_items("a.tar", any_order, sizeof any_order / sizeof *any_order);
  cdam_tree_feed *feed = NULL;
  cdam_error err;
  char log[4096] = "";
  FILE *stream = fopen(in_scratch("a.tar"), "r");
  assert_int_equal(cdam_archive_read_new(from_stream, stream, &feed, &err), CDAM_OK);
  for (;;) {
    cdam_tree_part part;
    cdam_entry found = entry_of(CDAM_ENTRY(DIRECTORY), "");
    assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
    size_t used = strlen(log);
    if (part.kind == CDAM_TREE_PART_ENTRY)
      snprintf(log + used, sizeof log - used, "%c %.*s %o\n", "?FDLPSCBHV"[part.entry.type],
               (int)part.entry.path.len, part.entry.path.data, part.entry.mode);
    if (part.kind == CDAM_TREE_PART_ASK) {
      snprintf(log + used, sizeof log - used, "? %.*s\n", (int)part.entry.path.len,
               part.entry.path.data);
      found.mode = 0712;
      feed->told(feed, part.entry.path.len == 3 ? NULL : &found);
    }
    if (part.kind == CDAM_TREE_PART_END) break;
  }
  feed->free(feed);
  fclose(stream);
  assert_string_equal(log, "? \nD  712\n"
                           "? a\nD a 712\n? a/b\nD a/b 755\nF a/b/c 600\n"
                           "V a/b 755\nV a 712\nD z 555\nF z/in 644\n"
                           "V z 555\nF top 644\n"
                           "? a\nD a 712\nD a/b 711\nF a/b/d 644\n"
                           "V a/b 711\nV a 712\n? z\nD z 712\nH z/again 600\n"
                           "V z 712\n"
                           "D a 705\nV a 705\nV  750\n");
}

static const item refused[][3] = {
    {FILE_AT("/etc/passwd")},
    {FILE_AT("../x")},
    {FILE_AT("a/../b")},
    {FILE_AT("a/..")},
    {{0, "x", "../old", 0644, 1, NULL}},
    {{0, "x", "/etc/passwd", 0644, 1, NULL}},
    {{0, "x", ".", 0644, 1, NULL}},
    {{AE_IFREG, ".", NULL, 0644, 1, "x"}},
    {{AE_IFDIR, ".", NULL, 0755, 1, NULL}, {AE_IFREG, "./", NULL, 0644, 1, "x"}},
};

static void names_that_lead_out(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    cdam_error err;
    write_items("a.tar", refused[i], 3);
    cdam_status status = unpack("a.tar", "to", true, &err);
    if (status != CDAM_ERR_IO) fail_msg("%zu: %d", i, status);
    if (!strstr(err.message, "the archive's entry")) fail_msg("%zu: %s", i, err.message);
  }
}

static const struct {
  const char *path;
  const char *clean; /* NULL: refused */
} paths[] = {
    {"a", "a"},       {"./a", "a"},   {"a/", "a"},    {"a//b/./c/", "a/b/c"},
    {".", ""},        {"./", ""},     {"", ""},       {"..", NULL},
    {"a/../b", NULL}, {"/a", NULL},   {"//", NULL},   {"...", "..."},
    {"..a", "..a"},   {"a/..", NULL}, {"./..", NULL}, {".//a", "a"},
};

static void paths_are_cleaned(void **unused) {
  (void)unused;
  char clean[CDAM_TREE_PATH + 1], name[300];
  size_t length;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    bool ok = cdam_archive_clean_path(paths[i].path, clean, &length);
    assert_int_equal(ok, paths[i].clean != NULL);
    if (!ok) continue;
    assert_string_equal(clean, paths[i].clean);
    assert_int_equal(length, strlen(clean));
  }
  memset(name, 'n', sizeof name);
  name[255] = '\0';
  assert_true(cdam_archive_clean_path(name, clean, &length));
  name[255] = 'n';
  name[256] = '\0';
  assert_false(cdam_archive_clean_path(name, clean, &length));
  static char longest[2 * CDAM_TREE_PATH];
  for (size_t i = 0; i < sizeof longest - 1; i++)
    longest[i] = i % 2 ? '/' : 'a';
  longest[CDAM_TREE_PATH] = '\0';
  assert_true(cdam_archive_clean_path(longest, clean, &length));
  assert_int_equal(length, CDAM_TREE_PATH);
  longest[CDAM_TREE_PATH] = '/';
  longest[CDAM_TREE_PATH + 2] = '\0';
  assert_false(cdam_archive_clean_path(longest, clean, &length));
}

static void too_deep(void **unused) {
  (void)unused;
  char path[2 * CDAM_TREE_DEPTH + 2];
  cdam_error err;
  for (size_t i = 0; i < sizeof path; i++)
    path[i] = i % 2 ? '/' : 'd';
  path[2 * CDAM_TREE_DEPTH - 1] = '\0';
  write_items("a.tar", (const item[]){FILE_AT(path)}, 1);
  unpack_well("a.tar", "to");
  path[2 * CDAM_TREE_DEPTH - 1] = '/';
  path[2 * CDAM_TREE_DEPTH + 1] = '\0';
  write_items("a.tar", (const item[]){FILE_AT(path)}, 1);
  assert_int_equal(unpack("a.tar", "to2", true, &err), CDAM_ERR_IO);
}

static void holes(void **unused) {
  (void)unused;
  static const char *const formats[] = {"gnu", "pax --sparse-version=0.0",
                                        "pax --sparse-version=0.1", "pax --sparse-version=1.0"};
  assert_int_equal(
      here("mkdir from && truncate -s 3000000 from/hole && printf mid | dd of=from/hole "
           "bs=1 seek=1500000 conv=notrunc status=none && printf end | dd "
           "of=from/end bs=1 seek=2999997 status=none && truncate -s 1000000 "
           "from/nothing"),
      0);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(here("rm -rf to; tar -C from --format=%s -Scf a.tar .", formats[i]), 0);
    unpack_well("a.tar", "to");
    assert_int_equal(here("diff -r from to"), 0);
  }
  /* None that goes on for ever. */
  cdam_error err;
  assert_int_equal(
      here("sed s/realsize=3000000/realsize=-300000/ a.tar >b.tar; ! cmp -s a.tar b.tar"), 0);
  assert_int_equal(unpack("b.tar", "to", true, &err), CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "a size below 0"));
}

static const char *const damaged[] = {
    ": >a",
    "echo hello >a",
    "head -c 100000 /dev/urandom >a",
    "tar -C from -cf - . 2>log | head -c 5000 >a",
    "tar -C from -czf - . 2>log | head -c 60000 >a",
    "printf '#mtree\\n./x type=file contents=/etc/passwd size=10\\n' >a",
};

static void what_is_no_archive(void **unused) {
  (void)unused;
  here("mkdir from && head -c 100000 /dev/urandom >from/file");
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    cdam_error err;
    assert_int_equal(here("%s", damaged[i]), 0);
    cdam_status status = unpack("a", "to", true, &err);
    if (status != CDAM_ERR_IO) fail_msg("'%s': %d", damaged[i], status);
    assert_non_null(strstr(err.message, "archive"));
    assert_int_equal(temporaries(), 0);
  }
  /* Nothing but its end is an archive. */
  here("tar -cf a -T /dev/null");
  cdam_tree_feed *feed = NULL;
  cdam_tree_part part;
  cdam_error err;
  FILE *stream = fopen(in_scratch("a"), "r");
  assert_int_equal(cdam_archive_read_new(from_stream, stream, &feed, &err), CDAM_OK);
  do {
    assert_int_equal(feed->next(feed, &part, &err), CDAM_OK);
  } while (part.kind == CDAM_TREE_PART_AGAIN);
  assert_int_equal(part.kind, CDAM_TREE_PART_END);
  feed->free(feed);
  fclose(stream);
}

static ssize_t broken_source(void *user, void *buffer, size_t size, cdam_error *err) {
  (void)user, (void)buffer, (void)size;
  cdam_fail(err, CDAM_ERR_IO, "my own words");
  return -1;
}

static bool broken_sink(void *user, const void *bytes, size_t length, cdam_error *err) {
  (void)user, (void)bytes, (void)length;
  cdam_fail(err, CDAM_ERR_IO, "my own words");
  return false;
}

static void broken_ends(void **unused) {
  (void)unused;
  cdam_tree_feed *feed = NULL;
  cdam_tree_target *target = NULL;
  cdam_tree_part part;
  uint64_t entries;
  cdam_error err;
  assert_int_equal(cdam_archive_read_new(broken_source, NULL, &feed, &err), CDAM_OK);
  assert_int_equal(feed->next(feed, &part, &err), CDAM_ERR_IO);
  assert_string_equal(err.message, "my own words");
  feed->free(feed);
  here("mkdir from && head -c 300000 /dev/zero >from/file");
  assert_int_equal(cdam_tree_walk_new(in_scratch("from"), &feed, &err), CDAM_OK);
  assert_int_equal(cdam_archive_write_new("name", false, broken_sink, NULL, &target, &err),
                   CDAM_OK);
  assert_int_equal(move(feed, target, &entries, &err), CDAM_ERR_IO);
  assert_string_equal(err.message, "my own words");
  feed->free(feed);
  target->free(target);
}

static void devices_are_skipped(void **unused) {
  (void)unused;
  const item items[] = {{AE_IFCHR, "null", NULL, 0666, 1, NULL},
                        {AE_IFBLK, "disk", NULL, 0666, 1, NULL},
                        {AE_IFIFO, "pipe", NULL, 0644, 1, NULL}};
  cdam_error err;
  write_items("a.tar", items, 3);
  assert_int_equal(unpack("a.tar", "to", false, &err), CDAM_OK);
  assert_int_equal(here("test \"$(ls to)\" = pipe"), 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, make_scratch, remove_scratch)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(there_and_back),
      TEST(names_in_a_locale),
      TEST(one_file),
      TEST(long_names),
      TEST(other_programs_archives),
      TEST(any_order_will_do),
      TEST(names_that_lead_out),
      cmocka_unit_test(paths_are_cleaned),
      TEST(too_deep),
      TEST(holes),
      TEST(what_is_no_archive),
      TEST(broken_ends),
      TEST(devices_are_skipped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
