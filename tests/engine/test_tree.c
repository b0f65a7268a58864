/* SPDX-License-Identifier: Apache-2.0 */
/* Trees into a sandbox and out of it, on a real engine. What cp shows is in cli/test_files.py. */
#include "../scratch.h"
#include "test_file_support.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cofferdam/tree.h>

static int begin(void **state) {
  return make_scratch(state) == 0 ? begin_sandbox(state) : -1;
}

static int finish(void **state) {
  remove_scratch(state);
  return end_sandbox(state);
}

static int clean(void **state) {
  (void)state;
  here("chmod -R u+rwX . && rm -rf %s/*", scratch);
  shell("chmod -R u+rwX /workspace; rm -rf /workspace/*");
  return 0;
}

static void up(const char *from, const char *to, const cdam_tree_options *options,
               cdam_tree_result *result) {
  cdam_error err;
  assert_ok(cdam_tree_upload(session, in_scratch(from), to, options, result, &err), &err);
}

static void down(const char *from, const char *to, const cdam_tree_options *options,
                 cdam_tree_result *result) {
  cdam_error err;
  assert_ok(cdam_tree_download(session, from, in_scratch(to), options, result, &err), &err);
}

/* ---- arguments ---- */

static void arguments(void **state) {
  (void)state;
  cdam_error err;
  cdam_tree_options odd = {.reserved = {true}};
  const cdam_source two = {.bytes = "x", .length = 1, .from_fd = true, .fd = 0};
  const cdam_sink both = {.to_fd = true, .fd = 1, .write = (cdam_write_callback)(uintptr_t)1};
  char long_path[5000];
  memset(long_path, 'x', sizeof long_path);
  long_path[4999] = '\0';
  const char *from = scratch;
  assert_fails(cdam_tree_upload(NULL, from, "x", NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload(session, NULL, "x", NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload(session, "", "x", NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload(session, from, NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload(session, from, long_path, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_upload(session, from, "x", &odd, NULL, &err), CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_download(session, NULL, from, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_download(session, "x", NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_upload_tar(session, &two, "x", NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_upload_tar(session, NULL, NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_download_tar(session, "x", &both, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_download_tar(session, NULL, NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
  assert_fails(cdam_tree_download_tar(NULL, "x", NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT, 0,
               &err);
}

/* ---- results and options ---- */

static void counts(void **state) {
  (void)state;
  cdam_tree_result result;
  assert_int_equal(here("mkdir -p t/d && printf 12345 >t/f && ln t/f t/g && ln -s f t/l && "
                        "mkfifo t/p && printf 123 >t/d/h && python3 -c \"import socket; "
                        "socket.socket(socket.AF_UNIX).bind('t/s')\""),
                   0);
  up("t", "t", NULL, &result);
  assert_int_equal(result.entries, 7);
  assert_int_equal(result.bytes, 8);
  assert_int_equal(result.skipped, 1);
  shell("mknod t/null c 1 3; ln -s /etc t/out");
  down("t", "back", NULL, &result);
  assert_int_equal(result.entries, 7);
  assert_int_equal(result.bytes, 8);
  assert_int_equal(result.skipped, 2);
  assert_int_equal(here("rm t/s && diff -r --no-dereference -x p t back && test -p back/p"), 0);
}

static void options(void **state) {
  (void)state;
  cdam_error err;
  cdam_tree_result result;
  const cdam_tree_options replace = {.replace = true}, parents = {.parents = true, .sync = true},
                          going = {.keep_going = true};
  here("mkdir t && printf new >t/f");
  shell("mkdir t && printf old >t/f");
  assert_fails(cdam_tree_upload(session, in_scratch("t"), "t", NULL, &result, &err), CDAM_ERR_FILE,
               EEXIST, &err);
  assert_message(&err, "cannot copy to \"t\": file exists (at \"f\")");
  assert_content("t/f", "old");
  up("t", "t", &replace, NULL);
  assert_content("t/f", "new");
  assert_fails(cdam_tree_upload(session, in_scratch("t"), "no/where/t", NULL, NULL, &err),
               CDAM_ERR_FILE, ENOENT, &err);
  up("t", "no/where/t", &parents, NULL);
  assert_content("no/where/t/f", "new");
  assert_fails(cdam_tree_download(session, "t", in_scratch("t"), NULL, NULL, &err), CDAM_ERR_IO,
               EEXIST, &err);
  assert_message(&err, "/t/f");
  down("t", "t", &replace, NULL);
  /* root reads everything, so that only a file that goes away cannot be read: not tested here */
  down("t", "more", &going, NULL);
}

/* ---- places ---- */

static void places(void **state) {
  (void)state;
  cdam_error err;
  here("mkdir t && printf x >t/f && mkdir out && printf old >out/f && ln -s out lo");
  const struct {
    const char *path;
    cdam_status status;
    int system_errno;
  } bad[] = {
      {"../x", CDAM_ERR_OUTSIDE, 0},      {"/etc/x", CDAM_ERR_OUTSIDE, 0},
      {"/", CDAM_ERR_OUTSIDE, 0},         {"./../x", CDAM_ERR_OUTSIDE, 0},
      {"link/x", CDAM_ERR_OUTSIDE, 0},    {"missing/x", CDAM_ERR_FILE, ENOENT},
      {"file/x", CDAM_ERR_FILE, ENOTDIR},
  };
  const cdam_sink nowhere = {0};
  shell("ln -s /tmp link && touch file");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_fails(cdam_tree_upload(session, in_scratch("t"), bad[i].path, NULL, NULL, &err),
                 bad[i].status, bad[i].system_errno, &err);
    assert_fails(cdam_tree_download(session, bad[i].path, in_scratch("o"), NULL, NULL, &err),
                 bad[i].status, bad[i].system_errno, &err);
    assert_fails(cdam_tree_download_tar(session, bad[i].path, &nowhere, NULL, NULL, &err),
                 bad[i].status, bad[i].system_errno, &err);
  }
  assert_fails(cdam_tree_upload(session, in_scratch("none"), "x", NULL, NULL, &err), CDAM_ERR_IO,
               ENOENT, &err);
  assert_message(&err, in_scratch("none"));
  assert_false(is_there("x"));
  /* The workspace itself, by all its names. */
  up("t", "", NULL, NULL);
  up("t", "/workspace", &(cdam_tree_options){.replace = true}, NULL);
  assert_content("f", "x");
  down("/workspace/f", "one", NULL, NULL);
  assert_int_equal(here("test \"$(cat one)\" = x"), 0);
  /* A link in the place of the top is none to go through. */
  assert_fails(cdam_tree_download(session, "f", in_scratch("lo"), NULL, NULL, &err), CDAM_ERR_IO,
               EEXIST, &err);
  down("f", "lo", &(cdam_tree_options){.replace = true}, NULL);
  assert_int_equal(here("test ! -L lo && test \"$(cat out/f)\" = old"), 0);
}

/* ---- archives ---- */

typedef struct stream {
  char *bytes;
  size_t length, offset, piece;
} stream;

static bool to_memory(void *user, const void *bytes, size_t length) {
  stream *s = user;
  s->bytes = realloc(s->bytes, s->length + length);
  memcpy(s->bytes + s->length, bytes, length);
  s->length += length;
  return true;
}

static int64_t from_memory(void *user, void *buffer, size_t size) {
  stream *s = user;
  size_t left = s->length - s->offset;
  if (size > s->piece) size = s->piece;
  if (size > left) size = left;
  memcpy(buffer, s->bytes + s->offset, size);
  s->offset += size;
  return (int64_t)size;
}

static int64_t fails_late(void *user, void *buffer, size_t size) {
  stream *s = user;
  return s->offset > 600 ? -1 : from_memory(user, buffer, size);
}

static bool takes_little(void *user, const void *bytes, size_t length) {
  (void)bytes;
  return (*(size_t *)user += length) < 200000;
}

static void archives(void **state) {
  (void)state;
  cdam_error err;
  cdam_tree_result result;
  here("mkdir -p t/d && head -c 700000 /dev/urandom >t/d/f && ln t/d/f t/g && ln -s d/f t/l");
  up("t", "t", NULL, NULL);
  stream s = {.piece = 1000};
  const cdam_sink sink = {.write = to_memory, .user = &s};
  assert_ok(cdam_tree_download_tar(session, "t", &sink, NULL, &result, &err), &err);
  assert_int_equal(result.entries, 5);
  assert_int_equal(result.bytes, 700000);
  assert_int_equal(s.length % 512, 0);
  const cdam_source pieces = {.read = from_memory, .user = &s};
  assert_ok(cdam_tree_upload_tar(session, &pieces, "u", NULL, &result, &err), &err);
  assert_int_equal(result.entries, 5);
  assert_int_equal(result.bytes, 700000);
  const cdam_source memory = {.bytes = s.bytes, .length = s.length};
  assert_ok(cdam_tree_upload_tar(session, &memory, "v", NULL, &result, &err), &err);
  assert_fails(cdam_tree_upload_tar(session, &memory, "v", NULL, &result, &err), CDAM_ERR_FILE,
               EEXIST, &err);
  down("u", "u", NULL, NULL);
  down("v", "v", NULL, NULL);
  assert_int_equal(here("diff -r --no-dereference t u && diff -r --no-dereference t v"), 0);

  s.offset = 0;
  const cdam_source broken = {.read = fails_late, .user = &s};
  assert_fails(cdam_tree_upload_tar(session, &broken, "w", NULL, &result, &err), CDAM_ERR_IO, 0,
               &err);
  assert_message(&err, "its source failed");
  const cdam_source cut = {.bytes = s.bytes, .length = s.length / 2};
  assert_fails(cdam_tree_upload_tar(session, &cut, "x", NULL, &result, &err), CDAM_ERR_IO, 0, &err);
  const cdam_source none = {.bytes = "", .length = 0};
  assert_fails(cdam_tree_upload_tar(session, &none, "y", NULL, &result, &err), CDAM_ERR_IO, 0,
               &err);
  const cdam_source empty = {0};
  assert_fails(cdam_tree_upload_tar(session, &empty, "y", NULL, &result, &err), CDAM_ERR_IO, 0,
               &err);
  size_t taken = 0;
  const cdam_sink full = {.write = takes_little, .user = &taken};
  assert_fails(cdam_tree_download_tar(session, "t", &full, NULL, NULL, &err), CDAM_ERR_IO, 0, &err);
  assert_message(&err, "its sink failed");
  const cdam_sink nowhere = {0}; /* thrown away */
  assert_ok(cdam_tree_download_tar(session, "t", &nowhere, NULL, NULL, &err), &err);
  free(s.bytes);
  /* And the link is as good as before. */
  assert_int_equal(count_of("t"), 3);
}

/* A pipe that nobody reads any more: an error, and no signal. */
static void broken_pipe(void **state) {
  (void)state;
  int ends[2];
  cdam_error err;
  shell("head -c 3000000 /dev/zero >f");
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  const cdam_sink sink = {.to_fd = true, .fd = ends[1]};
  assert_fails(cdam_tree_download_tar(session, "f", &sink, NULL, NULL, &err), CDAM_ERR_IO, 0, &err);
  assert_message(&err, "Broken pipe");
  close(ends[1]);
}

/* From one sandbox to itself through a pipe that does not block, in two processes. */
static void pipes_that_do_not_block(void **state) {
  (void)state;
  int ends[2];
  cdam_error err;
  shell("mkdir t && head -c 3000000 /dev/zero >t/f");
  assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
  pid_t child = fork();
  if (child == 0) {
    cdam_session *own;
    cdam_client *other = engine_client();
    const cdam_sink sink = {.to_fd = true, .fd = ends[1]};
    close(ends[0]);
    _exit(cdam_resume(other, cdam_session_state(session), NULL, &own, &err) != CDAM_OK ||
          cdam_tree_download_tar(own, "t", &sink, NULL, NULL, &err) != CDAM_OK);
  }
  close(ends[1]);
  const cdam_source source = {.from_fd = true, .fd = ends[0]};
  assert_ok(cdam_tree_upload_tar(session, &source, "u", NULL, NULL, &err), &err);
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  shell("cmp t/f u/f");
}

/* ---- sizes ---- */

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* The sanitizer keeps what was freed for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MORE_KIB (300 * 1024)
#else
#define MORE_KIB 2048
#endif

/* Constant memory: four times as much takes no more. */
static void bulk(void **state) {
  (void)state;
  assert_int_equal(here("truncate -s 64M small && truncate -s 256M large"), 0);
  up("small", "small", NULL, NULL);
  down("small", "s", NULL, NULL);
  long before = peak_kib();
  up("large", "large", NULL, NULL);
  down("large", "l", NULL, NULL);
  assert_true(peak_kib() - before < MORE_KIB);
  assert_int_equal(here("cmp large l"), 0);
}

static void many(void **state) {
  (void)state;
  cdam_tree_result result;
  assert_int_equal(
      here("mkdir m && cd m && seq 3000 | xargs touch && seq -f d%%g 3000 | xargs mkdir"), 0);
  up("m", "m", NULL, &result);
  assert_int_equal(result.entries, 6001);
  assert_int_equal(count_of("m"), 6000);
  down("m", "n", NULL, &result);
  assert_int_equal(result.entries, 6001);
  assert_int_equal(here("diff -r m n"), 0);
}

/* More linked files than either side remembers: the rest are files of their own. */
static void many_links(void **state) {
  (void)state;
  assert_int_equal(here("mkdir -p m/a m/b && python3 -c \"import os\nfor i in range(17000):\n"
                        " open('m/a/%%d' %% i, 'w').close(); os.link('m/a/%%d' %% i, "
                        "'m/b/%%d' %% i)\""),
                   0);
  cdam_tree_result result;
  up("m", "m", NULL, &result);
  assert_int_equal(result.entries, 34003);
  down("m", "n", NULL, &result);
  assert_int_equal(result.entries, 34003);
  assert_int_equal(here("diff -r m n && test $(find n -type f -links 2 | wc -l) -ge 32000"), 0);
}

/* ---- what else is going on ---- */

/* Other calls on the session after one that failed in its middle, again and again. */
static void failures_leave_nothing(void **state) {
  (void)state;
  cdam_error err;
  here("mkdir t && cd t && for i in $(seq 50); do head -c 100000 /dev/zero >$i; done");
  shell("mkdir t && cd t && for i in $(seq 50); do head -c 100000 /dev/zero >$i; done");
  int descriptors = here("exit $(ls /proc/$PPID/fd | wc -l)");
  for (int i = 0; i < 20; i++) {
    assert_fails(cdam_tree_upload(session, in_scratch("t"), "t", NULL, NULL, &err), CDAM_ERR_FILE,
                 EEXIST, &err);
    assert_fails(cdam_tree_download(session, "t", in_scratch("t"), NULL, NULL, &err), CDAM_ERR_IO,
                 EEXIST, &err);
    assert_int_equal(count_of("t"), 50);
  }
  assert_int_equal(here("exit $(ls /proc/$PPID/fd | wc -l)"), descriptors);
  assert_int_equal(here("test -z \"$(find . -name '.cofferdam-*')\""), 0);
}

static void stopped_sandbox(void **state) {
  (void)state;
  cdam_error err;
  here("mkdir t && echo x >t/f");
  cdam_session *other = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_tree_upload(other, in_scratch("t"), "t", NULL, NULL, &err), &err);
  docker("kill %s", container_of(other));
  cdam_status status = cdam_tree_upload(other, in_scratch("t"), "u", NULL, NULL, &err);
  if (status != CDAM_ERR_EXITED) fail_msg("%s: %s", cdam_status_name(status), err.message);
  status = cdam_tree_download(other, "t", in_scratch("u"), NULL, NULL, &err);
  if (status != CDAM_ERR_EXITED) fail_msg("%s: %s", cdam_status_name(status), err.message);
  status = cdam_tree_upload_tar(other, &(cdam_source){0}, "t", NULL, NULL, &err);
  if (status == CDAM_OK) fail_msg("it is stopped");
  end_session(client, other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(arguments, clean),
      cmocka_unit_test_teardown(counts, clean),
      cmocka_unit_test_teardown(options, clean),
      cmocka_unit_test_teardown(places, clean),
      cmocka_unit_test_teardown(archives, clean),
      cmocka_unit_test_teardown(broken_pipe, clean),
      cmocka_unit_test_teardown(pipes_that_do_not_block, clean),
      cmocka_unit_test_teardown(bulk, clean),
      cmocka_unit_test_teardown(many, clean),
      cmocka_unit_test_teardown(many_links, clean),
      cmocka_unit_test_teardown(failures_leave_nothing, clean),
      cmocka_unit_test_teardown(stopped_sandbox, clean),
  };
  /* They take minutes with tools that are programs of their own, and show nothing new there. */
  if (getenv("COFFERDAM_TEST_IMAGE")) cmocka_set_skip_filter("many*");
  return cmocka_run_group_tests(tests, begin, finish);
}
