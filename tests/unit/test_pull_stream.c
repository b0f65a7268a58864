/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/pull_stream.h"

/* What the callback was told, as text. */
typedef struct record {
  char text[1024];
  int stop_at; /* the callback refuses this call; 0: never */
  int calls;
} record;

static bool note(void *user, const char *status, const char *layer, unsigned long long current,
                 unsigned long long total) {
  record *r = user;
  size_t used = strlen(r->text);
  snprintf(r->text + used, sizeof r->text - used, "[%s|%s|%llu/%llu]", status, layer, current,
           total);
  return ++r->calls != r->stop_at;
}

/* Feeds pieces of a size; the code of the first failure. */
static cdam_status run(const char *text, size_t length, size_t piece, record *r,
                       cdam_error *error) {
  cdam_pull_stream stream = {.progress = note, .progress_user = r, .image = "a:b"};
  *error = (cdam_error){0};
  bool ok = true;
  for (size_t at = 0; at < length && ok; at += piece) {
    size_t rest = length - at;
    ok = cdam_pull_stream_feed(&stream, text + at, rest < piece ? rest : piece, error);
  }
  if (ok) ok = cdam_pull_stream_end(&stream, error);
  cdam_pull_stream_clear(&stream);
  assert_int_equal(ok, error->code == CDAM_OK);
  return error->code;
}

static void expect_text(const char *text, cdam_status code, const char *told, const char *words) {
  size_t length = strlen(text);
  for (size_t piece = 1; piece <= length + 1; piece++) {
    record r = {0};
    cdam_error error;
    assert_int_equal(run(text, length, piece, &r, &error), code);
    assert_string_equal(r.text, told);
    if (!strstr(error.message, words)) fail_msg("%s", error.message);
  }
}

static void progress(void **state) {
  (void)state;
  expect_text("", CDAM_OK, "", "");
  expect_text("\r\n\n \t\r\n", CDAM_OK, "", "");
  expect_text("{\"status\":\"Pulling from a\",\"id\":\"b\"}\r\n"
              "{\"status\":\"Downloading\",\"id\":\"c1\",\"progressDetail\":{\"current\":5,"
              "\"total\":4294967297},\"progress\":\"[==>]\"}\n"
              "{\"status\":\"\\u00e4 \\ud83d\\ude00\",\"progressDetail\":{}}\r\n"
              "{\"status\":7,\"id\":null,\"progressDetail\":{\"current\":-1,\"total\":1e3}}\n"
              "{}",
              CDAM_OK,
              "[Pulling from a|b|0/0][Downloading|c1|5/4294967297][\xc3\xa4 \xf0\x9f\x98\x80||0/0]"
              "[||0/0][||0/0]",
              "");
  expect_text("{\"status\":\"one\"}{\"status\":\"two\"} {\"status\":\"three\"}\n", CDAM_OK,
              "[one||0/0][two||0/0][three||0/0]", "");
}

static void errors(void **state) {
  (void)state;
  expect_text("{\"status\":\"x\"}\n{\"errorDetail\":{\"message\":\"no space\"},\"error\":\"e\"}\n"
              "{\"status\":\"never\"}\n",
              CDAM_ERR_PULL, "[x||0/0]", "\"a:b\": no space");
  expect_text("{\"error\":\"only here\"}\r\n", CDAM_ERR_PULL, "", ": only here");
  expect_text("{\"error\":\"last line\"}", CDAM_ERR_PULL, "", ": last line");
  expect_text("{\"errorDetail\":{\"code\":1}}", CDAM_ERR_PULL, "", "no reason");
  expect_text("{\"errorDetail\":\"odd\"}", CDAM_ERR_PULL, "", "no reason");
  expect_text("{\"error\":null,\"errorDetail\":null}", CDAM_OK, "[||0/0]", "");
  expect_text("{\"status\":\"joined\"}{\"error\":\"second\"}\n", CDAM_ERR_PULL, "[joined||0/0]",
              ": second");
}

static void garbage(void **state) {
  (void)state;
  static const char nul[] = "{\"a\":1\0}\n"; /* jansson alone would go on behind it */
  record r = {0};
  cdam_error error;
  assert_int_equal(run(nul, sizeof nul - 1, sizeof nul, &r, &error), CDAM_ERR_PROTOCOL);
  expect_text("{\"status\":\"x\"}\n{\"status\":\"y", CDAM_ERR_PULL, "[x||0/0]", "cut");
  expect_text("{\"status\":\n\"x\"}\n", CDAM_ERR_PROTOCOL, "", "no JSON object");
  expect_text("[]\n", CDAM_ERR_PROTOCOL, "", "no JSON object");
  expect_text("<html>\n", CDAM_ERR_PROTOCOL, "", "no JSON object");
  expect_text("{\"a\":1,\"a\":2}\n", CDAM_ERR_PROTOCOL, "", "no JSON object");
  expect_text("{\"a\":\"\xff\"}\n", CDAM_ERR_PROTOCOL, "", "no JSON object");
  expect_text("{} x\n", CDAM_ERR_PROTOCOL, "[||0/0]", "no JSON object");
#define TEN(text) text text text text text text text text text text
  expect_text("{\"a\":" TEN("[[[[[[[") TEN("]]]]]]]") "}\n", CDAM_ERR_PROTOCOL, "",
              "no JSON object");
}

/* Every cut of an error line, too, is an error. */
static void any_cut(void **state) {
  (void)state;
  static const char line[] = "{\"errorDetail\":{\"message\":\"m\"},\"error\":\"m\"}\r\n";
  for (size_t end = 1; end < sizeof line; end++) {
    record r = {0};
    cdam_error error;
    assert_int_equal(run(line, end, end, &r, &error), CDAM_ERR_PULL);
  }
}

static void a_line_is_bounded(void **state) {
  (void)state;
  size_t length = CDAM_PULL_LINE_MAX;
  char *line = malloc(length + 2);
  assert_non_null(line);
  memset(line, ' ', length + 2);
  line[0] = '{';
  line[length - 1] = '}';
  line[length] = '\n';
  for (size_t piece = 1000; piece < length + 5000; piece += 4000) {
    record r = {0};
    cdam_error error;
    line[length - 1] = '}';
    line[length] = '\n';
    assert_int_equal(run(line, length + 1, piece, &r, &error), CDAM_OK);
    line[length - 1] = ' ';
    line[length] = '}';
    assert_int_equal(run(line, length + 2, piece, &r, &error), CDAM_ERR_PROTOCOL);
    assert_non_null(strstr(error.message, "65536"));
  }
  free(line);
}

static void the_caller_stops(void **state) {
  (void)state;
  static const char text[] = "{\"status\":\"1\"}\n{\"status\":\"2\"}\n{\"status\":\"3\"}\n";
  record r = {.stop_at = 2};
  cdam_error error;
  assert_int_equal(run(text, sizeof text - 1, 7, &r, &error), CDAM_ERR_PULL);
  assert_string_equal(r.text, "[1||0/0][2||0/0]");
  assert_int_equal(error.retry, CDAM_RETRY_NO);
}

static void nobody_listens(void **state) {
  (void)state;
  cdam_pull_stream stream = {.image = "a"};
  cdam_error error;
  assert_true(cdam_pull_stream_feed(&stream, "{}\n{\"error\"", 11, &error));
  assert_false(cdam_pull_stream_feed(&stream, ":\"x\"}\n", 6, &error));
  cdam_pull_stream_clear(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(progress),         cmocka_unit_test(errors),
      cmocka_unit_test(garbage),          cmocka_unit_test(any_cut),
      cmocka_unit_test(the_caller_stops), cmocka_unit_test(a_line_is_bounded),
      cmocka_unit_test(nobody_listens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
