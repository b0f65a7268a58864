/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is inside a link.
 *
 *     link.c          its life, and how it breaks
 *     link_channel.c  channels: opening, sending, credit
 *     link_connect.c  the stream (attached or by an exec), silence, and why the agent is gone
 *     link_receive.c  what the agent sends
 *     link_hello.c    the two hellos
 *     link_error.c    the agent's errors
 *     link_frame.c    bytes and messages
 *
 * Its life:
 *
 *     new         no channel was opened yet
 *     connecting  the stream is opened, for which an exec may have to be created
 *     greeting    the hello was sent
 *     up
 *     ending      it is of no use any more; the engine is asked why
 *     broken      its channels are told in the next turn of the loop
 */
#ifndef COFFERDAM_LINK_LINK_PRIVATE_H
#define COFFERDAM_LINK_LINK_PRIVATE_H

#include "base/buffer.h"
#include "engine/duplex.h"
#include "engine/loop.h"
#include "engine/stdcopy.h"
#include "link/link.h"
#include "link/link_frame.h"

#define CDAM_TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define CDAM_FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME

/* What the agent may send on a channel before credit is given back: a reader that is slow has to
 * keep as much, and one frame. */
#define CDAM_LINK_CREDIT (768 * 1024)

/* Credit is given back in steps of this. */
#define CDAM_LINK_CREDIT_STEP (128 * 1024)

/* Channels at once, those that were abandoned and have no Done yet included. */
#define CDAM_LINK_MAX_CHANNELS 4096

/* Above this no charged message is sent. */
#define CDAM_LINK_HIGH (256 * 1024)

/* Bytes kept of what the relay says on standard error. */
#define CDAM_LINK_WORDS 512

#define CDAM_LINK_MAX_INSTANCE 64

typedef enum cdam_link_state {
  CDAM_LINK_NEW,
  CDAM_LINK_CONNECTING,
  CDAM_LINK_GREETING,
  CDAM_LINK_UP,
  CDAM_LINK_ENDING,
  CDAM_LINK_BROKEN,
} cdam_link_state;

/* What a channel sent before it has a number: bodies of messages, each behind its length. */
typedef struct cdam_opening {
  TAILQ_ENTRY(cdam_opening) in_link;
  cdam_channel *channel;
  cdam_buffer bodies;
} cdam_opening;

/* A channel's number is the place of its slot and one. */
typedef struct cdam_link_slot {
  cdam_channel *channel; /* NULL when it is free, or was abandoned */
  bool in_use;
  int64_t granted;    /* of one that was abandoned */
  uint32_t next_free; /* number of the next free one, or 0 */
} cdam_link_slot;

/* What a link does with its duplex; tests have one of their own. */
typedef struct cdam_link_transport {
  bool (*write)(cdam_duplex *duplex, const void *bytes, size_t length);
  size_t (*pending)(const cdam_duplex *duplex);
  void (*close)(cdam_duplex *duplex);
  bool (*has_hung_up)(const cdam_duplex *duplex);
} cdam_link_transport;

TAILQ_HEAD(cdam_channel_list, cdam_channel);
TAILQ_HEAD(cdam_opening_list, cdam_opening);

struct cdam_link {
  unsigned refs;
  cdam_link_state state;
  cdam_loop *loop; /* NULL when it is gone */
  char container_id[65];
  cdam_operation op;    /* for its requests and timers */
  cdam_posted work;     /* tells channels */
  cdam_posted loop_end; /* the loop goes */
  cdam_error trouble;   /* why it ends, or broke */
  unsigned looks;       /* how often the engine was asked why */
  bool hung_up;         /* the stream was closed from the other side, or is not the agent's */

  const cdam_link_transport *transport;
  cdam_duplex *duplex;
  cdam_stdcopy demux;
  cdam_frame_reader reader;
  cdam_frame_decoder decoder;
  char words[CDAM_LINK_WORDS]; /* of the relay */
  size_t word_count;

  /* link_connect.c */
  void (*ready)(void *user); /* until it was told */
  void *ready_user;
  cdam_exchange *timer;
  int64_t timer_at;
  bool suspected;    /* since the last Ping: the engine was asked about the container */
  bool unheard;      /* nothing came since the first of the open channels was opened */
  int64_t heard_at;  /* bytes came */
  int64_t asked_at;  /* a Ping was sent, or the hello, and nothing came since; 0: none */
  uint64_t token;    /* of the last Ping */
  uint64_t answered; /* of the last Pong */
  bool overslept;    /* the loop did not run when the answer was due */

  /* The agent's hello. */
  char instance[2 * CDAM_LINK_MAX_INSTANCE + 1];
  char *workspace;
  uint32_t initial_credit;
  uint32_t max_channels;

  /* link_channel.c */
  struct cdam_channel_list channels; /* open */
  struct cdam_opening_list openings; /* wait to be sent */
  cdam_link_slot *slots;
  uint32_t slot_count;
  uint32_t slot_room;
  uint32_t free_slot;   /* number of the first free one, or 0 */
  uint32_t in_use;      /* numbers */
  uint32_t next_writer; /* whose turn it is, by number */
  size_t charge;        /* of the message that is handed to a channel now */
};

/* ---- link.c ---- */

/* It is of no use any more, for this reason. Its channels are told where steps run. */
void cdam_link_break(cdam_link *link, const cdam_error *why);

/* The same, but the engine is asked first whether the container is the reason, unless memory was
 * lacking. `why` is what it is otherwise. */
void cdam_link_end(cdam_link *link, const cdam_error *why);

static inline bool cdam_link_is_ending(const cdam_link *link) {
  return link->state >= CDAM_LINK_ENDING;
}

/* ---- link_connect.c ---- */

/* CDAM_ERR_NO_MEMORY. */
cdam_status cdam_link_connect(cdam_link *link, cdam_error *err);

/* Asks the engine about the container, and breaks the link. */
void cdam_link_explain(cdam_link *link);

/* Minds the silence from now on, since there is something to wait for. */
void cdam_link_listen(cdam_link *link);

/* ---- link_hello.c ---- */

/* CDAM_ERR_NO_MEMORY. */
cdam_status cdam_link_send_hello(cdam_link *link, cdam_error *err);

/* Takes what the agent says of itself. CDAM_ERR_AGENT, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_link_take_hello(cdam_link *link, const Cofferdam__Agent__V1__AgentHello *hello,
                                 cdam_error *err);

/* ---- link_receive.c ---- */

/* Bytes of the agent's stream. */
void cdam_link_receive(cdam_link *link, const uint8_t *bytes, size_t length);

/* ---- link_channel.c ---- */

/* Sends a message as it is, on the channel that stands in it; its length where that is wanted.
 * False when out of memory. */
bool cdam_link_send(cdam_link *link, const cdam_to_agent *message, size_t *length);

/* The slot of a channel's number, or NULL. */
cdam_link_slot *cdam_link_slot_of(cdam_link *link, uint32_t number);

/* Done came: the number is free. */
void cdam_link_free_number(cdam_link *link, uint32_t number);

/* Sends what waits for a number, as far as there are numbers. */
void cdam_link_admit(cdam_link *link);

/* Closes a channel and tells its owner. */
void cdam_channel_close(cdam_channel *channel, cdam_status status, const cdam_error *error,
                        const cdam_agent_done *done);

/* Tells those that were cancelled before they were sent. */
void cdam_link_close_unsent(cdam_link *link);

/* Closes all channels with the error that broke the link. */
void cdam_link_close_all(cdam_link *link);

/* Lets the channels write that want to, and may. */
void cdam_link_wake_writers(cdam_link *link);
void cdam_channel_wake_writer(cdam_channel *channel);

/* Credit for what an abandoned channel still gets. */
void cdam_link_grant_abandoned(cdam_link *link, uint32_t number, cdam_link_slot *slot);

/* ---- link_error.c ---- */

/* What an error of the agent means. Never CDAM_OK. */
cdam_status cdam_link_error(const Cofferdam__Agent__V1__Error *error, cdam_error *err);

#endif
