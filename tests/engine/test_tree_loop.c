/* SPDX-License-Identifier: Apache-2.0 */
/* Trees in a program's own loop: many at once, cancelled ones, and ends of all kinds. */
#include "../scratch.h"
#include "test_file_support.h"

#include <signal.h>

#include <cofferdam/tree.h>

static cdam_loop *loop;

static int begin(void **state) {
  if (make_scratch(state) != 0 || begin_sandbox(state) != 0) return -1;
  return here("mkdir t && cd t && for i in $(seq 200); do mkdir d$i; head -c 3000 /dev/urandom "
              ">d$i/f; ln -s f d$i/l; done; truncate -s 20G ../huge");
}

static int finish(void **state) {
  remove_scratch(state);
  return end_sandbox(state);
}

static int open_loop(void **state) {
  (void)state;
  cdam_error err;
  assert_ok(cdam_loop_new(client, &loop, &err), &err);
  return 0;
}

static int close_loop(void **state) {
  (void)state;
  if (loop) assert_int_equal(cdam_loop_pending(loop), 0);
  cdam_loop_free(loop);
  shell("rm -rf /workspace/*");
  return here("find . -mindepth 1 -maxdepth 1 ! -name t ! -name huge | xargs rm -rf");
}

typedef struct job {
  int calls;
  cdam_status status;
  cdam_error error;
  cdam_tree_result result;
  char path[32];
  char local[128];
  bool temporaries; /* there were some when it was told */
} job;

static void ended(void *user, cdam_status status, const cdam_tree_result *result,
                  const cdam_error *err) {
  job *j = user;
  j->calls++;
  j->status = status;
  j->result = *result;
  if (status != CDAM_OK) j->error = *err;
  j->temporaries = here("test -z \"$(find . -name '.cofferdam-*')\"") != 0;
}

/* Until it has ended, or for so long; the longest dispatch in ms. */
static int64_t drive(const int *calls, int64_t ms) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  int64_t longest = 0, until = cdam_now_ms() + ms;
  while (!calls || !*calls) {
    int64_t left = until - cdam_now_ms();
    if (left <= 0) break;
    poll(&ready, 1, (int)left);
    int64_t before = cdam_now_us();
    size_t pending = cdam_loop_dispatch(loop);
    int64_t took = cdam_now_us() - before;
    if (took > longest) longest = took;
    if (!calls && !pending) break;
  }
  return longest / 1000;
}

static const char *at(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", scratch, name);
  return path;
}

static void arguments(void **state) {
  (void)state;
  job j = {0};
  cdam_error err;
  cdam_operation *op = (cdam_operation *)1;
  assert_fails(cdam_tree_upload_start(NULL, session, scratch, "x", NULL, ended, &j, &op, &err),
               CDAM_ERR_ARGUMENT, 0, &err);
  assert_null(op);
  assert_fails(cdam_tree_upload_start(loop, NULL, scratch, "x", NULL, ended, &j, &op, &err),
               CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload_start(loop, session, scratch, "x", NULL, NULL, &j, &op, &err),
               CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_upload_start(loop, session, NULL, "x", NULL, ended, &j, &op, &err),
               CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(cdam_tree_download_start(loop, session, NULL, "x", NULL, ended, &j, &op, &err),
               CDAM_ERR_ARGUMENT, 0, &err);
  assert_fails(
      cdam_tree_download_start(loop, session, "x", at("no/where"), NULL, ended, &j, &op, &err),
      CDAM_ERR_IO, ENOENT, &err);
  assert_int_equal(cdam_loop_pending(loop), 0);
  assert_int_equal(j.calls, 0);
}

enum { MANY = 12 };

static void many_at_once(void **state) {
  (void)state;
  static job up[MANY], down[MANY];
  cdam_error err;
  memset(up, 0, sizeof up);
  memset(down, 0, sizeof down);
  for (int i = 0; i < MANY; i++) {
    snprintf(up[i].path, sizeof up[i].path, "t%d", i);
    assert_ok(
        cdam_tree_upload_start(loop, session, at("t"), up[i].path, NULL, ended, &up[i], NULL, &err),
        &err);
    up[i].path[0] = 'x'; /* it was copied */
  }
  assert_int_equal(up[0].calls, 0);
  drive(NULL, 60000);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(up[i].calls, 1);
    assert_ok(up[i].status, &up[i].error);
    assert_int_equal(up[i].result.entries, 601);
    snprintf(down[i].path, sizeof down[i].path, "t%d", i);
    snprintf(down[i].local, sizeof down[i].local, "%s/back%d", scratch, i);
    assert_ok(cdam_tree_download_start(loop, session, down[i].path, down[i].local, NULL, ended,
                                       &down[i], NULL, &err),
              &err);
  }
  drive(NULL, 60000);
  for (int i = 0; i < MANY; i++) {
    assert_ok(down[i].status, &down[i].error);
    assert_int_equal(here("diff -r --no-dereference t back%d", i), 0);
  }
}

/* One that takes for ever does not hold others up for long. */
static void others_have_their_turn(void **state) {
  (void)state;
  job huge = {0}, small = {0};
  cdam_error err;
  cdam_operation *op;
  assert_ok(
      cdam_tree_upload_start(loop, session, at("huge"), "huge", NULL, ended, &huge, &op, &err),
      &err);
  drive(&small.calls, 300);
  assert_ok(cdam_tree_upload_start(loop, session, at("t"), "t", NULL, ended, &small, NULL, &err),
            &err);
  int64_t longest = drive(&small.calls, 30000);
  print_message("# the longest dispatch beside an upload took %lld ms\n", (long long)longest);
  assert_int_equal(small.calls, 1);
  assert_ok(small.status, &small.error);
  assert_int_equal(huge.calls, 0);
  cdam_cancel(op);
  drive(NULL, 20000);
  assert_int_equal(huge.status, CDAM_ERR_CANCELLED);
}

static void cancelled(void **state) {
  (void)state;
  cdam_error err;
  shell("mkdir h && truncate -s 20G h/huge");
  for (int after = 0; after < 300; after += 60) {
    job up = {0}, down = {0};
    cdam_operation *ops[2];
    assert_ok(cdam_tree_upload_start(loop, session, at("huge"), "up",
                                     &(cdam_tree_options){.replace = true}, ended, &up, &ops[0],
                                     &err),
              &err);
    assert_ok(cdam_tree_download_start(loop, session, "h", at("h"),
                                       &(cdam_tree_options){.replace = true}, ended, &down, &ops[1],
                                       &err),
              &err);
    if (after) drive(&up.calls, after);
    cdam_cancel(ops[0]);
    cdam_cancel(ops[1]);
    drive(NULL, 20000);
    assert_int_equal(up.calls, 1);
    assert_int_equal(down.calls, 1);
    assert_int_equal(up.status, CDAM_ERR_CANCELLED);
    assert_int_equal(down.status, CDAM_ERR_CANCELLED);
    assert_false(down.temporaries);
  }
  assert_int_equal(count_of("h"), 1); /* the session is as before */
}

/* With the loop everything in it ends. */
static void loop_is_freed(void **state) {
  (void)state;
  cdam_error err;
  shell("mkdir h && truncate -s 20G h/huge");
  job up = {0}, down = {0};
  assert_ok(cdam_tree_upload_start(loop, session, at("huge"), "up", NULL, ended, &up, NULL, &err),
            &err);
  assert_ok(cdam_tree_download_start(loop, session, "h", at("h"), NULL, ended, &down, NULL, &err),
            &err);
  drive(&up.calls, 300);
  assert_int_not_equal(here("test -z \"$(find . -name '.cofferdam-*')\""), 0);
  cdam_loop_free(loop);
  loop = NULL;
  assert_int_equal(up.calls, 1);
  assert_int_equal(down.calls, 1);
  assert_int_equal(up.status, CDAM_ERR_CANCELLED);
  assert_int_equal(down.status, CDAM_ERR_CANCELLED);
  assert_int_equal(here("test -z \"$(find . -name '.cofferdam-*')\""), 0);
}

static void session_is_freed(void **state) {
  (void)state;
  cdam_error err;
  cdam_session *own;
  job up = {0};
  assert_ok(cdam_resume(client, cdam_session_state(session), NULL, &own, &err), &err);
  assert_ok(cdam_tree_upload_start(loop, own, at("t"), "t", NULL, ended, &up, NULL, &err), &err);
  cdam_session_free(own);
  drive(NULL, 20000);
  assert_ok(up.status, &up.error);
  assert_int_equal(count_of("t"), 200);
}

static void sandbox_ends(void **state) {
  (void)state;
  cdam_error err;
  job up = {0}, down = {0};
  cdam_session *other = create_with(client, CDAM_NETWORK_MODE_NONE);
  docker("exec %s /bin/busybox sh -c 'mkdir -p /workspace/h; truncate -s 20G /workspace/h/huge'",
         container_of(other));
  assert_ok(cdam_tree_upload_start(loop, other, at("huge"), "up", NULL, ended, &up, NULL, &err),
            &err);
  assert_ok(cdam_tree_download_start(loop, other, "h", at("h"), NULL, ended, &down, NULL, &err),
            &err);
  drive(&up.calls, 500);
  assert_int_equal(up.calls + down.calls, 0);
  docker("kill %s", container_of(other));
  drive(NULL, 20000);
  if (up.status != CDAM_ERR_EXITED) fail_msg("%d: %s", up.status, up.error.message);
  if (down.status != CDAM_ERR_EXITED) fail_msg("%d: %s", down.status, down.error.message);
  assert_false(down.temporaries);
  end_session(client, other);
}

/* A sandbox that is paused in the middle: told after the client's timeout, and nothing hangs. */
static void sandbox_pauses(void **state) {
  (void)state;
  cdam_error err;
  job down = {0};
  cdam_client_config *config;
  cdam_client *hasty;
  cdam_session *own;
  cdam_loop *before = loop;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_timeout(config, 3000);
  assert_ok(cdam_client_new(config, &hasty, &err), &err);
  assert_ok(cdam_loop_new(hasty, &loop, &err), &err);
  assert_ok(cdam_resume(hasty, cdam_session_state(session), NULL, &own, &err), &err);
  shell("mkdir h && truncate -s 20G h/huge");
  assert_ok(cdam_tree_download_start(loop, own, "h", at("h"), NULL, ended, &down, NULL, &err),
            &err);
  drive(&down.calls, 500);
  docker("pause %s", container_of(session));
  drive(&down.calls, 60000);
  docker("unpause %s", container_of(session));
  if (down.status != CDAM_ERR_PAUSED) fail_msg("%d: %s", down.status, down.error.message);
  assert_false(down.temporaries);
  cdam_session_free(own);
  cdam_loop_free(loop);
  cdam_client_free(hasty);
  cdam_client_config_free(config);
  loop = before;
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_loop, close_loop)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(arguments),    TEST(many_at_once),   TEST(others_have_their_turn),
      TEST(cancelled),    TEST(loop_is_freed),  TEST(session_is_freed),
      TEST(sandbox_ends), TEST(sandbox_pauses),
  };
  return cmocka_run_group_tests(tests, begin, finish);
}
