/* SPDX-License-Identifier: Apache-2.0 */
/* A link with agents that behave: a conversation that is cut anywhere, and lives of links. */
#include "link_fixture.h"

/* ---- a conversation, cut anywhere ---- */

/* What an agent sends for one command on channel 1, its hello in front. */
static void conversation(cdam_buffer *bytes) {
  append_hello(bytes);
  append_output(bytes, 1, "hello", false);
  append_output(bytes, 1, "", true);
  append_exited(bytes, 1);
  append_done(bytes, 1, 0);
}

static void say_all(agent *a) {
  const cdam_buffer *bytes = a->script;
  cdam_to_agent *hello = agent_read(a);
  if (!hello || hello->body_case != TO(CLIENT_HELLO) || hello->client_hello->min_version != 1 ||
      hello->client_hello->max_version != 1 || hello->client_hello->initial_credit == 0)
    a->problem = "no proper hello";
  agent_forget(hello);
  size_t cut = a->number;
  size_t hello_end = 4 + (uint8_t)bytes->data[0];
  if (cut > hello_end) {
    agent_raw(a, bytes->data, hello_end);
    agent_expect(a, TO(GET_STATUS));
    agent_raw(a, bytes->data + hello_end, cut - hello_end);
  } else {
    agent_raw(a, bytes->data, cut);
    agent_raw(a, bytes->data + cut, hello_end - cut);
    agent_expect(a, TO(GET_STATUS));
    cut = hello_end;
  }
  agent_raw(a, bytes->data + cut, bytes->length - cut);
  agent_wait(a);
}

static void check_conversation(size_t cut, size_t piece, const cdam_buffer *bytes) {
  setting s = {.agent = {.script = bytes, .number = cut, .piece = piece}};
  call c = {0};
  setting_begin(&s, say_all, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_string_equal(cdam_link_instance(s.link), "");
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  assert_true(c.had_done);
  assert_int_equal(c.messages, 3);
  assert_int_equal(c.bytes, 5);
  assert_int_equal(c.code, 7);
  assert_string_equal(cdam_link_instance(s.link), "c0ffee01");
  assert_string_equal(cdam_link_workspace(s.link), "/workspace");
  assert_false(cdam_link_is_broken(s.link));
  assert_null(s.link->reader.data); /* nothing is kept for nobody */
  setting_end(&s);
}

static void cut_anywhere(void **state) {
  (void)state;
  cdam_buffer bytes = {0};
  conversation(&bytes);
  for (size_t cut = 0; cut <= bytes.length; cut++)
    check_conversation(cut, 0, &bytes);
  check_conversation(0, 1, &bytes);
  check_conversation(0, 3, &bytes);
  cdam_buffer_clear(&bytes);
}

/* The stream ends after so many bytes, and so has the sandbox. */
static void say_some(agent *a) {
  const cdam_buffer *bytes = a->script;
  size_t hello_end = 4 + (uint8_t)bytes->data[0], end = a->number;
  agent_expect(a, TO(CLIENT_HELLO));
  agent_raw(a, bytes->data, end < hello_end ? end : hello_end);
  if (end < hello_end) return;
  agent_expect(a, TO(GET_STATUS));
  agent_raw(a, bytes->data + hello_end, end - hello_end);
}

static void ended_anywhere(void **state) {
  (void)state;
  cdam_buffer bytes = {0};
  conversation(&bytes);
  for (size_t end = 0; end <= bytes.length; end++) {
    setting s = {.agent = {.script = &bytes, .number = end}};
    call c = {0};
    setting_begin(&s, say_some, 5000);
    assert_int_equal(call_open(&s, &c), CDAM_OK);
    TURN_UNTIL(&s, c.done && cdam_link_is_broken(s.link));
    if (end < bytes.length) {
      expect_error(&c, CDAM_ERR_EXITED, "not running");
      assert_false(c.had_done);
    } else {
      assert_int_equal(c.status, CDAM_OK);
    }
    assert_int_equal(call_open(&s, &c) == CDAM_OK, false);
    setting_end(&s);
  }
  cdam_buffer_clear(&bytes);
}

/* ---- lives ---- */

static void again(call *c) {
  c->then = NULL;
  assert_int_equal(call_open(c->setting, c), CDAM_OK);
  c->done = 0;
}

static void drop_link(call *c) {
  cdam_link_unref(c->setting->link);
  c->setting->link = NULL;
}

static void lives(void **state) {
  (void)state;
  setting s = {0};
  call c = {.then = again}, last = {.then = drop_link};
  setting_begin(&s, honest, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_int_equal(call_open(&s, &c), CDAM_ERR_ARGUMENT);
  TURN_UNTIL(&s, c.done && !c.then);
  assert_int_equal(call_open(&s, &last), CDAM_OK);
  TURN_UNTIL(&s, last.done);
  assert_null(s.link);
  TURN_UNTIL(&s, s.agent.ended);
  setting_end(&s);
}

static void silent(agent *a) {
  agent_greet(a);
  agent_wait(a);
}

/* With what is open, waits and was abandoned, at each stage. */
static void the_loop_ends(void **state) {
  (void)state;
  for (int turns = 0; turns < 12; turns++) {
    setting s = {0};
    call c = {0}, left = {0}, dropped = {0}, cancelled = {0};
    setting_begin(&s, silent, 5000);
    assert_int_equal(call_open(&s, &c), CDAM_OK);
    assert_int_equal(call_open(&s, &left), CDAM_OK);
    assert_int_equal(call_open(&s, &dropped), CDAM_OK);
    assert_int_equal(call_open(&s, &cancelled), CDAM_OK);
    for (int i = 0; i < turns; i++)
      cdam_loop_turn(s.loop, i < 8 ? 5 : 50);
    cdam_channel_abandon(&dropped.channel);
    cdam_channel_cancel(&cancelled.channel);
    cdam_client_return_loop(s.client, s.loop);
    expect_error(&c, CDAM_ERR_CANCELLED, "loop was freed");
    expect_error(&left, CDAM_ERR_CANCELLED, "loop was freed");
    assert_int_equal(dropped.done, 0);
    assert_int_equal(cancelled.done, 1);
    assert_true(cdam_link_is_broken(s.link));
    assert_null(cdam_link_loop(s.link));
    assert_int_equal(call_open(&s, &c), CDAM_ERR_CANCELLED);
    cdam_link_unref(s.link);
    s.link = NULL;
    s.loop = cdam_client_borrow_loop(s.client);
    setting_end(&s);
  }
}

/* A loop of a program: a link is nothing that it waits for. */
static void not_pending(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  cdam_loop *loop;
  setting_begin(&s, silent, 5000);
  assert_int_equal(cdam_loop_new(s.client, &loop, NULL), CDAM_OK);
  cdam_link_unref(s.link);
  s.link = cdam_link_new(loop, ID, NULL);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  for (int64_t limit = cdam_now_ms() + 60000; s.link->state != CDAM_LINK_UP;) {
    assert_true(cdam_now_ms() < limit);
    assert_int_equal(cdam_loop_dispatch(loop), 0);
    usleep(1000);
  }
  cdam_loop_free(loop);
  expect_error(&c, CDAM_ERR_CANCELLED, "loop was freed");
  setting_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cut_anywhere),  cmocka_unit_test(ended_anywhere), cmocka_unit_test(lives),
      cmocka_unit_test(the_loop_ends), cmocka_unit_test(not_pending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
