/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execs with standard input, over a unix socket and, where COFFERDAM_TEST_TLS_HOST and
 * COFFERDAM_TEST_TLS_CERTS are set as for test_tls, over TLS. COFFERDAM_DUPLEX_MIB is how much goes
 * each way.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/answer.h"
#include "engine/duplex.h"
#include "engine/stdcopy.h"
#include "real_engine.h"

#define MIB (1024 * 1024)
#define MANY 50

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
static const bool with_sanitizer = true;
#else
static const bool with_sanitizer = false;
#endif
/* Of CPU time, TLS handshakes included; there may be others at work. */
#define LONGEST_US (with_sanitizer ? 200000 : 50000)

static char container[80];

/* ---- execs ---- */

typedef struct exec_create {
  cdam_operation op;
  const char *body;
  char path[120]; /* of its start */
} exec_create;

static void created(cdam_operation *op, const cdam_reply *reply) {
  exec_create *this = (exec_create *)op;
  json_t *json = NULL;
  cdam_status status = cdam_answer_json(reply, "create exec", &json, &op->error);
  if (status == CDAM_OK)
    snprintf(this->path, sizeof this->path, "/exec/%s/start", cdam_json_string_at(json, "Id"));
  json_decref(json);
  cdam_operation_finish(op, status, &op->error);
}

static void create_it(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  char path[120];
  snprintf(path, sizeof path, "/containers/%s/exec", container);
  const cdam_request request = {.method = "POST", .path = path, .body = ((exec_create *)op)->body};
  cdam_operation_send(op, &request, created);
}

/* Where an exec of this shell command is started. */
static void new_exec(cdam_client *client, const char *command, exec_create *out) {
  char body[300];
  snprintf(body, sizeof body,
           "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,"
           "\"Cmd\":[\"sh\",\"-c\",\"%s\"]}",
           command);
  *out = (exec_create){.body = body};
  cdam_error err;
  assert_ok(cdam_operation_run(&out->op, client, create_it, &err), &err);
}

/* ---- one stream ---- */

typedef struct run {
  cdam_loop *loop;
  cdam_duplex *duplex;
  cdam_stdcopy frames;
  uint64_t to_send;
  uint64_t sent;
  uint64_t got; /* of stdout */
  char first[64];
  bool goes_on; /* no half-close */
  bool garbled; /* it is not what was sent */
  bool opened;
  bool closed;
  cdam_status status;
  cdam_error error;
} run;

static char byte_at(uint64_t i) {
  return (char)('!' + i % 83);
}

static void top_up(run *r) {
  static char bytes[83 * 1000];
  if (!bytes[0])
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = byte_at(i);
  while (r->sent < r->to_send && cdam_duplex_pending(r->duplex) < (size_t)4 * CDAM_DUPLEX_LOW) {
    uint64_t left = r->to_send - r->sent;
    size_t part = left < sizeof bytes ? (size_t)left : sizeof bytes;
    assert_true(cdam_duplex_write(r->duplex, bytes, part));
    r->sent += part;
  }
  if (r->sent == r->to_send && !r->goes_on) cdam_duplex_end_writing(r->duplex);
}

static void opened(void *user) {
  ((run *)user)->opened = true;
}

static bool take(void *user, cdam_stdcopy_stream stream, const char *bytes, size_t length,
                 cdam_error *failure) {
  (void)failure;
  run *r = user;
  assert_int_equal(stream, CDAM_STDCOPY_OUT);
  for (size_t i = 0; i < length; i++) {
    if (r->got + i < sizeof r->first - 1) r->first[r->got + i] = bytes[i];
    if (bytes[i] != byte_at(r->got + i)) r->garbled = true;
  }
  r->got += length;
  return true;
}

static void received(void *user, const char *bytes, size_t length) {
  run *r = user;
  cdam_error failure;
  assert_true(r->opened);
  if (!cdam_stdcopy_feed(&r->frames, bytes, length, take, r, &failure))
    fail_msg("%s", failure.message);
}

static void drained(void *user) {
  top_up(user);
}

static void closed(void *user, cdam_status status, const cdam_error *error) {
  run *r = user;
  cdam_error failure;
  r->closed = true;
  r->status = status;
  if (error) r->error = *error;
  if (status == CDAM_OK) assert_true(cdam_stdcopy_end(&r->frames, &failure));
}

static const cdam_duplex_events events = {opened, received, drained, closed};

static void begin(run *r, cdam_loop *loop, const char *path, uint64_t to_send, bool goes_on) {
  *r = (run){.loop = loop, .to_send = to_send, .goes_on = goes_on};
  cdam_error err;
  r->duplex = cdam_duplex_open(loop, path, "{\"Detach\":false,\"Tty\":false}", 0, &events, r, &err);
  assert_non_null(r->duplex);
  top_up(r);
}

static void end_run(run *r) {
  cdam_duplex_close(r->duplex);
  cdam_stdcopy_clear(&r->frames);
}

static int64_t cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* How long it was at work. */
static int64_t turn(cdam_loop *loop) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  if (poll(&ready, 1, 30000) != 1) fail_msg("nothing to do for 30 s");
  int64_t before = cpu_us();
  cdam_loop_dispatch(loop);
  return cpu_us() - before;
}

static void finish(run *r) {
  while (!r->closed)
    turn(r->loop);
  if (r->status != CDAM_OK) fail_msg("%s", r->error.message);
}

/* ---- the two engines ---- */

static const char *tls_host, *tls_certs;

static cdam_client *tls_client(void) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  assert_ok(cdam_client_config_set_tls(config, tls_certs, &err), &err);
  assert_ok(cdam_client_config_set_endpoint(config, tls_host, &err), &err);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

/* Does it over a unix socket, then over TLS. */
static void over_each(void (*check)(cdam_client *client)) {
  cdam_client *client = engine_client();
  check(client);
  cdam_client_free(client);
  if (!tls_host || !tls_certs) {
    print_message("# not over TLS: COFFERDAM_TEST_TLS_HOST is not set\n");
    return;
  }
  client = tls_client();
  check(client);
  cdam_client_free(client);
}

static cdam_loop *new_loop(cdam_client *client) {
  cdam_loop *loop;
  cdam_error err;
  assert_ok(cdam_loop_new(client, &loop, &err), &err);
  return loop;
}

/* ---- checks ---- */

static void much(cdam_client *client) {
  const char *text = getenv("COFFERDAM_DUPLEX_MIB");
  uint64_t total = (text ? strtoul(text, NULL, 10) : 64) * MIB;
  exec_create exec;
  run r;
  struct rusage usage;
  new_exec(client, "cat", &exec);
  cdam_loop *loop = new_loop(client);
  begin(&r, loop, exec.path, total, false);
  getrusage(RUSAGE_SELF, &usage);
  int64_t start = cdam_now_ms(), cpu = cpu_us(), longest = 0, turns = 0;
  long peak = usage.ru_maxrss;
  for (; !r.closed; turns++) {
    int64_t took = turn(loop);
    if (took > longest) longest = took;
  }
  getrusage(RUSAGE_SELF, &usage);
  print_message(
      "# %llu MiB each way: %lld ms, %lld ms of CPU time, %lld turns, the longest %lld us, "
      "peak memory + %ld KiB\n",
      (unsigned long long)(total / MIB), (long long)(cdam_now_ms() - start),
      (long long)(cpu_us() - cpu) / 1000, (long long)turns, (long long)longest,
      usage.ru_maxrss - peak);
  assert_int_equal(r.status, CDAM_OK);
  assert_int_equal(r.got, total);
  assert_false(r.garbled);
  if (!with_sanitizer) assert_true(usage.ru_maxrss - peak < 4 * 1024);
  end_run(&r);
  cdam_loop_free(loop);
}

static void test_much_both_ways(void **state) {
  (void)state;
  over_each(much);
}

static void half_close(cdam_client *client) {
  static const uint64_t sizes[] = {0, 1, 100000, 5 * MIB + 1};
  cdam_loop *loop = new_loop(client);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    exec_create exec;
    run r;
    char count[32];
    new_exec(client, "wc -c; echo over", &exec);
    begin(&r, loop, exec.path, sizes[i], false);
    finish(&r);
    snprintf(count, sizeof count, "%llu\nover\n", (unsigned long long)sizes[i]);
    assert_string_equal(r.first, count);
    end_run(&r);
  }
  cdam_loop_free(loop);
}

static void test_half_close(void **state) {
  (void)state;
  over_each(half_close);
}

/* The engine closes while there is input on its way; over TLS that is told as a broken connection
 * when the output may not be whole. */
static void nobody_reads(cdam_client *client) {
  exec_create exec;
  run r;
  cdam_loop *loop = new_loop(client);
  new_exec(client, "head -c 5", &exec);
  begin(&r, loop, exec.path, 32 * MIB, false);
  while (!r.closed)
    turn(loop);
  assert_true(r.status == CDAM_OK || r.status == CDAM_ERR_PROTOCOL);
  if (r.status == CDAM_OK) assert_memory_equal(r.first, "!\"#$%", 6);
  end_run(&r);
  cdam_loop_free(loop);
}

static void test_input_that_nobody_reads(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_DFL);
  over_each(nobody_reads);
}

static void many(cdam_client *client) {
  static run runs[MANY];
  cdam_loop *loop = new_loop(client);
  int left = MANY;
  int64_t longest = 0, turns = 0, slow = 0;
  static exec_create execs[MANY];
  for (int i = 0; i < MANY; i++)
    new_exec(client, "cat", &execs[i]);
  for (int i = 0; i < MANY; i++)
    begin(&runs[i], loop, execs[i].path, MIB, false);
  while (left) {
    int64_t took = turn(loop);
    if (took > longest) longest = took;
    turns++;
    slow += took >= LONGEST_US;
    left = 0;
    for (int i = 0; i < MANY; i++)
      left += !runs[i].closed;
  }
  print_message("# %d at once: %lld turns, the longest %lld us\n", MANY, (long long)turns,
                (long long)longest);
  assert_true(slow <= 1 + turns / 50); /* the machine may have been busy */
  for (int i = 0; i < MANY; i++) {
    if (runs[i].status != CDAM_OK) fail_msg("%s", runs[i].error.message);
    assert_int_equal(runs[i].got, MIB);
    assert_false(runs[i].garbled);
    end_run(&runs[i]);
  }
  cdam_loop_free(loop);
}

static void test_many_at_once(void **state) {
  (void)state;
  over_each(many);
}

static void closing(cdam_client *client) {
  cdam_loop *loop = new_loop(client);
  for (int i = 0; i < 3; i++) {
    exec_create exec;
    run r;
    new_exec(client, "cat", &exec);
    begin(&r, loop, exec.path, (uint64_t)1 << 40, false);
    while (r.got < (uint64_t)i * MIB + 1)
      turn(loop);
    end_run(&r);
    assert_false(r.closed);
  }
  cdam_loop_free(loop);
}

static void test_closing_in_the_middle(void **state) {
  (void)state;
  over_each(closing);
}

static void answers(cdam_client *client) {
  cdam_loop *loop = new_loop(client);
  run r;
  begin(&r, loop, "/exec/0123456789abcdef/start", 10, false);
  while (!r.closed)
    turn(loop);
  assert_int_equal(r.status, CDAM_ERR_NOT_FOUND);
  assert_int_equal(r.error.http_status, 404);
  end_run(&r);
  cdam_loop_free(loop);
}

static void test_an_exec_that_is_not_there(void **state) {
  (void)state;
  over_each(answers);
}

/* Input that comes byte by byte is not kept back. */
static void talk(cdam_client *client) {
  exec_create exec;
  run r;
  cdam_loop *loop = new_loop(client);
  new_exec(client, "cat", &exec);
  begin(&r, loop, exec.path, 1, true);
  for (unsigned i = 0; i < 100; i++) {
    while (r.got < i)
      turn(loop);
    char byte = byte_at(i);
    if (i) assert_true(cdam_duplex_write(r.duplex, &byte, 1));
  }
  while (r.got < 100)
    turn(loop);
  assert_false(r.garbled);
  end_run(&r);
  cdam_loop_free(loop);
}

static void test_a_conversation(void **state) {
  (void)state;
  over_each(talk);
}

static int set_up(void **state) {
  (void)state;
  tls_host = getenv("COFFERDAM_TEST_TLS_HOST");
  tls_certs = getenv("COFFERDAM_TEST_TLS_CERTS");
  snprintf(container, sizeof container, "%s",
           docker("run -d --net none --entrypoint sleep %s 600", TEST_IMAGE));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  docker("rm -f %s", container);
  return 0;
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_conversation),
      cmocka_unit_test(test_much_both_ways),
      cmocka_unit_test(test_half_close),
      cmocka_unit_test(test_input_that_nobody_reads),
      cmocka_unit_test(test_many_at_once),
      cmocka_unit_test(test_closing_in_the_middle),
      cmocka_unit_test(test_an_exec_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
