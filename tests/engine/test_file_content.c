/* SPDX-License-Identifier: Apache-2.0 */
/* The content of files in a sandbox: sizes, modes of writing, sources and sinks. */
#include "test_file_support.h"

#include <fcntl.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_a_limit),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_modes_of_writing),
      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_sinks),
      cmocka_unit_test(test_a_blocking_call_in_a_callback),
  };
  return cmocka_run_group_tests_name("file_content", tests, begin_sandbox, end_sandbox);
}
