/* SPDX-License-Identifier: Apache-2.0 */
/* What test_exec_stream does not show: the pieces, and their taker's failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "engine/stdcopy.h"

static const char conversation[] = "\2\0\0\0\0\0\0\0"
                                   "\1\0\0\0\0\0\0\6hello\n"
                                   "\0\0\0\0\0\0\0\1!"
                                   "\2\0\0\0\0\0\0\4oops";

static bool note(void *user, cdam_stdcopy_stream stream, const char *bytes, size_t length,
                 cdam_error *failure) {
  (void)failure;
  cdam_buffer *notes = user;
  assert_true(length > 0);
  for (size_t i = 0; i < length; i++) {
    const char what[2] = {(char)('0' + stream), bytes[i]};
    assert_true(cdam_buffer_append(notes, what, 2));
  }
  return true;
}

static void pieces(void **state) {
  (void)state;
  size_t length = sizeof conversation - 1;
  for (size_t piece = 1; piece <= length; piece++) {
    cdam_stdcopy copy = {0};
    cdam_buffer notes = {0};
    cdam_error error = {0};
    for (size_t at = 0; at < length; at += piece) {
      size_t part = length - at < piece ? length - at : piece;
      assert_true(cdam_stdcopy_feed(&copy, conversation + at, part, note, &notes, &error));
    }
    assert_true(cdam_stdcopy_end(&copy, &error));
    assert_int_equal(copy.offset, length);
    assert_string_equal(notes.data, "1h1e1l1l1o1\n1!2o2o2p2s");
    cdam_buffer_clear(&notes);
    cdam_stdcopy_clear(&copy);
  }
}

static bool refuse(void *user, cdam_stdcopy_stream stream, const char *bytes, size_t length,
                   cdam_error *failure) {
  (void)user, (void)stream, (void)bytes, (void)length;
  cdam_fail(failure, CDAM_ERR_INVALID, "enough");
  return false;
}

static void a_taker_that_fails(void **state) {
  (void)state;
  cdam_stdcopy copy = {0};
  cdam_error error = {0};
  assert_false(
      cdam_stdcopy_feed(&copy, conversation, sizeof conversation - 1, refuse, NULL, &error));
  assert_int_equal(error.code, CDAM_ERR_INVALID);
  cdam_stdcopy_clear(&copy);
}

static void the_engine_s_own_words(void **state) {
  (void)state;
  static const char words[] = "\3\0\0\0\0\0\0\6gone\r\n\1\0\0\0\0\0\0\1x";
  cdam_stdcopy copy = {0};
  cdam_error error = {0};
  assert_false(cdam_stdcopy_feed(&copy, words, sizeof words - 1, refuse, NULL, &error));
  assert_int_equal(error.code, CDAM_ERR_ENGINE);
  assert_non_null(strstr(error.message, ": gone"));
  cdam_stdcopy_clear(&copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces),
      cmocka_unit_test(a_taker_that_fails),
      cmocka_unit_test(the_engine_s_own_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
