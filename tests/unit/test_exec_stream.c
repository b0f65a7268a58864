/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/exec_stream.h"

#define BYTES(text) text, sizeof(text) - 1

static const char conversation[] = "\1\0\0\0\0\0\0\0"        /* empty frames, as engines send */
                                   "\2\0\0\0\0\0\0\0"        /* them first */
                                   "\1\0\0\0\0\0\0\6hello\n" /* stdout */
                                   "\2\0\0\0\0\0\0\4oops"    /* stderr */
                                   "\0\0\0\0\0\0\0\1!"       /* stdin's type means stdout */
                                   "\1\0\0\0\0\0\0\5\0\xff\1\n\0";

static void check_conversation(cdam_exec_stream *stream) {
  cdam_error error = {0};
  assert_true(cdam_exec_stream_end(stream, &error));
  assert_int_equal(stream->out.total, 12);
  assert_int_equal(stream->err.total, 4);
  assert_int_equal(stream->out.kept.length, 12);
  assert_memory_equal(stream->out.kept.data, "hello\n!\0\xff\1\n\0", 12);
  assert_int_equal(stream->err.kept.length, 4);
  assert_memory_equal(stream->err.kept.data, "oops", 4);
  cdam_exec_stream_clear(stream);
}

static void any_split(void **state) {
  (void)state;
  size_t length = sizeof conversation - 1;
  for (size_t a = 0; a <= length; a++) {
    for (size_t b = a; b <= length; b++) {
      cdam_exec_stream stream = {.cap = 100};
      cdam_error error = {0};
      assert_true(cdam_exec_stream_feed(&stream, conversation, a, &error));
      assert_true(cdam_exec_stream_feed(&stream, conversation + a, b - a, &error));
      assert_true(cdam_exec_stream_feed(&stream, conversation + b, length - b, &error));
      check_conversation(&stream);
    }
  }
}

static void byte_at_a_time(void **state) {
  (void)state;
  cdam_exec_stream stream = {.cap = 100};
  cdam_error error = {0};
  for (size_t i = 0; i < sizeof conversation - 1; i++)
    assert_true(cdam_exec_stream_feed(&stream, conversation + i, 1, &error));
  check_conversation(&stream);
}

/* An end at a frame's border is an end; anywhere else it is a cut. */
static void any_end(void **state) {
  (void)state;
  static const size_t borders[] = {0, 8, 16, 30, 42, 51, 64};
  size_t next = 0;
  for (size_t end = 0; end < sizeof conversation; end++) {
    cdam_exec_stream stream = {.cap = 100};
    cdam_error error = {0};
    assert_true(cdam_exec_stream_feed(&stream, conversation, end, &error));
    bool border = next < sizeof borders / sizeof *borders && end == borders[next];
    next += border;
    assert_int_equal(cdam_exec_stream_end(&stream, &error), border);
    if (!border) assert_int_equal(error.code, CDAM_ERR_PROTOCOL);
    cdam_exec_stream_clear(&stream);
  }
  assert_int_equal(next, sizeof borders / sizeof *borders);
}

static void refuse(const char *bytes, size_t length, cdam_status code, const char *words) {
  for (size_t piece = 1; piece <= length; piece++) {
    cdam_exec_stream stream = {.cap = 100};
    cdam_error error = {0};
    bool ok = true;
    for (size_t at = 0; at < length && ok; at += piece) {
      size_t rest = length - at;
      ok = cdam_exec_stream_feed(&stream, bytes + at, rest < piece ? rest : piece, &error);
    }
    assert_false(ok);
    assert_int_equal(error.code, code);
    if (!strstr(error.message, words)) fail_msg("%s", error.message);
    cdam_exec_stream_clear(&stream);
  }
}

static void no_frame(void **state) {
  (void)state;
  refuse(BYTES("\7\0\0\0\0\0\0\1x"), CDAM_ERR_PROTOCOL, "(at byte 0)");
  refuse(BYTES("\4\0\0\0\0\0\0\0"), CDAM_ERR_PROTOCOL, "04 00 00 00");
  refuse(BYTES("\1\0\0\0\0\0\0\1x\1\0\0\1\0\0\0\1x"), CDAM_ERR_PROTOCOL, "(at byte 9)");
  refuse(BYTES("\1\1\0\0\0\0\0\1x"), CDAM_ERR_PROTOCOL, "01 01 00 00");
  refuse(BYTES("\1\0\1\0\0\0\0\1x"), CDAM_ERR_PROTOCOL, "01 00 01 00");
  refuse(BYTES("HTTP/1.1 500"), CDAM_ERR_PROTOCOL, "garbled");
}

static void the_engines_own_error(void **state) {
  (void)state;
  refuse(BYTES("\1\0\0\0\0\0\0\1x\3\0\0\0\0\0\0\5woe\r\n"), CDAM_ERR_ENGINE, "off: woe");
  refuse(BYTES("\3\0\0\0\0\0\0\0"), CDAM_ERR_ENGINE, "broke");
}

/* The longest frame there can be is counted, not stored. */
static void four_gigabytes(void **state) {
  (void)state;
  cdam_exec_stream stream = {.cap = 10};
  cdam_error error = {0};
  assert_true(cdam_exec_stream_feed(&stream, BYTES("\1\0\0\0\xff\xff\xff\xff"), &error));
  size_t size = 1 << 24;
  char *block = calloc(1, size);
  assert_non_null(block);
  for (int i = 0; i < 255; i++)
    assert_true(cdam_exec_stream_feed(&stream, block, size, &error));
  assert_true(cdam_exec_stream_feed(&stream, block, size - 2, &error));
  assert_false(cdam_exec_stream_end(&stream, &error));
  assert_true(cdam_exec_stream_feed(&stream, block, 1, &error));
  assert_true(cdam_exec_stream_end(&stream, &error));
  free(block);
  assert_int_equal(stream.out.total, UINT32_MAX);
  assert_int_equal(stream.out.kept.length, 10);
  assert_true(stream.out.kept.capacity < 4096);
  cdam_exec_stream_clear(&stream);
}

static void keeps_the_head(void **state) {
  (void)state;
  static const char bytes[] = "\1\0\0\0\0\0\0\5abcde\2\0\0\0\0\0\0\2xy\1\0\0\0\0\0\0\3fgh";
  for (size_t cap = 0; cap < 10; cap++) {
    cdam_exec_stream stream = {.cap = cap};
    cdam_error error = {0};
    assert_true(cdam_exec_stream_feed(&stream, BYTES(bytes), &error));
    assert_int_equal(stream.out.total, 8);
    assert_int_equal(stream.err.total, 2);
    assert_int_equal(stream.out.kept.length, cap < 8 ? cap : 8);
    assert_int_equal(stream.err.kept.length, cap < 2 ? cap : 2);
    assert_memory_equal(cdam_buffer_text(&stream.out.kept), "abcdefgh", cap < 8 ? cap : 8);
    cdam_exec_stream_clear(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_split),      cmocka_unit_test(byte_at_a_time),
      cmocka_unit_test(any_end),        cmocka_unit_test(no_frame),
      cmocka_unit_test(four_gigabytes), cmocka_unit_test(the_engines_own_error),
      cmocka_unit_test(keeps_the_head),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
