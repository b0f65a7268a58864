/* SPDX-License-Identifier: Apache-2.0 */
/* Credit in both directions, and what is held back without it. */
#include "link_fixture.h"

/* Gives a little at a time, and counts what came for it. */
static void sparing(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  h.hello.initial_credit = 1;
  agent_send(a, &h.message);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  for (int i = 0; i < 50; i++) {
    cdam_to_agent *message = agent_read(a);
    if (!message || message->body_case != TO(DATA) || message->data->data.len != 1000)
      a->problem = "no data";
    agent_forget(message);
    char byte;
    if (i % 10 == 0) usleep(5000);
    if (recv(a->fd, &byte, 1, MSG_DONTWAIT) > 0) a->problem = "more than there was credit for";
    cdam_from_agent credit = INIT(FROM_AGENT);
    MSG(Credit) bytes = INIT(CREDIT);
    bytes.bytes = 1009; /* as much as the message was: 1 is left, again */
    credit.channel = channel;
    credit.body_case = FROM(CREDIT);
    credit.credit = &bytes;
    agent_send(a, &credit);
  }
  agent_done(a, channel);
  agent_wait(a);
}

static void paced_by_the_agent(void **state) {
  (void)state;
  setting s = {0};
  call c = {.send_all = true};
  setting_begin(&s, sparing, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_false(cdam_channel_can_send(&c.channel));
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  assert_true(c.writables >= 50);
  setting_end(&s);
}

/* Takes nothing for a while: what waits stays bounded. */
static void slow_reader(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  h.hello.initial_credit = 1 << 23;
  agent_send(a, &h.message);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  usleep(200000);
  size_t total = 0;
  while (total < 1 << 23) {
    cdam_to_agent *message = agent_read(a);
    if (!message || message->body_case != TO(DATA)) a->problem = "no data";
    if (a->problem) return;
    total += message->data->data.len + 9;
    agent_forget(message);
  }
  agent_done(a, channel);
  agent_wait(a);
}

static void paced_by_the_socket(void **state) {
  (void)state;
  setting s = {0};
  call c = {.send_all = true};
  setting_begin(&s, slow_reader, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_false(cdam_channel_can_send(&c.channel));
  size_t most = 0;
  for (int64_t limit = cdam_now_ms() + 60000; !c.done;) {
    assert_true(cdam_now_ms() < limit);
    cdam_loop_turn(s.loop, 20);
    if (s.link->duplex && cdam_duplex_pending(s.link->duplex) > most)
      most = cdam_duplex_pending(s.link->duplex);
  }
  assert_int_equal(c.status, CDAM_OK);
  assert_in_range(most, CDAM_LINK_HIGH, CDAM_LINK_HIGH + 1100);
  assert_true(c.writables > 5);
  setting_end(&s);
}

/* Fills the credit of a reader that holds it back, and waits for more. */
static void fills(agent *a) {
  agent_greet(a);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  cdam_buffer bytes = {0};
  size_t charged = 0;
  while (charged < CDAM_LINK_CREDIT) {
    size_t before = bytes.length;
    append_output(&bytes, channel, "0123456789012345678901234567890123456789", false);
    charged += bytes.length - before - 4;
  }
  append_output(&bytes, channel, "", true); /* needs none */
  agent_flush(a, &bytes);
  size_t given = 0;
  for (int i = 0; i < 2; i++) {
    cdam_to_agent *message = agent_read(a);
    bool credit = message && message->body_case == TO(CREDIT);
    if (credit) given += message->credit->bytes;
    if (!credit && (!message || message->body_case != TO(CANCEL))) a->problem = "no credit";
    agent_forget(message);
  }
  if (given != charged) a->problem = "more or less credit than there was";
  agent_done(a, channel);
  agent_wait(a);
}

static void count_charge(call *c) {
  c->code += (int)cdam_channel_message_charge(&c->channel);
}

static void held_by_the_reader(void **state) {
  (void)state;
  setting s = {0};
  call c = {.in_message = count_charge};
  setting_begin(&s, fills, 5000);
  cdam_channel_set_hold(&c.channel, true);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.channel.granted <= 0);
  assert_in_range(c.code, CDAM_LINK_CREDIT, CDAM_LINK_CREDIT + 100);
  cdam_loop_turn(s.loop, 20);
  assert_int_equal(c.done, 0);
  cdam_channel_grant(&c.channel, CDAM_LINK_CREDIT_STEP - 1);
  cdam_channel_grant(&c.channel, 1);
  cdam_channel_grant(&c.channel, SIZE_MAX); /* no more than there was */
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  setting_end(&s);
}

/* What its owner held back is given for what still comes. */
static void held_and_abandoned(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, fills, 5000);
  cdam_channel_set_hold(&c.channel, true);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.channel.granted <= 0);
  cdam_channel_abandon(&c.channel);
  TURN_UNTIL(&s, s.link->in_use == 0);
  assert_int_equal(c.done, 0);
  setting_end(&s);
}

/* Lets two entries through, and sees that there are no more. */
static void takes_two_entries(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  h.hello.initial_credit = 20;
  agent_send(a, &h.message);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  agent_expect(a, TO(ENTRY));
  agent_expect(a, TO(ENTRY));
  agent_expect(a, TO(DATA)); /* the end, which needs no credit */
  agent_done(a, channel);
  agent_wait(a);
}

static void entries_need_credit(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, takes_two_entries, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  assert_false(cdam_channel_can_send(&c.channel));
  TURN_UNTIL(&s, c.writables);
  MSG(Entry) entry = INIT(ENTRY);
  entry.path = (ProtobufCBinaryData){7, (uint8_t *)(uintptr_t) "a/path/"};
  int sent = 0;
  for (; cdam_channel_can_send(&c.channel); sent++) {
    cdam_to_agent message = INIT(TO_AGENT);
    message.body_case = TO(ENTRY);
    message.entry = &entry;
    assert_int_equal(cdam_channel_send(&c.channel, &message, NULL), CDAM_OK);
  }
  assert_int_equal(sent, 2);
  assert_int_equal(cdam_channel_send_data(&c.channel, NULL, 0, true, NULL), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  setting_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(paced_by_the_agent),  cmocka_unit_test(paced_by_the_socket),
      cmocka_unit_test(held_by_the_reader),  cmocka_unit_test(held_and_abandoned),
      cmocka_unit_test(entries_need_credit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
