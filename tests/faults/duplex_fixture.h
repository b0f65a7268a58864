/* SPDX-License-Identifier: Apache-2.0 */
/* One duplex in a loop of the test's own, and what became of it. */
#ifndef COFFERDAM_TESTS_DUPLEX_FIXTURE_H
#define COFFERDAM_TESTS_DUPLEX_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "engine/duplex.h"
#include "scripted_engine.h"

#define PATH "/exec/1/start"
#define UPGRADED "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

typedef enum play_place { NOWHERE, IN_OPENED, IN_RECEIVED, IN_DRAINED, IN_CLOSED } play_place;

typedef struct duplex_play {
  cdam_loop *loop;
  cdam_duplex *duplex; /* NULL once a callback has closed it */
  int opened;
  int drained;
  int closed;
  cdam_status status;
  cdam_error error;
  cdam_buffer received; /* unless `count_only` */
  uint64_t total;
  bool count_only;
  play_place close_in;
  bool pause_in_opened;
  bool inside; /* a call of the duplex: no callback may run */
  int turns;
  int64_t longest_us; /* of the turns */
} duplex_play;

static inline void close_here(duplex_play *p, play_place where) {
  assert_false(p->inside);
  assert_int_equal(p->closed, where == IN_CLOSED);
  if (p->close_in != where) return;
  cdam_duplex_close(p->duplex);
  p->duplex = NULL;
}

static inline void play_opened(void *user) {
  duplex_play *p = user;
  p->opened++;
  assert_int_equal(p->total, 0);
  if (p->pause_in_opened) cdam_duplex_set_reading(p->duplex, false);
  close_here(p, IN_OPENED);
}

static inline void play_received(void *user, const char *bytes, size_t length) {
  duplex_play *p = user;
  assert_int_equal(p->opened, 1);
  assert_true(length > 0);
  p->total += length;
  if (!p->count_only) assert_true(cdam_buffer_append(&p->received, bytes, length));
  close_here(p, IN_RECEIVED);
}

static inline void play_drained(void *user) {
  duplex_play *p = user;
  p->drained++;
  assert_true(cdam_duplex_pending(p->duplex) <= CDAM_DUPLEX_LOW);
  close_here(p, IN_DRAINED);
}

static inline void play_closed(void *user, cdam_status status, const cdam_error *error) {
  duplex_play *p = user;
  p->closed++;
  p->status = status;
  assert_int_equal(error != NULL, status != CDAM_OK);
  if (error) p->error = *error;
  close_here(p, IN_CLOSED);
}

static const cdam_duplex_events play_events = {play_opened, play_received, play_drained,
                                               play_closed};

static inline void play_open(duplex_play *p, cdam_loop *loop, const char *path, const char *body,
                             int64_t timeout_ms) {
  cdam_error err;
  p->loop = loop;
  p->inside = true;
  p->duplex = cdam_duplex_open(loop, path, body, timeout_ms, &play_events, p, &err);
  p->inside = false;
  assert_non_null(p->duplex);
}

static inline void play_write(duplex_play *p, const void *bytes, size_t length) {
  p->inside = true;
  assert_true(cdam_duplex_write(p->duplex, bytes, length));
  p->inside = false;
}

/* Waits until the loop's descriptor says that there is something to do, and does it. */
static inline void play_turn(duplex_play *p, int at_most_ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(p->loop), .events = POLLIN};
  if (poll(&ready, 1, at_most_ms) != 1) fail_msg("nothing to do for %d ms", at_most_ms);
  int64_t begin = cdam_now_us();
  cdam_loop_dispatch(p->loop);
  int64_t took = cdam_now_us() - begin;
  if (took > p->longest_us) p->longest_us = took;
  p->turns++;
}

static inline void play_until(duplex_play *p, const int *flag) {
  int64_t limit = cdam_now_ms() + 30000;
  while (!*flag) {
    play_turn(p, 10000);
    assert_true(cdam_now_ms() < limit);
  }
}

/* Turns as long as there is something to do within so many ms of each other. */
static inline int play_settle(duplex_play *p, int ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(p->loop), .events = POLLIN};
  int turns = 0;
  for (; turns < 100000 && poll(&ready, 1, ms) == 1; turns++)
    cdam_loop_dispatch(p->loop);
  return turns;
}

static inline void play_end(duplex_play *p) {
  cdam_duplex_close(p->duplex);
  cdam_buffer_clear(&p->received);
  *p = (duplex_play){0};
}

/* ---- the engine ---- */

typedef struct stage {
  scripted_engine *engine;
  cdam_client *client;
  cdam_loop *loop;
} stage;

static inline void open_stage(stage *s, const scripted_rule *rule, unsigned timeout_ms, bool tcp) {
  s->engine = tcp ? scripted_engine_start_tcp(rule, 1) : scripted_engine_start(rule, 1);
  s->client = scripted_engine_client(s->engine, timeout_ms);
  assert_int_equal(cdam_loop_new(s->client, &s->loop, NULL), CDAM_OK);
}

static inline void close_stage(stage *s) {
  cdam_loop_free(s->loop);
  cdam_client_free(s->client);
  scripted_engine_stop(s->engine);
}

/* Reads until the client says no more; how many bytes. */
static inline size_t read_all(int fd) {
  char bytes[65536];
  size_t total = 0;
  ssize_t count;
  while ((count = read(fd, bytes, sizeof bytes)) > 0)
    total += (size_t)count;
  return total;
}

static inline void write_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes += count;
    length -= (size_t)count;
  }
}

static inline void write_text(int fd, const char *text) {
  write_all(fd, text, strlen(text));
}

#endif
