/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, upgraded connections, and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fetch.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const cdam_request get_info = {.method = "GET", .path = "/info"};
static const cdam_request stream_info = {.method = "GET", .path = "/info", .stream = true};
static const cdam_request upgrade = {
    .method = "POST", .path = "/exec/1/start", .body = "{}", .stream = true, .upgrade = true};

static void fetch_with(const scripted_reply *reply, const cdam_request *request, unsigned client_ms,
                       int64_t deadline_ms, fetched *out) {
  const scripted_rule rules[] = {{.path = "/info", .reply = *reply},
                                 {.path = "/exec/1/start", .reply = *reply}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, client_ms);
  cdam_error error;
  assert_int_equal(cdam_client_ping(client, NULL, &error), CDAM_OK);
  fetch(client, request, deadline_ms, out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void expect_timeout(const scripted_reply *reply, const cdam_request *request,
                           unsigned client_ms, int64_t deadline_ms, const char *message) {
  fetched out;
  fetch_with(reply, request, client_ms, deadline_ms, &out);
  assert_int_equal(out.status, CDAM_ERR_TIMEOUT);
  assert_int_equal(out.error.retry, CDAM_RETRY_YES);
  if (!strstr(out.error.message, message)) fail_msg("%s", out.error.message);
  assert_in_range(out.took_ms, 100, 20000);
  fetch_clear(&out);
}

/* ---- time ---- */

static const scripted_reply silent = {.raw = "HTTP/1.1 200 ", .end = SCRIPTED_HANG};
static const scripted_reply half = {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                                    .end = SCRIPTED_HANG};
/* 60 pieces in 0.6 s and more */
static const scripted_reply slow = {
    200, .body = "012345678901234567890123456789012345678901234567890123456789", .chunked = true,
    .piece = 7, .piece_delay_ms = 25};

static void test_the_client_s_timeout(void **state) {
  (void)state;
  expect_timeout(&silent, &get_info, 200, 0, "did not answer within 200 ms");
  expect_timeout(&half, &get_info, 200, 0, "200 ms");
  expect_timeout(&slow, &get_info, 200, 0, "200 ms");
  expect_timeout(&silent, &stream_info, 200, 0, "did not answer within 200 ms");
  expect_timeout(&silent, &upgrade, 200, 0, "did not answer within 200 ms");
}

static void test_a_timeout_of_the_request(void **state) {
  (void)state;
  cdam_request request = get_info;
  request.timeout_ms = 200;
  expect_timeout(&silent, &request, 60000, 0, "200 ms");
  request.timeout_ms = 5000;
  fetched out;
  fetch_with(&slow, &request, 100, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);
}

static void test_the_operation_s_deadline(void **state) {
  (void)state;
  expect_timeout(&silent, &get_info, 60000, 200, "deadline of the call");
  expect_timeout(&half, &get_info, 60000, 200, "deadline of the call");
  expect_timeout(&half, &stream_info, 60000, 200, "deadline of the call");
  expect_timeout(&half, &upgrade, 60000, 200, "deadline of the call");
}

static void test_a_deadline_that_has_passed(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetched out;
  fetch(client, &get_info, -1000, &out);
  assert_int_equal(out.status, CDAM_ERR_TIMEOUT);
  usleep(50000);
  assert_int_equal(scripted_engine_connections(engine), 0);
  fetch_clear(&out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* A stream may last longer than the client's timeout. */
static void test_streams_have_no_timeout_of_the_whole(void **state) {
  (void)state;
  scripted_reply slower = slow;
  slower.piece_delay_ms = 150; /* its head is there long before the timeout, its end long after */
  fetched out;
  fetch_with(&slower, &stream_info, 1500, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_int_equal(out.streamed.length, 60);
  assert_int_equal(out.body.length, 0);
  assert_in_range(out.took_ms, 1600, 60000);
  fetch_clear(&out);
}

static void test_silence(void **state) {
  (void)state;
  cdam_request request = stream_info;
  request.silence_ms = 200;
  expect_timeout(&half, &request, 60000, 0, "sent nothing for 200 ms");
  fetched out;
  fetch_with(&slow, &request, 60000, 0, &out); /* each byte counts */
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);
}

/* An error instead of a stream is an ordinary answer, and does not last for ever. */
static void test_errors_instead_of_streams(void **state) {
  (void)state;
  static const scripted_reply hangs = {.raw = "HTTP/1.1 409 X\r\nContent-Length: 9\r\n\r\nha",
                                       .end = SCRIPTED_HANG};
  expect_timeout(&hangs, &stream_info, 200, 0, "200 ms");
  expect_timeout(&hangs, &upgrade, 200, 0, "200 ms");
  static const scripted_reply error = {409, .body = "{\"message\":\"paused\"}"};
  const cdam_request *const requests[] = {&stream_info, &upgrade};
  for (size_t i = 0; i < COUNT(requests); i++) {
    fetched out;
    fetch_with(&error, requests[i], 2000, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_int_equal(out.http, 409);
    assert_string_equal(cdam_buffer_text(&out.body), "{\"message\":\"paused\"}");
    assert_int_equal(out.pieces, 0);
    fetch_clear(&out);
  }
}

/* ---- sinks ---- */

static bool refuse(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)bytes;
  (void)length;
  if (user) *failure = *(const cdam_error *)user;
  return false;
}

static void test_a_sink_that_refuses(void **state) {
  (void)state;
  cdam_error own = {.code = CDAM_ERR_PULL, .message = "no such layer"};
  cdam_request request = stream_info;
  request.sink = refuse;
  fetched out;
  fetch_with(&slow, &request, 2000, 0, &out);
  assert_int_equal(out.status, CDAM_ERR_PROTOCOL);
  assert_string_not_equal(out.error.message, "");
  fetch_clear(&out);
  request.sink_user = &own;
  fetch_with(&slow, &request, 2000, 0, &out);
  assert_int_equal(out.status, CDAM_ERR_PULL);
  assert_string_equal(out.error.message, "no such layer");
  fetch_clear(&out);
}

/* ---- upgraded connections ---- */

#define SWITCH "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

static void test_upgrades(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {.raw = SWITCH "the stream", .end = SCRIPTED_CLOSE},
      {.raw = SWITCH "the stream", .end = SCRIPTED_CLOSE, .piece = 1},
      {.raw = SWITCH "the stream", .end = SCRIPTED_CLOSE, .piece = 74},
      {.raw = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
              "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\nthe stream",
       .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 100 Continue\r\n\r\n" SWITCH "the stream", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 102 X\r\nA: b\r\n\r\n" SWITCH "the stream",
       .end = SCRIPTED_CLOSE,
       .piece = 1},
      {.raw = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"
              "the stream",
       .end = SCRIPTED_CLOSE},
      {200, .body = "the stream", .chunked = true, .piece = 3},
      {200, .body = "the stream", .chunked = true, .end = SCRIPTED_CLOSE},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    fetched out;
    print_message("# upgrade %zu\n", i);
    fetch_with(&replies[i], &upgrade, 2000, 0, &out);
    if (out.status != CDAM_OK) fail_msg("%s", out.error.message);
    assert_int_equal(out.http, i < 6 ? 101 : 200);
    assert_string_equal(cdam_buffer_text(&out.streamed), "the stream");
    fetch_clear(&out);
  }
}

static void test_an_upgrade_without_a_word(void **state) {
  (void)state;
  static const scripted_reply reply = {.raw = SWITCH, .end = SCRIPTED_CLOSE};
  fetched out;
  fetch_with(&reply, &upgrade, 2000, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_int_equal(out.http, 101);
  assert_int_equal(out.streamed.length, 0);
  fetch_clear(&out);
}

static void test_upgrades_that_are_cut(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {200, .body = "the stream", .chunked = true, .cut = 60},
      {.raw = "HTTP/1.1 101 UPGRADED\r\nConnection: Up", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 100 Continue\r\n\r\n", .end = SCRIPTED_CLOSE},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    fetched out;
    fetch_with(&replies[i], &upgrade, 2000, 0, &out);
    assert_int_equal(out.status, CDAM_ERR_PROTOCOL);
    fetch_clear(&out);
  }
}

/* A connection of its own, before and after. */
static void test_upgraded_connections_are_not_shared(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/info", .reply = {.status = 200}},
      {.path = "/exec/1/start", .reply = {200, .body = "x", .chunked = true}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 2000);
  const cdam_request *const requests[] = {&get_info, &upgrade, &get_info, &upgrade, &get_info};
  for (size_t i = 0; i < COUNT(requests); i++) {
    fetched out;
    fetch(client, requests[i], 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    fetch_clear(&out);
  }
  char value[64];
  const scripted_request *request = scripted_engine_request(engine, "POST", "/exec/1/start", 0);
  assert_true(scripted_request_header(request, "Upgrade", value, sizeof value));
  assert_string_equal(value, "tcp");
  assert_true(scripted_request_header(request, "Connection", value, sizeof value));
  assert_string_equal(value, "Upgrade");
  assert_string_equal(request->body, "{}");
  assert_int_equal(scripted_engine_connections(engine), 3);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(scripted_engine_request(engine, "GET", "/info", i)->connection, 1);
  for (int i = 0; i < 200 && scripted_engine_open_connections(engine) > 1; i++)
    usleep(10000);
  assert_int_equal(scripted_engine_open_connections(engine), 1);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* 64 MiB arrive whole and in order, and are not kept by us. */
static bool count_bytes(void *user, const char *bytes, size_t length, cdam_error *failure) {
  (void)failure;
  size_t *count = user;
  for (size_t i = 0; i < length; i += 4096)
    if (bytes[i] != (char)((*count + i) % 251)) return false;
  *count += length;
  return true;
}

static void test_a_large_stream(void **state) {
  (void)state;
  const size_t length = 64 * 1024 * 1024;
  const size_t head = strlen(SWITCH);
  char *raw = malloc(head + length);
  assert_non_null(raw);
  memcpy(raw, SWITCH, head);
  for (size_t i = 0; i < length; i++)
    raw[head + i] = (char)(i % 251);
  const scripted_reply reply = {.raw = raw, .raw_length = head + length, .end = SCRIPTED_CLOSE};
  size_t count = 0;
  cdam_request request = upgrade;
  request.sink = count_bytes;
  request.sink_user = &count;
  fetched out;
  fetch_with(&reply, &request, 5000, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_int_equal(count, length);
  fetch_clear(&out);
  free(raw);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_client_s_timeout),
      cmocka_unit_test(test_a_timeout_of_the_request),
      cmocka_unit_test(test_the_operation_s_deadline),
      cmocka_unit_test(test_a_deadline_that_has_passed),
      cmocka_unit_test(test_streams_have_no_timeout_of_the_whole),
      cmocka_unit_test(test_silence),
      cmocka_unit_test(test_errors_instead_of_streams),
      cmocka_unit_test(test_a_sink_that_refuses),
      cmocka_unit_test(test_upgrades),
      cmocka_unit_test(test_an_upgrade_without_a_word),
      cmocka_unit_test(test_upgrades_that_are_cut),
      cmocka_unit_test(test_upgraded_connections_are_not_shared),
      cmocka_unit_test(test_a_large_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
