/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for HMAC seals. */
#include "state_support.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/key.h"

static void refuse_key(const char *id, size_t length, const char *text) {
  static const unsigned char bytes[2000];
  cdam_key *key = (cdam_key *)(uintptr_t)1;
  cdam_error err;
  assert_int_equal(cdam_key_new(id, bytes, length, &key, &err), CDAM_ERR_ARGUMENT);
  assert_null(key);
  if (!strstr(err.message, text)) fail_msg("%s", err.message);
}

static void keys_have_bounds(void **unused) {
  (void)unused;
  char id[130];
  memset(id, 'k', 129);
  id[129] = '\0';
  refuse_key("k", 15, "16 to 1024 bytes, not 15");
  refuse_key("k", 0, "not 0");
  refuse_key("k", 1025, "not 1025");
  refuse_key("", 32, "1 to 128 bytes");
  refuse_key(id, 32, "1 to 128 bytes");
  refuse_key("two words", 32, "printable ASCII");
  refuse_key("line\n", 32, "printable ASCII");
  refuse_key("\xc3\xa9", 32, "printable ASCII");
  refuse_key(NULL, 32, "needs a name");
  cdam_key_free(make_key("k", TEST_HEX, 16));
  cdam_key_free(make_key(id + 1, TEST_HEX TEST_HEX, 128));
  assert_int_equal(cdam_key_new("k", NULL, 32, &(cdam_key *){0}, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_key_new("k", TEST_HEX, 32, NULL, NULL), CDAM_ERR_ARGUMENT);
}

static void keys_copy_their_bytes(void **unused) {
  (void)unused;
  char bytes[32], id[] = "name";
  memcpy(bytes, TEST_HEX, 32);
  cdam_key *key = make_key(id, bytes, sizeof bytes);
  unsigned char before[CDAM_DIGEST_BYTES], after[CDAM_DIGEST_BYTES], right[CDAM_DIGEST_BYTES];
  assert_int_equal(cdam_key_hmac(key, (const unsigned char *)"text", 4, before, NULL), CDAM_OK);
  memset(bytes, 0, sizeof bytes);
  memset(id, 'x', 4);
  assert_int_equal(cdam_key_hmac(key, (const unsigned char *)"text", 4, after, NULL), CDAM_OK);
  assert_memory_equal(before, after, sizeof after);
  assert_non_null(HMAC(EVP_sha256(), TEST_HEX, 32, (const unsigned char *)"text", 4, right, NULL));
  assert_memory_equal(right, after, sizeof after);
  assert_string_equal(cdam_key_id(key), "name");
  cdam_key_free(key);
}

/* ---- files ---- */

static char directory[] = "/tmp/cofferdam-test-key-XXXXXX";

static const char *file_with(const char *name, const void *bytes, size_t length, mode_t mode) {
  static char path[sizeof directory + 300];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  fclose(file);
  assert_int_equal(chmod(path, mode), 0);
  return path;
}

static void refuse_file(const char *path, cdam_status code, const char *text) {
  cdam_key *key = (cdam_key *)(uintptr_t)1;
  cdam_error err;
  assert_int_equal(cdam_key_load(path, &key, &err), code);
  assert_null(key);
  if (!strstr(err.message, text)) fail_msg("%s", err.message);
}

static void files_are_keys(void **unused) {
  (void)unused;
  static const mode_t modes[] = {0400, 0600, 0644};
  for (size_t i = 0; i < 3; i++) {
    const char *path = file_with("prod-2024", TEST_HEX "\n", 65, modes[i]);
    cdam_key *key = NULL, *same = make_key("prod-2024", TEST_HEX "\n", 65);
    cdam_error err;
    if (cdam_key_load(path, &key, &err)) fail_msg("%s", err.message);
    assert_string_equal(cdam_key_id(key), "prod-2024");
    /* The whole content is the key, the newline too. */
    unsigned char a[CDAM_DIGEST_BYTES], b[CDAM_DIGEST_BYTES];
    assert_int_equal(cdam_key_hmac(key, (const unsigned char *)"", 0, a, NULL), CDAM_OK);
    assert_int_equal(cdam_key_hmac(same, (const unsigned char *)"", 0, b, NULL), CDAM_OK);
    assert_memory_equal(a, b, sizeof a);
    cdam_key_free(key);
    cdam_key_free(same);
    unlink(path);
  }
}

static void files_that_are_no_keys(void **unused) {
  (void)unused;
  unsigned char large[1025] = {1};
  refuse_file(file_with("group", TEST_HEX, 64, 0620), CDAM_ERR_IO, "others than its owner");
  refuse_file(file_with("world", TEST_HEX, 64, 0602), CDAM_ERR_IO, "others than its owner");
  refuse_file(file_with("short", TEST_HEX, 15, 0600), CDAM_ERR_ARGUMENT, "not 15");
  refuse_file(file_with("empty", TEST_HEX, 0, 0600), CDAM_ERR_ARGUMENT, "not 0");
  refuse_file(file_with("large", large, sizeof large, 0600), CDAM_ERR_ARGUMENT, "16 to 1024");
  refuse_file(file_with("two words", TEST_HEX, 64, 0600), CDAM_ERR_ARGUMENT, "printable ASCII");
  refuse_file(directory, CDAM_ERR_IO, "not a regular file");
  refuse_file("/nowhere/key", CDAM_ERR_IO, "No such file");
  refuse_file("/dev/zero", CDAM_ERR_IO, "not a regular file");
  assert_int_equal(cdam_key_load(NULL, &(cdam_key *){0}, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_key_load("x", NULL, NULL), CDAM_ERR_ARGUMENT);
}

static int make_directory(void **unused) {
  (void)unused;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused) {
  (void)unused;
  static const char *const names[] = {"group", "world", "short", "empty", "large", "two words"};
  char path[sizeof directory + 20];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    unlink(path);
  }
  return rmdir(directory);
}

/* ---- threads ---- */

static void *use_key(void *key) {
  unsigned char first[CDAM_DIGEST_BYTES], again[CDAM_DIGEST_BYTES];
  for (int i = 0; i < 500; i++) {
    const unsigned char *text = (const unsigned char *)TEST_HEX;
    if (cdam_key_hmac(key, text, 64, i ? again : first, NULL)) return "no digest";
    if (i && memcmp(first, again, sizeof first) != 0) return "another digest";
  }
  return NULL;
}

static void threads_share_a_key(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, use_key, key), 0);
  for (size_t i = 0; i < 4; i++) {
    void *wrong;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  cdam_key_free(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_have_bounds),    cmocka_unit_test(keys_copy_their_bytes),
      cmocka_unit_test(files_are_keys),      cmocka_unit_test(files_that_are_no_keys),
      cmocka_unit_test(threads_share_a_key),
  };
  return cmocka_run_group_tests_name("key", tests, make_directory, remove_directory);
}
