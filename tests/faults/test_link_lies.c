/* SPDX-License-Identifier: Apache-2.0 */
/* Agents that lie, flood, garble and fall silent. Each spoils its own link, with an error that says
 * so, and nothing else: beside it another sandbox of the same client goes on. */
#include "link_fixture.h"

/* ---- a neighbour ---- */

typedef struct neighbour {
  setting *home;
  cdam_link *link;
  call call;
} neighbour;

static void neighbour_call(neighbour *n) {
  setting there = *n->home;
  there.link = n->link;
  n->call = (call){0};
  assert_int_equal(call_open(&there, &n->call), CDAM_OK);
  TURN_UNTIL(n->home, n->call.done);
  assert_int_equal(n->call.status, CDAM_OK);
}

static void neighbour_begin(neighbour *n, setting *s) {
  *n = (neighbour){.home = s, .link = cdam_link_new(s->loop, OTHER_ID, NULL)};
  assert_non_null(n->link);
  neighbour_call(n);
}

static void neighbour_end(neighbour *n) {
  neighbour_call(n);
  assert_false(cdam_link_is_broken(n->link));
  assert_int_equal(n->home->other_agent.begun, 1);
  cdam_link_unref(n->link);
}

/* Two calls, both of which have to learn it. */
static void expect_broken(agent_part part, const void *script, size_t number, cdam_status status,
                          const char *words) {
  for (size_t piece = 0; piece < 2; piece++) {
    setting s = {.agent = {.script = script, .number = number, .piece = piece}};
    neighbour n;
    call calls[2] = {0};
    setting_begin(&s, part, 5000);
    neighbour_begin(&n, &s);
    assert_int_equal(call_open(&s, &calls[0]), CDAM_OK);
    assert_int_equal(call_open(&s, &calls[1]), CDAM_OK);
    TURN_UNTIL(&s, calls[0].done && calls[1].done);
    expect_error(&calls[0], status, words);
    expect_error(&calls[1], status, words);
    assert_true(cdam_link_is_broken(s.link));
    TURN_UNTIL(&s, s.agent.ended);
    neighbour_end(&n);
    setting_end(&s);
  }
}

/* ---- after a good hello ---- */

typedef struct lie {
  const char *bytes; /* frames */
  size_t length;
  const char *words;
  cdam_status status; /* 0: CDAM_ERR_AGENT */
} lie;

#define LIE(text, words)                                                                           \
  { text, sizeof(text) - 1, words, 0 }

static void tell(agent *a) {
  const lie *l = a->script;
  agent_greet(a);
  agent_expect(a, TO(GET_STATUS));
  agent_expect(a, TO(GET_STATUS));
  agent_raw(a, l->bytes, l->length);
  agent_wait(a);
}

static const lie lies[] = {
    LIE("\0\0\0\0", "a frame of 0 bytes"),
    LIE("\1\0\4\0", "a frame of 262145 bytes"),
    LIE("\xff\xff\xff\xff", "a frame of 4294967295 bytes"),
    LIE("HTTP/1.1 200 OK\r\n\r\n", "a frame of"),
    LIE("\1\0\0\0\x08", "a bad channel number"),
    LIE("\1\0\0\0\x80", "a cut field tag"),
    LIE("\2\0\0\0\x08\x01", "without a body"),
    LIE("\6\0\0\0\x08\x01\x08\x01\x5a\0", "two channel numbers"),
    LIE("\6\0\0\0\x08\x01\x5a\0\x5a\0", "two bodies"),
    LIE("\4\0\0\0\x08\x01\x5a\x05", "a cut body"),
    LIE("\4\0\0\0\x08\x01\x28\x01", "an unexpected kind"),
    LIE("\7\0\0\0\x08\x01\x5a\x03\x1a\x07x", "malformed"),
    LIE("\5\0\0\0\x08\x01\xba\x06\0", "an unknown kind"),
    /* wrong channels */
    LIE("\4\0\0\0\x08\x03\x5a\0", "a channel that is not open"),
    LIE("\5\0\0\0\x08\x80\x20\x32\0", "a channel that is not open"), /* Done on 4,096 */
    LIE("\x8\0\0\0\x08\xff\xff\xff\xff\x0f\x32\0", "a channel that is not open"),
    LIE("\2\0\0\0\x5a\0", "on channel 0"),
    LIE("\2\0\0\0\x22\0", "on channel 0"),              /* credit */
    LIE("\4\0\0\0\x08\x01\x1a\0", "of the connection"), /* Pong */
    LIE("\4\0\0\0\x08\x01\x12\0", "of the connection"), /* hello */
    LIE("\2\0\0\0\x12\0", "a second hello"),
    /* what nobody asked for */
    LIE("\2\0\0\0\x1a\0", "Ping that was not sent"),
    LIE("\4\0\0\0\x1a\2\x08\x01", "Ping that was not sent"),
    LIE("\5\0\0\0\x08\x01\xaa\x01\0", "an unexpected message"), /* WatchEvent; for test_link */
    /* credit that adds up to 2^31 */
    LIE("\xa\0\0\0\x08\x01\x22\x06\x08\xff\xff\xff\xff\x0f", "more credit than there can be"),
    LIE("\xa\0\0\0\x08\x01\x22\x06\x08\x80\x80\xc0\xff\x07", "more credit than there can be"),
    /* the connection's Done */
    LIE("\2\0\0\0\x32\0", "ended the connection without a reason"),
    {"\6\0\0\0\x32\4\x0a\2\x08\1", 10, "agent ended the connection: the agent says that", 0},
    {"\6\0\0\0\x32\4\x0a\2\x08\4", 10, "agent ended the connection: one of the agent's limits",
     CDAM_ERR_LIMIT},
};

static void after_the_hello(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    const lie *l = &lies[i];
    expect_broken(tell, l, 0, l->status ? l->status : CDAM_ERR_AGENT, l->words);
  }
}

/* Both have ended; then the first once more. */
static void done_twice(agent *a) {
  cdam_buffer bytes = {0};
  agent_greet(a);
  agent_expect(a, TO(GET_STATUS));
  append_done(&bytes, 1, 0);
  append_done(&bytes, 1, 0);
  agent_flush(a, &bytes);
  agent_wait(a);
}

static void a_second_done(void **state) {
  (void)state;
  setting s = {0};
  neighbour n;
  call first = {0};
  setting_begin(&s, done_twice, 5000);
  neighbour_begin(&n, &s);
  assert_int_equal(call_open(&s, &first), CDAM_OK);
  TURN_UNTIL(&s, first.done && cdam_link_is_broken(s.link));
  assert_int_equal(first.status, CDAM_OK);
  neighbour_end(&n);
  assert_int_equal(call_open(&s, &first), CDAM_ERR_AGENT);
  assert_non_null(strstr(first.error.message, "not open"));
  setting_end(&s);
}

/* ---- floods ---- */

/* More than there is credit for; it does not wait for any. */
static void overdraws(agent *a) {
  cdam_buffer bytes = {0};
  agent_greet(a);
  agent_expect(a, TO(GET_STATUS));
  for (int64_t credit = CDAM_LINK_CREDIT; credit > -100;) {
    size_t before = bytes.length;
    append_output(&bytes, 1, "0123456789012345678901234567890123456789", false);
    credit -= (int64_t)(bytes.length - before - 4);
  }
  agent_flush(a, &bytes);
  agent_wait(a);
}

static void without_credit(void **state) {
  (void)state;
  setting s = {0};
  neighbour n;
  call c = {0};
  setting_begin(&s, overdraws, 5000);
  neighbour_begin(&n, &s);
  cdam_channel_set_hold(&c.channel, true);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, CDAM_ERR_AGENT, "more than it may");
  assert_in_range(c.bytes, CDAM_LINK_CREDIT / 2, CDAM_LINK_CREDIT);
  neighbour_end(&n);
  setting_end(&s);
}

/* What costs no credit, until the client has had enough. */
static void floods(agent *a) {
  cdam_buffer bytes = {0};
  agent_greet(a);
  agent_expect(a, TO(GET_STATUS));
  for (int i = 0; i < 2000; i++)
    append_output(&bytes, 1, "", false);
  while (!a->number)
    agent_raw(a, bytes.data, bytes.length),
        a->number = recv(a->fd, &(char){0}, 1, MSG_DONTWAIT) == 0;
  cdam_buffer_clear(&bytes);
}

static void a_flood(void **state) {
  (void)state;
  setting s = {0};
  neighbour n;
  call c = {0};
  setting_begin(&s, floods, 5000);
  neighbour_begin(&n, &s);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.messages > 1000);
  for (int i = 0; i < 20; i++)
    neighbour_call(&n);
  assert_int_equal(c.done, 0);
  cdam_link_unref(s.link);
  s.link = NULL;
  cdam_channel_abandon(&c.channel);
  TURN_UNTIL(&s, s.agent.ended);
  neighbour_end(&n);
  setting_end(&s);
}

/* ---- hellos ---- */

typedef void (*bend)(hello_parts *h);

static void version_2(hello_parts *h) {
  h->hello.version = 2;
}
static void version_0(hello_parts *h) {
  h->hello.version = 0;
}
static void versions_without_1(hello_parts *h) {
  h->hello.min_version = 2;
  h->hello.max_version = 3;
}
static void no_limits(hello_parts *h) {
  h->hello.limits = NULL;
}
static void short_frames(hello_parts *h) {
  h->limits.max_frame = 1000;
}
static void no_channels(hello_parts *h) {
  h->limits.max_channels = 0;
}
static void no_credit(hello_parts *h) {
  h->hello.initial_credit = 0;
}
static void much_credit(hello_parts *h) {
  h->hello.initial_credit = 0x80000000U;
}
static void no_instance(hello_parts *h) {
  h->hello.instance.len = 0;
}
static void long_instance(hello_parts *h) {
  static uint8_t bytes[65];
  h->hello.instance = (ProtobufCBinaryData){sizeof bytes, bytes};
}
static void relative(hello_parts *h) {
  h->hello.workspace.data++;
  h->hello.workspace.len--;
}
static void nul_inside(hello_parts *h) {
  h->hello.workspace = (ProtobufCBinaryData){6, (uint8_t *)(uintptr_t) "/a\0/b"};
}
static void long_workspace(hello_parts *h) {
  static uint8_t bytes[3996];
  memset(bytes, '/', sizeof bytes);
  h->hello.workspace = (ProtobufCBinaryData){sizeof bytes, bytes};
}
static void wrong_channel(hello_parts *h) {
  h->message.channel = 1;
}
static void a_pong(hello_parts *h) {
  static MSG(Pong) pong = INIT(PONG);
  h->message.body_case = FROM(PONG);
  h->message.pong = &pong;
}
static MSG(Error) refusal = INIT(ERROR);
static void refuse(hello_parts *h, int code) {
  refusal.code = (Cofferdam__Agent__V1__ErrorCode)code;
  refusal.message = (char *)(uintptr_t) "\033[31mno";
  h->hello.version = 0;
  h->hello.error = &refusal;
}
static void no_version(hello_parts *h) {
  refuse(h, COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_VERSION);
}
static void shutting_down(hello_parts *h) {
  refuse(h, COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_SHUTTING_DOWN);
}

static const struct {
  bend bend;
  cdam_status status;
  const char *words;
} hellos[] = {
    {version_2, CDAM_ERR_AGENT, "answered with version 2"},
    {version_0, CDAM_ERR_AGENT, "answered with version 0"},
    {versions_without_1, CDAM_ERR_AGENT, "(of 2 to 3)"},
    {no_limits, CDAM_ERR_AGENT, "no limits"},
    {short_frames, CDAM_ERR_AGENT, "too low"},
    {no_channels, CDAM_ERR_AGENT, "a limit of 0"},
    {no_credit, CDAM_ERR_AGENT, "initial credit"},
    {much_credit, CDAM_ERR_AGENT, "initial credit"},
    {no_instance, CDAM_ERR_AGENT, "an instance"},
    {long_instance, CDAM_ERR_AGENT, "an instance"},
    {relative, CDAM_ERR_AGENT, "no absolute path"},
    {nul_inside, CDAM_ERR_AGENT, "no absolute path"},
    {wrong_channel, CDAM_ERR_AGENT, "no hello"},
    {a_pong, CDAM_ERR_AGENT, "no hello"},
    {no_version, CDAM_ERR_AGENT, "\"\\x1b[31mno\""},
    {shutting_down, CDAM_ERR_EXITED, "being ended"},
};

static void bent_hello(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  hellos[a->number].bend(&h);
  agent_send(a, &h.message);
  agent_wait(a);
}

static void greetings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof hellos / sizeof *hellos; i++)
    expect_broken(bent_hello, NULL, i, hellos[i].status, hellos[i].words);
}

static void good_hello(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  if (a->number == 0) h.hello.workspace.len = 0;
  if (a->number == 1) long_workspace(&h);
  if (a->number == 2) h.hello.instance.len = 1;
  if (a->number == 2) h.hello.max_version = 7;
  agent_send(a, &h.message);
  agent_done(a, agent_expect(a, TO(GET_STATUS)));
  agent_wait(a);
}

static void good_greetings(void **state) {
  (void)state;
  static const size_t lengths[] = {0, 3996, 10};
  for (size_t i = 0; i < 3; i++) {
    setting s = {.agent.number = i};
    call c = {0};
    setting_begin(&s, good_hello, 5000);
    assert_int_equal(call_open(&s, &c), CDAM_OK);
    TURN_UNTIL(&s, c.done);
    assert_int_equal(c.status, CDAM_OK);
    assert_int_equal(strlen(cdam_link_workspace(s.link)), lengths[i]);
    setting_end(&s);
  }
}

/* ---- what is no agent at all ---- */

static void not_started(agent *a) {
  static const char text[] = "OCI runtime exec failed: no such file\r\n";
  agent_frame(a, 1, text, sizeof text - 1);
}

static void noise(agent *a) {
  static char text[3000];
  memset(text, '\a', sizeof text);
  agent_frame(a, 2, text, sizeof text);
  agent_frame(a, 2, text, sizeof text);
}

static void garbled(agent *a) {
  agent_write(a, "\7\0\0\0\0\0\0\1x", 9);
  agent_wait(a);
}

static void engines_own_error(agent *a) {
  agent_frame(a, 3, "disk full", 9);
  agent_wait(a);
}

static void no_agent(void **state) {
  (void)state;
  static const struct {
    agent_part part;
    cdam_status status;
    const char *words;
  } cases[] = {
      {not_started, CDAM_ERR_AGENT, "there came \"OCI runtime exec failed: no such file"},
      {noise, CDAM_ERR_AGENT, "its relay says \"\\x07"},
      {garbled, CDAM_ERR_PROTOCOL, "garbled"},
      {engines_own_error, CDAM_ERR_ENGINE, "disk full"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    setting s = {.inspect = RUNNING};
    neighbour n;
    call c = {0};
    setting_begin(&s, cases[i].part, 5000);
    neighbour_begin(&n, &s);
    assert_int_equal(call_open(&s, &c), CDAM_OK);
    TURN_UNTIL(&s, c.done);
    expect_error(&c, cases[i].status, cases[i].words);
    neighbour_end(&n);
    setting_end(&s);
  }
}

/* An honest stream with noise between its frames. */
static void noisy(agent *a) {
  cdam_buffer bytes = {0};
  agent_expect(a, TO(CLIENT_HELLO));
  append_hello(&bytes);
  append_done(&bytes, 1, 0);
  for (size_t i = 0; i < bytes.length; i++) {
    if (i == 4 + (size_t)(uint8_t)bytes.data[0]) agent_expect(a, TO(GET_STATUS));
    agent_frame(a, 2, "noise", i % 6);
    agent_frame(a, 1, bytes.data + i, 1);
  }
  cdam_buffer_clear(&bytes);
  agent_wait(a);
}

static void noise_between(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, noisy, 5000);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  setting_end(&s);
}

/* ---- silence ---- */

static void says_nothing(agent *a) {
  agent_wait(a);
}

static void half_a_hello(agent *a) {
  agent_expect(a, TO(CLIENT_HELLO));
  usleep(100000);
  agent_raw(a, "\x30\0\0\0", 4);
  char byte;
  if (recv(a->fd, &byte, 1, 0) > 0) a->problem = "something before its hello";
}

static void falls_silent(agent *a) {
  agent_greet(a);
  agent_wait(a);
}

static void expect_silence(agent_part part, const char *inspect, int64_t least, cdam_status status,
                           const char *words) {
  setting s = {.inspect = inspect};
  neighbour n;
  call c = {0};
  setting_begin(&s, part, 900);
  neighbour_begin(&n, &s);
  int64_t begin = cdam_now_ms();
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  expect_error(&c, status, words);
  assert_in_range(cdam_now_ms() - begin, least, least + 20000);
  neighbour_end(&n);
  setting_end(&s);
}

static void silence(void **state) {
  (void)state;
  expect_silence(says_nothing, RUNNING, 900, CDAM_ERR_AGENT, "has not answered for ");
  expect_silence(says_nothing, PAUSED, 900, CDAM_ERR_PAUSED, "paused");
  expect_silence(half_a_hello, RUNNING, 900, CDAM_ERR_AGENT, "has not answered for ");
  expect_silence(falls_silent, RUNNING, 1900, CDAM_ERR_AGENT, "has not answered for ");
  expect_silence(falls_silent, PAUSED, 1900, CDAM_ERR_PAUSED, "paused");
  expect_silence(falls_silent, STOPPED, 1900, CDAM_ERR_EXITED, "not running");
}

/* It has nothing to say, but answers; and then it says it. */
static void patient(agent *a) {
  agent_greet(a);
  uint32_t channel = agent_expect(a, TO(GET_STATUS));
  for (uint64_t i = 1; i <= 2; i++) {
    cdam_to_agent *message = agent_read(a);
    if (!message || message->body_case != TO(PING) || message->ping->token != i)
      a->problem = "no Ping";
    agent_forget(message);
    cdam_from_agent pong = INIT(FROM_AGENT);
    MSG(Pong) token = INIT(PONG);
    token.token = i;
    pong.body_case = FROM(PONG);
    pong.pong = &token;
    agent_send(a, &pong);
  }
  agent_done(a, channel);
  agent_wait(a);
}

static void patience(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, patient, 700);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  int64_t begin = cdam_now_ms();
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  assert_in_range(cdam_now_ms() - begin, 1900, 30000);
  setting_end(&s);
}

/* Nobody waits: no Ping, and no end either. Nor is a program blamed that did not turn its loop. */
static void nobody_waits(void **state) {
  (void)state;
  setting s = {0};
  call c = {0}, second = {0};
  setting_begin(&s, honest, 300);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, c.done);
  for (int64_t until = cdam_now_ms() + 1600; cdam_now_ms() < until;)
    cdam_loop_turn(s.loop, 20);
  assert_int_equal(s.link->token, 0);
  assert_int_equal(call_open(&s, &second), CDAM_OK);
  usleep(1700000);
  TURN_UNTIL(&s, second.done);
  assert_int_equal(second.status, CDAM_OK);
  setting_end(&s);
}

/* It answered the Ping while nobody looked for longer than the answer may take. */
static void nobody_looks(void **state) {
  (void)state;
  setting s = {0};
  call c = {0};
  setting_begin(&s, patient, 700);
  assert_int_equal(call_open(&s, &c), CDAM_OK);
  TURN_UNTIL(&s, s.link->token == 1);
  cdam_loop_turn(s.loop, 0);
  usleep(1200000);
  TURN_UNTIL(&s, c.done);
  assert_int_equal(c.status, CDAM_OK);
  setting_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(after_the_hello), cmocka_unit_test(a_second_done),
      cmocka_unit_test(without_credit),  cmocka_unit_test(a_flood),
      cmocka_unit_test(greetings),       cmocka_unit_test(good_greetings),
      cmocka_unit_test(no_agent),        cmocka_unit_test(noise_between),
      cmocka_unit_test(silence),         cmocka_unit_test(patience),
      cmocka_unit_test(nobody_waits),    cmocka_unit_test(nobody_looks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
