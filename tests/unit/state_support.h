/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of states share: golden files, keys, and states put together byte by byte. */
#ifndef TESTS_UNIT_STATE_SUPPORT_H
#define TESTS_UNIT_STATE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cofferdam/message.h>

#include "options/generated.h"

/* Bytes on the heap, of exactly that size, so that the sanitizer sees a read beyond them. */
typedef struct blob {
  unsigned char *bytes;
  size_t length;
} blob;

static inline blob blob_of(const void *bytes, size_t length) {
  blob b = {malloc(length ? length : 1), length};
  assert_non_null(b.bytes);
  if (length) memcpy(b.bytes, bytes, length);
  return b;
}

static inline void blob_free(blob *b) {
  free(b->bytes);
  *b = (blob){0};
}

/* Puts bytes in at a place. */
static inline void blob_insert(blob *b, size_t at, const void *bytes, size_t length) {
  assert_true(at <= b->length);
  unsigned char *bigger = malloc(b->length + length + 1);
  assert_non_null(bigger);
  if (at) memcpy(bigger, b->bytes, at);
  if (length) memcpy(bigger + at, bytes, length);
  if (b->length > at) memcpy(bigger + at + length, b->bytes + at, b->length - at);
  free(b->bytes);
  b->bytes = bigger;
  b->length += length;
}

static inline void blob_add(blob *b, const void *bytes, size_t length) {
  blob_insert(b, b->length, bytes, length);
}

static inline void blob_add_varint(blob *b, uint64_t value) {
  unsigned char bytes[10];
  size_t length = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[length++] = (unsigned char)(value | 0x80);
  bytes[length++] = (unsigned char)value;
  blob_add(b, bytes, length);
}

/* A length-delimited field. */
static inline void blob_add_field(blob *b, uint32_t number, const void *bytes, size_t length) {
  blob_add_varint(b, (uint64_t)number << 3 | 2);
  blob_add_varint(b, length);
  blob_add(b, bytes, length);
}

static inline void blob_add_text(blob *b, uint32_t number, const char *text) {
  blob_add_field(b, number, text, strlen(text));
}

#define TEST_SESSION_ID "6f1c2f4e-0a1b-4c3d-9e5f-8a7b6c5d4e3f"
#define TEST_HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* An unsealed state. `options_more` goes behind image and mode in the options, `more` behind all;
 * NONE gets its feature. */
static inline blob state_with(bool none, const void *options_more, size_t options_more_length,
                              const void *more, size_t more_length) {
  blob options = {0}, state = {0};
  blob_add_text(&options, 1, "busybox");
  if (none) blob_add(&options, "\x28\x01", 2);
  blob_add(&options, options_more, options_more_length);
  blob_add(&state, "\x08\x02", 2);
  if (none) blob_add(&state, "\x12\x01\x01", 3);
  blob_add_text(&state, 3, TEST_SESSION_ID);
  blob_add_field(&state, 4, options.bytes, options.length);
  blob_add_text(&state, 5, "sha256:" TEST_HEX);
  blob_add_text(&state, 6, TEST_HEX);
  blob_add(&state, more, more_length);
  blob_free(&options);
  return state;
}

static inline FILE *open_golden(const char *name) {
  const char *directory = getenv("GOLDEN_STATES");
  char path[4096];
  assert_non_null(directory);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("no golden file %s", path);
  return file;
}

static inline blob golden(const char *name) {
  unsigned char bytes[65536];
  FILE *file = open_golden(name);
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_in_range(length, 1, sizeof bytes - 1);
  return blob_of(bytes, length);
}

static inline cdam_key *make_key(const char *id, const void *bytes, size_t length) {
  cdam_key *key = NULL;
  assert_int_equal(cdam_key_new(id, bytes, length, &key, NULL), CDAM_OK);
  return key;
}

/* The key of the goldens. */
static inline cdam_key *golden_key(void) {
  blob bytes = golden("test-key");
  cdam_key *key = make_key("test-key", bytes.bytes, bytes.length);
  blob_free(&bytes);
  return key;
}

static inline cdam_state *parse_good(const blob *b, const cdam_key *key) {
  cdam_state *state = NULL;
  cdam_error err;
  if (cdam_state_parse(b->bytes, b->length, key, &state, &err)) fail_msg("%s", err.message);
  assert_int_equal(err.code, CDAM_OK);
  assert_non_null(state);
  return state;
}

/* Expects a refusal with that code, and that text in its message. */
static inline void refuse(const char *what, const blob *b, const cdam_key *key, cdam_status code,
                          const char *text) {
  cdam_state *state = (cdam_state *)(uintptr_t)1;
  cdam_error err;
  cdam_status status = cdam_state_parse(b->bytes, b->length, key, &state, &err);
  if (status != code || !strstr(err.message, text))
    fail_msg("%s: expected %s with \"%s\", got %s: %s", what, cdam_status_name(code), text,
             cdam_status_name(status), status ? err.message : "");
  assert_null(state);
  assert_int_equal(err.code, code);
}

static inline blob serialize(const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes = NULL;
  size_t length = 0;
  cdam_error err;
  if (cdam_state_serialize(state, key, &bytes, &length, &err)) fail_msg("%s", err.message);
  blob b = blob_of(bytes, length);
  free(bytes);
  return b;
}

static inline void assert_same_bytes(const blob *a, const blob *b) {
  assert_int_equal(a->length, b->length);
  assert_memory_equal(a->bytes, b->bytes, a->length);
}

static inline bool is_none(const cdam_state *state) {
  return state->message.options->network_mode == COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_NONE;
}

#endif
