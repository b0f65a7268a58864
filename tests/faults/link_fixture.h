/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents that a test plays, and links to them.
 *
 * A part is a function that runs in the thread of the exec stream: it reads what the client sends
 * and sends what it likes, also what no agent would.
 */
#ifndef COFFERDAM_TESTS_LINK_FIXTURE_H
#define COFFERDAM_TESTS_LINK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/loop.h"
#include "link/link_private.h"
#include "scripted_engine.h"

#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME
#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define MSG(name) Cofferdam__Agent__V1__##name
#define INIT(NAME) COFFERDAM__AGENT__V1__##NAME##__INIT
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER_ID "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

/* ---- an agent's side ---- */

typedef struct agent agent;
typedef void (*agent_part)(agent *a);

struct agent {
  agent_part part;
  const void *script; /* the part's own */
  size_t number;
  size_t piece;        /* bytes of the stream in one of Docker's frames; 0: all at once */
  volatile int begun;  /* streams */
  volatile int ended;  /* the client has closed one */
  const char *problem; /* what the part did not expect */
  int fd;              /* in the part */
  cdam_buffer in;
};

static inline void agent_write(agent *a, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length) {
    ssize_t sent = send(a->fd, at, length, MSG_NOSIGNAL);
    if (sent <= 0) return; /* the client has gone */
    at += sent;
    length -= (size_t)sent;
  }
}

/* One of Docker's frames. */
static inline void agent_frame(agent *a, int stream, const void *bytes, size_t length) {
  const unsigned char head[8] = {(unsigned char)stream,
                                 0,
                                 0,
                                 0,
                                 (unsigned char)(length >> 24),
                                 (unsigned char)(length >> 16),
                                 (unsigned char)(length >> 8),
                                 (unsigned char)length};
  cdam_buffer whole = {0};
  if (cdam_buffer_append(&whole, head, sizeof head) && cdam_buffer_append(&whole, bytes, length))
    agent_write(a, whole.data, whole.length);
  cdam_buffer_clear(&whole);
}

/* Bytes of the agent's stream. */
static inline void agent_raw(agent *a, const void *bytes, size_t length) {
  const char *at = bytes;
  size_t piece = a->piece ? a->piece : length;
  for (; length > piece; at += piece, length -= piece)
    agent_frame(a, 1, at, piece);
  if (length) agent_frame(a, 1, at, length);
}

static inline void append_message(cdam_buffer *to, const cdam_from_agent *message) {
  uint8_t bytes[4096];
  size_t length = cofferdam__agent__v1__from_agent__get_packed_size(message);
  const uint8_t prefix[4] = {(uint8_t)length, (uint8_t)(length >> 8), 0, 0};
  if (length > sizeof bytes) abort();
  cofferdam__agent__v1__from_agent__pack(message, bytes);
  if (!cdam_buffer_append(to, prefix, 4) || !cdam_buffer_append(to, bytes, length)) abort();
}

static inline void agent_send(agent *a, const cdam_from_agent *message) {
  cdam_buffer bytes = {0};
  append_message(&bytes, message);
  agent_raw(a, bytes.data, bytes.length);
  cdam_buffer_clear(&bytes);
}

static inline bool agent_fill(agent *a, size_t length) {
  while (a->in.length < length) {
    char bytes[65536];
    ssize_t got = recv(a->fd, bytes, sizeof bytes, 0);
    if (got <= 0 || !cdam_buffer_append(&a->in, bytes, (size_t)got)) return false;
  }
  return true;
}

/* The client's next message; NULL when it has left. Free with agent_forget. */
static inline cdam_to_agent *agent_read(agent *a) {
  if (!agent_fill(a, 4)) return NULL;
  const uint8_t *at = (const uint8_t *)a->in.data;
  size_t length = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
  if (length > CDAM_FRAME_MAX || length == 0) a->problem = "a frame of a wrong length";
  if (a->problem || !agent_fill(a, 4 + length)) return NULL;
  cdam_to_agent *message =
      cofferdam__agent__v1__to_agent__unpack(NULL, length, (const uint8_t *)a->in.data + 4);
  if (!message) a->problem = "a malformed message";
  a->in.length -= 4 + length;
  memmove(a->in.data, a->in.data + 4 + length, a->in.length);
  return message;
}

static inline void agent_forget(cdam_to_agent *message) {
  cofferdam__agent__v1__to_agent__free_unpacked(message, NULL);
}

/* The channel of the next message, which has to be of this kind; 0 when it is not, or is on channel
 * 0. */
static inline uint32_t agent_expect(agent *a, unsigned kind) {
  cdam_to_agent *message = agent_read(a);
  uint32_t channel = message ? message->channel : 0;
  if (message && message->body_case != kind) a->problem = "a message of another kind";
  agent_forget(message);
  return channel;
}

/* Until the client closes the stream. */
static inline void agent_wait(agent *a) {
  char bytes[65536];
  while (recv(a->fd, bytes, sizeof bytes, 0) > 0)
    continue;
}

/* ---- what an honest one says ---- */

typedef struct hello_parts {
  cdam_from_agent message;
  MSG(AgentHello) hello;
  MSG(Limits) limits;
} hello_parts;

static inline void make_hello(hello_parts *h) {
  h->message = (cdam_from_agent)INIT(FROM_AGENT);
  h->hello = (MSG(AgentHello))INIT(AGENT_HELLO);
  h->limits = (MSG(Limits))INIT(LIMITS);
  h->limits.max_frame = 262144;
  h->limits.max_channels = 4096;
  h->limits.max_processes = 4096;
  h->limits.max_path = 4095;
  h->limits.max_clients = 16;
  h->hello.version = h->hello.min_version = h->hello.max_version = 1;
  h->hello.initial_credit = 1 << 20;
  h->hello.limits = &h->limits;
  h->hello.workspace = (ProtobufCBinaryData){10, (uint8_t *)(uintptr_t) "/workspace"};
  h->hello.instance = (ProtobufCBinaryData){4, (uint8_t *)(uintptr_t) "\xc0\xff\xee\x01"};
  h->message.body_case = FROM(AGENT_HELLO);
  h->message.agent_hello = &h->hello;
}

static inline void append_hello(cdam_buffer *to) {
  hello_parts h;
  make_hello(&h);
  append_message(to, &h.message);
}

static inline void append_output(cdam_buffer *to, uint32_t channel, const char *text, bool end) {
  cdam_from_agent message = INIT(FROM_AGENT);
  MSG(Output) output = INIT(OUTPUT);
  output.stream = COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT;
  output.data = (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
  output.end = end;
  message.channel = channel;
  message.body_case = FROM(OUTPUT);
  message.output = &output;
  append_message(to, &message);
}

static inline void append_exited(cdam_buffer *to, uint32_t channel) {
  cdam_from_agent message = INIT(FROM_AGENT);
  MSG(Exited) exited = INIT(EXITED);
  exited.process_id = 1;
  exited.code = 7;
  message.channel = channel;
  message.body_case = FROM(EXITED);
  message.exited = &exited;
  append_message(to, &message);
}

static inline void append_done(cdam_buffer *to, uint32_t channel, int error_code) {
  cdam_from_agent message = INIT(FROM_AGENT);
  MSG(Done) done = INIT(DONE);
  MSG(Error) error = INIT(ERROR);
  error.code = (Cofferdam__Agent__V1__ErrorCode)error_code;
  error.message = (char *)(uintptr_t) "its own words";
  if (error_code) done.error = &error;
  message.channel = channel;
  message.body_case = FROM(DONE);
  message.done = &done;
  append_message(to, &message);
}

static inline void agent_flush(agent *a, cdam_buffer *bytes) {
  agent_raw(a, bytes->data, bytes->length);
  cdam_buffer_clear(bytes);
}

static inline void agent_greet(agent *a) {
  cdam_buffer bytes = {0};
  agent_expect(a, TO(CLIENT_HELLO));
  append_hello(&bytes);
  agent_flush(a, &bytes);
}

static inline void agent_done(agent *a, uint32_t channel) {
  cdam_buffer bytes = {0};
  append_done(&bytes, channel, 0);
  agent_flush(a, &bytes);
}

/* Answers each request with success. */
static inline void honest(agent *a) {
  agent_greet(a);
  cdam_to_agent *message;
  while ((message = agent_read(a))) {
    cdam_from_agent pong = INIT(FROM_AGENT);
    MSG(Pong) token = INIT(PONG);
    if (message->body_case == TO(PING)) {
      token.token = message->ping->token;
      pong.body_case = FROM(PONG);
      pong.pong = &token;
      agent_send(a, &pong);
    } else if (message->body_case == TO(GET_STATUS)) {
      agent_done(a, message->channel);
    }
    agent_forget(message);
  }
}

static inline void play_agent(void *user, int fd, const scripted_request *request,
                              const char *early, size_t early_length) {
  static const char head[] = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n"
                             "Upgrade: tcp\r\n\r\n";
  agent *a = user;
  (void)request;
  a->fd = fd;
  a->begun++;
  if (early_length) a->problem = "something was sent before the answer";
  (void)early;
  agent_write(a, head, sizeof head - 1);
  a->part(a);
  cdam_buffer_clear(&a->in);
  a->ended++;
}

/* ---- the client's side ---- */

/* A channel, and what it was told. */
typedef struct call {
  cdam_channel channel;
  int messages;
  uint64_t bytes;
  int code;
  int writables;
  int done; /* calls */
  cdam_status status;
  cdam_error error;
  bool had_done;
  bool send_all;               /* in `writable` */
  void (*then)(struct call *); /* in `done` */
  void (*in_message)(struct call *);
  struct setting *setting;
} call;

typedef struct setting {
  scripted_engine *engine;
  cdam_client *client;
  cdam_loop *loop;
  cdam_link *link;
  agent agent;       /* of the container ID */
  agent other_agent; /* of OTHER_ID: an honest one */
  scripted_rule rules[6];
  const char *inspect; /* what the engine says of the container */
  int inspect_status;
} setting;

static inline call *call_of(cdam_channel *channel) {
  return (call *)(void *)channel;
}

static inline bool call_message(cdam_channel *channel, const cdam_from_agent *message,
                                cdam_error *failure) {
  call *c = call_of(channel);
  (void)failure;
  assert_int_equal(c->done, 0);
  c->messages++;
  if (message->body_case == FROM(OUTPUT)) c->bytes += message->output->data.len;
  if (message->body_case == FROM(EXITED)) c->code = (int)message->exited->code;
  bool wanted = message->body_case != FROM(WATCH_EVENT);
  if (c->in_message) c->in_message(c); /* which may free it */
  return wanted;
}

static inline void call_writable(cdam_channel *channel) {
  static const char bytes[1000];
  call *c = call_of(channel);
  c->writables++;
  while (c->send_all && cdam_channel_can_send(channel))
    assert_int_equal(cdam_channel_send_data(channel, bytes, sizeof bytes, false, NULL), CDAM_OK);
}

static inline void call_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                             const cdam_agent_done *done) {
  call *c = call_of(channel);
  assert_false(cdam_channel_is_open(channel));
  assert_int_equal(error->code, status);
  assert_true(status == CDAM_OK || error->message[0]);
  c->done++;
  c->status = status;
  c->error = *error;
  c->had_done = done != NULL;
  if (c->then) c->then(c);
}

static const cdam_channel_events call_events = {call_message, call_writable, call_done};

static inline cdam_status call_open(setting *s, call *c) {
  cdam_to_agent request = INIT(TO_AGENT);
  MSG(GetStatus) status = INIT(GET_STATUS);
  request.body_case = TO(GET_STATUS);
  request.get_status = &status;
  c->setting = s;
  return cdam_channel_open(s->link, &c->channel, &request, &call_events, &c->error);
}

static inline void inspect_answer(void *user, const scripted_request *request,
                                  scripted_reply *reply) {
  const setting *s = user;
  (void)request;
  *reply = (scripted_reply){s->inspect_status ? s->inspect_status : 200, .body = s->inspect};
}

#define RUNNING "{\"State\":{\"Running\":true,\"Paused\":false}}"
#define STOPPED "{\"State\":{\"Running\":false,\"Paused\":false}}"
#define PAUSED "{\"State\":{\"Running\":true,\"Paused\":true}}"

static inline void setting_begin(setting *s, agent_part part, unsigned timeout_ms) {
  s->agent.part = part;
  s->other_agent.part = honest;
  if (!s->inspect) s->inspect = STOPPED;
  const scripted_rule rules[] = {
      {.method = "POST",
       .path = "/containers/" ID "/exec",
       .reply = {201, .body = "{\"Id\":\"a1\"}"}},
      {.method = "POST",
       .path = "/containers/" OTHER_ID "/exec",
       .reply = {201, .body = "{\"Id\":\"b2\"}"}},
      {.method = "POST", .path = "/exec/a1/start", .talk = play_agent, .user = &s->agent},
      {.method = "POST", .path = "/exec/b2/start", .talk = play_agent, .user = &s->other_agent},
      {.path = "/containers/" ID "/json", .answer = inspect_answer, .user = s},
  };
  memcpy(s->rules, rules, sizeof rules);
  s->engine = scripted_engine_start(s->rules, sizeof rules / sizeof *rules);
  s->client = scripted_engine_client(s->engine, timeout_ms);
  s->loop = cdam_client_borrow_loop(s->client);
  s->link = cdam_link_new(s->loop, ID, NULL);
  assert_non_null(s->link);
}

static inline void setting_end(setting *s) {
  cdam_link_unref(s->link);
  cdam_client_return_loop(s->client, s->loop);
  cdam_client_free(s->client);
  scripted_engine_stop(s->engine);
  if (s->agent.problem) fail_msg("the agent got %s", s->agent.problem);
  if (s->other_agent.problem) fail_msg("the other agent got %s", s->other_agent.problem);
}

/* Turns the loop until the condition holds; fails the test when that takes 10 s. */
#define TURN_UNTIL(s, condition)                                                                   \
  do {                                                                                             \
    for (int64_t limit = cdam_now_ms() + 10000; !(condition);) {                                   \
      if (cdam_now_ms() > limit) fail_msg("not within 10 s: %s", #condition);                      \
      cdam_loop_turn((s)->loop, 20);                                                               \
    }                                                                                              \
  } while (0)

static inline void expect_error(const call *c, cdam_status status, const char *words) {
  assert_int_equal(c->done, 1);
  if (c->status != status || !strstr(c->error.message, words))
    fail_msg("%s: %s", cdam_status_name(c->status), c->error.message);
}

#endif
