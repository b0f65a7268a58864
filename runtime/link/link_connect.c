/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's stream: how it is opened, and its silence. While a channel is open and nothing has come
 * for a quarter of the client's timeout (from 1 to 3 s), a Ping is sent. When no byte comes for
 * two seconds after that, the engine is asked once whether the container is stopped or gone, or
 * paused while nobody has had an answer yet; when none comes for the client's timeout, the agent
 * does not answer any more. Without channels nobody waits, and nothing is sent.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exec_id.h"
#include "engine/explain.h"
#include "link/agent_path.h"
#include "link/link_private.h"

#define MIN_SILENCE_MS 1000
#define MAX_SILENCE_MS 3000
#define SUSPICION_MS 2000

/* A timer that is so late says that nobody turned the loop. */
#define OVERSLEPT_MS 250

/* An engine learns a moment after a stream's end that the container has ended. */
#define LOOKS 5
#define FIRST_LOOK_MS 30

static cdam_link *link_of(cdam_operation *op) {
  return (cdam_link *)(void *)((char *)op - offsetof(cdam_link, op));
}

/* ---- silence ---- */

static int64_t timeout_ms(const cdam_link *link) {
  return link->op.client->config.timeout_ms;
}

static int64_t silence_ms(const cdam_link *link) {
  int64_t ms = timeout_ms(link) / 4;
  return ms < MIN_SILENCE_MS ? MIN_SILENCE_MS : ms > MAX_SILENCE_MS ? MAX_SILENCE_MS : ms;
}

static void tick(cdam_operation *op, const cdam_reply *reply);

static void set_timer(cdam_link *link, int64_t ms) {
  link->timer_at = cdam_now_ms() + ms;
  link->timer = cdam_operation_after(&link->op, ms, tick);
  if (link->op.finished) cdam_link_break(link, &link->op.error);
}

static void send_ping(cdam_link *link, int64_t now) {
  Cofferdam__Agent__V1__Ping ping = COFFERDAM__AGENT__V1__PING__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  ping.token = ++link->token;
  message.body_case = CDAM_TO(PING);
  message.ping = &ping;
  cdam_error error;
  if (!cdam_link_send(link, &message, NULL)) {
    cdam_fail_memory(&error);
    cdam_link_break(link, &error);
    return;
  }
  link->asked_at = now;
  link->overslept = false;
  link->suspected = timeout_ms(link) <= SUSPICION_MS;
  set_timer(link, link->suspected ? timeout_ms(link) : SUSPICION_MS);
}

/* What the engine says of a container whose agent is silent. */
static void suspect_inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_link *link = link_of(op);
  cdam_error trouble = {0}, error;
  cdam_status status = cdam_explain(reply, &trouble, &error);
  if (!link->asked_at || link->heard_at >= link->asked_at) return; /* it has spoken meanwhile */
  /* A pause that interrupts what is under way may be a short one. */
  if (trouble.code == CDAM_ERR_PAUSED && !link->unheard) return;
  if (status == CDAM_OK && trouble.code != CDAM_OK) cdam_link_end(link, &trouble);
}

static void suspect(cdam_link *link, int64_t now) {
  char path[160];
  link->suspected = true;
  snprintf(path, sizeof path, "/containers/%s/json", link->container_id);
  set_timer(link, link->asked_at + timeout_ms(link) - now);
  if (link->op.finished) return;
  cdam_operation_send(&link->op, &(cdam_request){.method = "GET", .path = path}, suspect_inspected);
  if (link->op.finished) cdam_link_break(link, &link->op.error);
}

static void no_answer(cdam_link *link, int64_t now) {
  cdam_error error;
  if (now - link->timer_at >= OVERSLEPT_MS && !link->overslept) {
    link->overslept = true; /* the answer may be there, and nobody has looked */
    set_timer(link, MIN_SILENCE_MS);
    return;
  }
  cdam_fail(&error, CDAM_ERR_AGENT, "the sandbox's agent has not answered for %lld ms",
            (long long)(now - link->asked_at));
  cdam_link_end(link, &error);
}

static void tick(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_link *link = link_of(op);
  int64_t now = cdam_now_ms(), silent = now - link->heard_at;
  link->timer = NULL;
  bool greeting = link->state == CDAM_LINK_GREETING; /* a part of a hello is none */
  if (!greeting && link->heard_at >= link->asked_at) link->asked_at = 0;
  if (link->asked_at && link->state == CDAM_LINK_UP && !link->suspected)
    suspect(link, now);
  else if (link->asked_at)
    no_answer(link, now);
  else if (TAILQ_EMPTY(&link->channels))
    return;
  else if (silent >= silence_ms(link))
    send_ping(link, now);
  else
    set_timer(link, silence_ms(link) - silent);
}

void cdam_link_listen(cdam_link *link) {
  link->heard_at = cdam_now_ms();
  link->unheard = true;
  if (link->asked_at) cdam_operation_cancel(&link->op, link->timer), link->timer = NULL;
  link->asked_at = 0;
  if (!link->timer) set_timer(link, silence_ms(link));
}

/* ---- why it ended ---- */

static void explained(cdam_operation *op, const cdam_reply *reply);

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_link *link = link_of(op);
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", link->container_id);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, explained);
  if (op->finished) cdam_link_break(link, &op->error);
}

static void look_again(cdam_link *link) {
  cdam_operation_after(&link->op, FIRST_LOOK_MS << link->looks, look);
  if (link->op.finished) cdam_link_break(link, &link->op.error);
}

static void explained(cdam_operation *op, const cdam_reply *reply) {
  cdam_link *link = link_of(op);
  cdam_error error;
  cdam_status status = cdam_explain(reply, &link->trouble, &error);
  if (reply->status == CDAM_ERR_PROTOCOL && ++link->looks < LOOKS) {
    look_again(link); /* an engine that is just dying */
  } else if (reply->status != CDAM_OK || status == CDAM_ERR_NO_MEMORY) {
    cdam_link_break(link, &error);
  } else if (status == CDAM_OK && link->hung_up && link->trouble.code == CDAM_ERR_AGENT &&
             ++link->looks < LOOKS) {
    look_again(link);
  } else {
    cdam_link_break(link, &link->trouble);
  }
}

void cdam_link_explain(cdam_link *link) {
  look(&link->op, NULL);
}

/* ---- the stream ---- */

static bool take_piece(void *user, cdam_stdcopy_stream stream, const char *bytes, size_t length,
                       cdam_error *failure) {
  (void)failure;
  cdam_link *link = user;
  if (stream == CDAM_STDCOPY_OUT) {
    cdam_link_receive(link, (const uint8_t *)bytes, length);
  } else {
    size_t room = sizeof link->words - link->word_count;
    if (length > room) length = room;
    memcpy(link->words + link->word_count, bytes, length);
    link->word_count += length;
  }
  return !cdam_link_is_ending(link);
}

static void received(void *user, const char *bytes, size_t length) {
  cdam_link *link = user;
  cdam_error failure;
  cdam_link_ref(link);
  if (!cdam_stdcopy_feed(&link->demux, bytes, length, take_piece, link, &failure) &&
      !cdam_link_is_ending(link))
    cdam_link_end(link, &failure);
  cdam_link_unref(link);
}

static void drained(void *user) {
  cdam_link *link = user;
  cdam_link_ref(link);
  cdam_link_wake_writers(link);
  cdam_link_unref(link);
}

void cdam_link_drop_ready(cdam_link *link) {
  link->ready = NULL;
}

static void tell_ready(cdam_link *link) {
  void (*ready)(void *user) = link->ready;
  link->ready = NULL;
  if (ready) ready(link->ready_user);
}

static void opened(void *user) {
  cdam_link *link = user;
  link->state = CDAM_LINK_GREETING;
  link->asked_at = cdam_now_ms();
  set_timer(link, timeout_ms(link));
  tell_ready(link);
}

/* The relay's words say why it went, if it did. */
static void agent_ended(const cdam_link *link, cdam_error *error) {
  char said[400];
  size_t length = link->word_count;
  while (length && link->words[length - 1] == '\n')
    length--;
  cdam_printable(said, sizeof said, link->words, length);
  const char *when = link->state == CDAM_LINK_UP ? "has ended" : "cannot be reached";
  if (said[0])
    cdam_fail(error, CDAM_ERR_AGENT, "the sandbox's agent %s (its relay says \"%s\")", when, said);
  else
    cdam_fail(error, CDAM_ERR_AGENT, "the sandbox's agent %s", when);
}

static void closed(void *user, cdam_status status, const cdam_error *error) {
  cdam_link *link = user;
  cdam_error why;
  if (status == CDAM_OK)
    agent_ended(link, &why);
  else
    why = *error;
  link->hung_up = status == CDAM_OK;
  cdam_link_ref(link);
  cdam_link_end(link, &why);
  tell_ready(link);
  cdam_link_unref(link);
}

static const cdam_duplex_events events = {
    .opened = opened, .received = received, .drained = drained, .closed = closed};

static const cdam_link_transport transport = {
    .write = cdam_duplex_write,
    .pending = cdam_duplex_pending,
    .close = cdam_duplex_close,
    .has_hung_up = cdam_duplex_has_hung_up,
};

static cdam_status open_stream(cdam_link *link, const char *path, const char *body,
                               int64_t within_ms, cdam_error *err) {
  link->transport = &transport;
  link->duplex = cdam_duplex_open(link->loop, path, body, within_ms, &events, link, err);
  return link->duplex ? cdam_link_send_hello(link, err) : err->code;
}

/* An engine that takes longer to attach is not waited for: a link by an exec will do. */
#define ATTACH_MS 2000

cdam_link *cdam_link_new_attached(cdam_loop *loop, const char *container_id,
                                  void (*ready)(void *user), void *user, cdam_error *err) {
  cdam_link *link = cdam_link_new(loop, container_id, err);
  if (!link) return NULL;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1",
           link->container_id);
  link->state = CDAM_LINK_CONNECTING;
  int64_t within = timeout_ms(link) < ATTACH_MS ? timeout_ms(link) : ATTACH_MS;
  if (open_stream(link, path, "", within, err) != CDAM_OK) {
    cdam_link_unref(link);
    return NULL;
  }
  link->ready = ready;
  link->ready_user = user;
  return link;
}

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_link *link = link_of(op);
  cdam_error error;
  char id[CDAM_EXEC_ID_SIZE], path[CDAM_EXEC_ID_SIZE + 16];
  if (cdam_exec_read_id(reply, "connect to the sandbox's agent", id, &error) != CDAM_OK) {
    cdam_link_end(link, &error);
    return;
  }
  cdam_exec_path(id, "start", path, sizeof path);
  if (open_stream(link, path, CDAM_EXEC_START, timeout_ms(link), &error) != CDAM_OK)
    cdam_link_break(link, &error);
}

cdam_status cdam_link_connect(cdam_link *link, cdam_error *err) {
  static const char body[] = "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,"
                             "\"Tty\":false,\"Cmd\":[\"" CDAM_AGENT_PATH "\",\"relay\"]}";
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/exec", link->container_id);
  link->state = CDAM_LINK_CONNECTING;
  cdam_operation_send(&link->op, &(cdam_request){.method = "POST", .path = path, .body = body},
                      created);
  if (!link->op.finished) return cdam_ok(err);
  cdam_link_break(link, &link->op.error);
  if (err) *err = link->trouble;
  return link->trouble.code;
}
