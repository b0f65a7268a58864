/* SPDX-License-Identifier: Apache-2.0 */
/* Which API version is spoken with which engine. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/answer.h"
#include "engine/negotiate.h"
#include "fetch.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const cdam_request get_info = {.method = "GET", .path = "/info"};

static void test_choices(void **state) {
  (void)state;
  static const struct {
    const char *offered, *chosen;
  } cases[] = {{"1.40", "1.40"},  {"1.41", "1.41"}, {"1.44", "1.44"},
               {"1.52", "1.52"},  {"1.53", "1.52"}, {"1.99", "1.52"},
               {"1.100", "1.52"}, {"2.0", "1.52"},  {"999.999", "1.52"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char chosen[8];
    cdam_error error;
    assert_int_equal(cdam_negotiate_choose(cases[i].offered, chosen, &error), CDAM_OK);
    assert_string_equal(chosen, cases[i].chosen);
  }
}

static void test_engines_that_are_too_old(void **state) {
  (void)state;
  static const char *const offers[] = {"1.39", "1.24", "1.4", "1.0", "0.99"};
  for (size_t i = 0; i < COUNT(offers); i++) {
    char chosen[8];
    cdam_error error;
    assert_int_equal(cdam_negotiate_choose(offers[i], chosen, &error), CDAM_ERR_API_VERSION);
    assert_non_null(strstr(error.message, offers[i]));
    assert_non_null(strstr(error.message, "1.40 to 1.52"));
    assert_int_equal(error.retry, CDAM_RETRY_NO);
  }
}

static void test_what_is_no_version(void **state) {
  (void)state;
  static const char *const offers[] = {"?",      "1",     "1.",     ".41",   "v1.41", "1.41.0",
                                       "1,41",   "1.4x",  "01.41",  "1.041", "1.-1",  "+1.41",
                                       "1.0041", "1. 41", "1.4\t1", "1e1.4"};
  for (size_t i = 0; i < COUNT(offers); i++) {
    char chosen[8];
    assert_int_equal(cdam_negotiate_choose(offers[i], chosen, NULL), CDAM_ERR_PROTOCOL);
  }
}

/* ---- over the wire ---- */

static cdam_status ping(const scripted_reply *reply, char version[8], cdam_error *error) {
  const scripted_rule rules[] = {{.path = "/_ping", .reply = *reply}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 500);
  const char *found;
  cdam_status status = cdam_client_ping(client, &found, error);
  snprintf(version, 8, "%s", found ? found : "");
  assert_int_equal(error->code, status);
  assert_string_equal(scripted_engine_request(engine, "GET", "/_ping", 0)->version, "");
  cdam_client_free(client);
  scripted_engine_stop(engine);
  return status;
}

static void test_ping(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {200, .headers = "Api-Version: 1.41\r\n", .body = "OK"},
      {200, .headers = "API-VERSION:1.41\r\n", .body = "OK", .piece = 1},
      {200, .headers = "X-Api-Version: 1.30\r\napi-version: \t 1.41 \r\nA: b\r\n"},
      {200, .headers = "Libpod-Api-Version: 4.3.1\r\nApi-Version: 1.41\r\n"},
      {.raw = "HTTP/1.1 100 Continue\r\nApi-Version: 1.30\r\n\r\n"
              "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 0\r\n\r\n"},
      {.raw = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nTransfer-Encoding: chunked\r\n\r\n"
              "0\r\nApi-Version: 1.30\r\n\r\n"},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    char version[8];
    cdam_error error;
    if (ping(&replies[i], version, &error) != CDAM_OK) fail_msg("%s", error.message);
    assert_string_equal(version, "1.41");
  }
}

static void test_pings_that_fail(void **state) {
  (void)state;
  static const struct {
    scripted_reply reply;
    cdam_status status;
  } cases[] = {
      {{200, .body = "OK"}, CDAM_ERR_API_VERSION},
      {{200, .headers = "Libpod-Api-Version: 4.3.1\r\n"}, CDAM_ERR_API_VERSION},
      {{200, .headers = "Api-Version: 1.24\r\n"}, CDAM_ERR_API_VERSION},
      {{200, .headers = "Api-Version:\r\n"}, CDAM_ERR_PROTOCOL},
      {{200, .headers = "Api-Version: 1.41\r\nApi-Version: 1.44\r\n"}, CDAM_ERR_PROTOCOL},
      {{200, .headers = "Api-Version: 1.41111111111111111111\r\n"}, CDAM_ERR_PROTOCOL},
      {{200, .headers = "Api-Version: 1.41, 1.44\r\n"}, CDAM_ERR_PROTOCOL},
      {{404, .body = "page not found"}, CDAM_ERR_NOT_FOUND},
      {{500, .headers = "Api-Version: 1.41\r\n"}, CDAM_ERR_ENGINE},
      {{301, .headers = "Location: /\r\nApi-Version: 1.41\r\n"}, CDAM_ERR_ENGINE},
      {{.raw = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\n", .end = SCRIPTED_CLOSE},
       CDAM_ERR_PROTOCOL},
      {{.raw = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\n", .end = SCRIPTED_HANG}, CDAM_ERR_TIMEOUT},
      {{400, .body = "{\"message\":\"client version 1.43 is too old. Minimum supported API version "
                     "is 1.44\"}"},
       CDAM_ERR_API_VERSION},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char version[8];
    cdam_error error;
    assert_int_equal(ping(&cases[i].reply, version, &error), cases[i].status);
    assert_string_equal(version, "");
  }
}

static void test_the_first_exchange_settles_it(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/_ping", .reply = {200, .headers = "Api-Version: 1.60\r\n"}},
      {.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 2000);
  for (int i = 0; i < 3; i++) {
    fetched out;
    fetch(client, &get_info, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    fetch_clear(&out);
    assert_string_equal(scripted_engine_request(engine, "GET", "/info", (size_t)i)->version,
                        "1.52");
  }
  assert_int_equal(scripted_engine_count(engine, NULL, "/_ping"), 1);
  const char *version;
  assert_int_equal(cdam_client_ping(client, &version, NULL), CDAM_OK);
  assert_string_equal(version, "1.52");
  assert_int_equal(scripted_engine_count(engine, NULL, "/_ping"), 2);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* A failure is not remembered: the engine may be upgraded or started. */
static void test_a_failure_is_tried_again(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/_ping", .times = 1, .reply = {503, .body = "starting"}},
                                 {.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetched out;
  fetch(client, &get_info, 0, &out);
  assert_int_equal(out.status, CDAM_ERR_ENGINE);
  assert_int_equal(out.error.http_status, 503);
  assert_int_equal(out.error.retry, CDAM_RETRY_YES);
  assert_int_equal(scripted_engine_count(engine, NULL, "/info"), 0);
  fetch_clear(&out);
  fetch(client, &get_info, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* The wait for the version counts for the request that waits. */
static void test_a_ping_that_hangs(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/_ping", .reply = {.raw = "H", .end = SCRIPTED_HANG}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 60000);
  cdam_request request = get_info;
  fetched out;
  request.timeout_ms = 150;
  fetch(client, &request, 0, &out);
  assert_int_equal(out.status, CDAM_ERR_TIMEOUT);
  assert_in_range(out.took_ms, 140, 30000);
  fetch_clear(&out);
  /* Nor does it go on when nobody waits for it any more. */
  for (int i = 0; i < 2000 && scripted_engine_open_connections(engine); i++)
    usleep(10000);
  assert_int_equal(scripted_engine_open_connections(engine), 0);
  fetch(client, &get_info, 150, &out);
  assert_int_equal(out.status, CDAM_ERR_TIMEOUT);
  assert_in_range(out.took_ms, 140, 30000);
  fetch_clear(&out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* An engine that was upgraded under a client that has settled. */
static void test_an_engine_that_no_longer_likes_the_version(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/info",
       .reply = {400, .body =
                          "{\"message\":\"client version 1.41 is too old. Minimum supported API "
                          "version is 1.44, please upgrade your client to a newer version\"}"}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetched out;
  fetch(client, &get_info, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  const cdam_reply reply = {.http = out.http, .body = out.body.data, .length = out.body.length};
  cdam_error error;
  assert_int_equal(cdam_answer_check(&reply, "info", &error), CDAM_ERR_API_VERSION);
  assert_non_null(strstr(error.message, "1.44"));
  assert_non_null(strstr(error.message, "1.40 to 1.52"));
  fetch_clear(&out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* ---- several at once ---- */

static void *fetch_in_thread(void *client) {
  fetched out;
  fetch(client, &get_info, 0, &out);
  bool ok = out.status == CDAM_OK;
  fetch_clear(&out);
  return ok ? client : NULL;
}

static void test_first_calls_in_several_threads(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/_ping", .reply = {200, .headers = "Api-Version: 1.41\r\n", .delay_ms = 100}},
      {.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 5000);
  pthread_t threads[6];
  for (size_t i = 0; i < COUNT(threads); i++)
    assert_int_equal(pthread_create(&threads[i], NULL, fetch_in_thread, client), 0);
  for (size_t i = 0; i < COUNT(threads); i++) {
    void *result;
    pthread_join(threads[i], &result);
    assert_ptr_equal(result, client);
  }
  assert_int_equal(scripted_engine_count(engine, NULL, "/info"), 6);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

typedef struct several {
  cdam_operation op;
  int done;
} several;

static void one_done(cdam_operation *op, const cdam_reply *reply) {
  several *all = (several *)op;
  if (reply->status != CDAM_OK || ++all->done == 3)
    cdam_operation_finish(op, reply->status, reply->error);
}

static void send_three(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  for (int i = 0; i < 3; i++)
    cdam_operation_send(op, &get_info, one_done);
}

static void test_first_calls_of_one_operation(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  several all = {0};
  assert_int_equal(cdam_operation_run(&all.op, client, send_three, NULL), CDAM_OK);
  assert_int_equal(scripted_engine_count(engine, NULL, "/_ping"), 1);
  assert_int_equal(scripted_engine_count(engine, NULL, "/info"), 3);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_engines_that_are_too_old),
      cmocka_unit_test(test_what_is_no_version),
      cmocka_unit_test(test_ping),
      cmocka_unit_test(test_pings_that_fail),
      cmocka_unit_test(test_the_first_exchange_settles_it),
      cmocka_unit_test(test_a_failure_is_tried_again),
      cmocka_unit_test(test_a_ping_that_hangs),
      cmocka_unit_test(test_an_engine_that_no_longer_likes_the_version),
      cmocka_unit_test(test_first_calls_in_several_threads),
      cmocka_unit_test(test_first_calls_of_one_operation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
