/* SPDX-License-Identifier: Apache-2.0 */
/* Links to real agents: shared, replaced, and told why they broke when the sandbox is paused,
 * frozen, stopped, restarted or removed under them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "base/clock.h"
#include "engine/client_private.h"
#include "engine/loop.h"
#include "link/session_link.h"
#include "real_engine.h"

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME
#define INIT(NAME) COFFERDAM__AGENT__V1__##NAME##__INIT

/* Short, so that silence is noticed in a few seconds. */
#define TIMEOUT_MS 3000

static cdam_client *client;
static cdam_session *session;

static cdam_client *client_with(cdam_agent_policy policy) {
  cdam_client_config *config;
  cdam_client *made;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_agent(config, policy);
  assert_ok(cdam_client_new(config, &made, &err), &err);
  cdam_client_config_free(config);
  return made;
}

static int begin(void **state) {
  (void)state;
  client = client_with(CDAM_AGENT_REQUIRED);
  session = create_with(client, CDAM_NETWORK_MODE_NONE);
  client->config.timeout_ms = TIMEOUT_MS;
  return 0;
}

static int end(void **state) {
  (void)state;
  try_docker("unpause %s >/dev/null 2>&1", cdam_state_container_id(cdam_session_state(session)));
  client->config.timeout_ms = 30000;
  end_session(client, session);
  cdam_client_free(client);
  return 0;
}

static int skip_all(void **state) {
  (void)state;
  require_engine();
  return 0;
}

static const char *id(void) {
  return cdam_state_container_id(cdam_session_state(session));
}

/* ---- calls ---- */

typedef struct call {
  cdam_channel channel;
  bool started;
  bool done;
  cdam_status status;
  cdam_error error;
  uint64_t started_total;
} call;

static bool message(cdam_channel *channel, const cdam_from_agent *m, cdam_error *failure) {
  call *c = (call *)(void *)channel;
  (void)failure;
  if (m->body_case == FROM(STARTED)) c->started = true;
  if (m->body_case == FROM(STATUS)) c->started_total = m->status->started_total;
  return true;
}

static void done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                 const cdam_agent_done *agents) {
  call *c = (call *)(void *)channel;
  (void)agents;
  c->done = true;
  c->status = status;
  c->error = *error;
}

static const cdam_channel_events events = {message, NULL, done};

static void open_status(cdam_link *link, call *c) {
  Cofferdam__Agent__V1__GetStatus status = INIT(GET_STATUS);
  cdam_to_agent request = INIT(TO_AGENT);
  cdam_error err;
  request.body_case = TO(GET_STATUS);
  request.get_status = &status;
  *c = (call){0};
  assert_ok(cdam_channel_open(link, &c->channel, &request, &events, &err), &err);
}

static void open_sleep(cdam_link *link, call *c) {
  Cofferdam__Agent__V1__Start start = INIT(START);
  cdam_to_agent request = INIT(TO_AGENT);
  cdam_error err;
  ProtobufCBinaryData argv[] = {{5, (uint8_t *)(uintptr_t) "sleep"},
                                {4, (uint8_t *)(uintptr_t) "1000"}};
  start.argv = argv;
  start.n_argv = 2;
  start.inherit_env = true;
  request.body_case = TO(START);
  request.start = &start;
  *c = (call){0};
  assert_ok(cdam_channel_open(link, &c->channel, &request, &events, &err), &err);
}

static void turn_until(cdam_loop *loop, const bool *condition) {
  for (int64_t limit = cdam_now_ms() + 60000; !*condition;) {
    assert_true(cdam_now_ms() < limit);
    cdam_loop_turn(loop, 50);
  }
}

static cdam_link *link_in(cdam_loop *loop) {
  cdam_link *link;
  cdam_error err;
  assert_ok(cdam_session_link(session, loop, &link, &err), &err);
  return link;
}

/* One call over whatever link there is now. */
static void works(void) {
  static call c;
  cdam_loop *loop = cdam_session_own_loop(session);
  cdam_loop_turn(loop, 0);
  cdam_link *link = link_in(loop);
  open_status(link, &c);
  turn_until(loop, &c.done);
  assert_ok(c.status, &c.error);
  cdam_link_unref(link);
}

/* Something runs; then this happens to the sandbox. How it ends for what runs, and then for the
 * link. */
static cdam_error outcome(const char *command, bool ends_well) {
  static call c;
  cdam_loop *loop = cdam_session_own_loop(session);
  cdam_link *link = link_in(loop);
  open_sleep(link, &c);
  turn_until(loop, &c.started);
  docker("%s %s", command, id());
  turn_until(loop, &c.done);
  if (ends_well) assert_ok(c.status, &c.error);
  for (int64_t limit = cdam_now_ms() + 60000; !cdam_link_is_broken(link);) {
    assert_true(cdam_now_ms() < limit);
    cdam_loop_turn(loop, 50);
  }
  cdam_link_unref(link);
  return c.error;
}

static void check_error(const cdam_error *error, cdam_status status, const char *words) {
  if (error->code != status || !strstr(error->message, words))
    fail_msg("%s: %s", cdam_status_name(error->code), error->message);
}

static void expect(const char *command, cdam_status status, const char *words) {
  const cdam_error error = outcome(command, false);
  check_error(&error, status, words);
}

/* There is no link to be had. */
static void expect_none(cdam_status status, const char *words) {
  static call c;
  cdam_loop *loop = cdam_session_own_loop(session);
  cdam_link *link = link_in(loop);
  open_status(link, &c);
  turn_until(loop, &c.done);
  check_error(&c.error, status, words);
  cdam_link_unref(link);
}

/* ---- tests ---- */

static void one_link_for_each_loop(void **state) {
  (void)state;
  cdam_loop *own = cdam_session_own_loop(session), *other;
  assert_int_equal(cdam_loop_new(client, &other, NULL), CDAM_OK);
  works();
  cdam_link *a = link_in(own), *b = link_in(own), *c = link_in(other);
  assert_ptr_equal(a, b);
  assert_ptr_not_equal(a, c);
  assert_int_equal(strlen(cdam_link_instance(a)), 32);
  assert_string_equal(cdam_link_workspace(a), "/workspace");
  static call asked;
  open_status(c, &asked);
  turn_until(other, &asked.done);
  assert_ok(asked.status, &asked.error);
  assert_string_equal(cdam_link_instance(a), cdam_link_instance(c));
  assert_int_equal(cdam_loop_pending(other), 0);
  cdam_link_unref(a);
  cdam_link_unref(b);
  cdam_link_unref(c);
  cdam_loop_free(other);
  works();
}

static int open_descriptors(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory))
    count++;
  closedir(directory);
  return count;
}

static void ten_thousand_calls(void **state) {
  (void)state;
  static call calls[1000];
  cdam_loop *loop = cdam_session_own_loop(session);
  works();
  int before = open_descriptors();
  cdam_link *link = link_in(loop);
  for (int round = 0; round < 10; round++) {
    for (size_t i = 0; i < 1000; i++)
      open_status(link, &calls[i]);
    for (size_t i = 0; i < 1000; i++) {
      turn_until(loop, &calls[i].done);
      assert_ok(calls[i].status, &calls[i].error);
    }
  }
  assert_false(cdam_link_is_broken(link));
  cdam_link_unref(link);
  assert_int_equal(open_descriptors(), before);
}

static void paused(void **state) {
  (void)state;
  works();
  expect("pause", CDAM_ERR_PAUSED, "paused");
  docker("unpause %s", id());
  works();
}

static void frozen(void **state) {
  (void)state;
  works();
  expect("kill -s STOP", CDAM_ERR_AGENT, "has not answered for");
  docker("kill -s CONT %s", id());
  works();
}

/* An agent that is asked to end ends its processes, and says how they ended. */
static void stopped_and_started(void **state) {
  (void)state;
  works();
  cdam_link *old = link_in(cdam_session_own_loop(session));
  expect("kill", CDAM_ERR_EXITED, "not running");
  docker("start %s", id());
  works();
  cdam_link *young = link_in(cdam_session_own_loop(session));
  assert_string_not_equal(cdam_link_instance(old), cdam_link_instance(young));
  cdam_link_unref(old);
  cdam_link_unref(young);
  outcome("stop", true);
  expect_none(CDAM_ERR_EXITED, "not running");
  docker("start %s", id());
  works();
}

static void restarted(void **state) {
  (void)state;
  works();
  outcome("restart", true);
  works();
}

static void removed(void **state) {
  (void)state;
  works();
  expect("rm -f", CDAM_ERR_NOT_FOUND, "gone");
  expect_none(CDAM_ERR_NOT_FOUND, "gone");
}

/* Code in the sandbox that has the agent's user can end its relays: not more. The first link of a
 * sandbox that we made has none, so this is about the second. */
static void relay_killed(void **state) {
  (void)state;
  static call c;
  cdam_loop *loop;
  assert_int_equal(cdam_loop_new(client, &loop, NULL), CDAM_OK);
  works();
  cdam_link *first = link_in(cdam_session_own_loop(session)), *link = link_in(loop);
  open_sleep(link, &c);
  turn_until(loop, &c.started);
  /* One that has no parent here was put in by the engine. */
  docker("exec %s sh -c 'for p in $(pidof cofferdam-agent); do "
         "[ $p = 1 ] || [ $(cut -d\" \" -f4 /proc/$p/stat) != 0 ] || kill -9 $p; done; true'",
         id());
  turn_until(loop, &c.done);
  check_error(&c.error, CDAM_ERR_AGENT, "has ended");
  cdam_link_unref(link);
  link = link_in(loop);
  open_status(link, &c);
  turn_until(loop, &c.done);
  assert_ok(c.status, &c.error);
  works();
  assert_false(cdam_link_is_broken(first));
  cdam_link_unref(first);
  cdam_link_unref(link);
  cdam_loop_free(loop);
}

static void without_an_agent(void **state) {
  (void)state;
  cdam_client *plain = client_with(CDAM_AGENT_OFF);
  cdam_session *bare = create_with(plain, CDAM_NETWORK_MODE_NONE);
  cdam_link *link;
  cdam_error err;
  assert_int_equal(cdam_session_link(bare, cdam_session_own_loop(bare), &link, &err),
                   CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "has no agent"));
  assert_null(link);
  end_session(plain, bare);
  cdam_client_free(plain);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(one_link_for_each_loop),
      TEST(ten_thousand_calls),
      TEST(paused),
      TEST(frozen),
      TEST(stopped_and_started),
      TEST(restarted),
      TEST(removed),
      TEST(relay_killed),
      cmocka_unit_test(without_an_agent),
  };
  return cmocka_run_group_tests(tests, skip_all, NULL);
}
