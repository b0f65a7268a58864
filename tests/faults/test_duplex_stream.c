/* SPDX-License-Identifier: Apache-2.0 */
/* What flows through a duplex once it is open, its end, and who waits for whom. */
#include <pthread.h>
#include <sys/un.h>

#include "duplex_fixture.h"

#include "engine/loop.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MIB (1024 * 1024)

/* Byte number i of a stream; no period is a power of two. */
static char byte_at(uint64_t i) {
  return (char)(i % 251);
}

static void fill(char *bytes, uint64_t at, size_t length) {
  for (size_t i = 0; i < length; i++)
    bytes[i] = byte_at(at + i);
}

/* What the engine's side does, and what it has seen. */
typedef struct script {
  const char *head;
  int delay_ms; /* before the head */
  size_t early; /* bytes that came before the head */
  size_t got;
  bool garbled;
  size_t send; /* so many bytes of the pattern */
  bool linger; /* for a connection that is reset */
} script;

static void take_in(script *s, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (bytes[i] != byte_at(s->got + i)) s->garbled = true;
  s->got += length;
}

static void greet(script *s, int fd, size_t early_length) {
  char bytes[64];
  usleep((useconds_t)s->delay_ms * 1000);
  ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
  s->early = early_length + (count > 0 ? (size_t)count : 0);
  write_text(fd, s->head ? s->head : UPGRADED);
}

static void echo(void *user, int fd, const scripted_request *request, const char *early,
                 size_t early_length) {
  (void)request, (void)early;
  script *s = user;
  char bytes[50000];
  ssize_t count;
  greet(s, fd, early_length);
  while ((count = read(fd, bytes, sizeof bytes)) > 0) {
    take_in(s, bytes, (size_t)count);
    write_all(fd, bytes, (size_t)count);
  }
}

/* Sends, and then waits until the client has closed. */
static void send_only(void *user, int fd, const scripted_request *request, const char *early,
                      size_t early_length) {
  (void)request, (void)early;
  script *s = user;
  static char bytes[251 * 200];
  fill(bytes, 0, sizeof bytes);
  greet(s, fd, early_length);
  for (size_t left = s->send; left;) {
    size_t part = left < sizeof bytes ? left : sizeof bytes;
    write_all(fd, bytes, part);
    left -= part;
  }
  shutdown(fd, SHUT_WR);
  s->got = read_all(fd);
}

/* Sends and closes with unread input. */
static void send_and_close(void *user, int fd, const scripted_request *request, const char *early,
                           size_t early_length) {
  (void)request, (void)early;
  script *s = user;
  greet(s, fd, early_length);
  struct pollfd input = {.fd = fd, .events = POLLIN};
  poll(&input, 1, 5000);
  write_text(fd, "last words");
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (s->linger) setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* ---- input ---- */

static void test_input_waits_for_the_head(void **state) {
  (void)state;
  stage s;
  duplex_play p = {0};
  script its = {.delay_ms = 100};
  const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
  char bytes[1000];
  fill(bytes, 0, sizeof bytes);
  open_stage(&s, &rule, 5000, false);
  play_open(&p, s.loop, PATH, "{}", 0);
  play_write(&p, bytes, 400);
  play_write(&p, bytes + 400, 600);
  cdam_duplex_end_writing(p.duplex);
  assert_int_equal(cdam_duplex_pending(p.duplex), 1000);
  play_until(&p, &p.closed);
  assert_int_equal(p.status, CDAM_OK);
  assert_int_equal(cdam_duplex_pending(p.duplex), 0);
  play_end(&p);
  close_stage(&s);
  assert_int_equal(its.early, 0);
  assert_int_equal(its.got, 1000);
  assert_false(its.garbled);
}

/* The program's side: keeps the queue between two marks, and half-closes at the end. */
static void pump(duplex_play *p, uint64_t *sent, uint64_t total) {
  static char bytes[40000];
  while (*sent < total && cdam_duplex_pending(p->duplex) < 256 * 1024) {
    size_t part = total - *sent < sizeof bytes ? (size_t)(total - *sent) : sizeof bytes;
    fill(bytes, *sent, part);
    play_write(p, bytes, part);
    *sent += part;
    if (*sent == total) cdam_duplex_end_writing(p->duplex);
  }
}

static void echo_much(bool tcp, uint64_t total) {
  stage s;
  duplex_play p = {.count_only = total > 4 * MIB};
  script its = {0};
  const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
  open_stage(&s, &rule, 5000, tcp);
  play_open(&p, s.loop, PATH, "{}", 0);
  for (uint64_t sent = 0; !p.closed; play_turn(&p, 5000))
    if (p.opened && sent < total) pump(&p, &sent, total);
  assert_int_equal(p.status, CDAM_OK);
  assert_int_equal(p.total, total);
  for (size_t i = 0; i < p.received.length; i++)
    if (p.received.data[i] != byte_at(i)) fail_msg("wrong at %zu", i);
  assert_true(total < MIB || p.drained > 0);
  play_end(&p);
  close_stage(&s);
  assert_int_equal(its.got, total);
  assert_false(its.garbled);
}

static void test_much_both_ways(void **state) {
  (void)state;
  for (int tcp = 0; tcp < 2; tcp++) {
    echo_much(tcp, 1);
    echo_much(tcp, 3 * MIB + 7);
    echo_much(tcp, 48 * MIB);
  }
}

/* A command that ends without reading its input. */
static void test_input_that_nobody_reads(void **state) {
  (void)state;
  stage s;
  duplex_play p = {0};
  script its = {0};
  const scripted_rule rule = {.path = PATH, .talk = send_and_close, .user = &its};
  static char much[4 * MIB];
  open_stage(&s, &rule, 5000, false);
  play_open(&p, s.loop, PATH, "{}", 0);
  play_write(&p, much, sizeof much);
  cdam_duplex_end_writing(p.duplex);
  play_until(&p, &p.closed);
  assert_int_equal(p.status, CDAM_OK);
  assert_string_equal(cdam_buffer_text(&p.received), "last words");
  play_write(&p, "more", 4); /* goes nowhere */
  assert_int_equal(cdam_duplex_pending(p.duplex), 0);
  play_end(&p);
  close_stage(&s);
}

/* Over TCP what was sent last may be lost in that case. */
static void test_a_connection_that_is_reset(void **state) {
  (void)state;
  stage s;
  duplex_play p = {0};
  script its = {.linger = true};
  const scripted_rule rule = {.path = PATH, .talk = send_and_close, .user = &its};
  open_stage(&s, &rule, 5000, true);
  play_open(&p, s.loop, PATH, "{}", 0);
  play_write(&p, "hello", 5);
  play_until(&p, &p.closed);
  assert_int_equal(p.status, CDAM_ERR_PROTOCOL);
  assert_non_null(strstr(p.error.message, "breaks off"));
  play_end(&p);
  close_stage(&s);
}

/* ---- reading or not ---- */

static void test_not_reading(void **state) {
  (void)state;
  stage s;
  duplex_play p = {.pause_in_opened = true};
  script its = {.send = 8 * MIB, .head = UPGRADED "came with the head"};
  const scripted_rule rule = {.path = PATH, .talk = send_only, .user = &its};
  open_stage(&s, &rule, 5000, false);
  play_open(&p, s.loop, PATH, "{}", 0);
  play_until(&p, &p.opened);
  assert_true(play_settle(&p, 100) < 10);
  assert_int_equal(p.total, 0);
  cdam_duplex_set_reading(p.duplex, true);
  play_until(&p, &p.closed);
  assert_int_equal(p.total, 8 * MIB + strlen("came with the head"));
  assert_memory_equal(p.received.data, "came with the head\0\1\2\3", 22);
  play_end(&p);
  close_stage(&s);
}

/* Over a unix socket it rests in between, and over TCP or with little it does not. */
static void test_what_brings_much_rests(void **state) {
  (void)state;
  for (int tcp = 0; tcp < 2; tcp++)
    for (int much = 0; much < 2; much++) {
      stage s;
      duplex_play p = {0};
      script its = {.send = much ? 32 * MIB + 5 : 100000};
      const scripted_rule rule = {.path = PATH, .talk = send_only, .user = &its};
      open_stage(&s, &rule, 5000, tcp);
      play_open(&p, s.loop, PATH, "{}", 0);
      play_until(&p, &p.closed);
      assert_int_equal(p.status, CDAM_OK);
      assert_int_equal(p.total, its.send);
      for (size_t i = 0; i < p.received.length; i++)
        if (p.received.data[i] != byte_at(i)) fail_msg("wrong at %zu", i);
      assert_int_equal(s.loop->rests != NULL, !tcp && much);
      play_end(&p);
      close_stage(&s);
    }
}

/* Closed by its owner, or with its loop, while it may be resting. */
static void test_the_end_of_one_that_rests(void **state) {
  (void)state;
  for (int turn = 0; turn < 40; turn++) {
    stage s;
    duplex_play p = {.count_only = true};
    script its = {.send = 8 * MIB};
    const scripted_rule rule = {.path = PATH, .talk = send_only, .user = &its};
    open_stage(&s, &rule, 5000, false);
    play_open(&p, s.loop, PATH, "{}", 0);
    while (p.total < MIB)
      play_turn(&p, 5000);
    for (int i = 0; i < turn / 2 && !p.closed; i++)
      play_turn(&p, 5000);
    if (turn % 2) {
      cdam_duplex_close(p.duplex);
      p.duplex = NULL;
      play_settle(&p, 2);
    }
    close_stage(&s);
    play_end(&p);
  }
}

/* The end of the connection is no reason to be woken again and again. */
static void test_not_reading_the_end(void **state) {
  (void)state;
  stage s;
  duplex_play p = {.pause_in_opened = true};
  const scripted_rule rule = {.path = PATH,
                              .reply = {.raw = UPGRADED "hello", .end = SCRIPTED_CLOSE}};
  open_stage(&s, &rule, 5000, false);
  play_open(&p, s.loop, PATH, "{}", 0);
  play_until(&p, &p.opened);
  assert_true(play_settle(&p, 100) < 10);
  play_write(&p, "x", 1); /* nor is that */
  assert_true(play_settle(&p, 100) < 10);
  assert_int_equal(p.closed, 0);
  cdam_duplex_set_reading(p.duplex, true);
  play_until(&p, &p.closed);
  assert_int_equal(p.status, CDAM_OK);
  assert_string_equal(cdam_buffer_text(&p.received), "hello");
  play_end(&p);
  close_stage(&s);
}

/* ---- closing ---- */

static void test_closing_in_callbacks(void **state) {
  (void)state;
  static const play_place places[] = {IN_OPENED, IN_RECEIVED, IN_DRAINED, IN_CLOSED};
  for (size_t i = 0; i < COUNT(places); i++) {
    stage s;
    duplex_play p = {.close_in = places[i]};
    script its = {0};
    const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
    static char bytes[100000];
    open_stage(&s, &rule, 5000, false);
    play_open(&p, s.loop, PATH, "{}", 0);
    play_write(&p, bytes, sizeof bytes);
    cdam_duplex_end_writing(p.duplex);
    while (p.duplex)
      play_turn(&p, 5000);
    uint64_t total = p.total;
    play_settle(&p, 20);
    assert_int_equal(p.total, total);
    assert_int_equal(p.closed, places[i] == IN_CLOSED);
    play_end(&p);
    close_stage(&s);
  }
}

/* At each moment, from the first call on. */
static void test_closing_at_any_time(void **state) {
  (void)state;
  for (int turns = 0; turns < 12; turns++) {
    stage s;
    duplex_play p = {0};
    script its = {.delay_ms = 2};
    const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
    static char bytes[100000];
    open_stage(&s, &rule, 5000, false);
    play_open(&p, s.loop, PATH, "{}", 0);
    play_write(&p, bytes, sizeof bytes);
    for (int i = 0; i < turns && p.total < sizeof bytes; i++)
      play_turn(&p, 5000);
    cdam_duplex_close(p.duplex);
    p.duplex = NULL;
    int opened = p.opened;
    play_settle(&p, 10);
    assert_int_equal(p.opened, opened);
    assert_int_equal(p.closed, 0);
    play_end(&p);
    close_stage(&s);
  }
}

static void test_a_loop_that_ends_first(void **state) {
  (void)state;
  for (int turns = 0; turns < 8; turns++) {
    stage s;
    duplex_play p = {0};
    script its = {0};
    const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
    open_stage(&s, &rule, 5000, false);
    play_open(&p, s.loop, PATH, "{}", 0);
    play_write(&p, "hello", 5);
    for (int i = 0; i < turns && !p.total; i++)
      play_turn(&p, 5000);
    close_stage(&s);
    play_write(&p, "hello", 5);
    cdam_duplex_end_writing(p.duplex);
    cdam_duplex_set_reading(p.duplex, false);
    cdam_duplex_set_reading(p.duplex, true);
    assert_int_equal(cdam_duplex_pending(p.duplex), 0);
    assert_int_equal(p.closed, 0);
    play_end(&p);
  }
}

/* ---- waiting for a turn ---- */

#define MANY 6

static void test_streams_wait_for_a_connection(void **state) {
  (void)state;
  stage s;
  duplex_play plays[MANY] = {0};
  script its[1] = {{0}};
  const scripted_rule rule = {.path = PATH, .talk = echo, .user = its};
  open_stage(&s, &rule, 300, false);
  cdam_loop_set_max_connections(s.loop, 4); /* one of them is not for streams */
  for (int i = 0; i < MANY; i++)
    play_open(&plays[i], s.loop, PATH, "{}", 0);
  for (int i = 0; i < 3; i++)
    play_until(&plays[i], &plays[i].opened);
  play_settle(&plays[0], 400); /* longer than the timeout, which does not count yet */
  for (int i = 3; i < MANY; i++)
    assert_int_equal(plays[i].opened + plays[i].closed, 0);
  for (int i = 0; i < MANY; i++) {
    play_until(&plays[i], &plays[i].opened);
    play_end(&plays[i]);
    plays[i].loop = s.loop;
  }
  close_stage(&s);
}

/* A unix socket whose queue of connections is full for a while. */
static void test_a_crowded_engine(void **state) {
  (void)state;
  char directory[] = "/tmp/cofferdam-duplex-XXXXXX", endpoint[120];
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  assert_non_null(mkdtemp(directory));
  snprintf(at.sun_path, sizeof at.sun_path, "%s/docker.sock", directory);
  snprintf(endpoint, sizeof endpoint, "unix://%s", at.sun_path);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0), others[2];
  assert_int_equal(bind(listener, (const struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(listener, 0), 0);
  cdam_client_config *config;
  stage s = {0};
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, endpoint, NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &s.client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  assert_int_equal(cdam_loop_new(s.client, &s.loop, NULL), CDAM_OK);
  memcpy(s.loop->api_version, "1.41", 5);
  others[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(connect(others[0], (const struct sockaddr *)&at, sizeof at), 0);

  duplex_play p = {0};
  play_open(&p, s.loop, PATH, "{}", 3000);
  for (int64_t until = cdam_now_ms() + 60; cdam_now_ms() < until;)
    play_turn(&p, 1000);
  assert_int_equal(p.closed, 0);
  others[1] = accept(listener, NULL, NULL);
  for (int fd = -1; fd < 0; play_turn(&p, 1000)) {
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    if (poll(&waiting, 1, 0) != 1) continue;
    fd = accept(listener, NULL, NULL);
    write_text(fd, UPGRADED "hello");
    shutdown(fd, SHUT_RDWR);
    close(fd);
  }
  play_until(&p, &p.closed);
  assert_string_equal(cdam_buffer_text(&p.received), "hello");
  play_end(&p);
  close(others[0]), close(others[1]), close(listener);
  unlink(at.sun_path), rmdir(directory);
  cdam_loop_free(s.loop);
  cdam_client_free(s.client);
}

/* In a loop that is turned and waits by itself. */
typedef struct held {
  cdam_operation op;
  duplex_play play;
} held;

static void held_closed(void *user, cdam_status status, const cdam_error *error) {
  held *h = user;
  play_closed(&h->play, status, error);
  cdam_operation_release(&h->op);
  cdam_operation_finish(&h->op, status, error);
  cdam_operation_stepped(&h->op);
}

static void held_received(void *user, const char *bytes, size_t length) {
  held *h = user;
  h->play.opened = 1;
  play_received(&h->play, bytes, length);
}

static void hold(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  static const cdam_duplex_events events = {.received = held_received, .closed = held_closed};
  held *h = (held *)op;
  cdam_error err;
  h->play.duplex = cdam_duplex_open(op->loop, PATH, "{}", 0, &events, h, &err);
  assert_non_null(h->play.duplex);
  assert_true(cdam_duplex_write(h->play.duplex, "hello", 5));
  cdam_duplex_end_writing(h->play.duplex);
  cdam_operation_hold(op);
}

static void test_a_blocking_call(void **state) {
  (void)state;
  stage s;
  script its = {.delay_ms = 20};
  const scripted_rule rule = {.path = PATH, .talk = echo, .user = &its};
  open_stage(&s, &rule, 5000, false);
  for (int i = 0; i < 3; i++) {
    held h = {0};
    cdam_error err;
    assert_int_equal(cdam_operation_run(&h.op, s.client, hold, &err), CDAM_OK);
    assert_string_equal(cdam_buffer_text(&h.play.received), "hello");
    play_end(&h.play);
  }
  close_stage(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_input_waits_for_the_head),
      cmocka_unit_test(test_much_both_ways),
      cmocka_unit_test(test_input_that_nobody_reads),
      cmocka_unit_test(test_a_connection_that_is_reset),
      cmocka_unit_test(test_not_reading),
      cmocka_unit_test(test_what_brings_much_rests),
      cmocka_unit_test(test_the_end_of_one_that_rests),
      cmocka_unit_test(test_not_reading_the_end),
      cmocka_unit_test(test_closing_in_callbacks),
      cmocka_unit_test(test_closing_at_any_time),
      cmocka_unit_test(test_a_loop_that_ends_first),
      cmocka_unit_test(test_streams_wait_for_a_connection),
      cmocka_unit_test(test_a_crowded_engine),
      cmocka_unit_test(test_a_blocking_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
