/* SPDX-License-Identifier: Apache-2.0 */
/* A link with agents that behave, and engines that do not: channels, credit, ends. */
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

/* ---- engines and sandboxes that are the reason ---- */

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

/* ---- channels ---- */

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

/* ---- credit ---- */

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
  for (int64_t limit = cdam_now_ms() + 10000; !c.done;) {
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
  for (int64_t limit = cdam_now_ms() + 5000; s.link->state != CDAM_LINK_UP;) {
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
      cmocka_unit_test(cut_anywhere),
      cmocka_unit_test(ended_anywhere),
      cmocka_unit_test(why_it_ended),
      cmocka_unit_test(dies_slowly),
      cmocka_unit_test(nobody_to_ask),
      cmocka_unit_test(refused_by_engine),
      cmocka_unit_test(engine_gone),
      cmocka_unit_test(more_than_the_limit),
      cmocka_unit_test(many),
      cmocka_unit_test(cancelling),
      cmocka_unit_test(cancelled_before_the_hello),
      cmocka_unit_test(abandoning),
      cmocka_unit_test(paced_by_the_agent),
      cmocka_unit_test(paced_by_the_socket),
      cmocka_unit_test(held_by_the_reader),
      cmocka_unit_test(held_and_abandoned),
      cmocka_unit_test(entries_need_credit),
      cmocka_unit_test(lives),
      cmocka_unit_test(abandoned_with_its_link),
      cmocka_unit_test(abandoned_in_its_message),
      cmocka_unit_test(freed_in_its_message),
      cmocka_unit_test(the_loop_ends),
      cmocka_unit_test(not_pending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
