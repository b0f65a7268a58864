/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a program's own loop: many at once, and cancelled ones; and large ones. */
#include "test_file_support.h"

#include <fcntl.h>
#include <sys/resource.h>

static cdam_loop *loop;

static void begin_loop(void) {
  cdam_error err;
  assert_ok(cdam_loop_new(client, &loop, &err), &err);
}

static void end_loop(void) {
  assert_int_equal(cdam_loop_pending(loop), 0);
  cdam_loop_free(loop);
}

/* Dispatches until *count (may be NULL) is as high, or nothing is pending; how long the longest
 * took. */
static int64_t drive(const int *count, int enough, int64_t ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  int64_t longest = 0, until = cdam_now_ms() + ms;
  while (!(count && *count >= enough)) {
    int64_t left = until - cdam_now_ms();
    if (left <= 0)
      fail_msg("still %zu pending after %lld ms", cdam_loop_pending(loop), (long long)ms);
    poll(&ready, 1, (int)left);
    int64_t before = cdam_now_us();
    size_t pending = cdam_loop_dispatch(loop);
    int64_t took = cdam_now_us() - before;
    if (took > longest) longest = took;
    if (!count && !pending) break;
  }
  return longest;
}

/* ---- many ---- */

enum { MANY = 64, SIZE = 70000 };

typedef struct job {
  int number;
  char path[32];
  char *bytes;
  int *done;
} job;

static cdam_status last_status;
static cdam_error last_error;

static void note(void *user, cdam_status status, const cdam_error *err) {
  last_status = status;
  last_error = *err;
  if (user) ++*(int *)user;
}

static void job_removed(void *user, cdam_status status, const cdam_error *err) {
  job *this = user;
  assert_ok(status, err);
  ++*this->done;
}

static void job_read(void *user, cdam_status status, char *bytes, size_t length,
                     const cdam_error *err) {
  job *this = user;
  cdam_error failure;
  assert_ok(status, err);
  assert_int_equal(length, SIZE);
  assert_memory_equal(bytes, this->bytes, SIZE);
  free(bytes);
  assert_ok(cdam_file_remove_start(loop, session, this->path, false, false, job_removed, this, NULL,
                                   &failure),
            &failure);
}

static void job_renamed(void *user, cdam_status status, const cdam_error *err) {
  job *this = user;
  cdam_error failure;
  assert_ok(status, err);
  size_t length = strlen(this->path);
  snprintf(this->path + length, sizeof this->path - length, "x");
  assert_ok(cdam_file_read_start(loop, session, this->path, SIZE, job_read, this, NULL, &failure),
            &failure);
}

static void job_written(void *user, cdam_status status, const cdam_error *err) {
  job *this = user;
  cdam_error failure;
  char to[34];
  assert_ok(status, err);
  snprintf(to, sizeof to, "%sx", this->path);
  assert_ok(cdam_file_rename_start(loop, session, this->path, to, true, job_renamed, this, NULL,
                                   &failure),
            &failure);
}

static void test_many_at_once(void **state) {
  (void)state;
  static job jobs[MANY];
  /* The engine runs one exec after the other. */
  const int many = cdam_session_has_agent(session) ? MANY : 8;
  int done = 0;
  begin_loop();
  size_t before = count_of("");
  char *bytes = noise(SIZE + MANY);
  for (int i = 0; i < many; i++) {
    cdam_error err;
    jobs[i] = (job){.number = i, .bytes = bytes + i, .done = &done};
    snprintf(jobs[i].path, sizeof jobs[i].path, "many-%d", i);
    cdam_source source = {.bytes = jobs[i].bytes, .length = SIZE};
    assert_ok(cdam_file_write_start(loop, session, jobs[i].path, &source, NULL, job_written,
                                    &jobs[i], NULL, &err),
              &err);
  }
  int64_t start = cdam_now_ms();
  int64_t longest = drive(NULL, 0, 60000);
  print_message("# %d times write, rename, read and remove at once: %lld ms, the longest dispatch "
                "%lld us\n",
                many, (long long)(cdam_now_ms() - start), (long long)longest);
  assert_int_equal(done, many);
  assert_int_equal(count_of(""), before);
  free(bytes);
  end_loop();
}

/* ---- each call ---- */

static void got_list(void *user, cdam_status status, cdam_file_list *list, const cdam_error *err) {
  note(NULL, status, err);
  *(cdam_file_list **)user = list;
  assert_int_equal(list != NULL, status == CDAM_OK);
}

static void got_exists(void *user, cdam_status status, bool exists, const cdam_error *err) {
  note(NULL, status, err);
  *(int *)user = exists;
}

static void got_watch(void *user, cdam_status status, cdam_file_watch *watch,
                      const cdam_error *err) {
  note(NULL, status, err);
  *(cdam_file_watch **)user = watch;
  assert_int_equal(watch != NULL, status == CDAM_OK);
}

static void got_read(void *user, cdam_status status, char *bytes, size_t length,
                     const cdam_error *err) {
  (void)length;
  note(user, status, err);
  if (status != CDAM_OK) assert_null(bytes);
  free(bytes);
}

#define WAIT_FOR(call, expected)                                                                   \
  do {                                                                                             \
    cdam_error call_error;                                                                         \
    cdam_error *const err = &call_error;                                                           \
    last_status = (cdam_status)-1;                                                                 \
    assert_ok(call, err);                                                                          \
    drive(NULL, 0, 20000);                                                                         \
    if (last_status != (expected)) fail_msg("%s: %s", #call, last_error.message);                  \
  } while (0)

static void test_each_call(void **state) {
  (void)state;
  cdam_file_list *list;
  int exists, ends[2];
  char back[16];
  begin_loop();
  const cdam_source source = {.bytes = "hello", .length = 5};
  WAIT_FOR(cdam_file_make_directory_start(loop, session, "each/a", 0, true, note, NULL, NULL, err),
           CDAM_OK);
  WAIT_FOR(cdam_file_write_start(loop, session, "each/f", &source, NULL, note, NULL, NULL, err),
           CDAM_OK);
  WAIT_FOR(cdam_file_make_link_start(loop, session, "each/l", "f", false, note, NULL, NULL, err),
           CDAM_OK);
  WAIT_FOR(cdam_file_list_directory_start(loop, session, "each", got_list, &list, NULL, err),
           CDAM_OK);
  assert_int_equal(cdam_file_list_count(list), 3);
  assert_string_equal(cdam_file_list_get(list, 2)->target, "f");
  cdam_file_list_free(list);
  WAIT_FOR(cdam_file_stat_start(loop, session, "each/l", true, got_list, &list, NULL, err),
           CDAM_OK);
  assert_int_equal(cdam_file_list_get(list, 0)->size, 5);
  cdam_file_list_free(list);
  WAIT_FOR(cdam_file_stat_start(loop, session, "each/no", true, got_list, &list, NULL, err),
           CDAM_ERR_FILE);
  assert_int_equal(last_error.system_errno, ENOENT);
  WAIT_FOR(cdam_file_exists_start(loop, session, "each/f", got_exists, &exists, NULL, err),
           CDAM_OK);
  assert_true(exists);
  WAIT_FOR(cdam_file_exists_start(loop, session, "each/no", got_exists, &exists, NULL, err),
           CDAM_OK);
  assert_false(exists);
  const cdam_file_attributes change = {.set_size = true, .size = 4};
  WAIT_FOR(cdam_file_set_attributes_start(loop, session, "each/f", &change, note, NULL, NULL, err),
           CDAM_OK);
  assert_int_equal(pipe(ends), 0);
  const cdam_sink sink = {.to_fd = true, .fd = ends[1]};
  WAIT_FOR(cdam_file_read_to_start(loop, session, "each/f", 1, 0, &sink, note, NULL, NULL, err),
           CDAM_OK);
  assert_int_equal(read(ends[0], back, sizeof back), 3);
  assert_memory_equal(back, "ell", 3);
  close(ends[0]);
  close(ends[1]);
  WAIT_FOR(cdam_file_read_start(loop, session, "each/f", 3, got_read, NULL, NULL, err),
           CDAM_ERR_FILE);
  assert_int_equal(last_error.system_errno, EFBIG);
  WAIT_FOR(cdam_file_remove_start(loop, session, "each", true, false, note, NULL, NULL, err),
           CDAM_OK);

  cdam_error err;
  cdam_operation *operation = (cdam_operation *)1;
  assert_int_equal(cdam_file_exists_start(NULL, session, "f", got_exists, &exists, NULL, &err),
                   CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_file_exists_start(loop, session, "f", NULL, &exists, &operation, &err),
                   CDAM_ERR_ARGUMENT);
  assert_null(operation);
  assert_int_equal(cdam_file_exists_start(loop, session, NULL, got_exists, &exists, NULL, &err),
                   CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_file_exists_start(loop, NULL, "f", got_exists, &exists, NULL, &err),
                   CDAM_ERR_ARGUMENT);
  end_loop();
}

/* ---- a watch ---- */

typedef struct seen {
  int calls;
  int events;
  bool free_it;
} seen;

static void look(void *user, cdam_file_watch *watch) {
  seen *this = user;
  cdam_file_event event;
  cdam_error err;
  this->calls++;
  do {
    assert_ok(cdam_file_watch_next(watch, 1000, &event, &err), &err);
    if (event.kind != CDAM_FILE_NOTHING) this->events++;
  } while (event.kind != CDAM_FILE_NOTHING && event.kind != CDAM_FILE_GONE);
  if (this->free_it) cdam_file_watch_free(watch);
}

static void test_a_watch(void **state) {
  (void)state;
  cdam_file_watch *watch;
  seen first = {0}, second = {.free_it = true};
  begin_loop();
  if (!cdam_session_has_agent(session)) {
    cdam_error err;
    assert_int_equal(cdam_file_watch_new_start(loop, session, "", got_watch, &watch, NULL, &err),
                     CDAM_ERR_NO_AGENT);
    end_loop();
    return;
  }
  shell("mkdir -p watched-in-loop");
  WAIT_FOR(
      cdam_file_watch_new_start(loop, session, "watched-in-loop", got_watch, &watch, NULL, err),
      CDAM_OK);
  cdam_file_watch_on_ready(watch, look, &first);
  shell("touch watched-in-loop/a");
  drive(&first.events, 1, 60000);
  cdam_file_watch_on_ready(watch, NULL, NULL);
  /* What comes while nobody is told is told later; and then it is freed in the callback. */
  shell("touch watched-in-loop/b");
  for (int i = 0; i < 10; i++) {
    usleep(10000);
    cdam_loop_dispatch(loop);
  }
  cdam_file_watch_on_ready(watch, look, &second);
  drive(&second.events, 1, 60000);
  WAIT_FOR(
      cdam_file_watch_new_start(loop, session, "watched-in-loop", got_watch, &watch, NULL, err),
      CDAM_OK);
  cdam_file_watch_free(watch);
  WAIT_FOR(cdam_file_watch_new_start(loop, session, "no-such", got_watch, &watch, NULL, err),
           CDAM_ERR_FILE);
  end_loop();
}

/* ---- cancelling ---- */

static void test_cancelled_writes(void **state) {
  (void)state;
  begin_loop();
  shell("mkdir -p cancelled");
  put("cancelled/f", "old");
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  for (int round = 0; round < 12; round++) {
    cdam_error err;
    cdam_operation *operation;
    int done = 0;
    const cdam_source source = {.from_fd = true, .fd = ends[0]};
    assert_ok(cdam_file_write_start(loop, session, "cancelled/f", &source, NULL, note, &done,
                                    &operation, &err),
              &err);
    /* At each of its stages: not begun, asked, half of it sent. */
    for (int i = 0; i < round; i++) {
      if (i == 4) assert_int_equal(write(ends[1], "half", 4), 4);
      usleep(2000);
      cdam_loop_dispatch(loop);
    }
    cdam_cancel(operation);
    drive(&done, 1, 10000);
    assert_int_equal(last_status, CDAM_ERR_CANCELLED);
    assert_content("cancelled/f", "old");
    assert_int_equal(count_of("cancelled"), 1);
  }
  close(ends[0]);
  close(ends[1]);
  end_loop();
}

static void test_cancelled_reads(void **state) {
  (void)state;
  begin_loop();
  shell("dd if=/dev/zero of=large bs=1M count=32 2>/dev/null");
  for (int round = 0; round < 12; round++) {
    cdam_error err;
    cdam_operation *operation;
    int done = 0;
    assert_ok(
        cdam_file_read_start(loop, session, "large", SIZE_MAX, got_read, &done, &operation, &err),
        &err);
    for (int i = 0; i < round; i++) {
      usleep(500);
      cdam_loop_dispatch(loop);
      if (done) break;
    }
    bool was_done = done;
    if (!done) cdam_cancel(operation);
    drive(&done, 1, 10000);
    if (!was_done) assert_int_equal(last_status, CDAM_ERR_CANCELLED);
  }
  /* The link is as good as before. */
  WAIT_FOR(cdam_file_read_start(loop, session, "large", SIZE_MAX, got_read, NULL, NULL, err),
           CDAM_OK);
  end_loop();
}

static void test_a_freed_loop(void **state) {
  (void)state;
  begin_loop();
  int done = 0, ends[2];
  assert_int_equal(pipe(ends), 0);
  const cdam_source source = {.from_fd = true, .fd = ends[0]};
  cdam_file_watch *watch = NULL;
  if (cdam_session_has_agent(session))
    WAIT_FOR(cdam_file_watch_new_start(loop, session, "", got_watch, &watch, NULL, err), CDAM_OK);
  cdam_error err;
  for (int i = 0; i < 5; i++) {
    assert_ok(cdam_file_write_start(loop, session, "freed", &source, NULL, note, &done, NULL, &err),
              &err);
    assert_ok(cdam_file_read_start(loop, session, "large", SIZE_MAX, got_read, &done, NULL, &err),
              &err);
  }
  for (int i = 0; i < 10; i++) {
    usleep(5000);
    cdam_loop_dispatch(loop);
  }
  cdam_loop_free(loop);
  assert_int_equal(done, 10);
  cdam_file_event event;
  cdam_status status = watch ? CDAM_OK : CDAM_ERR_CANCELLED;
  while (status == CDAM_OK)
    status = cdam_file_watch_next(watch, 0, &event, &err);
  assert_int_equal(status, CDAM_ERR_CANCELLED);
  cdam_file_watch_free(watch);
  close(ends[0]);
  close(ends[1]);
  assert_string_equal(shell("sleep 0.2; ls -A | grep -c .cofferdam- || true"), "0");
}

/* ---- large ones ---- */

typedef struct pattern {
  uint64_t at;
  uint64_t size;
  bool wrong;
} pattern;

static int64_t give_pattern(void *user, void *buffer, size_t size) {
  pattern *this = user;
  if (size > this->size - this->at) size = this->size - this->at;
  memset(buffer, (int)(this->at >> 16 & 0xff), size);
  this->at += size;
  return (int64_t)size;
}

static bool take_pattern(void *user, const void *bytes, size_t length) {
  pattern *this = user;
  (void)bytes;
  this->at += length;
  return true;
}

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void test_large_files(void **state) {
  (void)state;
  const uint64_t size = (uint64_t)256 << 20;
  cdam_error err;
  pattern this = {.size = size};
  cdam_source source = {.read = give_pattern, .user = &this};
  cdam_sink sink = {.write = take_pattern, .user = &this};
  bool exists;
  assert_ok(cdam_file_exists(session, "bulk", &exists, &err), &err);
  long before = peak_kib();
  int64_t start = cdam_now_us();
  assert_ok(cdam_file_write(session, "bulk", &source, NULL, &err), &err);
  double writing = (double)(cdam_now_us() - start) / 1e6;
  assert_int_equal(info_of("bulk", false).size, size);
  this.at = 0;
  start = cdam_now_us();
  assert_ok(cdam_file_read_to(session, "bulk", 0, 0, &sink, &err), &err);
  double reading = (double)(cdam_now_us() - start) / 1e6;
  assert_int_equal(this.at, size);
  long grown = peak_kib() - before;
  print_message("# 256 MiB: written in %.2f s (%.0f MiB/s), read in %.2f s (%.0f MiB/s), %ld KiB "
                "of memory more\n",
                writing, 256 / writing, reading, 256 / reading, grown);
#ifndef __SANITIZE_ADDRESS__
  assert_in_range(grown, 0, 8 * 1024);
#endif
  assert_ok(cdam_file_remove(session, "bulk", false, false, &err), &err);
}

static void test_small_files_are_fast(void **state) {
  (void)state;
  enum { TIMES = 300 };
  char *bytes = noise(4096);
  cdam_error err;
  int64_t writing = 0, reading = 0;
  for (int i = 0; i < TIMES; i++) {
    int64_t start = cdam_now_us();
    put_with("small", bytes, 4096, NULL);
    writing += cdam_now_us() - start;
    start = cdam_now_us();
    free(get("small", NULL));
    reading += cdam_now_us() - start;
  }
  print_message("# 4 KiB: written in %lld us, read in %lld us\n", (long long)writing / TIMES,
                (long long)reading / TIMES);
  free(bytes);
  shell("mkdir names && cd names && seq 1 10000 | xargs touch");
  cdam_file_list *list;
  int64_t start = cdam_now_us();
  assert_ok(cdam_file_list_directory(session, "names", &list, &err), &err);
  print_message("# 10,000 names listed in %lld us\n", (long long)(cdam_now_us() - start));
  assert_int_equal(cdam_file_list_count(list), 10000);
  cdam_file_list_free(list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_at_once),    cmocka_unit_test(test_each_call),
      cmocka_unit_test(test_a_watch),         cmocka_unit_test(test_cancelled_writes),
      cmocka_unit_test(test_cancelled_reads), cmocka_unit_test(test_a_freed_loop),
      cmocka_unit_test(test_large_files),     cmocka_unit_test(test_small_files_are_fast),
  };
  return cmocka_run_group_tests_name("file_loop", tests, begin_sandbox, end_sandbox);
}
