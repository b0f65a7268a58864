/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP as it should be and as it should not: what comes of each kind of answer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <cofferdam/version.h>

#include "engine/answer.h"
#include "fetch.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const cdam_request get_info = {.method = "GET", .path = "/info"};

/* One engine, one client, one request. */
static void fetch_once(const scripted_rule *rule, const cdam_request *request, fetched *out) {
  scripted_engine *engine = scripted_engine_start(rule, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetch(client, request, 0, out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void expect_status(const scripted_reply *reply, cdam_status status) {
  const scripted_rule rule = {.path = "*/info", .reply = *reply};
  fetched out;
  fetch_once(&rule, &get_info, &out);
  if (out.status != status)
    fail_msg("%s instead of %s: %s", cdam_status_name(out.status), cdam_status_name(status),
             out.error.message);
  if (status != CDAM_OK) {
    assert_int_equal(out.error.code, status);
    assert_string_not_equal(out.error.message, "");
  }
  fetch_clear(&out);
}

/* ---- what is sent ---- */

static void test_the_request_that_is_sent(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "*", .method = "POST", .reply = {.status = 204}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetched out;
  char value[64];
  fetch(client, &(cdam_request){.method = "POST", .path = "/a?b=c", .body = "{}"}, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);
  fetch(client, &(cdam_request){.method = "POST", .path = "/start"}, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);

  const scripted_request *request = scripted_engine_request(engine, "POST", "/a*", 0);
  assert_string_equal(request->version, "1.41");
  assert_string_equal(request->path, "/a?b=c");
  assert_memory_equal(request->head, "POST /v1.41/a?b=c HTTP/1.1\r\n", 28);
  assert_string_equal(request->body, "{}");
  assert_true(scripted_request_header(request, "Host", value, sizeof value));
  assert_string_equal(value, "localhost");
  assert_true(scripted_request_header(request, "User-Agent", value, sizeof value));
  assert_string_equal(value, "cofferdam/" CDAM_VERSION);
  assert_true(scripted_request_header(request, "Content-Type", value, sizeof value));
  assert_string_equal(value, "application/json");
  assert_false(scripted_request_header(request, "Expect", value, sizeof value));
  assert_false(scripted_request_header(request, "Upgrade", value, sizeof value));

  request = scripted_engine_request(engine, "POST", "/start", 0);
  assert_true(scripted_request_header(request, "Content-Length", value, sizeof value));
  assert_string_equal(value, "0");
  assert_false(scripted_request_header(request, "Content-Type", value, sizeof value));
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* Paths go out as they are. */
static void test_targets(void **state) {
  (void)state;
  static const char *const paths[] = {"/", "/a/../b", "/a//./b?c=%2F..&d",
                                      "/%41?x=%7B%22a%22%7D#y"};
  const scripted_rule rules[] = {
      {.path = "*", .method = "GET", .reply = {200, .headers = "Api-Version: 1.41\r\n"}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  for (size_t i = 0; i < COUNT(paths); i++) {
    fetched out;
    fetch(client, &(cdam_request){.method = "GET", .path = paths[i], .unversioned = i % 2}, 0,
          &out);
    assert_int_equal(out.status, CDAM_OK);
    const scripted_request *request = scripted_engine_request(engine, "GET", NULL, i + 1);
    assert_string_equal(request->path, paths[i]);
    assert_string_equal(request->version, i % 2 ? "" : "1.41");
    fetch_clear(&out);
  }
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void test_all_methods_on_one_connection(void **state) {
  (void)state;
  static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "HEAD", "GET", "POST"};
  const scripted_rule rules[] = {{.path = "/x", .reply = {200, .body = "answer"}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  for (size_t i = 0; i < COUNT(methods); i++) {
    const bool uploads = methods[i][0] == 'P';
    const cdam_request request = {.method = methods[i],
                                  .path = "/x",
                                  .body = uploads ? "some bytes" : NULL,
                                  .content_type = i == 2 ? "application/x-tar" : NULL};
    fetched out;
    fetch(client, &request, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_int_equal(out.http, 200);
    assert_string_equal(cdam_buffer_text(&out.body), methods[i][0] == 'H' ? "" : "answer");
    const scripted_request *sent = scripted_engine_request(engine, NULL, "/x", i);
    assert_string_equal(sent->method, methods[i]);
    assert_string_equal(sent->body, uploads ? "some bytes" : "");
    fetch_clear(&out);
  }
  char type[64];
  assert_true(scripted_request_header(scripted_engine_request(engine, "PUT", "/x", 0),
                                      "Content-Type", type, sizeof type));
  assert_string_equal(type, "application/x-tar");
  assert_int_equal(scripted_engine_connections(engine), 1);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* 20 small uploads take no time: nobody waits for a "100 Continue". */
static void test_no_pause_before_uploads(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/x", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  char *body = calloc(1, 100001);
  assert_non_null(body);
  memset(body, 'x', 100000);
  int64_t took = 0;
  for (int i = 0; i < 20; i++) {
    fetched out;
    fetch(client, &(cdam_request){.method = "PUT", .path = "/x", .body = body}, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    took += out.took_ms;
    fetch_clear(&out);
  }
  assert_true(took < 15000);
  free(body);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* ---- answers in pieces, and whole ones ---- */

static void test_answers_in_pieces(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {200, .body = "{\"a\": 1}"},
      {200, .body = "{\"a\": 1}", .piece = 1},
      {200, .body = "{\"a\": 1}", .piece = 7, .piece_delay_ms = 1},
      {200, .body = "{\"a\": 1}", .chunked = true},
      {200, .body = "{\"a\": 1}", .chunked = true, .piece = 1},
      {200, .body = "{\"a\": 1}", .headers = "Connection: close\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\n\r\n{\"a\": 1}", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.0 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\n"
              "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}",
       .piece = 1},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8;ext=1\r\n{\"a\": 1}\r\n"
              "0\r\nTrailer: x\r\n\r\n"},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    const scripted_rule rule = {.path = "/info", .reply = replies[i]};
    fetched out;
    fetch_once(&rule, &get_info, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_int_equal(out.http, 200);
    assert_string_equal(cdam_buffer_text(&out.body), "{\"a\": 1}");
    fetch_clear(&out);
  }
}

static void test_answers_without_a_body(void **state) {
  (void)state;
  static const int codes[] = {204, 304, 200};
  for (size_t i = 0; i < COUNT(codes); i++) {
    const scripted_rule rule = {.path = "/info", .reply = {codes[i], .piece = 1}};
    fetched out;
    fetch_once(&rule, &get_info, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_int_equal(out.http, codes[i]);
    assert_int_equal(out.body.length, 0);
    fetch_clear(&out);
  }
}

/* ---- answers that are cut or no answers ---- */

static void test_cut_answers(void **state) {
  (void)state;
  static const scripted_reply replies[] = {
      {200, .body = "0123456789", .headers = "Content-Length: 20\r\n", .end = SCRIPTED_CLOSE},
      {200, .body = "0123456789", .chunked = true, .piece = 5, .cut = 70},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n",
       .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01",
       .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nContent-Le", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 100 Continue\r\n\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP", .end = SCRIPTED_CLOSE},
      {.raw = "\n", .end = SCRIPTED_CLOSE},
      {.raw = "SSH-2.0-OpenSSH_9.2\r\n", .end = SCRIPTED_CLOSE},
      {.raw = "<html>no head</html>", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
       .end = SCRIPTED_CLOSE},
      {.raw = "HTTP/1.1 xyz\r\n\r\n", .end = SCRIPTED_CLOSE},
  };
  for (size_t i = 0; i < COUNT(replies); i++) {
    print_message("# cut answer %zu\n", i);
    expect_status(&replies[i], CDAM_ERR_PROTOCOL);
  }
}

static void close_at_once(void *user, int fd, const scripted_request *request, const char *early,
                          size_t early_length) {
  (void)user;
  (void)fd;
  (void)request;
  (void)early;
  (void)early_length;
}

static void test_no_answer_at_all(void **state) {
  (void)state;
  const scripted_rule rule = {.path = "/info", .talk = close_at_once};
  fetched out;
  fetch_once(&rule, &get_info, &out);
  assert_int_equal(out.status, CDAM_ERR_PROTOCOL);
  assert_non_null(strstr(out.error.message, "closed the connection before it answered"));
  assert_int_equal(out.error.retry, CDAM_RETRY_UNKNOWN);
  fetch_clear(&out);
}

/* An error whose body is cut is not taken for the error: a "no such container" is to be
 * a whole one. */
static void test_cut_errors(void **state) {
  (void)state;
  const scripted_rule rule = {.path = "/info",
                              .reply = {404, .body = "{\"mess", .headers = "Content-Length: 90\r\n",
                                        .end = SCRIPTED_CLOSE}};
  fetched out;
  fetch_once(&rule, &get_info, &out);
  assert_int_equal(out.status, CDAM_ERR_PROTOCOL);
  assert_int_equal(out.error.http_status, 404);
  fetch_clear(&out);
}

static void test_redirects_are_not_followed(void **state) {
  (void)state;
  static const int codes[] = {301, 302, 303, 307, 308};
  for (size_t i = 0; i < COUNT(codes); i++) {
    const scripted_rule rules[] = {
        {.path = "/info", .reply = {codes[i], .headers = "Location: /elsewhere\r\n"}}};
    scripted_engine *engine = scripted_engine_start(rules, 1);
    cdam_client *client = scripted_engine_client(engine, 2000);
    fetched out;
    fetch(client, &get_info, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_int_equal(out.http, codes[i]);
    const cdam_reply reply = {.http = out.http, .body = ""};
    cdam_error error;
    assert_int_equal(cdam_answer_check(&reply, "info", &error), CDAM_ERR_ENGINE);
    assert_int_equal(error.http_status, codes[i]);
    fetch_clear(&out);
    cdam_client_free(client);
    scripted_engine_stop(engine); /* fails when somebody went elsewhere */
  }
}

/* ---- sizes ---- */

static char *filled(size_t length) {
  char *text = malloc(length + 1);
  assert_non_null(text);
  memset(text, 'x', length);
  text[length] = '\0';
  return text;
}

static void test_heads_that_are_too_large(void **state) {
  (void)state;
  char *name = filled(70000);
  memcpy(name, "X: ", 3);
  memcpy(name + 69998, "\r\n", 2);
  expect_status(&(scripted_reply){200, .headers = name}, CDAM_ERR_PROTOCOL);
  for (size_t i = 0; i + 100 <= 70000; i += 100)
    memcpy(name + i, "X: ", 3);
  for (size_t i = 98; i < 70000; i += 100)
    memcpy(name + i, "\r\n", 2);
  expect_status(&(scripted_reply){200, .headers = name}, CDAM_ERR_PROTOCOL);
  free(name);
}

static void test_bodies_that_are_too_large(void **state) {
  (void)state;
  const size_t limit = 16 * 1024 * 1024;
  char *body = filled(limit + 1);
  const scripted_rule rule = {.path = "/info", .reply = {200, .body = body, .body_length = limit}};
  fetched out;
  fetch_once(&rule, &get_info, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_int_equal(out.body.length, limit);
  fetch_clear(&out);
  expect_status(&(scripted_reply){200, .body = body, .body_length = limit + 1}, CDAM_ERR_PROTOCOL);
  free(body);
}

/* The error is what counts; its first megabyte is enough. */
static void test_error_bodies_that_are_too_large(void **state) {
  (void)state;
  char *body = filled(10 * 1024 * 1024);
  memcpy(body, "no room left", 12);
  const scripted_rule rule = {.path = "/info", .reply = {500, .body = body}};
  fetched out;
  fetch_once(&rule, &get_info, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_int_equal(out.http, 500);
  assert_true(out.body.length > 1000 && out.body.length <= 1024 * 1024);
  assert_memory_equal(out.body.data, "no room left", 12);
  fetch_clear(&out);
  free(body);
}

/* ---- uploads that the engine does not want ---- */

static void fetch_upload(const scripted_reply *reply, const char *body) {
  const scripted_rule rules[] = {
      {.path = "/put", .method = "PUT", .read_at_most = 65536, .reply = *reply},
      {.path = "/info", .reply = {200, .body = "next"}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 60000);
  fetched out;
  fetch(client, &(cdam_request){.method = "PUT", .path = "/put", .body = body}, 0, &out);
  if (out.status != CDAM_OK) fail_msg("%s", out.error.message);
  assert_int_equal(out.http, 404);
  assert_string_equal(cdam_buffer_text(&out.body), "{\"message\":\"no such path\"}");
  assert_true(out.took_ms < 30000);
  fetch_clear(&out);
  fetch(client, &get_info, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  assert_string_equal(cdam_buffer_text(&out.body), "next");
  assert_int_not_equal(scripted_engine_request(engine, "GET", "/info", 0)->connection,
                       scripted_engine_request(engine, "PUT", "/put", 0)->connection);
  fetch_clear(&out);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void test_answers_before_the_upload_is_complete(void **state) {
  (void)state;
  char *body = filled(32 * 1024 * 1024);
  static const scripted_reply closes = {404, .body = "{\"message\":\"no such path\"}",
                                        .end = SCRIPTED_CLOSE};
  static const scripted_reply hangs = {404, .body = "{\"message\":\"no such path\"}",
                                       .end = SCRIPTED_HANG};
  for (int i = 0; i < 20; i++)
    fetch_upload(&closes, body);
  fetch_upload(&hangs, body);
  free(body);
}

/* ---- out of descriptors ---- */

/* Listens, and answers nothing. */
static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 16), 0);
  return fd;
}

static cdam_status fetch_with(const char *endpoint, rlim_t more, cdam_error *error) {
  cdam_client_config *config;
  cdam_client *client;
  struct rlimit before, limit;
  fetched out;
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, endpoint, NULL), CDAM_OK);
  cdam_client_config_set_timeout(config, 1000);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  int next = dup(0);
  close(next);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)next + more;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  fetch(client, &get_info, 0, &out);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  cdam_client_free(client);
  *error = out.error;
  cdam_status status = out.status;
  fetch_clear(&out);
  return status;
}

/* Said at once and as it is, however far it came; the first that waits for an answer had enough. */
static void test_without_descriptors(void **state) {
  (void)state;
  char directory[] = "/tmp/descriptors-XXXXXX", path[64], endpoint[80];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/socket", directory);
  snprintf(endpoint, sizeof endpoint, "unix://%s", path);
  int fd = listen_at(path), prepared = 0, connected = 0;
  cdam_error error;
  cdam_status status;
  for (rlim_t more = 0; (status = fetch_with(endpoint, more, &error)) != CDAM_ERR_TIMEOUT; more++) {
    if (!strstr(error.message, strerror(EMFILE))) fail_msg("%s", error.message);
    prepared += status == CDAM_ERR_IO;
    connected += status == CDAM_ERR_CONNECT;
  }
  int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  assert_true(accepted >= 0);
  assert_true(prepared > 0 && connected > 0);
  close(accepted);
  close(fd);
  unlink(path);
  rmdir(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_request_that_is_sent),
      cmocka_unit_test(test_targets),
      cmocka_unit_test(test_all_methods_on_one_connection),
      cmocka_unit_test(test_no_pause_before_uploads),
      cmocka_unit_test(test_answers_in_pieces),
      cmocka_unit_test(test_answers_without_a_body),
      cmocka_unit_test(test_cut_answers),
      cmocka_unit_test(test_no_answer_at_all),
      cmocka_unit_test(test_cut_errors),
      cmocka_unit_test(test_redirects_are_not_followed),
      cmocka_unit_test(test_heads_that_are_too_large),
      cmocka_unit_test(test_bodies_that_are_too_large),
      cmocka_unit_test(test_error_bodies_that_are_too_large),
      cmocka_unit_test(test_answers_before_the_upload_is_complete),
      cmocka_unit_test(test_without_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
