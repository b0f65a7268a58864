/* SPDX-License-Identifier: Apache-2.0 */
/* State files: all or nothing, durable, for the owner alone. */
#include "state_support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cofferdam/state.h>

static char directory[] = "/tmp/cofferdam-test-state-XXXXXX";

/* ---- libc's calls, counted and made to fail ---- */

static const char *to_fail; /* the call that fails next */
static int fail_with;
static char calls[256]; /* what was called: "fchmod fsync rename fsync " */

static bool call(const char *name) {
  strncat(calls, name, sizeof calls - strlen(calls) - 1);
  strncat(calls, " ", sizeof calls - strlen(calls) - 1);
  if (!to_fail || strcmp(to_fail, name) != 0) return true;
  errno = fail_with;
  return false;
}

static bool is_directory(int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
}

int fsync(int fd) {
  return call(is_directory(fd) ? "fsync-directory" : "fsync") ? 0 : -1;
}

int fchmod(int fd, mode_t mode) {
  int (*real)(int, mode_t) = (int (*)(int, mode_t))(uintptr_t)dlsym(RTLD_NEXT, "fchmod");
  return call("fchmod") ? real(fd, mode) : -1;
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) =
      (int (*)(const char *, const char *))(uintptr_t)dlsym(RTLD_NEXT, "rename");
  return call("rename") ? real(from, to) : -1;
}

/* ---- helpers ---- */

static const char *path_of(const char *name) {
  static char path[sizeof directory + 64];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static void write_file(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  fclose(file);
}

static blob read_file(const char *path) {
  static unsigned char bytes[CDAM_STATE_MAX_BYTES];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return blob_of(bytes, length);
}

static size_t files_in(const char *path) {
  DIR *d = opendir(path);
  size_t count = 0;
  assert_non_null(d);
  for (struct dirent *entry; (entry = readdir(d));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
  closedir(d);
  return count;
}

static size_t files_in_directory(void) {
  return files_in(directory);
}

static int start(void **state) {
  to_fail = NULL;
  calls[0] = '\0';
  blob b = golden("r2-none-full.binpb");
  *state = parse_good(&b, NULL);
  blob_free(&b);
  return 0;
}

/* Every test leaves the directory as it was: nothing in it but what it removes itself. */
static int end(void **state) {
  cdam_state_free(*state);
  return files_in_directory() == 0 ? 0 : -1;
}

/* ---- saving ---- */

static void saved_and_loaded(void **state) {
  blob b = golden("r2-none-full.binpb");
  const char *path = path_of("s");
  cdam_key *key = golden_key();
  cdam_state *loaded = NULL;
  cdam_error err;
  for (int i = 0; i < 2; i++) { /* once new, once over the old one */
    if (cdam_state_save(*state, path, NULL, &err)) fail_msg("%s", err.message);
    blob file = read_file(path);
    assert_same_bytes(&b, &file);
    blob_free(&file);
  }
  assert_int_equal(cdam_state_load(path, NULL, &loaded, &err), CDAM_OK);
  assert_true(is_none(loaded));
  cdam_state_free(loaded);
  assert_int_equal(cdam_state_load(path, key, &loaded, &err), CDAM_ERR_SEAL);
  assert_null(loaded);
  assert_int_equal(cdam_state_save(*state, path, key, &err), CDAM_OK);
  assert_int_equal(cdam_state_load(path, NULL, &loaded, &err), CDAM_ERR_SEAL);
  assert_int_equal(cdam_state_load(path, key, &loaded, &err), CDAM_OK);
  cdam_state_free(loaded);
  cdam_key_free(key);
  unlink(path);
  blob_free(&b);
}

/* fsync of the file before the rename, of the directory after it. */
static void saving_is_durable(void **state) {
  const char *path = path_of("s");
  assert_int_equal(cdam_state_save(*state, path, NULL, NULL), CDAM_OK);
  assert_string_equal(calls, "fchmod fsync rename fsync-directory ");
  unlink(path);
}

static void mode_is_0600_whatever_the_umask(void **state) {
  static const mode_t masks[] = {0, 022, 0777};
  const char *path = path_of("s");
  for (size_t i = 0; i < 3; i++) {
    write_file(path, "old", 3);
    chmod(path, 0666);
    mode_t old = umask(masks[i]);
    cdam_status status = cdam_state_save(*state, path, NULL, NULL);
    assert_int_equal(umask(old), masks[i]); /* left alone */
    assert_int_equal(status, CDAM_OK);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    unlink(path);
  }
}

static void a_failure_leaves_the_old_file(void **state) {
  static const char *const steps[] = {"fchmod", "fsync", "rename"};
  const char *path = path_of("s");
  for (size_t i = 0; i < 3; i++) {
    for (int there = 0; there < 2; there++) {
      if (there) write_file(path, "old", 3);
      to_fail = steps[i];
      fail_with = ENOSPC;
      cdam_error err;
      assert_int_equal(cdam_state_save(*state, path, NULL, &err), CDAM_ERR_IO);
      assert_non_null(strstr(err.message, "No space left"));
      assert_non_null(strstr(err.message, path));
      assert_int_equal(files_in_directory(), there);
      if (!there) continue;
      blob file = read_file(path);
      assert_int_equal(file.length, 3);
      blob_free(&file);
      unlink(path);
    }
  }
}

/* After the rename the new state is there; only a crash could bring the old one back. */
static void a_directory_that_cannot_be_synced(void **state) {
  const char *path = path_of("s");
  cdam_error err;
  cdam_state *loaded = NULL;
  to_fail = "fsync-directory";
  fail_with = EIO;
  assert_int_equal(cdam_state_save(*state, path, NULL, &err), CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "crash"));
  assert_int_equal(cdam_state_load(path, NULL, &loaded, NULL), CDAM_OK);
  cdam_state_free(loaded);
  fail_with = EINVAL; /* a file system that has no such thing */
  assert_int_equal(cdam_state_save(*state, path, NULL, &err), CDAM_OK);
  unlink(path);
}

/* The disk is full in the middle. */
static void a_cut_write_leaves_the_old_file(void **state) {
  const char *path = path_of("s");
  struct rlimit old, small;
  write_file(path, "old", 3);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 100;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  cdam_error err;
  cdam_status status = cdam_state_save(*state, path, NULL, &err);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(status, CDAM_ERR_IO);
  assert_non_null(strstr(err.message, "File too large"));
  blob file = read_file(path);
  assert_int_equal(file.length, 3);
  blob_free(&file);
  assert_int_equal(files_in_directory(), 1);
  unlink(path);
}

static void an_invalid_state_touches_nothing(void **state) {
  const char *path = path_of("s");
  cdam_state *bad = *state;
  write_file(path, "old", 3);
  bad->message.options->network_mode = COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET;
  assert_int_equal(cdam_state_save(bad, path, NULL, NULL), CDAM_ERR_INVALID);
  assert_string_equal(calls, "");
  blob file = read_file(path);
  assert_int_equal(file.length, 3);
  blob_free(&file);
  unlink(path);
}

static void refuse_save(cdam_state *state, const char *path, const char *text) {
  cdam_error err;
  cdam_status status = cdam_state_save(state, path, NULL, &err);
  if (status != CDAM_ERR_IO || !strstr(err.message, text))
    fail_msg("\"%s\": %s", path, status ? err.message : "saved");
}

/* Renaming over any of these would do harm. */
static void only_regular_files_are_replaced(void **state) {
  char target[sizeof directory + 64];
  snprintf(target, sizeof target, "%s", path_of("target"));
  write_file(target, "old", 3);
  const char *path = path_of("s");
  struct stat about;
  assert_int_equal(symlink(target, path), 0);
  refuse_save(*state, path, "a symbolic link");
  assert_int_equal(lstat(path, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  unlink(path);
  assert_int_equal(symlink("/nowhere/at/all", path), 0);
  refuse_save(*state, path, "a symbolic link");
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  refuse_save(*state, path, "not a regular file");
  unlink(path);
  refuse_save(*state, directory, "not a regular file");
  refuse_save(*state, "/nowhere/s", "No such file");
  refuse_save(*state, "", "No such file");
  snprintf(target + strlen(target), 2, "/");
  refuse_save(*state, target, "Not a directory");
  unlink(path_of("target"));
}

static void a_name_without_a_directory(void **state) {
  char old[4096];
  assert_non_null(getcwd(old, sizeof old));
  assert_int_equal(chdir(directory), 0);
  cdam_status status = cdam_state_save(*state, "s", NULL, NULL);
  cdam_state *loaded = NULL;
  cdam_status again = cdam_state_load("s", NULL, &loaded, NULL);
  assert_int_equal(chdir(old), 0);
  assert_int_equal(status, CDAM_OK);
  assert_int_equal(again, CDAM_OK);
  cdam_state_free(loaded);
  unlink(path_of("s"));
}

static void file_descriptors_are_not_leaked(void **state) {
  const char *path = path_of("s");
  size_t before = files_in("/proc/self/fd");
  for (int i = 0; i < 3; i++) {
    cdam_state *loaded = NULL;
    to_fail = i == 1 ? "fsync" : i == 2 ? "rename" : NULL;
    fail_with = EIO;
    cdam_status status = cdam_state_save(*state, path, NULL, NULL);
    assert_int_equal(status, i ? CDAM_ERR_IO : CDAM_OK);
    assert_int_equal(cdam_state_load(path, NULL, &loaded, NULL), CDAM_OK);
    cdam_state_free(loaded);
    assert_int_equal(cdam_state_load("/dev/null", NULL, &loaded, NULL), CDAM_ERR_IO);
  }
  assert_int_equal(files_in("/proc/self/fd"), before);
  unlink(path);
}

/* ---- loading ---- */

static void refuse_load(const char *path, cdam_status code, const char *text) {
  cdam_state *loaded = (cdam_state *)(uintptr_t)1;
  cdam_error err;
  assert_int_equal(cdam_state_load(path, NULL, &loaded, &err), code);
  assert_null(loaded);
  if (!strstr(err.message, text)) fail_msg("%s", err.message);
}

static void files_that_are_no_states(void **state) {
  (void)state;
  const char *path = path_of("s");
  unsigned char *large = calloc(1, CDAM_STATE_MAX_BYTES + 1);
  assert_non_null(large);
  write_file(path, large, 417); /* as long as a state, after a crash */
  refuse_load(path, CDAM_ERR_MALFORMED, "field number 0");
  write_file(path, large, CDAM_STATE_MAX_BYTES);
  refuse_load(path, CDAM_ERR_MALFORMED, "field number 0");
  write_file(path, large, CDAM_STATE_MAX_BYTES + 1);
  refuse_load(path, CDAM_ERR_MALFORMED, "larger than 1048576 bytes");
  write_file(path, "", 0);
  refuse_load(path, CDAM_ERR_MALFORMED, "no bytes");
  unlink(path);
  refuse_load(path, CDAM_ERR_IO, "No such file");
  refuse_load(directory, CDAM_ERR_IO, "neither a regular file nor a pipe");
  refuse_load("/dev/zero", CDAM_ERR_IO, "neither a regular file nor a pipe");
  free(large);
}

static void a_symbolic_link_is_followed_for_reading(void **state) {
  char link[sizeof directory + 64];
  snprintf(link, sizeof link, "%s", path_of("link"));
  const char *path = path_of("s");
  cdam_state *loaded = NULL;
  assert_int_equal(cdam_state_save(*state, path, NULL, NULL), CDAM_OK);
  assert_int_equal(symlink(path, link), 0);
  assert_int_equal(cdam_state_load(link, NULL, &loaded, NULL), CDAM_OK);
  cdam_state_free(loaded);
  unlink(link);
  unlink(path);
}

typedef struct feed {
  int fd;
  pthread_t reader;
  blob bytes;
} feed;

/* A few bytes at a time, with a signal to the reader in between. */
static void *feed_slowly(void *data) {
  feed *f = data;
  for (size_t at = 0; at < f->bytes.length; at += 40) {
    size_t piece = f->bytes.length - at < 40 ? f->bytes.length - at : 40;
    usleep(2000);
    pthread_kill(f->reader, SIGUSR1);
    usleep(2000);
    if (write(f->fd, f->bytes.bytes + at, piece) != (ssize_t)piece) break;
  }
  close(f->fd);
  return NULL;
}

static void interrupted(int number) {
  (void)number;
}

static void a_slow_pipe_and_signals(void **state) {
  (void)state;
  struct sigaction action = {.sa_handler = interrupted}; /* without SA_RESTART */
  struct sigaction old;
  assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  feed f = {ends[1], pthread_self(), golden("r2-none-full.binpb")};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, feed_slowly, &f), 0);
  char path[64];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  cdam_state *loaded = NULL;
  cdam_error err;
  cdam_status status = cdam_state_load(path, NULL, &loaded, &err);
  pthread_join(thread, NULL);
  close(ends[0]);
  sigaction(SIGUSR1, &old, NULL);
  if (status) fail_msg("%s", err.message);
  assert_true(is_none(loaded));
  cdam_state_free(loaded);
  blob_free(&f.bytes);
}

static void *feed_for_ever(void *data) {
  int fd = *(int *)data;
  static const unsigned char bytes[4096];
  while (write(fd, bytes, sizeof bytes) > 0)
    continue;
  close(fd);
  return NULL;
}

static void a_pipe_without_an_end(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, feed_for_ever, &ends[1]), 0);
  char path[64];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  refuse_load(path, CDAM_ERR_MALFORMED, "larger than 1048576 bytes");
  close(ends[0]);
  pthread_join(thread, NULL);
  signal(SIGPIPE, SIG_DFL);
}

static int make_directory(void **unused) {
  (void)unused;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused) {
  (void)unused;
  return rmdir(directory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(saved_and_loaded),
      TEST(saving_is_durable),
      TEST(mode_is_0600_whatever_the_umask),
      TEST(a_failure_leaves_the_old_file),
      TEST(a_directory_that_cannot_be_synced),
      TEST(a_cut_write_leaves_the_old_file),
      TEST(an_invalid_state_touches_nothing),
      TEST(only_regular_files_are_replaced),
      TEST(a_name_without_a_directory),
      TEST(file_descriptors_are_not_leaked),
      TEST(files_that_are_no_states),
      TEST(a_symbolic_link_is_followed_for_reading),
      TEST(a_slow_pipe_and_signals),
      TEST(a_pipe_without_an_end),
  };
  return cmocka_run_group_tests_name("state_file", tests, make_directory, remove_directory);
}
