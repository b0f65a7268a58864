/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/answer.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static cdam_reply answer(int http, const char *body) {
  return (cdam_reply){.http = http, .body = body, .length = strlen(body)};
}

static void test_success(void **state) {
  (void)state;
  static const int codes[] = {200, 201, 204, 299, 304};
  for (size_t i = 0; i < COUNT(codes); i++) {
    cdam_reply reply = answer(codes[i], "");
    cdam_error error = {.code = CDAM_ERR_DRIFT};
    assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_OK);
    assert_int_equal(error.code, CDAM_OK);
  }
}

static void test_the_transport_s_error(void **state) {
  (void)state;
  const cdam_error cause = {.code = CDAM_ERR_TIMEOUT, .message = "late"};
  const cdam_reply reply = {.status = CDAM_ERR_TIMEOUT, .error = &cause, .body = ""};
  cdam_error error;
  assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_ERR_TIMEOUT);
  assert_string_equal(error.message, "late");
  assert_int_equal(cdam_answer_check(&reply, "x", NULL), CDAM_ERR_TIMEOUT);
}

static void test_codes(void **state) {
  (void)state;
  static const struct {
    int http;
    cdam_status status;
    cdam_retry retry;
  } cases[] = {
      {301, CDAM_ERR_ENGINE, CDAM_RETRY_NO},      {400, CDAM_ERR_ENGINE, CDAM_RETRY_NO},
      {404, CDAM_ERR_NOT_FOUND, CDAM_RETRY_NO},   {409, CDAM_ERR_ENGINE, CDAM_RETRY_UNKNOWN},
      {429, CDAM_ERR_ENGINE, CDAM_RETRY_YES},     {500, CDAM_ERR_ENGINE, CDAM_RETRY_UNKNOWN},
      {501, CDAM_ERR_ENGINE, CDAM_RETRY_UNKNOWN}, {502, CDAM_ERR_ENGINE, CDAM_RETRY_YES},
      {503, CDAM_ERR_ENGINE, CDAM_RETRY_YES},     {504, CDAM_ERR_ENGINE, CDAM_RETRY_YES},
      {101, CDAM_ERR_ENGINE, CDAM_RETRY_NO},      {999, CDAM_ERR_ENGINE, CDAM_RETRY_NO},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    cdam_reply reply = answer(cases[i].http, "{\"message\":\"why\"}");
    cdam_error error;
    assert_int_equal(cdam_answer_check(&reply, "x", &error), cases[i].status);
    assert_int_equal(error.code, cases[i].status);
    assert_int_equal(error.http_status, cases[i].http);
    assert_int_equal(error.retry, cases[i].retry);
    assert_int_equal(cdam_answer_check(&reply, "x", NULL), cases[i].status);
  }
}

static void test_messages(void **state) {
  (void)state;
  static const struct {
    const char *body, *message;
  } cases[] = {
      {"{\"message\":\"No such container: x\"}", "do it: No such container: x"},
      {"{\"message\":\" trimmed\\n\"}\n", "do it: trimmed"},
      {"page not found\n", "do it: page not found"},
      {"\r\n  plain text \t\r\n", "do it: plain text"},
      {"<html><body>502</body></html>", "do it: <html><body>502</body></html>"},
      {"{\"error\":\"no message\"}", "do it: {\"error\":\"no message\"}"},
      {"{\"message\":17}", "do it: {\"message\":17}"},
      {"{\"message\":null}", "do it: {\"message\":null}"},
      {"[1]", "do it: [1]"},
      {"{\"message\":\"cut", "do it: {\"message\":\"cut"},
      {"{\"message\":\"a\",\"message\":\"b\"}", "do it: {\"message\":\"a\",\"message\":\"b\"}"},
      {"", "do it: Internal Server Error"},
      {" \n", "do it: Internal Server Error"},
      {"{\"message\":\"\"}", "do it: Internal Server Error"},
      {"bell \a and \xff", "do it: bell \\x07 and \\xff"},
      {"{\"message\":\"two\\nlines\"}", "do it: two\\x0alines"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    cdam_reply reply = answer(500, cases[i].body);
    cdam_error error;
    assert_int_equal(cdam_answer_check(&reply, "do it", &error), CDAM_ERR_ENGINE);
    assert_string_equal(error.message, cases[i].message);
  }
}

static void test_a_code_without_a_phrase(void **state) {
  (void)state;
  cdam_reply reply = answer(418, "");
  cdam_error error;
  cdam_answer_check(&reply, "do it", &error);
  assert_string_equal(error.message, "do it: no reason given");
}

static void test_a_huge_message(void **state) {
  (void)state;
  const size_t length = 10 * 1024 * 1024;
  char *body = malloc(length + 1);
  assert_non_null(body);
  memset(body, 'y', length);
  body[length] = '\0';
  cdam_reply reply = answer(500, body);
  cdam_error error;
  assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_ERR_ENGINE);
  assert_in_range(strlen(error.message), 100, sizeof error.message - 1);
  free(body);
}

static void test_bytes_behind_a_nul(void **state) {
  (void)state;
  const cdam_reply reply = {.http = 500, .body = "a\0b", .length = 3};
  cdam_error error;
  cdam_answer_check(&reply, "x", &error);
  assert_string_equal(error.message, "x: a\\x00b");
}

static void test_version_complaints(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "{\"message\":\"client version 1.43 is too old. Minimum supported API version is 1.44, "
      "please "
      "upgrade your client to a newer version\"}",
      "{\"message\":\"client version 1.52 is too new. Maximum supported API version is 1.41\"}",
      "client version 1.43 is too old. Minimum supported API version is 1.44",
  };
  for (size_t i = 0; i < COUNT(bodies); i++) {
    cdam_reply reply = answer(400, bodies[i]);
    cdam_error error;
    assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_ERR_API_VERSION);
    assert_non_null(strstr(error.message, "supported API version is 1.4"));
    assert_non_null(strstr(error.message, "1.40 to 1.52"));
    assert_int_equal(error.http_status, 400);
    assert_int_equal(error.retry, CDAM_RETRY_NO);
    reply.http = 500;
    assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_ERR_ENGINE);
  }
}

static void test_redirects(void **state) {
  (void)state;
  cdam_reply reply = answer(301, "");
  cdam_error error;
  assert_int_equal(cdam_answer_check(&reply, "x", &error), CDAM_ERR_ENGINE);
  assert_non_null(strstr(error.message, "redirect"));
}

/* ---- JSON ---- */

static void test_json(void **state) {
  (void)state;
  cdam_reply reply = answer(200, "{\"a\":{\"b\":\"c\"}}\n");
  json_t *json = NULL;
  cdam_error error;
  assert_int_equal(cdam_answer_json(&reply, "x", &json, &error), CDAM_OK);
  assert_string_equal(cdam_json_string_at(json, "a.b"), "c");
  json_decref(json);
}

static void test_no_json(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "",
      "null",
      "17",
      "\"text\"",
      "{\"a\":1",
      "{} x",
      "{}{}",
      "<html>",
      "{\"a\":1,\"a\":2}",
      "{\"a\":{\"b\":1,\"b\":1}}",
      "{'a':1}",
      "[1,]",
      "{\"a\":\"\xff\"}",
      "{\"a\":\"\\u0000\"}",
      "{\"a\":1e999}",
  };
  for (size_t i = 0; i < COUNT(bodies); i++) {
    cdam_reply reply = answer(200, bodies[i]);
    json_t *json = (json_t *)&reply;
    cdam_error error;
    if (cdam_answer_json(&reply, "look", &json, &error) != CDAM_ERR_PROTOCOL)
      fail_msg("accepted: %s", bodies[i]);
    assert_null(json);
    assert_memory_equal(error.message, "look: ", 6);
    assert_int_equal(error.http_status, 200);
    assert_int_equal(cdam_answer_json(&reply, "look", &json, NULL), CDAM_ERR_PROTOCOL);
  }
}

static void test_json_of_an_error(void **state) {
  (void)state;
  cdam_reply reply = answer(404, "{\"message\":\"gone\"}");
  json_t *json = NULL;
  cdam_error error;
  assert_int_equal(cdam_answer_json(&reply, "x", &json, &error), CDAM_ERR_NOT_FOUND);
  assert_null(json);
}

static void test_paths(void **state) {
  (void)state;
  json_t *json = json_loads("{\"a\":{\"b\":null,\"c\":[],\"d\":\"e\"},\"f\":1}", 0, NULL);
  assert_non_null(json);
  assert_ptr_equal(cdam_json_at(json, ""), json);
  assert_true(json_is_null(cdam_json_at(json, "a.b")));
  assert_true(json_is_array(cdam_json_at(json, "a.c")));
  assert_null(cdam_json_at(json, "a.x"));
  assert_null(cdam_json_at(json, "x.b"));
  assert_null(cdam_json_at(json, "a.b.c"));
  assert_null(cdam_json_at(json, "f.g"));
  assert_null(cdam_json_at(NULL, "a"));
  assert_string_equal(cdam_json_string_at(json, "a.d"), "e");
  assert_null(cdam_json_string_at(json, "a.b"));
  assert_null(cdam_json_string_at(json, "a.x"));
  assert_null(cdam_json_string_at(json, "f"));
  json_decref(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_success),
      cmocka_unit_test(test_the_transport_s_error),
      cmocka_unit_test(test_codes),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_a_code_without_a_phrase),
      cmocka_unit_test(test_a_huge_message),
      cmocka_unit_test(test_bytes_behind_a_nul),
      cmocka_unit_test(test_version_complaints),
      cmocka_unit_test(test_redirects),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_no_json),
      cmocka_unit_test(test_json_of_an_error),
      cmocka_unit_test(test_paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
