/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of a link: how many, cancelling, abandoning. */
#include "link_fixture.h"

static void two_at_a_time(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  h.limits.max_channels = 2;
  agent_send(a, &h.message);
  for (int i = 0; i < 3; i++) {
    uint32_t first = agent_expect(a, TO(GET_STATUS)), second = agent_expect(a, TO(GET_STATUS));
    char byte;
    if (first == second || first > 2 || second > 2) a->problem = "an odd number";
    usleep(20000);
    if (recv(a->fd, &byte, 1, MSG_DONTWAIT) > 0) a->problem = "more channels than it takes";
    agent_done(a, second);
    uint32_t third = agent_expect(a, TO(GET_STATUS));
    if (third != second) a->problem = "another number than the free one";
    agent_done(a, third);
    agent_done(a, first);
  }
  agent_wait(a);
}

static void more_than_the_limit(void **state) {
  (void)state;
  setting s = {0};
  call calls[9] = {0};
  setting_begin(&s, two_at_a_time, 5000);
  for (size_t i = 0; i < 9; i++)
    assert_int_equal(call_open(&s, &calls[i]), CDAM_OK);
  for (size_t i = 0; i < 9; i++) {
    TURN_UNTIL(&s, calls[i].done);
    assert_int_equal(calls[i].status, CDAM_OK);
  }
  setting_end(&s);
}

static void many(void **state) {
  (void)state;
  setting s = {0};
  size_t count = 6000;
  call *calls = calloc(count, sizeof *calls);
  setting_begin(&s, honest, 5000);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(call_open(&s, &calls[i]), CDAM_OK);
  for (size_t i = 0; i < count; i++) {
    TURN_UNTIL(&s, calls[i].done);
    assert_int_equal(calls[i].status, CDAM_OK);
  }
  assert_int_equal(s.agent.begun, 1);
  setting_end(&s);
  free(calls);
}

static void cancels(agent *a) {
  agent_greet(a);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  if (agent_expect(a, TO(CANCEL)) != channel) a->problem = "a Cancel of something else";
  cdam_buffer bytes = {0};
  append_done(&bytes, channel, 10);
  agent_flush(a, &bytes);
  agent_wait(a);
}

static void cancelling(void **state) {
  (void)state;
  setting s = {0};
  call c = {0}, unsent = {0};
  setting_begin(&s, cancels, 5000);
  assert_int_equal(call_open(&s, &unsent), CDAM_OK);
  cdam_channel_cancel(&unsent.channel);
  assert_int_equal(unsent.done, 0);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, s.link->state == CDAM_LINK_UP);
  expect_error(&unsent, CDAM_ERR_CANCELLED, "cancelled");
  cdam_channel_cancel(&c.channel);
  cdam_channel_cancel(&c.channel);
  assert_int_equal(c.done, 0);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, CDAM_ERR_CANCELLED, "\"its own words\"");
  assert_true(c.had_done);
  cdam_channel_cancel(&c.channel);
  setting_end(&s);
}

static void never_greets(agent *a) {
  agent_wait(a);
}

static void cancelled_before_the_hello(void **state) {
  (void)state;
  setting s = {0};
  call c = {0}, other = {0};
  setting_begin(&s, never_greets, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_int_equal(call_open(&s, &other), CDAM_OK);
  TURN_UNTIL(&s, s.link->state == CDAM_LINK_GREETING);
  cdam_channel_cancel(&c.channel);
  assert_int_equal(c.done, 0);
  cdam_loop_turn(s.loop, 0);
  cdam_loop_turn(s.loop, 0);
  expect_error(&c, CDAM_ERR_CANCELLED, "cancelled");
  assert_int_equal(other.done, 0);
  cdam_channel_abandon(&other.channel);
  setting_end(&s);
}

/* Goes on to send on a channel whose owner has left, which takes credit. */
static void talks_on(agent *a) {
  static char text[60001];
  cdam_buffer bytes = {0};
  agent_greet(a);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  append_output(&bytes, channel, "first", false);
  agent_flush(a, &bytes);
  if (agent_expect(a, TO(CANCEL)) != channel) a->problem = "a Cancel of something else";
  memset(text, 'x', sizeof text - 1);
  int64_t credit = CDAM_LINK_CREDIT - 13;
  for (size_t sent = 0; sent < 4 * CDAM_LINK_CREDIT; sent += sizeof text) {
    while (credit <= 0) {
      cdam_to_agent *message = agent_read(a);
      if (!message || message->body_case != TO(CREDIT) || message->channel != channel)
        a->problem = "something that is no credit";
      else
        credit += message->credit->bytes;
      agent_forget(message);
      if (a->problem) return;
    }
    uint8_t head[16] = {0x08, (uint8_t)channel, 0x5a};
    uint8_t frame[4 + 16 + sizeof text];
    size_t inner = 4 + sizeof text - 1, length = 3 + 3 + inner;
    memcpy(frame, (uint8_t[]){(uint8_t)length, (uint8_t)(length >> 8), 0, 0}, 4);
    head[3] = (uint8_t)(inner | 0x80);
    head[4] = (uint8_t)(inner >> 7 | 0x80);
    head[5] = (uint8_t)(inner >> 14);
    head[6] = 0x1a;
    head[7] = (uint8_t)((sizeof text - 1) | 0x80);
    head[8] = (uint8_t)((sizeof text - 1) >> 7 | 0x80);
    head[9] = (uint8_t)((sizeof text - 1) >> 14);
    memcpy(frame + 4, head, 10);
    memcpy(frame + 14, text, sizeof text - 1);
    agent_raw(a, frame, 4 + length);
    credit -= (int64_t)length;
  }
  agent_done(a, channel);
  for (cdam_to_agent *message; (message = agent_read(a)); agent_forget(message))
    if (message->body_case == TO(GET_STATUS)) {
      if (message->channel != channel) a->problem = "a number that was not free";
      agent_done(a, message->channel);
    }
}

static void abandoning(void **state) {
  (void)state;
  setting s = {0};
  call *c = calloc(1, sizeof *c), unsent = {0}, next = {0};
  setting_begin(&s, talks_on, 5000);
  assert_int_equal(call_open(&s, &unsent), CDAM_OK);
  cdam_channel_abandon(&unsent.channel);
  assert_int_equal(call_open(&s, c), CDAM_OK);
  TURN_UNTIL(&s, c->messages);
  cdam_channel_abandon(&c->channel);
  cdam_channel_abandon(&c->channel);
  free(c);
  TURN_UNTIL(&s, s.link->in_use == 0);
  assert_int_equal(call_open(&s, &next), CDAM_OK);
  TURN_UNTIL(&s, next.done);
  assert_int_equal(next.status, CDAM_OK);
  assert_int_equal(unsent.done, 0);
  setting_end(&s);
}

/* The last reference is that of a channel, which goes. */
static void abandoned_with_its_link(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, talks_on, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.messages);
  cdam_link_unref(s.link);
  s.link = NULL;
  cdam_channel_abandon(&c.channel);
  TURN_UNTIL(&s, s.agent.ended);
  assert_int_equal(c.done, 0);
  s.agent.problem = NULL;
  setting_end(&s);
}

static void abandon_in_message(call *c) {
  setting *s = c->setting;
  cdam_channel_abandon(&c->channel);
  free(c);
  cdam_link_unref(s->link);
  s->link = NULL;
}

static void abandoned_in_its_message(void **state) {
  (void)state;
  setting s = {0};
  call *c = calloc(1, sizeof *c);
  c->in_message = abandon_in_message;
  setting_begin(&s, talks_on, 5000);
  assert_int_equal(call_open(&s, c), CDAM_OK);
  TURN_UNTIL(&s, s.agent.ended);
  assert_null(s.link);
  s.agent.problem = NULL;
  setting_end(&s);
}

static void abandon_alone(call *c) {
  cdam_channel_abandon(&c->channel);
  c->setting->agent.number = 1;
  free(c);
}

/* The link goes on. */
static void freed_in_its_message(void **state) {
  (void)state;
  setting s = {0};
  call *c = calloc(1, sizeof *c), next = {0};
  c->in_message = abandon_alone;
  setting_begin(&s, talks_on, 5000);
  assert_int_equal(call_open(&s, c), CDAM_OK);
  TURN_UNTIL(&s, s.agent.number && s.link->in_use == 0);
  assert_int_equal(call_open(&s, &next), CDAM_OK);
  TURN_UNTIL(&s, next.done);
  assert_int_equal(next.status, CDAM_OK);
  setting_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(more_than_the_limit),
      cmocka_unit_test(many),
      cmocka_unit_test(cancelling),
      cmocka_unit_test(cancelled_before_the_hello),
      cmocka_unit_test(abandoning),
      cmocka_unit_test(abandoned_with_its_link),
      cmocka_unit_test(abandoned_in_its_message),
      cmocka_unit_test(freed_in_its_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
