/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a sandbox: names, attributes, and how it fails. */
#include "test_file_support.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_odd_names),      cmocka_unit_test(test_what_is_there),
      cmocka_unit_test(test_changing_names), cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_paths_out),      cmocka_unit_test(test_what_is_no_file),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests_name("file", tests, begin_sandbox, end_sandbox);
}
