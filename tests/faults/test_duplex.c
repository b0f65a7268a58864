/* SPDX-License-Identifier: Apache-2.0 */
/* Streams both ways, with an engine that does what no real one can be made to do. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "duplex_fixture.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
/* One conversation from begin to end. */
static void play_whole(const scripted_rule *rule, unsigned timeout_ms, duplex_play *p) {
  stage s;
  open_stage(&s, rule, timeout_ms, false);
  play_open(p, s.loop, PATH, "{}", 0);
  play_until(p, &p->closed);
  cdam_duplex_close(p->duplex);
  p->duplex = NULL;
  close_stage(&s);
}

static void play_reply(const scripted_reply *reply, duplex_play *p) {
  const scripted_rule rule = {.path = PATH, .reply = *reply};
  play_whole(&rule, 2000, p);
}

static void play_raw(const char *raw, scripted_end end, duplex_play *p) {
  const scripted_reply reply = {.raw = raw, .end = end};
  play_reply(&reply, p);
}

static void expect_received(const duplex_play *p, const char *text) {
  assert_int_equal(p->status, CDAM_OK);
  assert_int_equal(p->closed, 1);
  assert_string_equal(cdam_buffer_text(&p->received), text);
}

/* ---- heads ---- */

static const char *const good_heads[] = {
    UPGRADED,
    "HTTP/1.1 101\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n",
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\n" UPGRADED),
};

static void test_heads_and_streams(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(good_heads); i++) {
    for (size_t piece = 0; piece < 2; piece++) {
      duplex_play p = {0};
      char raw[400];
      snprintf(raw, sizeof raw, "%sHTTP/1.1 is here\r\n\r\n", good_heads[i]);
      const scripted_reply reply = {.raw = raw, .piece = piece, .end = SCRIPTED_CLOSE};
      play_reply(&reply, &p);
      expect_received(&p, "HTTP/1.1 is here\r\n\r\n");
      assert_int_equal(p.opened, 1);
      play_end(&p);
    }
  }
}

static void test_the_request(void **state) {
  (void)state;
  stage s;
  duplex_play p = {0};
  const scripted_rule rule = {.path = PATH, .reply = {.raw = UPGRADED, .end = SCRIPTED_CLOSE}};
  open_stage(&s, &rule, 2000, false);
  play_open(&p, s.loop, PATH, "{\"Tty\":false}", 0);
  play_until(&p, &p.closed);
  const scripted_request *request = scripted_engine_request(s.engine, "POST", PATH, 0);
  char value[80];
  assert_string_equal(request->version, "1.41");
  assert_string_equal(request->body, "{\"Tty\":false}");
  assert_true(scripted_request_header(request, "Host", value, sizeof value));
  assert_string_equal(value, "localhost");
  assert_true(scripted_request_header(request, "Connection", value, sizeof value));
  assert_string_equal(value, "Upgrade");
  assert_true(scripted_request_header(request, "Upgrade", value, sizeof value));
  assert_string_equal(value, "tcp");
  assert_true(scripted_request_header(request, "Content-Type", value, sizeof value));
  assert_string_equal(value, "application/json");
  play_end(&p);
  play_open(&p, s.loop, PATH, NULL, 0);
  play_until(&p, &p.closed);
  request = scripted_engine_request(s.engine, "POST", PATH, 1);
  assert_int_equal(request->body_length, 0);
  assert_false(scripted_request_header(request, "Content-Type", value, sizeof value));
  play_end(&p);
  close_stage(&s);
}

/* At each byte of the head the connection ends. */
static void test_cut_heads(void **state) {
  (void)state;
  for (size_t cut = 1; cut < strlen(UPGRADED); cut++) {
    duplex_play p = {0};
    const scripted_reply reply = {.raw = UPGRADED, .cut = cut};
    play_reply(&reply, &p);
    assert_int_equal(p.status, CDAM_ERR_PROTOCOL);
    assert_non_null(strstr(p.error.message, "breaks off"));
    assert_int_equal(p.opened, 0);
    play_end(&p);
  }
}

static void test_odd_heads(void **state) {
  (void)state;
  static const char *const heads[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "\1\0\0\0\0\0\0\5hello",
      ("stream before " UPGRADED),
      ("\r\n" UPGRADED),
      "HTTP/2 101 UPGRADED\r\n\r\n",
      "HTTP/1.1 101 UPGRADED\n\n",
  };
  for (size_t i = 0; i < COUNT(heads); i++) {
    duplex_play p = {0};
    play_raw(heads[i], SCRIPTED_HANG, &p);
    assert_int_equal(p.status, CDAM_ERR_PROTOCOL);
    assert_int_equal(p.opened, 0);
    play_end(&p);
  }
}

static void test_giant_heads(void **state) {
  (void)state;
  static char raw[70000];
  for (int i = 0; i < 2; i++) {
    int padding = i ? 65536 : 65000;
    duplex_play p = {0};
    snprintf(raw, sizeof raw, "HTTP/1.1 101 UPGRADED\r\nX: %0*d\r\n\r\nhello", padding, 0);
    play_raw(raw, i ? SCRIPTED_HANG : SCRIPTED_CLOSE, &p);
    assert_int_equal(p.status, i ? CDAM_ERR_PROTOCOL : CDAM_OK);
    assert_int_equal(p.total, i ? 0 : 5);
    play_end(&p);
  }
}

/* ---- no stream ---- */

static void test_errors(void **state) {
  (void)state;
  static const struct {
    scripted_reply reply;
    cdam_status status;
    const char *message;
  } cases[] = {
      {{404, .body = "{\"message\":\"No such exec\"}"}, CDAM_ERR_NOT_FOUND, "No such exec"},
      {{404, .body = "{\"message\":\"No such exec\"}", .chunked = true, .piece = 3},
       CDAM_ERR_NOT_FOUND,
       "No such exec"},
      {{409, .body = "{\"message\":\"Container is paused\"}", .piece = 1},
       CDAM_ERR_ENGINE,
       "Container is paused"},
      {{500, .body = "plain\x1b words"}, CDAM_ERR_ENGINE, "plain\\x1b words"},
      {{500, .body = ""}, CDAM_ERR_ENGINE, "Internal Server Error"},
      {{503, .raw = "HTTP/1.1 503 X\r\n\r\n{\"message\":\"to the end\"}", .end = SCRIPTED_CLOSE},
       CDAM_ERR_ENGINE,
       "to the end"},
      {{302, .headers = "Location: /elsewhere\r\n"}, CDAM_ERR_ENGINE, "redirect"},
      {{204, .body = ""}, CDAM_ERR_PROTOCOL, "204"},
      {{201, .body = "{}"}, CDAM_ERR_PROTOCOL, "201"},
      {{409, .raw = "HTTP/1.1 409 X\r\nContent-Length: 9\r\n\r\ncut", .end = SCRIPTED_CLOSE},
       CDAM_ERR_PROTOCOL,
       "breaks off"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    duplex_play p = {0};
    play_reply(&cases[i].reply, &p);
    assert_int_equal(p.status, cases[i].status);
    assert_int_equal(p.error.http_status, cases[i].reply.status);
    if (!strstr(p.error.message, cases[i].message)) fail_msg("%s", p.error.message);
    assert_int_equal(p.opened, 0);
    play_end(&p);
  }
}

static void pour(void *user, int fd, const scripted_request *request, const char *early,
                 size_t early_length) {
  (void)request, (void)early, (void)early_length;
  static const char piece[65536];
  write_text(fd, user);
  for (int i = 0; i < 64; i++)
    write_all(fd, piece, sizeof piece);
  read_all(fd);
}

static void test_an_error_without_end(void **state) {
  (void)state;
  duplex_play p = {0};
  const scripted_rule rule = {.path = PATH, .talk = pour, .user = "HTTP/1.1 500 X\r\n\r\nwords"};
  play_whole(&rule, 5000, &p);
  assert_int_equal(p.status, CDAM_ERR_ENGINE);
  assert_non_null(strstr(p.error.message, "words"));
  play_end(&p);
}

static void test_closed_before_any_answer(void **state) {
  (void)state;
  static const scripted_end ends[] = {SCRIPTED_CLOSE, SCRIPTED_RESET};
  for (size_t i = 0; i < COUNT(ends); i++) {
    duplex_play p = {0};
    play_raw("", ends[i], &p);
    assert_int_equal(p.status, CDAM_ERR_PROTOCOL);
    play_end(&p);
  }
}

static void test_no_answer(void **state) {
  (void)state;
  static const char *const raws[] = {"HTTP/1.1 101 ",
                                     "HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nhalf"};
  for (size_t i = 0; i < COUNT(raws); i++) {
    stage s;
    duplex_play p = {0};
    const scripted_rule rule = {.path = PATH, .reply = {.raw = raws[i], .end = SCRIPTED_HANG}};
    open_stage(&s, &rule, 60000, false);
    int64_t begin = cdam_now_ms();
    play_open(&p, s.loop, PATH, "{}", 200);
    play_until(&p, &p.closed);
    assert_in_range(cdam_now_ms() - begin, 190, 30000);
    assert_int_equal(p.status, CDAM_ERR_TIMEOUT);
    assert_non_null(strstr(p.error.message, "200 ms"));
    play_end(&p);
    close_stage(&s);
  }
}

static void test_nobody_listens(void **state) {
  (void)state;
  cdam_client_config *config;
  cdam_client *client;
  cdam_loop *loop;
  duplex_play p = {0};
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, "unix:///nowhere/at-all.sock", NULL),
                   CDAM_OK);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  assert_int_equal(cdam_loop_new(client, &loop, NULL), CDAM_OK);
  play_open(&p, loop, PATH, "{}", 0);
  play_until(&p, &p.closed);
  assert_int_equal(p.status, CDAM_ERR_CONNECT);
  assert_non_null(strstr(p.error.message, "no socket"));
  play_end(&p);
  cdam_loop_free(loop);
  cdam_client_free(client);
}

static void test_an_engine_of_another_age(void **state) {
  (void)state;
  duplex_play p = {0};
  const scripted_rule rule = {.path = "/_ping",
                              .reply = {200, .headers = "Api-Version: 1.12\r\n", .body = "OK"}};
  play_whole(&rule, 2000, &p);
  assert_int_equal(p.status, CDAM_ERR_API_VERSION);
  play_end(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads_and_streams),
      cmocka_unit_test(test_the_request),
      cmocka_unit_test(test_cut_heads),
      cmocka_unit_test(test_odd_heads),
      cmocka_unit_test(test_giant_heads),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_an_error_without_end),
      cmocka_unit_test(test_closed_before_any_answer),
      cmocka_unit_test(test_no_answer),
      cmocka_unit_test(test_nobody_listens),
      cmocka_unit_test(test_an_engine_of_another_age),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
