/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that says what a test wants, behind a scripted engine, and a session of it. */
#ifndef COFFERDAM_TESTS_FILE_AGENT_H
#define COFFERDAM_TESTS_FILE_AGENT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <cofferdam/file.h>

#include "base/clock.h"
#include "cofferdam/agent/v1/agent.pb-c.h"
#include "link/session_link.h"
#include "scripted_engine.h"
#include "session/session_private.h"

#define CONTAINER "c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0"
#define HEAD                                                                                       \
  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"                   \
  "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

#define MSG(name) Cofferdam__Agent__V1__##name
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME
#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define TYPE(NAME) COFFERDAM__AGENT__V1__ENTRY_TYPE__ENTRY_TYPE_##NAME
#define KIND(NAME) COFFERDAM__AGENT__V1__WATCH_KIND__WATCH_KIND_##NAME
#define CODE(NAME) COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_##NAME

typedef struct agent agent;

/* Answers a message that is no hello, Ping or Credit. */
typedef void (*agent_script)(agent *a, const MSG(ToAgent) * message);

struct agent {
  int fd; /* of the fixture's: that of the last stream */
  agent_script script;
  uint32_t credit;  /* initial one of the client */
  uint64_t taken;   /* bytes of Data so far */
  unsigned cancels; /* that came */
  bool ended;       /* Data with end came */
  agent *all;       /* of a connection's: the fixture's, which gets the counts as well */
};

typedef struct fixture {
  scripted_engine *engine;
  scripted_rule rules[3];
  cdam_state state;
  cdam_session session;
  agent agent;
} fixture;

/* ---- what it says ---- */

static inline void say(agent *a, uint32_t channel, MSG(FromAgent) * message) {
  message->channel = channel;
  size_t length = cofferdam__agent__v1__from_agent__get_packed_size(message);
  size_t all = length + 4;
  uint8_t *bytes = malloc(all + 8);
  const uint8_t head[12] = {1,
                            0,
                            0,
                            0,
                            (uint8_t)(all >> 24),
                            (uint8_t)(all >> 16),
                            (uint8_t)(all >> 8),
                            (uint8_t)all,
                            (uint8_t)length,
                            (uint8_t)(length >> 8),
                            (uint8_t)(length >> 16),
                            (uint8_t)(length >> 24)};
  memcpy(bytes, head, sizeof head);
  cofferdam__agent__v1__from_agent__pack(message, bytes + sizeof head);
  for (size_t sent = 0; sent < all + 8;) {
    ssize_t n = send(a->fd, bytes + sent, all + 8 - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += (size_t)n;
  }
  free(bytes);
}

#define SAY(a, number, name, NAME, body)                                                           \
  do {                                                                                             \
    MSG(FromAgent) said = COFFERDAM__AGENT__V1__FROM_AGENT__INIT;                                  \
    said.body_case = FROM(NAME);                                                                   \
    said.name = (body);                                                                            \
    say((a), (number), &said);                                                                     \
  } while (0)

static inline MSG(Entry) entry_of(int type) {
  MSG(Entry) entry = COFFERDAM__AGENT__V1__ENTRY__INIT;
  entry.type = type;
  entry.mode = 0644;
  return entry;
}

static inline ProtobufCBinaryData binary(const char *bytes, size_t length) {
  return (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)bytes, .len = length};
}

static inline void say_entry(agent *a, uint32_t channel, MSG(Entry) entry) {
  SAY(a, channel, entry, ENTRY, &entry);
}

static inline void say_named(agent *a, uint32_t channel, const char *name, size_t length) {
  MSG(Entry) entry = entry_of(TYPE(FILE));
  entry.path = binary(name, length);
  say_entry(a, channel, entry);
}

static inline void say_data(agent *a, uint32_t channel, const char *bytes, size_t length,
                            bool end) {
  MSG(Data) data = COFFERDAM__AGENT__V1__DATA__INIT;
  data.data = binary(bytes, length);
  data.end = end;
  SAY(a, channel, data, DATA, &data);
}

static inline void say_done(agent *a, uint32_t channel) {
  MSG(Done) done = COFFERDAM__AGENT__V1__DONE__INIT;
  SAY(a, channel, done, DONE, &done);
}

static inline void say_error(agent *a, uint32_t channel, int code, uint32_t system_errno) {
  MSG(Done) done = COFFERDAM__AGENT__V1__DONE__INIT;
  MSG(Error) error = COFFERDAM__AGENT__V1__ERROR__INIT;
  error.code = code;
  error.system_errno = system_errno;
  done.error = &error;
  SAY(a, channel, done, DONE, &done);
}

static inline void say_event(agent *a, uint32_t channel, int kind, const char *name,
                             size_t length) {
  MSG(WatchEvent) event = COFFERDAM__AGENT__V1__WATCH_EVENT__INIT;
  event.kind = kind;
  event.name = binary(name, length);
  SAY(a, channel, watch_event, WATCH_EVENT, &event);
}

static inline void say_credit(agent *a, uint32_t channel, uint32_t bytes) {
  MSG(Credit) credit = COFFERDAM__AGENT__V1__CREDIT__INIT;
  credit.bytes = bytes;
  SAY(a, channel, credit, CREDIT, &credit);
}

/* ---- how it lives ---- */

static inline void agent_answer(agent *a, const MSG(ToAgent) * message) {
  MSG(AgentHello) hello = COFFERDAM__AGENT__V1__AGENT_HELLO__INIT;
  MSG(Limits) limits = COFFERDAM__AGENT__V1__LIMITS__INIT;
  MSG(Pong) pong = COFFERDAM__AGENT__V1__PONG__INIT;
  switch (message->body_case) {
  case TO(CLIENT_HELLO):
    limits.max_frame = 262144;
    limits.max_channels = 4096;
    limits.max_processes = limits.max_kept = limits.max_clients = 16;
    limits.max_retain = 65536;
    limits.max_path = 4095;
    hello.version = hello.min_version = hello.max_version = 1;
    hello.initial_credit = a->credit ? a->credit : 1024 * 1024;
    hello.limits = &limits;
    hello.agent = (char *)(uintptr_t) "cofferdam-agent 0";
    hello.machine = (char *)(uintptr_t) "x86_64";
    hello.workspace = binary("/workspace", 10);
    hello.instance = binary("0123456789abcdef", 16);
    hello.init = hello.follows_links = true;
    SAY(a, 0, agent_hello, AGENT_HELLO, &hello);
    return;
  case TO(PING):
    pong.token = message->ping->token;
    SAY(a, 0, pong, PONG, &pong);
    return;
  case TO(CREDIT):
    return;
  case TO(DATA):
    a->taken += message->data->data.len;
    a->ended = message->data->end;
    break;
  case TO(CANCEL):
    a->cancels++;
    break;
  default:
    a->taken = 0;
    a->ended = false;
    break;
  }
  a->all->taken = a->taken;
  a->all->cancels = a->cancels;
  a->script(a, message);
}

static inline bool agent_read(int fd, void *bytes, size_t length) {
  for (char *at = bytes; length;) {
    ssize_t n = recv(fd, at, length, 0);
    if (n <= 0) return false;
    at += n;
    length -= (size_t)n;
  }
  return true;
}

static inline void agent_talk(void *user, int fd, const scripted_request *request,
                              const char *early, size_t early_length) {
  (void)request;
  (void)early;
  (void)early_length; /* the hello waits for our head */
  agent own = *(agent *)user, *a = &own;
  own.fd = fd;
  own.all = user;
  own.all->fd = fd;
  if (send(fd, HEAD, sizeof HEAD - 1, MSG_NOSIGNAL) < 0) return;
  uint8_t head[4];
  while (agent_read(fd, head, sizeof head)) {
    size_t length = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    uint8_t *bytes = malloc(length);
    bool whole = agent_read(fd, bytes, length);
    MSG(ToAgent) *message =
        whole ? cofferdam__agent__v1__to_agent__unpack(NULL, length, bytes) : NULL;
    if (message) agent_answer(a, message);
    cofferdam__agent__v1__to_agent__free_unpacked(message, NULL);
    free(bytes);
  }
}

/* ---- a session of it ---- */

static inline fixture *begin(agent_script script, unsigned timeout_ms) {
  static fixture this;
  this = (fixture){.agent = {.script = script}};
  this.rules[0] = (scripted_rule){.method = "POST",
                                  .path = "/containers/" CONTAINER "/exec",
                                  .reply = {201, .body = "{\"Id\":\"aaaa\"}"}};
  this.rules[1] = (scripted_rule){
      .method = "POST", .path = "/exec/aaaa/start", .talk = agent_talk, .user = &this.agent};
  this.rules[2] =
      (scripted_rule){.method = "GET",
                      .path = "/containers/" CONTAINER "/json",
                      .reply = {200, .body = "{\"State\":{\"Running\":true,\"Paused\":false}}"}};
  this.engine = scripted_engine_start(this.rules, 3);
  this.state.message.container_id = (char *)(uintptr_t)CONTAINER;
  this.session.state = &this.state;
  this.session.client = scripted_engine_client(this.engine, timeout_ms);
  this.session.has_agent = true;
  return &this;
}

static inline void end(fixture *this) {
  cdam_session_drop_links(&this->session);
  cdam_client_free(this->session.client);
  scripted_engine_stop(this->engine);
}

#endif
