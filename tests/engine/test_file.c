/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a sandbox: content, names, attributes, and how it fails. */
#include "test_file_support.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- content ---- */

static void test_sizes(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 4096, 65535, 65536, 131071, 131072, 131073, 3000001};
  char *bytes = noise(3000001);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    put_with("sizes", bytes, sizes[i], NULL);
    assert_int_equal(info_of("sizes", false).size, sizes[i]);
    size_t length;
    char *back = get("sizes", &length);
    assert_int_equal(length, sizes[i]);
    assert_memory_equal(back, bytes, length);
    free(back);
  }
  free(bytes);
}

static void test_a_limit(void **state) {
  (void)state;
  char *bytes = noise(200000), *back;
  size_t length;
  cdam_error err;
  put_with("limit", bytes, 200000, NULL);
  assert_ok(cdam_file_read(session, "limit", 200000, &back, &length, &err), &err);
  assert_int_equal(length, 200000);
  free(back);
  const size_t limits[] = {199999, 100, 1, 0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    back = (char *)1;
    assert_fails(cdam_file_read(session, "limit", limits[i], &back, &length, &err), CDAM_ERR_FILE,
                 EFBIG, &err);
    assert_message(&err, "cannot read \"limit\": it is larger than");
    assert_null(back);
    assert_int_equal(length, 0);
  }
  put("limit", "");
  assert_ok(cdam_file_read(session, "limit", 0, &back, &length, &err), &err);
  assert_int_equal(length, 0);
  free(back);
  free(bytes);
}

typedef struct collected {
  char bytes[512];
  size_t length;
  size_t fail_at;
} collected;

static bool collect(void *user, const void *bytes, size_t length) {
  collected *this = user;
  if (this->fail_at && this->length + length > this->fail_at) return false;
  if (this->length + length <= sizeof this->bytes)
    memcpy(this->bytes + this->length, bytes, length);
  this->length += length;
  return true;
}

static void test_parts(void **state) {
  (void)state;
  put("parts", "0123456789");
  const struct {
    uint64_t offset, length;
    const char *text;
  } parts[] = {
      {0, 0, "0123456789"},  {3, 0, "3456789"}, {3, 4, "3456"}, {9, 5, "9"},
      {0, 10, "0123456789"}, {10, 0, ""},       {99999, 1, ""}, {0, UINT64_MAX, "0123456789"}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    collected to = {0};
    cdam_sink sink = {.write = collect, .user = &to};
    cdam_error err;
    assert_ok(cdam_file_read_to(session, "parts", parts[i].offset, parts[i].length, &sink, &err),
              &err);
    assert_int_equal(to.length, strlen(parts[i].text));
    assert_memory_equal(to.bytes, parts[i].text, to.length);
  }
  cdam_error err;
  assert_ok(cdam_file_read_to(session, "parts", 0, 0, &(cdam_sink){0}, &err), &err);
}

static void test_modes_of_writing(void **state) {
  (void)state;
  cdam_error err;
  const cdam_source some = {.bytes = "x", .length = 1};
  put_with("modes", "old", 3,
           &(cdam_file_write_options){.set_permissions = true, .permissions = 0751, .sync = true});
  put("modes", "new");
  assert_content("modes", "new");
  assert_int_equal(info_of("modes", false).permissions, 0751);
  put_with("modes", "new", 3,
           &(cdam_file_write_options){.set_permissions = true, .permissions = 04600});
  assert_int_equal(info_of("modes", false).permissions, 04600);

  cdam_file_write_options create = {.mode = CDAM_FILE_CREATE};
  assert_fails(cdam_file_write(session, "modes", &some, &create, &err), CDAM_ERR_FILE, EEXIST,
               &err);
  assert_message(&err, "cannot write \"modes\": file exists");
  put_with("created", "made", 4, &create);
  assert_content("created", "made");
  assert_int_equal(info_of("created", false).permissions, 0644);

  put_with("modes", "+more", 5, &(cdam_file_write_options){.mode = CDAM_FILE_APPEND});
  assert_content("modes", "new+more");
  put_with("appended", "made", 4, &(cdam_file_write_options){.mode = CDAM_FILE_APPEND});
  assert_content("appended", "made");
  cdam_file_write_options in_place = {.mode = CDAM_FILE_IN_PLACE, .offset = 3};
  put_with("modes", "XX", 2, &in_place);
  assert_content("modes", "newXXore");
  assert_fails(cdam_file_write(session, "missing", &some, &in_place, &err), CDAM_ERR_FILE, ENOENT,
               &err);

  assert_fails(cdam_file_write(session, "no/such/file", &some, NULL, &err), CDAM_ERR_FILE, ENOENT,
               &err);
  put_with("deep/er/est", "x", 1, &(cdam_file_write_options){.parents = true});
  assert_content("/workspace/deep/er/est", "x");
  assert_fails(cdam_file_write(session, "deep/er", &some, NULL, &err), CDAM_ERR_FILE, EISDIR, &err);
  assert_int_equal(count_of("deep"), 1);

  put_with("owned", "x", 1,
           &(cdam_file_write_options){.set_owner = true, .uid = 1234, .gid = 5678});
  put("owned", "y");
  cdam_file_info info = info_of("owned", false);
  assert_int_equal(info.uid, 1234);
  assert_int_equal(info.gid, 5678);
}

/* ---- names ---- */

static void test_odd_names(void **state) {
  (void)state;
  char longest[256];
  memset(longest, 'n', 255);
  longest[255] = '\0';
  /* In the order of their bytes. */
  const char *const names[] = {"\n",    " ",        "-rf",          ".hidden",
                               "\\",    "a\nb\tc",  "a\"b'c",       "new\r\nline",
                               longest, "\xc3\xa4", "\xe2\x80\xae", "\xff\xfe"};
  const size_t count = sizeof names / sizeof *names;
  cdam_error err;
  assert_ok(cdam_file_make_directory(session, "odd", 0, false, &err), &err);
  for (size_t i = count; i-- > 0;) {
    char path[300];
    snprintf(path, sizeof path, "odd/%s", names[i]);
    put(path, names[i]);
    assert_content(path, names[i]);
    assert_true(is_there(path));
  }
  cdam_file_list *list;
  assert_ok(cdam_file_list_directory(session, "odd", &list, &err), &err);
  assert_int_equal(cdam_file_list_count(list), count);
  for (size_t i = 0; i < count; i++) {
    const cdam_file_info *info = cdam_file_list_get(list, i);
    assert_string_equal(info->name, names[i]);
    assert_int_equal(info->size, strlen(names[i]));
    assert_int_equal(info->type, CDAM_FILE_REGULAR);
  }
  assert_null(cdam_file_list_get(list, count));
  cdam_file_list_free(list);
  char *bytes;
  size_t length;
  char too_long[262];
  snprintf(too_long, sizeof too_long, "odd/%sx", longest);
  assert_fails(cdam_file_read(session, too_long, 9, &bytes, &length, &err), CDAM_ERR_FILE,
               ENAMETOOLONG, &err);
  assert_fails(cdam_file_read(session, "odd/\nmissing\x1b[31m\xff", 9, &bytes, &length, &err),
               CDAM_ERR_FILE, ENOENT, &err);
  assert_string_equal(err.message, "cannot read \"odd/\\x0amissing\\x1b[31m\\xff\": "
                                   "no such file or directory");
  assert_ok(cdam_file_remove(session, "odd", true, false, &err), &err);
  assert_false(is_there("odd"));
}

static void test_what_is_there(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_list *list;
  shell("mkdir -p kinds/d && cd kinds && echo hello > f && chown 7:8 f && chmod 2751 f && "
        "touch -d @1700000000 f && ln f hard && ln -s f l && ln -s nowhere dangling && mkfifo p && "
        "mknod n c 1 3 2>/dev/null || true");
  cdam_file_info info = info_of("kinds/f", false);
  assert_int_equal(info.type, CDAM_FILE_REGULAR);
  assert_int_equal(info.permissions, 02751);
  assert_int_equal(info.uid, 7);
  assert_int_equal(info.gid, 8);
  assert_int_equal(info.size, 6);
  assert_int_equal(info.mtime, 1700000000);
  assert_int_equal(info.mtime_ns, 0);
  assert_int_equal(info.links, 2);
  assert_int_equal(info.inode, info_of("kinds/hard", false).inode);
  assert_int_equal(info.inode, info_of("kinds/l", true).inode);
  assert_int_equal(info.device, info_of("kinds/hard", false).device);
  assert_int_equal(info_of("kinds/d", false).type, CDAM_FILE_DIRECTORY);
  assert_int_equal(info_of("kinds/p", false).type, CDAM_FILE_PIPE);
  assert_int_equal(info_of("", false).type, CDAM_FILE_DIRECTORY);
  assert_int_equal(info_of("/workspace", true).type, CDAM_FILE_DIRECTORY);
  if (is_there("kinds/n"))
    assert_int_equal(info_of("kinds/n", false).type, CDAM_FILE_CHARACTER_DEVICE);

  assert_ok(cdam_file_stat(session, "kinds/l", false, &list, &err), &err);
  assert_int_equal(cdam_file_list_get(list, 0)->type, CDAM_FILE_LINK);
  assert_string_equal(cdam_file_list_get(list, 0)->target, "f");
  cdam_file_list_free(list);
  assert_ok(cdam_file_stat(session, "kinds/f", false, &list, &err), &err);
  assert_string_equal(cdam_file_list_get(list, 0)->target, "");
  cdam_file_list_free(list);

  assert_true(is_there("kinds/dangling"));
  assert_false(is_there("kinds/none"));
  assert_false(is_there("kinds/f/none"));
  assert_false(is_there("none/none"));
  assert_fails(cdam_file_stat(session, "kinds/dangling", true, &list, &err), CDAM_ERR_FILE, ENOENT,
               &err);
  assert_null(list);
  assert_fails(cdam_file_stat(session, "kinds/none", false, &list, &err), CDAM_ERR_FILE, ENOENT,
               &err);
  assert_string_equal(err.message, "cannot look at \"kinds/none\": no such file or directory");
  assert_fails(cdam_file_list_directory(session, "kinds/f", &list, &err), CDAM_ERR_FILE, ENOTDIR,
               &err);
  assert_int_equal(count_of("kinds/d"), 0);
}

static void test_changing_names(void **state) {
  (void)state;
  cdam_error err;
  assert_ok(cdam_file_make_directory(session, "made", 0, false, &err), &err);
  assert_int_equal(info_of("made", false).permissions, 0755);
  assert_fails(cdam_file_make_directory(session, "made", 0, false, &err), CDAM_ERR_FILE, EEXIST,
               &err);
  assert_ok(cdam_file_make_directory(session, "made", 0, true, &err), &err);
  assert_ok(cdam_file_make_directory(session, "made/by/me", 01777, true, &err), &err);
  assert_int_equal(info_of("made/by/me", false).permissions, 01777);
  assert_fails(cdam_file_make_directory(session, "made/no/no", 0, false, &err), CDAM_ERR_FILE,
               ENOENT, &err);

  put("made/a", "a");
  put("made/b", "b");
  assert_fails(cdam_file_rename(session, "made/a", "made/b", true, &err), CDAM_ERR_FILE, EEXIST,
               &err);
  assert_string_equal(err.message, "cannot rename \"made/a\" to \"made/b\": file exists");
  assert_ok(cdam_file_rename(session, "made/a", "made/b", false, &err), &err);
  assert_content("made/b", "a");
  assert_false(is_there("made/a"));
  assert_fails(cdam_file_rename(session, "made/a", "made/c", false, &err), CDAM_ERR_FILE, ENOENT,
               &err);

  assert_ok(cdam_file_make_link(session, "made/link", "b", false, &err), &err);
  assert_content("made/link", "a");
  assert_ok(cdam_file_make_link(session, "made/hard", "made/b", true, &err), &err);
  assert_int_equal(info_of("made/hard", false).links, 2);
  assert_fails(cdam_file_make_link(session, "made/link", "b", false, &err), CDAM_ERR_FILE, EEXIST,
               &err);
  /* A link is replaced, not followed. */
  put("made/link", "new");
  assert_int_equal(info_of("made/link", false).type, CDAM_FILE_REGULAR);
  assert_content("made/b", "a");

  assert_fails(cdam_file_remove(session, "made", false, false, &err), CDAM_ERR_FILE, ENOTEMPTY,
               &err);
  assert_ok(cdam_file_make_link(session, "made/by/up", "..", false, &err), &err);
  assert_ok(cdam_file_remove(session, "made/by", true, false, &err), &err);
  assert_true(is_there("made/b"));
  assert_ok(cdam_file_remove(session, "made/b", false, false, &err), &err);
  assert_fails(cdam_file_remove(session, "made/b", false, false, &err), CDAM_ERR_FILE, ENOENT,
               &err);
  assert_ok(cdam_file_remove(session, "made/b", false, true, &err), &err);
  assert_ok(cdam_file_remove(session, "made", true, false, &err), &err);
}

static void test_attributes(void **state) {
  (void)state;
  cdam_error err;
  put("attributes", "0123456789");
  cdam_file_attributes change = {.set_permissions = true,
                                 .permissions = 0640,
                                 .set_owner = true,
                                 .uid = 11,
                                 .gid = 12,
                                 .set_mtime = true,
                                 .mtime = -5,
                                 .mtime_ns = 999999999,
                                 .set_size = true,
                                 .size = 4};
  assert_ok(cdam_file_set_attributes(session, "attributes", &change, &err), &err);
  cdam_file_info info = info_of("attributes", false);
  assert_int_equal(info.permissions, 0640);
  assert_int_equal(info.uid, 11);
  assert_int_equal(info.gid, 12);
  assert_true(info.mtime == -5 || info.mtime == 0); /* not every file system has such times */
  assert_content("attributes", "0123");
  change = (cdam_file_attributes){.set_owner = true, .uid = UINT32_MAX, .gid = 99};
  assert_ok(cdam_file_set_attributes(session, "attributes", &change, &err), &err);
  info = info_of("attributes", false);
  assert_int_equal(info.uid, 11);
  assert_int_equal(info.gid, 99);
  assert_int_equal(info.permissions, 0640);
  assert_ok(cdam_file_make_link(session, "attributes-link", "attributes", false, &err), &err);
  change = (cdam_file_attributes){.follow = true, .set_permissions = true, .permissions = 0600};
  assert_ok(cdam_file_set_attributes(session, "attributes-link", &change, &err), &err);
  assert_int_equal(info_of("attributes", false).permissions, 0600);
  change.follow = false;
  assert_int_equal(cdam_file_set_attributes(session, "attributes-link", &change, &err),
                   CDAM_ERR_FILE);
}

/* ---- how it fails ---- */

static void test_paths_out(void **state) {
  (void)state;
  cdam_error err;
  char *bytes;
  size_t length;
  cdam_file_list *list;
  const cdam_source some = {.bytes = "x", .length = 1};
  shell("mkdir -p out /tmp/outside && echo secret > /tmp/outside/secret && "
        "ln -sf /tmp/outside/secret out/file && ln -sfn /tmp/outside out/dir && "
        "ln -sfn ../../tmp/outside out/up && ln -sfn /workspace/out out/absolute");
  const char *const paths[] = {"../etc/passwd", "/etc/passwd",      "out/../../etc/passwd",
                               "out/file",      "out/dir/secret",   "out/up/secret",
                               "/workspacex",   "out/absolute/file"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_int_equal(cdam_file_read(session, paths[i], 99, &bytes, &length, &err),
                     CDAM_ERR_OUTSIDE);
    assert_message(&err, "\": the path leads out of the workspace");
  }
  assert_int_equal(cdam_file_write(session, "out/dir/new", &some, NULL, &err), CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_list_directory(session, "out/dir", &list, &err), CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_list_directory(session, "..", &list, &err), CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_make_directory(session, "out/up/new", 0, true, &err),
                   CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_rename(session, "out/dir/secret", "stolen", false, &err),
                   CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_make_link(session, "stolen", "out/dir/secret", true, &err),
                   CDAM_ERR_OUTSIDE);
  cdam_file_write_options append = {.mode = CDAM_FILE_APPEND};
  assert_int_equal(cdam_file_write(session, "out/file", &some, &append, &err), CDAM_ERR_OUTSIDE);
  /* What is in the way is itself in the workspace. */
  assert_ok(cdam_file_remove(session, "out", true, false, &err), &err);
  assert_string_equal(shell("cat /tmp/outside/*"), "secret");
}

static void test_what_is_no_file(void **state) {
  (void)state;
  cdam_error err;
  char *bytes;
  size_t length;
  shell("mkdir -p no-file/d && mkfifo no-file/p");
  assert_fails(cdam_file_read(session, "no-file/d", 9, &bytes, &length, &err), CDAM_ERR_FILE,
               EISDIR, &err);
  assert_fails(cdam_file_read(session, "no-file/p", 9, &bytes, &length, &err), CDAM_ERR_FILE,
               EINVAL, &err);
  assert_fails(cdam_file_read(session, "no-file/d/x/y", 9, &bytes, &length, &err), CDAM_ERR_FILE,
               ENOENT, &err);
  cdam_file_write_options append = {.mode = CDAM_FILE_APPEND};
  assert_int_equal(cdam_file_write(session, "no-file/p", &(cdam_source){0}, &append, &err),
                   CDAM_ERR_FILE);
}

static void test_arguments(void **state) {
  (void)state;
  cdam_error err;
  char *bytes, path[5000];
  size_t length;
  bool exists;
  cdam_file_list *list;
  const cdam_source none = {0};
  const cdam_sink away = {0};
  memset(path, 'p', sizeof path);
  path[4096] = '\0';
  assert_fails(cdam_file_read(session, path, 9, &bytes, &length, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_message(&err, "path is longer than 4095 bytes");
  path[4095] = '\0';
  assert_fails(cdam_file_read(session, path, 9, &bytes, &length, &err), CDAM_ERR_FILE, ENAMETOOLONG,
               &err);
#define ARGUMENT(call, text)                                                                       \
  do {                                                                                             \
    err = (cdam_error){0};                                                                         \
    assert_int_equal(call, CDAM_ERR_ARGUMENT);                                                     \
    assert_message(&err, text);                                                                    \
  } while (0)
  ARGUMENT(cdam_file_read(NULL, "f", 9, &bytes, &length, &err), "session is NULL");
  ARGUMENT(cdam_file_read(session, NULL, 9, &bytes, &length, &err), "path is NULL");
  ARGUMENT(cdam_file_read(session, "f", 9, NULL, &length, &err), "bytes");
  ARGUMENT(cdam_file_read_to(session, "f", 0, 0, NULL, &err), "sink is NULL");
  ARGUMENT(cdam_file_read_to(session, NULL, 0, 0, &away, &err), "path is NULL");
  ARGUMENT(cdam_file_read_to(session, "f", UINT64_MAX, 0, &away, &err), "offset");
  ARGUMENT(cdam_file_write(session, "f", NULL, NULL, &err), "source is NULL");
  ARGUMENT(cdam_file_write(session, NULL, &none, NULL, &err), "path is NULL");
  cdam_file_write_options options = {.mode = (cdam_file_write_mode)4};
  ARGUMENT(cdam_file_write(session, "f", &none, &options, &err), "mode");
  options = (cdam_file_write_options){.offset = 1};
  ARGUMENT(cdam_file_write(session, "f", &none, &options, &err), "offset");
  options = (cdam_file_write_options){.set_permissions = true, .permissions = 010000};
  ARGUMENT(cdam_file_write(session, "f", &none, &options, &err), "07777");
  options = (cdam_file_write_options){.reserved = {[11] = true}};
  ARGUMENT(cdam_file_write(session, "f", &none, &options, &err), "reserved");
  ARGUMENT(cdam_file_stat(session, "f", false, NULL, &err), "out is NULL");
  ARGUMENT(cdam_file_stat(session, NULL, false, &list, &err), "path is NULL");
  ARGUMENT(cdam_file_exists(session, "f", NULL, &err), "exists is NULL");
  ARGUMENT(cdam_file_exists(session, NULL, &exists, &err), "path is NULL");
  ARGUMENT(cdam_file_list_directory(session, NULL, &list, &err), "path is NULL");
  ARGUMENT(cdam_file_make_directory(session, NULL, 0, false, &err), "path is NULL");
  ARGUMENT(cdam_file_make_directory(session, "d", 010000, false, &err), "07777");
  ARGUMENT(cdam_file_remove(session, NULL, false, false, &err), "path is NULL");
  ARGUMENT(cdam_file_rename(session, NULL, "t", false, &err), "from is NULL");
  ARGUMENT(cdam_file_rename(session, "f", NULL, false, &err), "to is NULL");
  ARGUMENT(cdam_file_make_link(session, "l", NULL, false, &err), "target is NULL");
  ARGUMENT(cdam_file_set_attributes(session, "f", NULL, &err), "attributes is NULL");
  ARGUMENT(
      cdam_file_set_attributes(
          session, "f", &(cdam_file_attributes){.set_mtime = true, .mtime_ns = 1000000000}, &err),
      "mtime_ns");
  cdam_file_watch *watch;
  ARGUMENT(cdam_file_watch_new(session, NULL, &watch, &err), "path is NULL");
  ARGUMENT(cdam_file_watch_next(NULL, 0, NULL, &err), "NULL");
  cdam_file_watch_free(NULL);
  cdam_file_list_free(NULL);
}

/* ---- sources and sinks ---- */

typedef struct giver {
  const char *bytes;
  size_t left;
  size_t piece;
  size_t fail_below; /* when no more than that is left */
} giver;

static int64_t give(void *user, void *buffer, size_t size) {
  giver *this = user;
  if (this->fail_below && this->left <= this->fail_below) return -1;
  size_t count = this->piece < this->left ? this->piece : this->left;
  if (count > size) count = size;
  memcpy(buffer, this->bytes, count);
  this->bytes += count;
  this->left -= count;
  return (ssize_t)count;
}

static void assert_bytes(const char *path, const char *bytes, size_t length) {
  size_t size;
  char *back = get(path, &size);
  assert_int_equal(size, length);
  assert_memory_equal(back, bytes, length);
  free(back);
}

static void test_sources(void **state) {
  (void)state;
  enum { SIZE = 2500000 };
  char *bytes = noise(SIZE);
  cdam_error err;

  giver from = {.bytes = bytes, .left = SIZE, .piece = 7777};
  cdam_source source = {.read = give, .user = &from};
  assert_ok(cdam_file_write(session, "from-callback", &source, NULL, &err), &err);
  assert_bytes("from-callback", bytes, SIZE);

  FILE *file = tmpfile();
  assert_int_equal(fwrite(bytes, 1, SIZE, file), SIZE);
  rewind(file);
  source = (cdam_source){.from_fd = true, .fd = fileno(file)};
  assert_ok(cdam_file_write(session, "from-file", &source, NULL, &err), &err);
  assert_bytes("from-file", bytes, SIZE);
  assert_int_equal(fcntl(fileno(file), F_GETFD) >= 0, 1);
  fclose(file);

  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (int i = 0; i < 5; i++) {
      if (write(ends[1], bytes + i * 1000, 1000) != 1000) _exit(1);
      usleep(60000);
    }
    _exit(0);
  }
  close(ends[1]);
  source = (cdam_source){.from_fd = true, .fd = ends[0]};
  assert_ok(cdam_file_write(session, "from-pipe", &source, NULL, &err), &err);
  assert_bytes("from-pipe", bytes, 5000);
  close(ends[0]);
  waitpid(child, NULL, 0);

  /* The old file stays, and nothing else is left. */
  put("from-failing", "old");
  size_t before = count_of("");
  from = (giver){.bytes = bytes, .left = SIZE, .piece = 100000, .fail_below = SIZE / 2};
  source = (cdam_source){.read = give, .user = &from};
  assert_fails(cdam_file_write(session, "from-failing", &source, NULL, &err), CDAM_ERR_IO, 0, &err);
  assert_message(&err, "cannot write \"from-failing\": ");
  assert_content("from-failing", "old");
  assert_int_equal(count_of(""), before);
  source = (cdam_source){.from_fd = true, .fd = open(".", O_RDONLY)};
  assert_int_equal(cdam_file_write(session, "from-failing", &source, NULL, &err), CDAM_ERR_IO);
  close(source.fd);
  assert_content("from-failing", "old");
  source = (cdam_source){.from_fd = true, .fd = -1};
  assert_int_equal(cdam_file_write(session, "f", &source, NULL, &err), CDAM_ERR_ARGUMENT);
  source = (cdam_source){.bytes = "x", .length = 1, .from_fd = true, .fd = 0};
  assert_int_equal(cdam_file_write(session, "f", &source, NULL, &err), CDAM_ERR_ARGUMENT);
  free(bytes);
}

static void test_sinks(void **state) {
  (void)state;
  enum { SIZE = 2500000 };
  char *bytes = noise(SIZE), *back = malloc(SIZE);
  cdam_error err;
  put_with("to-sinks", bytes, SIZE, NULL);

  FILE *file = tmpfile();
  cdam_sink sink = {.to_fd = true, .fd = fileno(file)};
  assert_ok(cdam_file_read_to(session, "to-sinks", 0, 0, &sink, &err), &err);
  rewind(file);
  assert_int_equal(fread(back, 1, SIZE, file), SIZE);
  assert_int_equal(fgetc(file), EOF);
  assert_memory_equal(back, bytes, SIZE);
  fclose(file);

  /* A reader that takes its time: what waits is not lost, and the descriptor's flags are its own.
   */
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; (n = read(ends[0], back + got, 30000)) > 0; got += (size_t)n)
      usleep(1000);
    _exit(got == SIZE && memcmp(back, bytes, SIZE) == 0 ? 0 : 1);
  }
  close(ends[0]);
  sink = (cdam_sink){.to_fd = true, .fd = ends[1]};
  assert_ok(cdam_file_read_to(session, "to-sinks", 0, 0, &sink, &err), &err);
  assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
  close(ends[1]);
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);

  collected to = {.fail_at = 300000};
  sink = (cdam_sink){.write = collect, .user = &to};
  assert_fails(cdam_file_read_to(session, "to-sinks", 0, 0, &sink, &err), CDAM_ERR_IO, 0, &err);
  assert_message(&err, "cannot read \"to-sinks\": ");
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  sink = (cdam_sink){.to_fd = true, .fd = ends[1]};
  assert_int_equal(cdam_file_read_to(session, "to-sinks", 0, 0, &sink, &err), CDAM_ERR_IO);
  close(ends[1]);
  /* The link has taken no harm. */
  assert_bytes("to-sinks", bytes, SIZE);
  free(bytes);
  free(back);
}

static bool call_back(void *user, const void *bytes, size_t length) {
  cdam_error err;
  bool exists;
  (void)bytes;
  (void)length;
  *(cdam_status *)user = cdam_file_exists(session, "callbacks", &exists, &err);
  return true;
}

static void test_a_blocking_call_in_a_callback(void **state) {
  (void)state;
  cdam_error err;
  cdam_status inside = CDAM_OK;
  put("callbacks", "x");
  const cdam_sink sink = {.write = call_back, .user = &inside};
  assert_ok(cdam_file_read_to(session, "callbacks", 0, 0, &sink, &err), &err);
  assert_int_equal(inside, CDAM_ERR_ARGUMENT);
  assert_true(is_there("callbacks"));
}

/* ---- watching ---- */

static cdam_file_event next(cdam_file_watch *watch, int64_t timeout_ms) {
  cdam_file_event event;
  cdam_error err;
  assert_ok(cdam_file_watch_next(watch, timeout_ms, &event, &err), &err);
  return event;
}

static void assert_event(cdam_file_watch *watch, cdam_file_event_kind kind, const char *name) {
  cdam_file_event event = next(watch, 5000);
  if (event.kind != kind || strcmp(event.name, name) != 0)
    fail_msg("event %d of \"%s\", expected %d of \"%s\"", (int)event.kind, event.name, (int)kind,
             name);
}

static void test_watching(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_watch *watch;
  shell("mkdir -p watched");
  assert_ok(cdam_file_watch_new(session, "watched", &watch, &err), &err);
  int64_t before = cdam_now_ms();
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_NOTHING);
  assert_int_equal(next(watch, 200).kind, CDAM_FILE_NOTHING);
  assert_in_range(cdam_now_ms() - before, 199, 2000);
  shell("cd watched && echo hello > 'new\nname' && mkdir sub && mv 'new\nname' other && rm other");
  assert_event(watch, CDAM_FILE_CREATED, "new\nname");
  assert_event(watch, CDAM_FILE_MODIFIED, "new\nname");
  assert_event(watch, CDAM_FILE_CLOSED, "new\nname");
  cdam_file_event event = next(watch, 5000);
  assert_int_equal(event.kind, CDAM_FILE_CREATED);
  assert_true(event.is_directory);
  cdam_file_event from = next(watch, 5000);
  uint32_t cookie = from.cookie;
  assert_int_equal(from.kind, CDAM_FILE_MOVED_FROM);
  cdam_file_event to = next(watch, 5000);
  assert_int_equal(to.kind, CDAM_FILE_MOVED_TO);
  assert_int_equal(to.cookie, cookie);
  assert_string_equal(to.name, "other");
  assert_event(watch, CDAM_FILE_REMOVED, "other");
  shell("chmod 700 watched/sub");
  assert_event(watch, CDAM_FILE_ATTRIBUTES, "sub");
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_NOTHING);
  assert_ok(cdam_file_remove(session, "watched", true, false, &err), &err);
  do
    event = next(watch, 5000);
  while (event.kind != CDAM_FILE_GONE);
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_GONE);
  cdam_file_watch_free(watch);
  assert_fails(cdam_file_watch_new(session, "watched", &watch, &err), CDAM_ERR_FILE, ENOENT, &err);
  assert_message(&err, "cannot watch \"watched\"");
}

/* Nobody fetches: what is kept is bounded, and what was lost is told. */
static void test_a_flood_of_events(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_watch *watch;
  shell("mkdir -p flooded");
  assert_ok(cdam_file_watch_new(session, "flooded", &watch, &err), &err);
  shell("cd flooded && i=0 && while [ $i -lt 40000 ]; do : > $i; : > x; i=$((i+1)); done");
  size_t count = 0;
  cdam_file_event event;
  for (;;) {
    event = next(watch, 3000);
    if (event.kind == CDAM_FILE_OVERFLOW || event.kind == CDAM_FILE_NOTHING) break;
    count++;
  }
  assert_int_equal(event.kind, CDAM_FILE_OVERFLOW);
  assert_in_range(count, 10000, 200000);
  /* And then it goes on. */
  while (next(watch, 500).kind != CDAM_FILE_NOTHING)
    ;
  put("flooded/last", "x");
  bool seen = false;
  while ((event = next(watch, 500)).kind != CDAM_FILE_NOTHING)
    if (strcmp(event.name, "last") == 0) seen = true;
  assert_true(seen);
  cdam_file_watch_free(watch);
  assert_ok(cdam_file_remove(session, "flooded", true, false, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),          cmocka_unit_test(test_a_limit),
      cmocka_unit_test(test_parts),          cmocka_unit_test(test_modes_of_writing),
      cmocka_unit_test(test_odd_names),      cmocka_unit_test(test_what_is_there),
      cmocka_unit_test(test_changing_names), cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_paths_out),      cmocka_unit_test(test_what_is_no_file),
      cmocka_unit_test(test_arguments),      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_sinks),          cmocka_unit_test(test_a_blocking_call_in_a_callback),
      cmocka_unit_test(test_watching),       cmocka_unit_test(test_a_flood_of_events),
  };
  return cmocka_run_group_tests_name("file", tests, begin_sandbox, end_sandbox);
}
