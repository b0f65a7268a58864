/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in a stream both ways: 200,000 bytes and their echo. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "../faults/scripted_engine.h"
#include "base/fail.h"
#include "engine/duplex.h"
#include "exhaust.h"

#define PATH "/exec/1/start"
#define TOTAL 200000

typedef struct play {
  scripted_engine *engine;
  cdam_client *client;
  cdam_duplex *duplex;
  size_t received;
  int opened;
  int closed;
  cdam_status status;
  cdam_error error;
} play;

/* ---- the engine ---- */

static void echo(void *user, int fd, const scripted_request *request, const char *early,
                 size_t early_length) {
  (void)user, (void)request, (void)early, (void)early_length;
  static const char head[] = "HTTP/1.1 101 UPGRADED\r\n\r\nhello";
  char bytes[16384];
  ssize_t count = send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
  while (count > 0 && (count = read(fd, bytes, sizeof bytes)) > 0)
    count = send(fd, bytes, (size_t)count, MSG_NOSIGNAL);
}

/* ---- the program ---- */

static void opened(void *user) {
  play *p = user;
  p->opened++;
  cdam_duplex_set_reading(p->duplex, false); /* what came with the head is kept */
}

static void received(void *user, const char *bytes, size_t length) {
  (void)bytes;
  ((play *)user)->received += length;
}

static void closed(void *user, cdam_status status, const cdam_error *error) {
  play *p = user;
  p->closed++;
  p->status = status;
  if (error) p->error = *error;
}

static const cdam_duplex_events events = {.opened = opened, .received = received, .closed = closed};

static cdam_status open_client(play *p, cdam_error *err) {
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status = cdam_client_config_set_endpoint(config, scripted_engine_endpoint(p->engine), err);
  if (status == CDAM_OK) {
    cdam_client_config_set_timeout(config, 300);
    status = cdam_client_new(config, &p->client, err);
  }
  cdam_client_config_free(config);
  return status;
}

static cdam_status converse(play *p, cdam_loop *loop, cdam_error *err) {
  static const char bytes[TOTAL];
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  p->duplex = cdam_duplex_open(loop, PATH, "{}", 0, &events, p, err);
  if (!p->duplex) return CDAM_ERR_NO_MEMORY;
  if (!cdam_duplex_write(p->duplex, bytes, sizeof bytes)) return cdam_fail_memory(err);
  cdam_duplex_end_writing(p->duplex);
  for (int turns = 0; !p->closed && turns < 10000; turns++) {
    poll(&ready, 1, 5000);
    cdam_loop_dispatch(loop);
    if (p->opened == 1) p->opened++, cdam_duplex_set_reading(p->duplex, true);
  }
  *err = p->error;
  return p->closed ? p->status : cdam_fail(err, CDAM_ERR_ARGUMENT, "it never ends");
}

static cdam_status run(void *context, cdam_error *err) {
  play *p = context;
  cdam_loop *loop = NULL;
  cdam_status status = open_client(p, err);
  if (status == CDAM_OK) status = cdam_loop_new(p->client, &loop, err);
  if (status == CDAM_OK) status = converse(p, loop, err);
  cdam_duplex_close(p->duplex);
  cdam_loop_free(loop);
  return status;
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  bool whole = p->received == TOTAL + 5 && p->opened && p->closed == 1;
  cdam_client_free(p->client);
  *p = (play){.engine = p->engine};
  return status == CDAM_OK && !whole ? "success with a part of the stream" : NULL;
}

static void test_duplex(void **state) {
  (void)state;
  const scripted_rule rule = {.path = PATH, .talk = echo};
  play p = {.engine = scripted_engine_start(&rule, 1)};
  exhaust(&(exhaust_case){"duplex", run, finish, &p, true, 3});
  scripted_engine_stop(p.engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_duplex)};
  return cmocka_run_group_tests_name("oom_duplex", tests, NULL, NULL);
}
