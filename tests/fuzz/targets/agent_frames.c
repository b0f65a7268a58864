/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent sends, cut anywhere, to a link with four channels: the first is opened again when
 * it is done, the second holds its credit back, the third was abandoned, the fourth is cancelled at
 * its first message. The first byte is how many cuts there are (at most 15), and whether a good
 * hello stands in front (16); as many bytes as there are cuts say where; the rest is the stream.
 *
 * In pieces it comes out as in one; and as a reader says that has the whole before it and unpacks
 * by protobuf-c alone. Each channel that was open is told its end once, and nothing after.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "fuzz.h"
#include "link/link_private.h"

#define CHANNELS 4
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME
#define INIT(NAME) COFFERDAM__AGENT__V1__##NAME##__INIT

enum { AGAIN, HOLDING, ABANDONED, CANCELLING };

/* ---- a link without an engine ---- */

struct cdam_duplex {
  cdam_buffer out;
  bool closed;
};

static bool duplex_write(cdam_duplex *duplex, const void *bytes, size_t length) {
  FUZZ_CHECK(!duplex->closed);
  FUZZ_CHECK(cdam_buffer_append(&duplex->out, bytes, length));
  return true;
}

static size_t duplex_pending(const cdam_duplex *duplex) {
  FUZZ_CHECK(!duplex->closed);
  return 0;
}

static void duplex_close(cdam_duplex *duplex) {
  FUZZ_CHECK(!duplex->closed);
  duplex->closed = true;
}

static const cdam_link_transport transport = {
    .write = duplex_write, .pending = duplex_pending, .close = duplex_close};

typedef struct run run;

typedef struct play {
  cdam_channel channel;
  run *run;
  int which;
} play;

struct run {
  cdam_link *link;
  cdam_duplex duplex;
  bool greeted; /* and the third was abandoned */
  play plays[CHANNELS];
  unsigned messages[CHANNELS];
  unsigned dones[CHANNELS]; /* by the agent */
  unsigned ends[CHANNELS];  /* by the link */
  cdam_buffer told;         /* all of it, in text */
  cdam_link_state state;    /* at the end */
  cdam_error trouble;
};

static cdam_loop *the_loop(void) {
  static cdam_loop *loop;
  if (loop) return loop;
  cdam_client_config *config;
  cdam_client *client;
  FUZZ_CHECK(cdam_client_config_new(&config, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_client_config_set_endpoint(config, "unix:///nowhere/at/all", NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_client_new(config, &client, NULL) == CDAM_OK);
  cdam_client_config_free(config);
  loop = cdam_client_borrow_loop(client);
  FUZZ_CHECK(loop != NULL);
  memcpy(loop->api_version, "1.41", 5);
  return loop;
}

static void tell(run *r, const void *bytes, size_t length) {
  FUZZ_CHECK(cdam_buffer_append(&r->told, bytes, length));
}

static bool model_is_charged(const cdam_from_agent *message) {
  return (message->body_case == FROM(DATA) && message->data->data.len) ||
         (message->body_case == FROM(OUTPUT) && message->output->data.len) ||
         message->body_case == FROM(ENTRY) || message->body_case == FROM(PROCESS_INFO) ||
         message->body_case == FROM(WATCH_EVENT);
}

static void open_play(play *p);

static bool told_message(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  play *p = (play *)(void *)channel;
  run *r = p->run;
  (void)failure;
  FUZZ_CHECK(p->which != ABANDONED || !r->greeted);
  FUZZ_CHECK(cdam_channel_is_open(channel) && channel->number == message->channel);
  FUZZ_CHECK(!cdam_link_is_broken(r->link));
  size_t size = cofferdam__agent__v1__from_agent__get_packed_size(message);
  uint8_t *packed = fuzz_copy("", 0);
  packed = realloc(packed, size);
  FUZZ_CHECK(packed != NULL);
  cofferdam__agent__v1__from_agent__pack(message, packed);
  tell(r, packed, size);
  free(packed);
  FUZZ_CHECK(model_is_charged(message) == (cdam_channel_message_charge(channel) > 0));
  r->messages[p->which]++;
  if (p->which == CANCELLING) cdam_channel_cancel(channel);
  return message->body_case != FROM(STATUS);
}

static void told_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                      const cdam_agent_done *done) {
  play *p = (play *)(void *)channel;
  run *r = p->run;
  FUZZ_CHECK(p->which != ABANDONED || !r->greeted);
  FUZZ_CHECK(!cdam_channel_is_open(channel));
  FUZZ_CHECK(error->code == status && (status == CDAM_OK || error->message[0]));
  FUZZ_CHECK(status != CDAM_OK || (done && !done->error));
  tell(r, "done", 4);
  tell(r, error->message, strlen(error->message));
  if (done)
    r->dones[p->which]++;
  else
    r->ends[p->which]++;
  if (done && p->which == AGAIN) open_play(p);
}

static const cdam_channel_events events = {told_message, NULL, told_done};

static void open_play(play *p) {
  Cofferdam__Agent__V1__GetStatus status = INIT(GET_STATUS);
  cdam_to_agent request = INIT(TO_AGENT);
  request.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_GET_STATUS;
  request.get_status = &status;
  FUZZ_CHECK(cdam_channel_open(p->run->link, &p->channel, &request, &events, NULL) == CDAM_OK);
}

static size_t good_hello(uint8_t frame[256]) {
  cdam_from_agent message = INIT(FROM_AGENT);
  Cofferdam__Agent__V1__AgentHello hello = INIT(AGENT_HELLO);
  Cofferdam__Agent__V1__Limits limits = INIT(LIMITS);
  limits.max_frame = CDAM_FRAME_MAX;
  limits.max_channels = limits.max_processes = limits.max_path = limits.max_clients = 100;
  hello.version = hello.min_version = hello.max_version = 1;
  hello.initial_credit = 1000;
  hello.limits = &limits;
  hello.instance = (ProtobufCBinaryData){1, (uint8_t *)(uintptr_t) "i"};
  message.body_case = FROM(AGENT_HELLO);
  message.agent_hello = &hello;
  size_t length = cofferdam__agent__v1__from_agent__pack(&message, frame + 4);
  FUZZ_CHECK(length < 252);
  memcpy(frame, (uint8_t[]){(uint8_t)length, 0, 0, 0}, 4);
  return length + 4;
}

static void feed(run *r, const uint8_t *bytes, size_t length) {
  uint8_t *copy = fuzz_copy(bytes, length);
  if (!cdam_link_is_broken(r->link)) cdam_link_receive(r->link, copy, length);
  free(copy);
}

static void begin(run *r, bool greeted, int64_t credit) {
  uint8_t frame[256];
  r->link = cdam_link_new(the_loop(), "0123", NULL);
  FUZZ_CHECK(r->link != NULL);
  r->greeted = greeted;
  r->link->state = CDAM_LINK_GREETING;
  r->link->transport = &transport;
  r->link->duplex = &r->duplex;
  for (int i = 0; i < CHANNELS; i++) {
    r->plays[i].run = r;
    r->plays[i].which = i;
    cdam_channel_set_hold(&r->plays[i].channel, i == HOLDING);
  }
  if (greeted) {
    cdam_link_receive(r->link, frame, good_hello(frame));
    FUZZ_CHECK(r->link->state == CDAM_LINK_UP);
  }
  for (int i = 0; i < CHANNELS; i++)
    open_play(&r->plays[i]);
  if (!greeted) return;
  for (int i = 0; i < CHANNELS; i++)
    r->plays[i].channel.granted = credit;
  cdam_channel_abandon(&r->plays[ABANDONED].channel);
}

/* Ends it as a program would that frees its loop, and asks what became of each channel. */
static void finish(run *r) {
  r->state = r->link->state;
  r->trouble = r->link->trouble;
  if (r->state == CDAM_LINK_ENDING) cdam_link_break(r->link, &r->trouble);
  cdam_loop_turn(r->link->loop, 0);
  FUZZ_CHECK(r->duplex.closed == (r->state >= CDAM_LINK_ENDING));
  for (int i = 0; i < CHANNELS; i++) {
    FUZZ_CHECK(r->ends[i] <= 1);
    FUZZ_CHECK(i == AGAIN || r->dones[i] + r->ends[i] <= 1);
    FUZZ_CHECK(!r->duplex.closed || !cdam_channel_is_open(&r->plays[i].channel));
    cdam_channel_abandon(&r->plays[i].channel);
  }
  cdam_link_unref(r->link);
  cdam_loop_turn(the_loop(), 0);
  FUZZ_CHECK(TAILQ_EMPTY(&the_loop()->at_end));
}

static void clear(run *r) {
  cdam_buffer_clear(&r->told);
  cdam_buffer_clear(&r->duplex.out);
}

/* ---- a reader that has the whole before it ---- */

typedef struct model {
  bool open[CHANNELS];
  int64_t granted[CHANNELS], taken[CHANNELS];
  uint64_t credit[CHANNELS];
  unsigned messages[CHANNELS], dones[CHANNELS];
} model;

static bool model_varint(const uint8_t *bytes, size_t length, size_t *at, uint64_t *value) {
  *value = 0;
  for (unsigned i = 0; i < 10; i++) {
    if (*at == length) return false;
    uint64_t bits = bytes[*at] & 0x7f;
    if (i == 9 && bits > 1) return false;
    *value += bits << (7 * i);
    if (!(bytes[(*at)++] >> 7)) return true;
  }
  return false;
}

/* Nothing but one channel, perhaps, and one body. */
static bool model_envelope(const uint8_t *bytes, size_t length) {
  unsigned channels = 0, bodies = 0;
  for (size_t at = 0; at < length;) {
    uint64_t tag, value;
    if (!model_varint(bytes, length, &at, &tag) || !model_varint(bytes, length, &at, &value))
      return false;
    if (tag == 8) {
      channels++;
      if (value >> 32) return false;
    } else if (tag % 8 == 2 && tag > 10 && tag >> 32 == 0) {
      bodies++;
      if (value > length - at) return false;
      at += value;
    } else {
      return false;
    }
  }
  return channels <= 1 && bodies == 1;
}

static void model_take(model *m, int which, int64_t charge) {
  m->granted[which] -= charge;
  if (which == HOLDING) return;
  m->taken[which] += charge;
  if (m->taken[which] < 128 * 1024) return;
  m->granted[which] += m->taken[which];
  m->taken[which] = 0;
}

/* False: this breaks the link. */
static bool model_message(model *m, const cdam_from_agent *message, size_t length) {
  uint32_t number = message->channel;
  if (number == 0 || number > CHANNELS || !m->open[number - 1]) return false;
  int which = (int)number - 1;
  int64_t charge = model_is_charged(message) ? (int64_t)length : 0;
  if (charge && m->granted[which] <= 0) return false;
  switch (message->body_case) {
  case FROM(CREDIT):
    if (which == ABANDONED) return true;
    m->credit[which] += message->credit->bytes;
    return m->credit[which] < 0x80000000U;
  case FROM(DONE):
    m->dones[which] += which != ABANDONED;
    m->open[which] = which == AGAIN;
    m->granted[which] = 768 * 1024;
    m->taken[which] = 0;
    m->credit[which] = 1000;
    return true;
  case FROM(AGENT_HELLO):
  case FROM(PONG):
  case FROM(_NOT_SET):
    return false;
  default:
    m->messages[which] += which != ABANDONED;
    model_take(m, which, charge);
    return message->body_case != FROM(STATUS) || which == ABANDONED;
  }
}

static void check_against_model(const run *r, int64_t credit, const uint8_t *bytes, size_t length) {
  model m = {0};
  bool broken = false;
  for (int i = 0; i < CHANNELS; i++) {
    m.open[i] = true;
    m.granted[i] = i == ABANDONED ? 768 * 1024 : credit;
    m.credit[i] = 1000;
  }
  while (!broken && length >= 4) {
    size_t size = bytes[0] + 0x100U * bytes[1] + 0x10000U * bytes[2] + 0x1000000U * bytes[3];
    broken = size == 0 || size > 262144;
    if (broken || size > length - 4) break;
    cdam_from_agent *message = model_envelope(bytes + 4, size)
                                   ? cofferdam__agent__v1__from_agent__unpack(NULL, size, bytes + 4)
                                   : NULL;
    broken = !message || !model_message(&m, message, size);
    if (message) cofferdam__agent__v1__from_agent__free_unpacked(message, NULL);
    bytes += 4 + size;
    length -= 4 + size;
  }
  FUZZ_CHECK(broken == (r->state != CDAM_LINK_UP));
  FUZZ_CHECK(!broken || r->trouble.code != CDAM_OK);
  for (int i = 0; i < CHANNELS; i++) {
    FUZZ_CHECK(r->messages[i] == m.messages[i]);
    FUZZ_CHECK(r->dones[i] == m.dones[i]);
  }
}

static void check_same(const run *a, const run *b) {
  FUZZ_CHECK(a->state == b->state);
  /* What is no hello at all is shown as far as it is there. */
  if (a->state != CDAM_LINK_ENDING) FUZZ_CHECK(strcmp(a->trouble.message, b->trouble.message) == 0);
  FUZZ_CHECK(a->trouble.code == b->trouble.code);
  FUZZ_CHECK(a->duplex.out.length == b->duplex.out.length);
  FUZZ_CHECK(a->duplex.out.length == 0 ||
             memcmp(a->duplex.out.data, b->duplex.out.data, a->duplex.out.length) == 0);
  if (a->state == CDAM_LINK_ENDING) return;
  FUZZ_CHECK(a->told.length == b->told.length);
  FUZZ_CHECK(a->told.length == 0 || memcmp(a->told.data, b->told.data, a->told.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t cuts = data[0] & 15;
  bool greeted = data[0] & 16;
  int64_t credit = data[0] & 32 ? 60 : 768 * 1024;
  if (size < 1 + cuts) return 0;
  const uint8_t *steps = data + 1, *bytes = data + 1 + cuts;
  size_t length = size - 1 - cuts;

  run whole = {0}, pieces = {0};
  begin(&whole, greeted, credit);
  feed(&whole, bytes, length);
  finish(&whole);
  begin(&pieces, greeted, credit);
  size_t at = 0;
  for (size_t i = 0; i < cuts; i++) {
    size_t step = steps[i] < length - at ? steps[i] : length - at;
    feed(&pieces, bytes + at, step);
    at += step;
  }
  feed(&pieces, bytes + at, length - at);
  finish(&pieces);

  check_same(&whole, &pieces);
  if (greeted) check_against_model(&whole, credit, bytes, length);
  clear(&whole);
  clear(&pieces);
  return 0;
}
