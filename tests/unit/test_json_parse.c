/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_parse.h"

/* Backslashes, as JSON writes them. */
#define TWO "\\\\\\\\"
#define EIGHT TWO TWO TWO TWO

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect_same(const char *text) {
  json_error_t problem;
  json_t *expected = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  json_t *found = cdam_json_parse(text, strlen(text), &problem);
  assert_non_null(expected);
  if (!found) fail_msg("%s: %s", text, problem.text);
  assert_true(json_equal(found, expected));
  json_decref(found);
  json_decref(expected);
}

static void test_what_is_read(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{}",
      "[]",
      " \n{ } \t",
      "[1,[2,{\"a\":null}],true,false,-0.5e3]",
      "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\"}",
      "[\"\\\\\",\"\\\"\",\"\"]",
      "{\"long key long key long key long key\":12345678901234567,\"b\":-9223372036854775808}",
      "[1234567890.12345678901234567890123456789012345678901234567890]",
      "[\"\xc3\xa4\xf0\x9f\x98\x80\"]",
      "[[[[[[[[[[]]]]]]]]]]"};
  for (size_t i = 0; i < COUNT(texts); i++)
    expect_same(texts[i]);
}

/* Longer than the pieces in which the text is handed on, whatever their size. */
static void test_long_tokens(void **state) {
  (void)state;
  for (size_t length = 1; length < 5000; length += length < 40 ? 1 : 97) {
    char *text = malloc(length + 10);
    assert_non_null(text);
    memset(text, 'y', length + 10);
    memcpy(text, "[\"", 2);
    memcpy(text + 2 + length, "\"]", 3);
    expect_same(text);
    memset(text + 1, '7', 1);
    memset(text + 2, '.', 1);
    memset(text + 3, '1', length);
    memcpy(text + 2 + length, "1]", 3);
    expect_same(text);
    free(text);
  }
}

/* What would be JSON only together with what the text is read in. */
static void test_what_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      " ",
                                      "]",
                                      "],[",
                                      "{}]",
                                      "{},{}",
                                      "{}],[{}",
                                      "1",
                                      "\"a\"",
                                      "null",
                                      "true",
                                      "{}{}",
                                      "{} x",
                                      "[1,2",
                                      "{\"a\"",
                                      "\"",
                                      "\\",
                                      "[\"\\",
                                      "[\"a]",
                                      ",",
                                      "{\"a\":1",
                                      "[1,]",
                                      "\"],[\"",
                                      "{}]\n",
                                      "{\"a\":1,\"a\":2}",
                                      "[01]",
                                      "[\"\xff\"]",
                                      "[\"\\u0000\"]",
                                      "[\"\\ud800\"]",
                                      "[1e999]",
                                      "[99999999999999999999]"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    json_error_t problem;
    json_t *json = cdam_json_parse(texts[i], strlen(texts[i]), &problem);
    if (json) fail_msg("accepted: %s", texts[i]);
    assert_string_not_equal(problem.text, ""); /* that would mean: no memory */
    assert_in_range(problem.position, 0, strlen(texts[i]) + 1);
  }
}

/* An engine's answer may be read by a thread with a small stack. */
static void test_depth(void **state) {
  (void)state;
  for (size_t depth = CDAM_JSON_MAX_DEPTH - 1; depth < CDAM_JSON_MAX_DEPTH + 2; depth++) {
    char text[4 * CDAM_JSON_MAX_DEPTH] = "";
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    json_error_t problem;
    json_t *json = cdam_json_parse(text, 2 * depth, &problem);
    assert_int_equal(json != NULL, depth <= CDAM_JSON_MAX_DEPTH);
    if (!json) assert_string_equal(problem.text, "nested too deep");
    json_decref(json);
  }
  static const char brackets[] =
      "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\","
      "\"\\\"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\"]";
  expect_same(brackets);
}

static void test_a_nul(void **state) {
  (void)state;
  json_error_t problem;
  assert_null(cdam_json_parse("[1]\0", 4, &problem));
  assert_null(cdam_json_parse("[\"a\0b\"]", 7, &problem));
  assert_null(cdam_json_parse("[1\0]", 4, &problem)); /* jansson alone passes over these */
  assert_null(cdam_json_parse("[1\0,2]", 6, &problem));
  assert_null(cdam_json_parse("[true\0]", 7, &problem));
  assert_null(cdam_json_parse("{\"a\":1.5\0}", 10, &problem));
  assert_int_equal(problem.position, 8);
  assert_string_equal(problem.text, "a NUL");
}

/* A position counts from the text's own beginning. */
static void test_positions(void **state) {
  (void)state;
  json_error_t problem;
  assert_null(cdam_json_parse("{\"a\": nonsense}", 15, &problem));
  assert_in_range(problem.position, 6, 15);
}

/* ---- out of memory ---- */

static size_t until_failure;
static size_t largest; /* larger blocks are not to be had; 0: all are */

static void *failing_malloc(size_t size) {
  if (largest && size > largest) return NULL;
  return until_failure && --until_failure == 0 ? NULL : malloc(size);
}

static void fail_each(const char *text) {
  json_t *expected = json_loads(text, 0, NULL);
  assert_non_null(expected);
  json_set_alloc_funcs(failing_malloc, free);
  for (size_t nth = 1;; nth++) {
    json_error_t problem;
    until_failure = nth;
    json_t *json = cdam_json_parse(text, strlen(text), &problem);
    bool failed = until_failure == 0;
    until_failure = 0;
    bool damaged = json && !json_equal(json, expected);
    json_decref(json);
    if (damaged) fail_msg("allocation %zu: other JSON came out of %s", nth, text);
    if (!failed) break;
    assert_true(nth < 1000);
  }
  json_set_alloc_funcs(malloc, free);
  json_decref(expected);
}

static void test_every_allocation_fails_once(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{}",
      "{\"a string of more than sixteen bytes\":\"and another one, of more than thirty-two\"}",
      "[\"\\\"quotes\\\", \\\"all\\\" over \\\"it\\\", more \\\"than\\\" sixteen\"]",
      "[\"" EIGHT EIGHT EIGHT "\"]",
      "{\"a\":[0.1234567890123456789012345678901234567890,[1,2,{\"b\":null}]]}",
  };
  for (size_t i = 0; i < COUNT(texts); i++)
    fail_each(texts[i]);
}

static void test_large_blocks_are_not_to_be_had(void **state) {
  (void)state;
  static const char text[] = "{\"a string of more than sixteen bytes\":\"which cannot be held\"}";
  json_set_alloc_funcs(failing_malloc, free);
  for (largest = 8; largest < 2000; largest += 8) {
    json_error_t problem;
    json_t *json = cdam_json_parse(text, strlen(text), &problem);
    if (json)
      assert_string_equal(json_string_value(json_object_iter_value(json_object_iter(json))),
                          "which cannot be held");
    else
      assert_string_equal(problem.text, "");
    json_decref(json);
  }
  largest = 0;
  json_set_alloc_funcs(malloc, free);
}

/* Whatever the length of the longest token. */
static void test_every_length_with_a_failure(void **state) {
  (void)state;
  char text[160];
  for (size_t length = 1; length < 140; length++) {
    memset(text, 'y', sizeof text);
    memcpy(text, "[\"", 2);
    memcpy(text + 2 + length, "\"]", 3);
    fail_each(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_read),
      cmocka_unit_test(test_long_tokens),
      cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_a_nul),
      cmocka_unit_test(test_positions),
      cmocka_unit_test(test_every_allocation_fails_once),
      cmocka_unit_test(test_every_length_with_a_failure),
      cmocka_unit_test(test_large_blocks_are_not_to_be_had),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
