/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the command line takes them. */
/* It is the command line's, and in no library; and its name for failing is cmocka's as well. */
#include "options/flag_values.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

typedef cdam_status (*reader)(const char *field, const char *text, uint64_t max, uint64_t *number,
                              cdam_error *err);

static void expect(reader read, const char *text, uint64_t max, uint64_t wanted) {
  uint64_t number = 0;
  cdam_error err;
  if (read("limit", text, max, &number, &err) != CDAM_OK) fail_msg("%s: %s", text, err.message);
  assert_int_equal(number, wanted);
}

static void refuse(reader read, const char *text, uint64_t max) {
  uint64_t number;
  cdam_error err;
  if (read("limit", text, max, &number, &err) != CDAM_ERR_INVALID) fail_msg("%s is taken", text);
  assert_string_equal(err.field, "limit");
  assert_int_equal(strncmp(err.message, "limit: ", 7), 0);
}

static void bytes(void **unused) {
  (void)unused;
  expect(cdam_flag_bytes, "0", 10, 0);
  expect(cdam_flag_bytes, "1048576", UINT64_MAX, 1048576);
  expect(cdam_flag_bytes, "512m", UINT64_MAX, 536870912);
  expect(cdam_flag_bytes, "2G", UINT64_MAX, (uint64_t)2 << 30);
  expect(cdam_flag_bytes, "1k", 1024, 1024);
  expect(cdam_flag_bytes, "18446744073709551615", UINT64_MAX, UINT64_MAX);
  static const char *const bad[] = {"",    "m",    "-1",  "+1",  " 1",
                                    "1 ",  "1.5g", "1mb", "1km", "0x1",
                                    "1e3", "1t",   "ä",   "1,",  "18446744073709551616"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refuse(cdam_flag_bytes, bad[i], UINT64_MAX);
  refuse(cdam_flag_bytes, "18014398509481984k", UINT64_MAX);
  refuse(cdam_flag_bytes, "2k", 2047);
  refuse(cdam_flag_bytes, NULL, UINT64_MAX);
}

static void billionths(void **unused) {
  (void)unused;
  expect(cdam_flag_nano, "1", UINT64_MAX, 1000000000);
  expect(cdam_flag_nano, "1.5", UINT64_MAX, 1500000000);
  expect(cdam_flag_nano, "0.01", UINT64_MAX, 10000000);
  expect(cdam_flag_nano, "0.000000001", UINT64_MAX, 1);
  expect(cdam_flag_nano, "1024", 1024000000000, 1024000000000);
  static const char *const bad[] = {"",    ".",  "1.", ".5", "1.5.", "-1",          "1,5",
                                    "1e1", " 1", "1 ", "+1", "0x1",  "1.0000000001"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refuse(cdam_flag_nano, bad[i], UINT64_MAX);
  refuse(cdam_flag_nano, "1024.00001", 1024000000000);
  refuse(cdam_flag_nano, "18446744074", UINT64_MAX);
  refuse(cdam_flag_nano, NULL, UINT64_MAX);
}

static void times(void **unused) {
  (void)unused;
  const uint64_t max = 253402300799;
  expect(cdam_flag_time, "4102444800", max, 4102444800);
  static const struct {
    const char *text;
    uint64_t seconds;
  } rows[] = {{"+90", 90}, {"+90s", 90}, {"+15m", 900}, {"+2h", 7200}, {"+7d", 604800}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t before = (uint64_t)time(NULL), number = 0;
    assert_int_equal(cdam_flag_time("limit", rows[i].text, max, &number, NULL), CDAM_OK);
    assert_in_range(number, before + rows[i].seconds, (uint64_t)time(NULL) + rows[i].seconds);
  }
  static const char *const bad[] = {"",    "+",     "+s",  "++1", "-1",   "+-1",         "1h",
                                    "+1y", "+1.5h", "now", " 1",  "+1 h", "253402300800"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refuse(cdam_flag_time, bad[i], max);
  refuse(cdam_flag_time, "+99999999999999999999d", max);
  refuse(cdam_flag_time, "+253402300799", max);
  refuse(cdam_flag_time, NULL, max);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bytes), cmocka_unit_test(billionths),
                                     cmocka_unit_test(times)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
