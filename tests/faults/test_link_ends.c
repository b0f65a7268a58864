/* SPDX-License-Identifier: Apache-2.0 */
/* Why a link ended: what the engine says of the sandbox, or that it says nothing. */
#include "link_fixture.h"

static void hang_up(agent *a) {
  agent_greet(a);
  agent_expect(a, TO(GET_STATUS));
}

static void refused_by_agent(agent *a) {
  agent_frame(a, 2, "cofferdam-agent relay: no agent\n", 32);
}

static void expect_end(agent_part part, const char *inspect, int inspect_status,
                       cdam_status expected, const char *words) {
  setting s = {.inspect = inspect, .inspect_status = inspect_status};
  call c = {0};
  setting_begin(&s, part, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, expected, words);
  setting_end(&s);
}

static void why_it_ended(void **state) {
  (void)state;
  expect_end(hang_up, STOPPED, 200, CDAM_ERR_EXITED, "not running");
  expect_end(hang_up, PAUSED, 200, CDAM_ERR_PAUSED, "paused");
  expect_end(hang_up, "{\"message\":\"no such container\"}", 404, CDAM_ERR_NOT_FOUND, "gone");
  expect_end(hang_up, RUNNING, 200, CDAM_ERR_AGENT, "agent has ended");
  expect_end(hang_up, "{}", 200, CDAM_ERR_AGENT, "agent has ended");
  expect_end(hang_up, "oops", 500, CDAM_ERR_AGENT, "agent has ended");
  expect_end(refused_by_agent, RUNNING, 200, CDAM_ERR_AGENT,
             "cannot be reached (its relay says \"cofferdam-agent relay: no agent\")");
}

/* It was alive when first asked. */
static void dies_slowly_answer(void *user, const scripted_request *request, scripted_reply *reply) {
  int *asked = user;
  (void)request;
  *reply = (scripted_reply){200, .body = ++*asked < 3 ? RUNNING : STOPPED};
}

static void dies_slowly(void **state) {
  (void)state;
  int asked = 0;
  setting s = {0};
  call c = {0};
  setting_begin(&s, hang_up, 5000);
  s.rules[4].answer = dies_slowly_answer;
  s.rules[4].user = &asked;
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, CDAM_ERR_EXITED, "not running");
  assert_int_equal(asked, 3);
  setting_end(&s);
}

static void says_nothing(void *user, int fd, const scripted_request *request, const char *early,
                         size_t early_length) {
  char byte;
  (void)user, (void)request, (void)early, (void)early_length;
  while (recv(fd, &byte, 1, 0) > 0)
    continue;
}

/* The engine went with the stream. */
static void nobody_to_ask(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, hang_up, 500);
  s.rules[4].talk = says_nothing;
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, CDAM_ERR_TIMEOUT, "did not answer within");
  setting_end(&s);
}

static void expect_refusal(size_t rule, scripted_reply reply, const char *inspect,
                           cdam_status expected, const char *words) {
  setting s = {.inspect = inspect};
  call c = {0}, later = {0};
  setting_begin(&s, honest, 5000);
  s.rules[rule].reply = reply;
  s.rules[rule].talk = NULL;
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, expected, words);
  assert_int_equal(call_open(&s, &later), expected);
  assert_int_equal(later.error.code, expected);
  assert_false(cdam_channel_is_open(&later.channel));
  setting_end(&s);
}

static void refused_by_engine(void **state) {
  (void)state;
  const scripted_reply paused = {409, .body = "{\"message\":\"is paused\"}"};
  const scripted_reply gone = {404, .body = "{\"message\":\"no such exec\"}"};
  const scripted_reply busy = {500, .body = "{\"message\":\"too busy\"}"};
  expect_refusal(0, paused, PAUSED, CDAM_ERR_PAUSED, "paused");
  expect_refusal(0, busy, RUNNING, CDAM_ERR_ENGINE, "too busy");
  expect_refusal(0, (scripted_reply){201, .body = "{}"}, RUNNING, CDAM_ERR_PROTOCOL, "no exec id");
  expect_refusal(0, (scripted_reply){201, .body = "{\"Id\":\"../x\"}"}, RUNNING, CDAM_ERR_PROTOCOL,
                 "no exec id");
  expect_refusal(2, gone, STOPPED, CDAM_ERR_EXITED, "not running");
  expect_refusal(2, busy, RUNNING, CDAM_ERR_ENGINE, "too busy");
  expect_refusal(2, (scripted_reply){.raw = "HTTP/1.1 204 No Content\r\n\r\n"}, RUNNING,
                 CDAM_ERR_PROTOCOL, "204");
  expect_refusal(2, (scripted_reply){.raw = "nonsense\r\n\r\n"}, RUNNING, CDAM_ERR_PROTOCOL, "");
}

static void engine_gone(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, honest, 2000);
  scripted_engine_stop(s.engine);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, CDAM_ERR_CONNECT, "");
  s.engine = scripted_engine_start(s.rules, 5);
  setting_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(why_it_ended),  cmocka_unit_test(dies_slowly),
      cmocka_unit_test(nobody_to_ask), cmocka_unit_test(refused_by_engine),
      cmocka_unit_test(engine_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
