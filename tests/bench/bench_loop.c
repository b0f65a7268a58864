/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread, one loop, many sandboxes with a command in flight in each:
 *
 *   bench_loop scripted SANDBOXES COMMANDS         on an engine in this process that costs nothing
 *   bench_loop engine SANDBOXES COMMANDS IMAGE     creates and deletes them, too
 *
 * Prints commands, wall ns, CPU ns of the loop's thread, and of the longest dispatch wall ns and
 * CPU ns: what one thread spends tells more, on a machine that does other things.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cofferdam/cofferdam.h>

#include "../faults/exec_fixture.h"

typedef struct bench {
  cdam_loop *loop;
  long commands; /* for each sandbox */
  long done;
  int64_t longest_wall;
  int64_t longest_cpu;
} bench;

typedef struct box {
  bench *of;
  cdam_session *session;
  bool real;
  long left;
} box;

static const char *const argv_of_command[] = {"true", NULL};

static int64_t now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void must(cdam_status status, const cdam_error *err) {
  if (status == CDAM_OK) return;
  fprintf(stderr, "%s: %s\n", cdam_status_name(status), err->message);
  exit(1);
}

static void deleted(void *user, cdam_status status, const cdam_error *err) {
  (void)user;
  must(status, err);
}

static void next_command(box *this);

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  box *this = user;
  must(status, err);
  cdam_exec_result_free(result);
  this->of->done++;
  next_command(this);
}

static void next_command(box *this) {
  static cdam_error err;
  if (this->left-- > 0) {
    must(cdam_exec_start(this->of->loop, this->session,
                         &(cdam_exec_command){.argv = argv_of_command}, ended, this, NULL, &err),
         &err);
  } else if (this->real) {
    must(cdam_delete_start(this->of->loop, cdam_session_state(this->session), deleted, this, NULL,
                           &err),
         &err);
    cdam_session_free(this->session);
  }
}

static void created(void *user, cdam_status status, cdam_session *session, const cdam_error *err) {
  box *this = user;
  must(status, err);
  this->session = session;
  next_command(this);
}

static void drive(bench *this) {
  struct pollfd ready = {.fd = cdam_loop_fd(this->loop), .events = POLLIN};
  size_t pending;
  do {
    poll(&ready, 1, -1);
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    pending = cdam_loop_dispatch(this->loop);
    wall = now(CLOCK_MONOTONIC) - wall;
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (wall > this->longest_wall) this->longest_wall = wall;
    if (cpu > this->longest_cpu) this->longest_cpu = cpu;
  } while (pending);
}

static void measure(bench *this, cdam_client *client, size_t count, const char *image,
                    cdam_session *shared) {
  static cdam_error err;
  box *boxes = calloc(count, sizeof *boxes);
  cdam_options *options;
  must(cdam_loop_new(client, &this->loop, &err), &err);
  must(cdam_options_new(&options, &err), &err);
  must(cdam_options_set_image(options, image ? image : "none", &err), &err);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
  for (size_t i = 0; boxes && i < count; i++) {
    boxes[i] = (box){.of = this, .session = shared, .real = image, .left = this->commands};
    if (image)
      must(cdam_create_start(this->loop, options, created, &boxes[i], NULL, &err), &err);
    else
      next_command(&boxes[i]);
  }
  drive(this);
  wall = now(CLOCK_MONOTONIC) - wall;
  cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  printf("%ld %lld %lld %lld %lld\n", this->done, (long long)wall, (long long)cpu,
         (long long)this->longest_wall, (long long)this->longest_cpu);
  cdam_options_free(options);
  cdam_loop_free(this->loop);
  free(boxes);
}

int main(int argc, char **argv) {
  static const scripted_rule rules[] = {
      {.path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .delay_ms = 5, .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}}};
  if (argc < 4) return 2;
  size_t count = strtoul(argv[2], NULL, 10);
  bench this = {.commands = strtol(argv[3], NULL, 10)};
  if (strcmp(argv[1], "scripted") == 0) {
    fixture *on = BEGIN(rules, 60000);
    measure(&this, on->session.client, count, NULL, &on->session);
    end(on);
  } else if (argc > 4) {
    cdam_client *client;
    cdam_error err;
    must(cdam_client_new(NULL, &client, &err), &err);
    measure(&this, client, count, argv[4], NULL);
    cdam_client_free(client);
  }
  return 0;
}
