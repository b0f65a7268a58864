/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/base: buffers, UTF-8, errors, the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/utf8.h"

/* ---- buffers ---- */

static void buffer_grows(void **unused) {
  (void)unused;
  cdam_buffer buffer = {0};
  assert_string_equal(cdam_buffer_text(&buffer), "");
  char expected[3001];
  for (size_t i = 0; i < 3000; i++) {
    char c = (char)('a' + i % 26);
    expected[i] = c;
    assert_true(cdam_buffer_append(&buffer, &c, 1));
    assert_int_equal(buffer.data[i + 1], '\0');
  }
  expected[3000] = '\0';
  assert_int_equal(buffer.length, 3000);
  assert_string_equal(buffer.data, expected);
  cdam_buffer_clear(&buffer);
  assert_null(buffer.data);
  assert_true(cdam_buffer_append(&buffer, NULL, 0));
  assert_string_equal(cdam_buffer_text(&buffer), "");
  cdam_buffer_clear(&buffer);
}

static void buffer_refuses_what_no_memory_holds(void **unused) {
  (void)unused;
  cdam_buffer buffer = {0};
  assert_true(cdam_buffer_append_text(&buffer, "kept"));
  assert_false(cdam_buffer_append(&buffer, "", SIZE_MAX));
  assert_false(cdam_buffer_append(&buffer, "", SIZE_MAX / 2));
  assert_string_equal(cdam_buffer_text(&buffer), "kept");
  assert_int_equal(buffer.length, 4);
  cdam_buffer_clear(&buffer);
}

static void buffer_escapes(void **unused) {
  (void)unused;
  cdam_buffer buffer = {0};
  assert_true(cdam_buffer_append_escaped(&buffer, "AZaz09-._~"));
  assert_true(cdam_buffer_append_escaped(&buffer, " /?#%&=+:@\"{}\\\n\x7f\xc3\xa9"));
  assert_string_equal(cdam_buffer_text(&buffer),
                      "AZaz09-._~%20%2F%3F%23%25%26%3D%2B%3A%40%22%7B%7D%5C%0A%7F%C3%A9");
  cdam_buffer_clear(&buffer);
}

/* ---- UTF-8 ---- */

static bool valid(const char *text) {
  return cdam_utf8_valid((const unsigned char *)text, strlen(text));
}

static void utf8_accepts(void **unused) {
  (void)unused;
  assert_true(valid(""));
  assert_true(valid("plain text that is longer than eight bytes"));
  assert_true(valid("\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"));
  assert_true(valid("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
  assert_true(cdam_utf8_valid((const unsigned char *)"a\0b", 3)); /* NUL is a character */
}

/* A NUL or a bad byte at every place of texts of every length around the word size. */
static void utf8_looks_at_every_byte(void **unused) {
  (void)unused;
  for (size_t length = 0; length < 40; length++) {
    unsigned char *text = malloc(length + 1);
    assert_non_null(text);
    unsigned char *exact = text + 1; /* not aligned, and nothing behind it */
    memset(exact, 'x', length);
    assert_true(cdam_utf8_valid(exact, length));
    assert_true(cdam_utf8_text(exact, length));
    for (size_t at = 0; at < length; at++) {
      exact[at] = 0;
      assert_true(cdam_utf8_valid(exact, length));
      assert_false(cdam_utf8_text(exact, length));
      exact[at] = 0x80;
      assert_false(cdam_utf8_valid(exact, length));
      assert_false(cdam_utf8_text(exact, length));
      exact[at] = at % 2 ? 0x7f : 0x01;
    }
    assert_true(cdam_utf8_text(exact, length));
    free(text);
  }
  assert_true(cdam_utf8_text((const unsigned char *)"text \xc3\xa9", 7));
  assert_false(cdam_utf8_text((const unsigned char *)"\xc3\xa9\0", 3));
}

static void utf8_refuses(void **unused) {
  (void)unused;
  static const char *const bad[] = {"\x80",
                                    "\xbf",
                                    "\xc0\x80",
                                    "\xc1\xbf",
                                    "\xc2",
                                    "\xc2\x20",
                                    "\xe0\x80\x80",
                                    "\xe0\x9f\xbf",
                                    "\xe1\x80",
                                    "\xed\xa0\x80",
                                    "\xed\xbf\xbf",
                                    "\xf0\x80\x80\x80",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf1\x80\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xfe",
                                    "\xff",
                                    "12345678\xff",
                                    "1234567\xff",
                                    "\xf0\x80",
                                    "12345678\xe2\x82",
                                    "latin-1 \xe9"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (valid(bad[i])) fail_msg("accepted number %zu", i);
}

/* Every sequence of up to three bytes, against the definition. */
static bool defined(uint32_t point, size_t width) {
  static const uint32_t first[] = {0, 0, 0x80, 0x800, 0x10000};
  return point >= first[width] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
}

static void utf8_agrees_with_its_definition(void **unused) {
  (void)unused;
  for (uint32_t bytes = 0; bytes < 0x1000000; bytes++) {
    unsigned char text[3] = {(unsigned char)(bytes >> 16), (unsigned char)(bytes >> 8),
                             (unsigned char)bytes};
    size_t expected = 0;
    bool tail1 = (text[1] & 0xc0) == 0x80, tail2 = (text[2] & 0xc0) == 0x80;
    uint32_t two = (uint32_t)(text[0] & 0x1f) << 6 | (text[1] & 0x3f);
    uint32_t three =
        (uint32_t)(text[0] & 0x0f) << 12 | (uint32_t)(text[1] & 0x3f) << 6 | (text[2] & 0x3f);
    if (text[0] < 0x80) expected = 1;
    if ((text[0] & 0xe0) == 0xc0 && tail1 && defined(two, 2)) expected = 2;
    if ((text[0] & 0xf0) == 0xe0 && tail1 && tail2 && defined(three, 3)) expected = 3;
    if (cdam_utf8_width(text, 3) != expected) fail_msg("%06x", bytes);
  }
}

/* ---- errors ---- */

static void errors_are_optional(void **unused) {
  (void)unused;
  assert_int_equal(cdam_ok(NULL), CDAM_OK);
  assert_int_equal(cdam_fail(NULL, CDAM_ERR_IO, "x"), CDAM_ERR_IO);
  assert_int_equal(cdam_fail_memory(NULL), CDAM_ERR_NO_MEMORY);
  assert_int_equal(cdam_fail_field(NULL, "f", "x"), CDAM_ERR_INVALID);
  assert_int_equal(cdam_fail_drift(NULL, "f", "x", "y"), CDAM_ERR_DRIFT);
}

static void errors_are_filled_in(void **unused) {
  (void)unused;
  cdam_error err;
  memset(&err, 0xa5, sizeof err);
  cdam_fail(&err, CDAM_ERR_CONNECT, "no %s for %d", "answer", 7);
  assert_int_equal(err.code, CDAM_ERR_CONNECT);
  assert_int_equal(err.retry, CDAM_RETRY_YES);
  assert_int_equal(err.http_status, 0);
  assert_string_equal(err.message, "no answer for 7");
  assert_string_equal(err.field, "");
  cdam_fail_field(&err, "options.image", "must be %s", "there");
  assert_string_equal(err.field, "options.image");
  assert_string_equal(err.message, "options.image: must be there");
  assert_int_equal(err.retry, CDAM_RETRY_NO);
  cdam_fail_drift(&err, "a", "1", "2");
  assert_string_equal(err.message, "the container has drifted: a should be 1 and is 2");
  assert_string_equal(err.expected, "1");
  assert_string_equal(err.actual, "2");
  cdam_fail(&err, CDAM_ERR_IO, "again: %s", err.message); /* an error may quote itself */
  assert_string_equal(err.message, "again: the container has drifted: a should be 1 and is 2");
  assert_int_equal(cdam_ok(&err), CDAM_OK);
  assert_int_equal(err.code, CDAM_OK);
  assert_string_equal(err.message, "");
}

static void errors_escape_what_is_not_for_people(void **unused) {
  (void)unused;
  cdam_error err;
  cdam_fail(&err, CDAM_ERR_IO, "%s", "a\nb\x1b[2J\x7f \xc3\xa9 \xff \xc2\x9b \xc2\xa0.");
  assert_string_equal(err.message, "a\\x0ab\\x1b[2J\\x7f \xc3\xa9 \\xff \\xc2\\x9b \xc2\xa0.");
  cdam_fail(&err, CDAM_ERR_IO, "%s", "\xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa6 \xe2\x82\xac");
  assert_string_equal(err.message, "\\xe2\\x80\\xa8 \\xe2\\x80\\xae \\xe2\\x81\\xa6 \xe2\x82\xac");
}

static void errors_are_cut_at_a_character(void **unused) {
  (void)unused;
  char text[3000];
  for (size_t start = 0; start < 4; start++) {
    memset(text, 'x', sizeof text);
    for (size_t i = start; i + 2 < sizeof text; i += 2)
      memcpy(text + i, "\xc3\xa9", 2);
    text[sizeof text - 1] = '\0';
    cdam_error err;
    cdam_fail(&err, CDAM_ERR_IO, "%s", text);
    assert_true(valid(err.message));
    assert_true(strlen(err.message) >= sizeof err.message - 3);
    cdam_fail_field(&err, text, "%s", text);
    assert_true(valid(err.field));
    assert_true(valid(err.message));
    cdam_fail_drift(&err, text, text, text);
    assert_true(valid(err.expected));
    assert_true(valid(err.actual));
    assert_true(valid(err.message));
  }
}

static void statuses_have_names(void **unused) {
  (void)unused;
  assert_string_equal(cdam_status_name(CDAM_OK), "CDAM_OK");
  assert_string_equal(cdam_status_name(CDAM_ERR_DRIFT), "CDAM_ERR_DRIFT");
  assert_string_equal(cdam_status_name(CDAM_ERR_EXEC), "CDAM_ERR_EXEC");
  assert_string_equal(cdam_status_name((cdam_status)9999), "CDAM_ERR_?");
  assert_string_equal(cdam_status_name((cdam_status)-1), "CDAM_ERR_?");
}

static void clock_goes_forward(void **unused) {
  (void)unused;
  int64_t before = cdam_now_ms();
  assert_true(before >= 0);
  assert_true(cdam_now_ms() >= before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffer_grows),
      cmocka_unit_test(buffer_refuses_what_no_memory_holds),
      cmocka_unit_test(buffer_escapes),
      cmocka_unit_test(utf8_accepts),
      cmocka_unit_test(utf8_looks_at_every_byte),
      cmocka_unit_test(utf8_refuses),
      cmocka_unit_test(utf8_agrees_with_its_definition),
      cmocka_unit_test(errors_are_optional),
      cmocka_unit_test(errors_are_filled_in),
      cmocka_unit_test(errors_escape_what_is_not_for_people),
      cmocka_unit_test(errors_are_cut_at_a_character),
      cmocka_unit_test(statuses_have_names),
      cmocka_unit_test(clock_goes_forward),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
