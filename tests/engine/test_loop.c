/* SPDX-License-Identifier: Apache-2.0 */
/* One thread and one loop for many sandboxes on a real engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <poll.h>

#include "base/clock.h"
#include "real_engine.h"

/* So many sandboxes, or as COFFERDAM_LOOP_SANDBOXES has it. */
#define SANDBOXES 12
#define COMMANDS 3

static const char *const sleep_argv[] = {"sleep", "987", NULL};

typedef struct sandbox {
  struct everything *all;
  int number;
  cdam_session *session;
  int commands; /* that have ended well */
  int deleted;
  char word[32];
} sandbox;

typedef struct everything {
  cdam_client *client;
  cdam_loop *loop;
  cdam_options *options;
  char mark[64]; /* a label that these containers have */
  int64_t longest_us;
  int count, created;
  sandbox *boxes;
} everything;

static int containers(const everything *all) {
  return (int)strtol(docker("ps -aq --filter label=mark=%s | wc -l", all->mark), NULL, 10);
}

static everything *begin(void) {
  static everything all;
  all = (everything){.client = engine_client(), .options = options_with(CDAM_NETWORK_MODE_NONE)};
  snprintf(all.mark, sizeof all.mark, "loop-%d-%lld", getpid(), (long long)cdam_now_us());
  cdam_error err;
  assert_ok(cdam_options_set_label(all.options, "mark", all.mark, &err), &err);
  assert_ok(cdam_loop_new(all.client, &all.loop, &err), &err);
  return &all;
}

static void end(everything *all) {
  assert_int_equal(containers(all), 0);
  cdam_loop_free(all->loop);
  cdam_options_free(all->options);
  cdam_client_free(all->client);
}

/* Dispatches for so long, or until nothing is pending. */
static void drive(everything *all, int64_t ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(all->loop), .events = POLLIN};
  for (int64_t until = cdam_now_ms() + ms, left; (left = until - cdam_now_ms()) > 0;) {
    poll(&ready, 1, (int)left);
    int64_t before = cdam_now_us();
    size_t pending = cdam_loop_dispatch(all->loop);
    int64_t took = cdam_now_us() - before;
    if (took > all->longest_us) all->longest_us = took;
    if (!pending) return;
  }
}

/* ---- many at once ---- */

static void box_deleted(void *user, cdam_status status, const cdam_error *err) {
  assert_ok(status, err);
  ((sandbox *)user)->deleted++;
}

static void command_ended(void *user, cdam_status status, cdam_exec_result *result,
                          const cdam_error *err) {
  sandbox *box = user;
  assert_ok(status, err);
  assert_int_equal(cdam_exec_result_exit_code(result), box->number);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), box->word);
  cdam_exec_result_free(result);
  if (++box->commands < COMMANDS) return;
  cdam_error failure;
  assert_ok(cdam_delete_start(box->all->loop, cdam_session_state(box->session), box_deleted, box,
                              NULL, &failure),
            &failure);
  cdam_session_free(box->session);
}

static void start_commands(sandbox *box) {
  char script[64];
  snprintf(script, sizeof script, "printf %%s %s; exit %d", box->word, box->number);
  const char *const argv[] = {"sh", "-c", script, NULL};
  cdam_error failure;
  for (int i = 0; i < COMMANDS; i++)
    assert_ok(cdam_exec_start(box->all->loop, box->session, &(cdam_exec_command){.argv = argv},
                              command_ended, box, NULL, &failure),
              &failure);
}

/* When all are there, all run commands at once. */
static void box_created(void *user, cdam_status status, cdam_session *session,
                        const cdam_error *err) {
  sandbox *box = user;
  everything *all = box->all;
  assert_ok(status, err);
  box->session = session;
  if (++all->created < all->count) return;
  for (int i = 0; i < all->count; i++)
    start_commands(&all->boxes[i]);
}

static void test_many(void **state) {
  (void)state;
  everything *all = begin();
  const char *wanted = getenv("COFFERDAM_LOOP_SANDBOXES");
  all->count = wanted ? (int)strtol(wanted, NULL, 10) : SANDBOXES;
  assert_in_range(all->count, 1, 1000);
  all->boxes = calloc((size_t)all->count, sizeof *all->boxes);
  assert_non_null(all->boxes);
  cdam_error err;
  for (int i = 0; i < all->count; i++) {
    sandbox *box = &all->boxes[i];
    *box = (sandbox){.all = all, .number = 1 + i % 100};
    snprintf(box->word, sizeof box->word, "box-%d", i);
    assert_ok(cdam_create_start(all->loop, all->options, box_created, box, NULL, &err), &err);
  }
  int64_t before = cdam_now_ms();
  drive(all, 200000 + 10000 * (int64_t)all->count);
  print_message("# %d sandboxes, %d commands in each: %lld ms; the longest dispatch took %lld us\n",
                all->count, COMMANDS, (long long)(cdam_now_ms() - before),
                (long long)all->longest_us);
  for (int i = 0; i < all->count; i++) {
    assert_int_equal(all->boxes[i].commands, COMMANDS);
    assert_int_equal(all->boxes[i].deleted, 1);
  }
  free(all->boxes);
  end(all);
}

/* ---- cancelling ---- */

static void note_status(void *user, cdam_status status, cdam_session *session,
                        const cdam_error *err) {
  (void)err;
  *(int *)user = (int)status;
  assert_int_equal(session != NULL, status == CDAM_OK);
  cdam_session_free(session);
}

/* A create that is cancelled after so many ms, while the engine is at something or other. */
static void test_cancelled_creates(void **state) {
  (void)state;
  everything *all = begin();
  for (int ms = 0; ms <= 160; ms += 8) {
    cdam_operation *operation;
    cdam_error err;
    int status = -1;
    assert_ok(cdam_create_start(all->loop, all->options, note_status, &status, &operation, &err),
              &err);
    drive(all, ms);
    if (status < 0) {
      cdam_cancel(operation);
      drive(all, 60000);
      assert_int_equal(status, CDAM_ERR_CANCELLED);
    } else {
      docker("rm -f $(docker ps -aq --filter label=mark=%s)", all->mark);
    }
    assert_int_equal(containers(all), 0);
  }
  end(all);
}

static void note_cancelled(void *user, cdam_status status, cdam_exec_result *result,
                           const cdam_error *err) {
  assert_null(result);
  assert_null(strstr(err->message, "still"));
  *(int *)user = (int)status;
}

/* The command is killed, and the sandbox goes on. */
static void test_a_cancelled_command(void **state) {
  (void)state;
  everything *all = begin();
  cdam_error err;
  cdam_session *session;
  cdam_operation *operation;
  int status = -1;
  assert_ok(cdam_create(all->client, all->options, &session, &err), &err);
  assert_ok(cdam_exec_start(all->loop, session, &(cdam_exec_command){.argv = sleep_argv},
                            note_cancelled, &status, &operation, &err),
            &err);
  const char *const argv[] = {"ps", NULL};
  char *before = NULL;
  for (int i = 0; i < 100 && !(before && strstr(before, "sleep 987")); i++) {
    free(before);
    drive(all, 50);
    before = output_of(session, argv);
  }
  assert_non_null(strstr(before, "sleep 987"));
  free(before);
  cdam_cancel(operation);
  drive(all, 30000);
  assert_int_equal(status, CDAM_ERR_CANCELLED);
  char *after = output_of(session, argv);
  assert_null(strstr(after, "sleep 987"));
  free(after);
  end_session(all->client, session);
  end(all);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_cancelled_creates),
      cmocka_unit_test(test_a_cancelled_command),
  };
  return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
