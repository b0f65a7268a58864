/* SPDX-License-Identifier: Apache-2.0 */
/* Making sure of an image, on an engine that answers oddly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/client_private.h"
#include "engine/image.h"
#include "scripted_engine.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER64 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define IMAGE "reg.example:5000/team/app:1"
#define MISSING                                                                                    \
  { 404, .body = "{\"message\":\"No such image\"}" }
#define FOUND                                                                                      \
  { 200, .body = "{\"Id\":\"sha256:" HEX64 "\"}" }
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

typedef struct ensure {
  cdam_operation op;
  cdam_image_job job;
  const char *reference;
  bool pull;
  char told[512];
  int calls;
  int stop_at;
} ensure;

static bool tell(void *user, const char *status, const char *layer, unsigned long long current,
                 unsigned long long total) {
  ensure *this = user;
  size_t used = strlen(this->told);
  snprintf(this->told + used, sizeof this->told - used, "[%s|%s|%llu/%llu]", status, layer, current,
           total);
  return ++this->calls != this->stop_at;
}

static void ensured(cdam_operation *op, cdam_status status, const cdam_error *error) {
  cdam_operation_finish(op, status, error);
}

static void start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  ensure *this = (ensure *)op;
  cdam_image_ensure(op, &this->job, this->reference, this->pull, ensured);
}

static cdam_status run(scripted_engine *engine, unsigned timeout_ms, ensure *this,
                       cdam_error *err) {
  cdam_client *client = scripted_engine_client(engine, timeout_ms);
  client->config.progress = tell;
  client->config.progress_user = this;
  cdam_status status = cdam_operation_run(&this->op, client, start, err);
  cdam_image_job_clear(&this->job);
  cdam_client_free(client);
  return status;
}

static void expect(const scripted_rule *rules, size_t count, ensure *this, cdam_status code,
                   const char *words) {
  scripted_engine *engine = scripted_engine_start(rules, count);
  cdam_error err = {0};
  if (run(engine, 500, this, &err) != code || !strstr(err.message, words))
    fail_msg("%s: %s", cdam_status_name(err.code), err.message);
  scripted_engine_stop(engine);
}

#define EXPECT(rules, this, code, words)                                                           \
  expect(rules, sizeof(rules) / sizeof *(rules), this, code, words)

/* ---- which requests ---- */

static void requests(void **state) {
  (void)state;
  static const struct {
    const char *reference, *inspect, *pull;
  } cases[] = {
      {"busybox", "/images/busybox:latest/json", "fromImage=busybox&tag=latest"},
      {"busybox:1", "/images/busybox:1/json", "fromImage=busybox&tag=1"},
      {"cafe", "/images/cafe:latest/json", "fromImage=cafe&tag=latest"},
      {"localhost:5000/a", "/images/localhost%3A5000/a:latest/json",
       "fromImage=localhost%3A5000%2Fa&tag=latest"},
      {"h:5/a/b:1", "/images/h%3A5/a/b:1/json", "fromImage=h%3A5%2Fa%2Fb&tag=1"},
      {"a@sha256:" HEX64, "/images/a@sha256:" HEX64 "/json", "fromImage=a&tag=sha256%3A" HEX64},
      {"a:1@sha256:" HEX64, "/images/a@sha256:" HEX64 "/json", "fromImage=a&tag=sha256%3A" HEX64},
      {"[::1]:5/a", "/images/%5B%3A%3A1%5D%3A5/a:latest/json",
       "fromImage=%5B%3A%3A1%5D%3A5%2Fa&tag=latest"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char pull[256];
    snprintf(pull, sizeof pull, "/images/create?%s", cases[i].pull);
    static const scripted_rule rules[] = {
        {.method = "GET", .times = 1, .path = "/images/*/json", .reply = MISSING},
        {.method = "POST", .path = "/images/create*", .reply = {.status = 200}},
        {.method = "GET", .path = "/images/*/json", .reply = FOUND},
    };
    scripted_engine *engine = scripted_engine_start(rules, 3);
    ensure this = {.reference = cases[i].reference, .pull = true};
    cdam_error err = {0};
    if (run(engine, 500, &this, &err) != CDAM_OK) fail_msg("%s", err.message);
    assert_string_equal(this.job.image_id, "sha256:" HEX64);
    assert_true(this.job.pulled);
    assert_string_equal(scripted_engine_request(engine, "POST", "*", 0)->path, pull);
    for (size_t j = 0; j < 2; j++)
      assert_string_equal(scripted_engine_request(engine, "GET", "/images/*", j)->path,
                          cases[i].inspect);
    scripted_engine_stop(engine);
  }
}

static void present(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "{\"Id\":\"sha256:" HEX64 "\",\"RepoTags\":[]}",
      "{\"Id\":\"" HEX64 "\"}", /* as Podman has it */
  };
  for (size_t i = 0; i < 2; i++) {
    scripted_rule rules[] = {{.path = "/images/*", .reply = {200, .body = bodies[i]}}};
    ensure this = {.reference = IMAGE, .pull = true};
    EXPECT(rules, &this, CDAM_OK, "");
    assert_string_equal(this.job.image_id, "sha256:" HEX64);
    assert_false(this.job.pulled);
  }
}

static void odd_ids(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "{}",
      "{\"Id\":null}",
      "{\"Id\":7}",
      "{\"Id\":\"\"}",
      "{\"Id\":\"sha256:\"}",
      "{\"Id\":\"sha256:" HEX64 "0\"}",
      "{\"Id\":\"md5:" HEX64 "\"}",
      "{\"Id\":\"0123456789ABCDEF" HEX64 "\"}",
      "{\"Id\":\"" HEX64 "\",\"Id\":\"" OTHER64 "\"}",
      "[]",
      "{\"Id\":\"",
      "",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    scripted_rule rules[] = {{.path = "/images/*", .reply = {200, .body = bodies[i]}}};
    ensure this = {.reference = IMAGE, .pull = true};
    EXPECT(rules, &this, CDAM_ERR_PROTOCOL, "inspect image");
  }
}

static void nothing_to_pull(void **state) {
  (void)state;
  static const scripted_rule absent[] = {{.path = "/images/*", .reply = MISSING}};
  ensure this = {.reference = IMAGE};
  EXPECT(absent, &this, CDAM_ERR_NOT_FOUND, "\"" IMAGE "\" is not on the engine");
  this = (ensure){.reference = "sha256:" HEX64, .pull = true};
  EXPECT(absent, &this, CDAM_ERR_NOT_FOUND, "cannot be pulled");
  this = (ensure){.reference = HEX64, .pull = true};
  EXPECT(absent, &this, CDAM_ERR_NOT_FOUND, "cannot be pulled");

  static const scripted_rule odd[] = {
      {.path = "/images/*", .reply = {500, .body = "{\"message\":\"odd\"}"}}};
  this = (ensure){.reference = IMAGE, .pull = true};
  EXPECT(odd, &this, CDAM_ERR_ENGINE, "inspect image: odd");

  untouchable_engine *engine = untouchable_start();
  cdam_client *client = untouchable_client(engine);
  this = (ensure){.reference = "A:b", .pull = true};
  cdam_error err = {0};
  assert_int_equal(cdam_operation_run(&this.op, client, start, &err), CDAM_ERR_INVALID);
  assert_non_null(strstr(err.message, "lower case"));
  cdam_client_free(client);
  untouchable_stop(engine);
}

/* ---- the pull ---- */

/* Absent, a pull with this answer, and then there. */
static void expect_pull(scripted_reply reply, ensure *this, cdam_status code, const char *words) {
  scripted_rule rules[] = {
      {.method = "GET", .times = 1, .path = "/images/*/json", .reply = MISSING},
      {.method = "POST", .path = "/images/create*", .reply = reply},
      {.method = "GET", .path = "/images/*/json", .reply = FOUND},
  };
  this->reference = IMAGE;
  this->pull = true;
  EXPECT(rules, this, code, words);
}

static const char progress[] = "{\"status\":\"Pulling from team/app\",\"id\":\"1\"}\r\n"
                               "{\"status\":\"Downloading\",\"id\":\"l\\u00e4y\","
                               "\"progressDetail\":{\"current\":1,\"total\":2}}\r\n"
                               "{\"status\":\"done\"}";
static const char told[] = "[Pulling from team/app|1|0/0][Downloading|l\xc3\xa4y|1/2][done||0/0]";

static void any_pieces(void **state) {
  (void)state;
  for (size_t piece = 0; piece < 8; piece++) {
    ensure this = {0};
    expect_pull((scripted_reply){200, .body = progress, .chunked = true, .piece = piece}, &this,
                CDAM_OK, "");
    assert_string_equal(this.told, told);
    this = (ensure){0};
    expect_pull((scripted_reply){200, .body = progress, .piece = piece}, &this, CDAM_OK, "");
    assert_string_equal(this.told, told);
  }
}

static void errors_inside(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "{\"status\":\"x\"}\n{\"errorDetail\":{\"message\":\"woe\"},\"error\":\"e\"}\n",
      "{\"status\":\"x\"}\n{\"error\":\"woe\"}\n{\"status\":\"y\"}\n",
      "{\"status\":\"x\"}\n{\"errorDetail\":{\"message\":\"woe\"}}",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    ensure this = {0};
    expect_pull((scripted_reply){200, .body = bodies[i], .chunked = true}, &this, CDAM_ERR_PULL,
                "\"" IMAGE "\": woe");
    assert_string_equal(this.told, "[x||0/0]");
    this = (ensure){0};
    expect_pull((scripted_reply){200, .body = bodies[i], .chunked = true, .piece = 1}, &this,
                CDAM_ERR_PULL, ": woe");
  }
}

static void refused(void **state) {
  (void)state;
  static const struct {
    int http;
    cdam_status code;
    cdam_retry retry;
  } cases[] = {
      {404, CDAM_ERR_NOT_FOUND, CDAM_RETRY_NO},
      {403, CDAM_ERR_PULL, CDAM_RETRY_NO},
      {500, CDAM_ERR_PULL, CDAM_RETRY_UNKNOWN},
      {503, CDAM_ERR_PULL, CDAM_RETRY_YES},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scripted_rule rules[] = {
        {.method = "GET", .path = "/images/*/json", .reply = MISSING},
        {.method = "POST",
         .path = "/images/create*",
         .reply = {cases[i].http, .body = "{\"message\":\"manifest unknown\"}"}},
    };
    scripted_engine *engine = scripted_engine_start(rules, 2);
    ensure this = {.reference = IMAGE, .pull = true};
    cdam_error err = {0};
    assert_int_equal(run(engine, 500, &this, &err), cases[i].code);
    assert_int_equal(err.http_status, cases[i].http);
    assert_int_equal(err.retry, cases[i].retry);
    assert_non_null(strstr(err.message, "\"" IMAGE "\" is not on the engine"));
    assert_non_null(strstr(err.message, "manifest unknown"));
    scripted_engine_stop(engine);
  }
}

/* Wherever the stream is cut, that is no success: not even where a line ends. */
static void cut_at_every_byte(void **state) {
  (void)state;
  static const char answer[] = CHUNKED "f\r\n{\"status\":\"x\"}\n\r\n"
                                       "f\r\n{\"status\":\"y\"}\n\r\n0\r\n\r\n";
  for (size_t cut = 1; cut < sizeof answer - 3; cut++) {
    scripted_rule rules[] = {
        {.method = "GET", .times = 1, .path = "/images/*/json", .reply = MISSING},
        {.method = "POST",
         .path = "/images/create*",
         .reply = {.raw = answer, .cut = cut, .end = SCRIPTED_CLOSE}},
        {.method = "GET", .path = "/images/*/json", .reply = FOUND},
    };
    scripted_engine *engine = scripted_engine_start(rules, 3);
    ensure this = {.reference = IMAGE, .pull = true};
    cdam_error err = {0};
    cdam_status status = run(engine, 500, &this, &err);
    if (status == CDAM_OK) fail_msg("cut after %zu bytes", cut);
    scripted_engine_stop(engine);
  }
}

static void cut_and_garbled(void **state) {
  (void)state;
  ensure this = {0};
  static const char half[] = "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"x\"}\n{\"status\":\"y";
  expect_pull((scripted_reply){.raw = half, .end = SCRIPTED_CLOSE}, &this, CDAM_ERR_PULL, "cut");
  this = (ensure){0};
  expect_pull((scripted_reply){200, .body = "<html>\n"}, &this, CDAM_ERR_PROTOCOL, "JSON");
  static char line[70000];
  memset(line, 'x', sizeof line - 1);
  this = (ensure){0};
  expect_pull((scripted_reply){200, .body = line}, &this, CDAM_ERR_PROTOCOL, "65536");
}

/* The engine says nothing of an error, and yet there is no image. */
static void confirmed_by_inspect(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "GET", .path = "/images/*/json", .reply = MISSING},
      {.method = "POST", .path = "/images/create*", .reply = {200, .body = "{\"status\":\"x\"}\n"}},
  };
  ensure this = {.reference = IMAGE, .pull = true};
  EXPECT(rules, &this, CDAM_ERR_PULL, "the image is not there");
}

static void the_caller_stops(void **state) {
  (void)state;
  ensure this = {.stop_at = 2};
  expect_pull((scripted_reply){200, .body = progress}, &this, CDAM_ERR_PULL, "stopped");
  assert_int_equal(this.calls, 2);
}

static void silence(void **state) {
  (void)state;
  ensure this = {0};
  expect_pull(
      (scripted_reply){.raw = CHUNKED "f\r\n{\"status\":\"x\"}\n\r\n", .end = SCRIPTED_HANG}, &this,
      CDAM_ERR_TIMEOUT, "");
  assert_string_equal(this.told, "[x||0/0]");

  /* A slow pull is no silent one: it takes longer than the client's timeout in all. */
  this = (ensure){0};
  expect_pull((scripted_reply){200, .body = progress, .piece = 16, .piece_delay_ms = 100}, &this,
              CDAM_OK, "");
  assert_string_equal(this.told, told);
}

static void credentials(void **state) {
  (void)state;
  static const scripted_rule rules[] = {
      {.method = "GET", .times = 1, .path = "/images/*/json", .reply = MISSING},
      {.method = "POST", .path = "/images/create*", .reply = {.status = 200}},
      {.method = "GET", .path = "/images/*/json", .reply = FOUND},
  };
  scripted_engine *engine = scripted_engine_start(rules, 3);
  cdam_client_config *config;
  cdam_client *client;
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, scripted_engine_endpoint(engine), NULL),
                   CDAM_OK);
  assert_int_equal(cdam_client_config_set_registry_auth(config, "eyJhIjoiYj8_fiJ9", NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  ensure this = {.reference = IMAGE, .pull = true};
  assert_int_equal(cdam_operation_run(&this.op, client, start, NULL), CDAM_OK);
  cdam_image_job_clear(&this.job);
  char value[64];
  assert_true(scripted_request_header(scripted_engine_request(engine, "POST", "*", 0),
                                      "X-Registry-Auth", value, sizeof value));
  assert_string_equal(value, "eyJhIjoiYj8_fiJ9");
  assert_false(scripted_request_header(scripted_engine_request(engine, "GET", "/images/*", 0),
                                       "X-Registry-Auth", value, sizeof value));
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests),         cmocka_unit_test(present),
      cmocka_unit_test(odd_ids),          cmocka_unit_test(nothing_to_pull),
      cmocka_unit_test(any_pieces),       cmocka_unit_test(errors_inside),
      cmocka_unit_test(refused),          cmocka_unit_test(cut_at_every_byte),
      cmocka_unit_test(cut_and_garbled),  cmocka_unit_test(confirmed_by_inspect),
      cmocka_unit_test(the_caller_stops), cmocka_unit_test(silence),
      cmocka_unit_test(credentials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
