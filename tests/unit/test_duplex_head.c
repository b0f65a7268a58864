/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/duplex_head.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define UPGRADED "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

/* Feeds it in pieces of one size; how much was used in the end. */
static cdam_head_verdict feed(cdam_duplex_head *head, const char *text, size_t length, size_t piece,
                              size_t *used, cdam_error *error) {
  cdam_head_verdict verdict = CDAM_HEAD_MORE;
  for (*used = 0; *used < length && verdict == CDAM_HEAD_MORE;) {
    size_t part = length - *used < piece ? length - *used : piece, taken;
    char *copy = malloc(part); /* for the sanitizer to see what is read behind it */
    memcpy(copy, text + *used, part);
    verdict = cdam_duplex_head_feed(head, copy, part, &taken, error);
    if (verdict == CDAM_HEAD_MORE) assert_int_equal(taken, part);
    *used += taken;
    free(copy);
  }
  return verdict;
}

static void streams(void **state) {
  (void)state;
  static const char *const heads[] = {
      UPGRADED,
      "HTTP/1.1 101\r\n\r\n",
      "HTTP/1.1 101 \r\n\r\n",
      "HTTP/1.0 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX:\r\nY:\t tab and \xc3\xa4 \r\n\r\n",
      ("HTTP/1.1 100 Continue\r\n\r\n" UPGRADED),
  };
  for (size_t i = 0; i < COUNT(heads); i++) {
    char text[300];
    size_t length = strlen(heads[i]), used;
    memcpy(text, heads[i], length + 1);
    memcpy(text + length, "\r\n\r\nrest", 9);
    for (size_t piece = 1; piece <= length + 8; piece++) {
      cdam_duplex_head head = {0};
      cdam_error error = {0};
      assert_int_equal(feed(&head, text, length + 8, piece, &used, &error), CDAM_HEAD_STREAM);
      assert_int_equal(used, length);
      cdam_duplex_head_clear(&head);
    }
    for (size_t cut = 0; cut < length; cut++) {
      cdam_duplex_head head = {0};
      cdam_error error = {0};
      assert_int_equal(feed(&head, text, cut, 7, &used, &error), CDAM_HEAD_MORE);
      assert_false(cdam_duplex_head_may_end(&head));
      cdam_duplex_head_clear(&head);
    }
  }
}

static void answers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int http;
    const char *body;
    bool to_the_end;
  } cases[] = {
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello", 404, "hello", false},
      {"HTTP/1.1 404 Not Found\r\ncontent-length:\t05 \r\n\r\nhello", 404, "hello", false},
      {"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", 500, "", false},
      {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", false},
      {"HTTP/1.1 409 X\r\nTransfer-Encoding: "
       "Chunked\r\n\r\n2\r\nhe\r\n3;x=\"y\"\r\nllo\r\n0\r\n\r\n",
       409, "hello", false},
      {"HTTP/1.1 409 X\r\nTransfer-Encoding: chunked\r\n\r\n0A\r\n\r\n12345678\r\n000\r\nX: "
       "y\r\n\r\n",
       409, "\r\n12345678", false},
      {"HTTP/1.1 500 X\r\n\r\nto the end", 500, "to the end", true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_t length = strlen(cases[i].text), used;
    for (size_t piece = 1; piece <= length; piece++) {
      cdam_duplex_head head = {0};
      cdam_error error = {0};
      cdam_head_verdict verdict = feed(&head, cases[i].text, length, piece, &used, &error);
      assert_int_equal(verdict, cases[i].to_the_end ? CDAM_HEAD_MORE : CDAM_HEAD_ANSWER);
      assert_int_equal(cdam_duplex_head_may_end(&head), cases[i].to_the_end);
      assert_int_equal(head.http, cases[i].http);
      assert_string_equal(cdam_buffer_text(&head.body), cases[i].body);
      cdam_duplex_head_clear(&head);
    }
    for (size_t cut = 0; cut < length && !cases[i].to_the_end; cut++) {
      cdam_duplex_head head = {0};
      cdam_error error = {0};
      assert_int_equal(feed(&head, cases[i].text, cut, 1000, &used, &error), CDAM_HEAD_MORE);
      assert_false(cdam_duplex_head_may_end(&head));
      cdam_duplex_head_clear(&head);
    }
  }
}

static void nonsense(void **state) {
  (void)state;
#define HEAD(lines) "HTTP/1.1 101 X\r\n" lines "\r\n\r\n"
#define ERROR(lines) "HTTP/1.1 500 X\r\n" lines "\r\n\r\n"
#define CHUNKED(body) "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n" body
  static const char *const texts[] = {
      "http/1.1 101 X\r\n\r\n",
      " HTTP/1.1 101 X\r\n\r\n",
      "\r\nHTTP/1.1 101 X\r\n\r\n",
      "HTTP/1.2 101 X\r\n\r\n",
      "HTTP/2 101 X\r\n\r\n",
      "HTTP/1.1 1O1 X\r\n\r\n",
      "HTTP/1.1 99 X\r\n\r\n",
      "HTTP/1.1 600 X\r\n\r\n",
      "HTTP/1.1 1010\r\n\r\n",
      "HTTP/1.1  101 X\r\n\r\n",
      "HTTP/1.1 101 X\n\n",
      "HTTP/1.1 101 X\r\r\n\r\n",
      "HTTP/1.1 101 X\r\n\n",
      HEAD("No colon"),
      HEAD(": no name"),
      HEAD("Name : value"),
      HEAD(" folded: value"),
      HEAD("X: y\r\n folded"),
      HEAD("X: \x01"),
      HEAD("X: \x7f"),
      HEAD("Content-Length: 5"),
      HEAD("Transfer-Encoding: chunked"),
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 100 X\r\nContent-Length: 5\r\n\r\nhello",
      ERROR("Content-Length: -1"),
      ERROR("Content-Length: +1"),
      ERROR("Content-Length: "),
      ERROR("Content-Length: 1, 1"),
      ERROR("Content-Length: 0x10"),
      ERROR("Content-Length: 18446744073709551617"),
      ERROR("Content-Length: 1\r\nContent-Length: 1"),
      ERROR("Content-Length: 1\r\nTransfer-Encoding: chunked"),
      ERROR("Transfer-Encoding: gzip"),
      ERROR("Transfer-Encoding: gzip, chunked"),
      ERROR("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
      CHUNKED("\r\n"),
      CHUNKED("g\r\n"),
      CHUNKED("-1\r\n"),
      CHUNKED(" 1\r\n"),
      CHUNKED("0x1\r\n"),
      CHUNKED("10000000000000000\r\n"),
      CHUNKED("1\na"),
      CHUNKED("1\r\nab\r\n"),
      CHUNKED("1\r\na\n"),
  };
  for (size_t i = 0; i < COUNT(texts); i++) {
    for (size_t piece = 1; piece < 100; piece += 98) {
      cdam_duplex_head head = {0};
      cdam_error error = {0};
      size_t used;
      cdam_head_verdict verdict = feed(&head, texts[i], strlen(texts[i]), piece, &used, &error);
      if (verdict != CDAM_HEAD_BAD) fail_msg("accepted: %s", texts[i]);
      assert_int_equal(error.code, CDAM_ERR_PROTOCOL);
      cdam_duplex_head_clear(&head);
    }
  }
}

static void a_nul(void **state) {
  (void)state;
  static const char text[] = "HTTP/1.1 101 X\r\nA: \0\r\n\r\n";
  cdam_duplex_head head = {0};
  cdam_error error = {0};
  size_t used;
  assert_int_equal(feed(&head, text, sizeof text - 1, 100, &used, &error), CDAM_HEAD_BAD);
  cdam_duplex_head_clear(&head);
}

/* What never ends comes to an end. */
static void bounds(void **state) {
  (void)state;
  static const char *const beginnings[] = {
      "HTTP/1.1 101 ",
      "HTTP/1.1 101 X\r\nX: ",
      CHUNKED("1;"),
      CHUNKED("0\r\nX: "),
      "HTTP/1.1 500 X\r\n\r\n",
      CHUNKED("fffffffffffffff\r\n"),
      "HTTP/1.1 500 X\r\nContent-Length: 999999999999999999\r\n\r\n",
  };
  static char filler[10000];
  memset(filler, 'x', sizeof filler);
  for (size_t i = 0; i < COUNT(beginnings); i++) {
    cdam_duplex_head head = {0};
    cdam_error error = {0};
    size_t used, total = 0, part;
    assert_int_equal(feed(&head, beginnings[i], strlen(beginnings[i]), 1000, &used, &error),
                     CDAM_HEAD_MORE);
    cdam_head_verdict verdict = CDAM_HEAD_MORE;
    for (; verdict == CDAM_HEAD_MORE; total += part)
      verdict = cdam_duplex_head_feed(&head, filler, sizeof filler, &part, &error);
    bool is_body = i >= 4;
    assert_int_equal(verdict, is_body ? CDAM_HEAD_ANSWER : CDAM_HEAD_BAD);
    assert_in_range(total, is_body ? 1024 * 1024 : 60000, is_body ? 1100 * 1024 : 65536);
    assert_true(head.body.length <= 1024 * 1024);
    cdam_duplex_head_clear(&head);
  }
}

/* Many small heads or chunks count together. */
static void bounds_of_many(void **state) {
  (void)state;
  static const char *const again[] = {"HTTP/1.1 100 Continue\r\n\r\n", "1\r\nx\r\n"};
  for (size_t i = 0; i < COUNT(again); i++) {
    cdam_duplex_head head = {0};
    cdam_error error = {0};
    size_t used, total = 0;
    cdam_head_verdict verdict = CDAM_HEAD_MORE;
    if (i) verdict = feed(&head, CHUNKED(""), strlen(CHUNKED("")), 100, &used, &error);
    for (; verdict == CDAM_HEAD_MORE; total += used)
      verdict = feed(&head, again[i], strlen(again[i]), 100, &used, &error);
    assert_int_equal(verdict, CDAM_HEAD_BAD);
    assert_in_range(total, 60000, 80000);
    cdam_duplex_head_clear(&head);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams), cmocka_unit_test(answers), cmocka_unit_test(nonsense),
      cmocka_unit_test(a_nul),   cmocka_unit_test(bounds),  cmocka_unit_test(bounds_of_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
