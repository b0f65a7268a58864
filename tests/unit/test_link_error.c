/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent's errors become. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/link_private.h"

#define CODE(NAME) COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_##NAME
#define STEP(NAME) COFFERDAM__AGENT__V1__STEP__STEP_##NAME

static cdam_error translate(int code, int step, uint32_t number, const char *words) {
  Cofferdam__Agent__V1__Error error = COFFERDAM__AGENT__V1__ERROR__INIT;
  cdam_error err;
  error.code = (Cofferdam__Agent__V1__ErrorCode)code;
  error.step = (Cofferdam__Agent__V1__Step)step;
  error.system_errno = number;
  if (words) error.message = (char *)(uintptr_t)words;
  cdam_status status = cdam_link_error(&error, &err);
  assert_int_equal(status, err.code);
  assert_int_equal(status, cdam_link_error(&error, NULL));
  assert_int_not_equal(status, CDAM_OK);
  assert_true(err.message[0]);
  return err;
}

static void codes(void **state) {
  (void)state;
  static const struct {
    int code;
    cdam_status status;
  } cases[] = {
      {CODE(UNSPECIFIED), CDAM_ERR_AGENT},
      {CODE(PROTOCOL), CDAM_ERR_AGENT},
      {CODE(VERSION), CDAM_ERR_AGENT},
      {CODE(INVALID), CDAM_ERR_ARGUMENT},
      {CODE(LIMIT), CDAM_ERR_LIMIT},
      {CODE(NO_MEMORY), CDAM_ERR_LIMIT},
      {CODE(NO_PROCESS), CDAM_ERR_NO_PROCESS},
      {CODE(SYSTEM), CDAM_ERR_FILE},
      {CODE(NOT_STARTED), CDAM_ERR_NOT_STARTED},
      {CODE(OUTSIDE), CDAM_ERR_OUTSIDE},
      {CODE(CANCELLED), CDAM_ERR_CANCELLED},
      {CODE(UNSUPPORTED), CDAM_ERR_UNSUPPORTED},
      {CODE(SHUTTING_DOWN), CDAM_ERR_EXITED},
      {CODE(UNKNOWN_REQUEST), CDAM_ERR_UNSUPPORTED},
      {14, CDAM_ERR_AGENT},
      {-1, CDAM_ERR_AGENT},
      {INT32_MAX, CDAM_ERR_AGENT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(translate(cases[i].code, 0, 0, NULL).code, cases[i].status);
}

static void check(const cdam_error *err, int number, const char *message) {
  assert_int_equal(err->system_errno, number);
  assert_string_equal(err->message, message);
}

static void messages(void **state) {
  (void)state;
  cdam_error err = translate(CODE(SYSTEM), STEP(OPEN), ENOENT, "its words");
  check(&err, ENOENT, "cannot open: No such file or directory");
  err = translate(CODE(NOT_STARTED), STEP(EXEC), ENOENT, "");
  check(&err, ENOENT,
        "the command could not be started: cannot run the program: No such file or directory");
  err = translate(CODE(NOT_STARTED), STEP(DIRECTORY), EACCES, "");
  check(&err, EACCES,
        "the command could not be started: cannot enter its working directory: Permission denied");
  err = translate(CODE(SYSTEM), 99, EIO, "");
  check(&err, EIO, "it failed: Input/output error");
  err = translate(CODE(LIMIT), 0, 0, "too many");
  check(&err, 0, "one of the agent's limits is reached (the agent's words: \"too many\")");
}

/* Numbers that Linux does not have, texts that act on a terminal or never end. */
static void untrusted(void **state) {
  (void)state;
  static const uint32_t numbers[] = {0, 134, 4096, UINT32_MAX};
  for (size_t i = 0; i < 4; i++) {
    cdam_error err = translate(CODE(SYSTEM), STEP(OPEN), numbers[i], "a\033b\n");
    check(&err, 0, "an operation in the sandbox failed (the agent's words: \"a\\x1bb\\x0a\")");
  }
  cdam_error err = translate(CODE(SYSTEM), STEP(OPEN), 133, "");
  assert_int_equal(err.system_errno, 133);
  static char text[5000];
  memset(text, 'x', sizeof text - 1);
  err = translate(CODE(INVALID), 0, 0, text);
  assert_in_range(strlen(err.message), 200, 320);
}

static void paths(void **state) {
  (void)state;
  Cofferdam__Agent__V1__Error error = COFFERDAM__AGENT__V1__ERROR__INIT;
  static uint8_t bytes[4000];
  cdam_error err;
  error.code = CODE(SYSTEM);
  error.path = (ProtobufCBinaryData){6, (uint8_t *)(uintptr_t) "a/\0\033\xff/"};
  cdam_link_error(&error, &err);
  assert_string_equal(err.field, "a/\\x00\\x1b\\xff/");
  error.path = (ProtobufCBinaryData){sizeof bytes, bytes};
  cdam_link_error(&error, &err);
  assert_in_range(strlen(err.field), 100, sizeof err.field - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes),
      cmocka_unit_test(messages),
      cmocka_unit_test(untrusted),
      cmocka_unit_test(paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
