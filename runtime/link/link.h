/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link: the library's side of the agent's protocol (schema/cofferdam/agent/v1/PROTOCOL.md), over
 * one stream: an exec that runs the agent's relay, or the container's own streams. Any number of
 * operations share it, each on a channel.
 *
 * A link lives in one loop. A session has at most one in each loop that it is used with
 * (session_link.h). What comes from the agent is untrusted: whatever is not as PROTOCOL.md says
 * breaks the link, and with it all its channels, and nothing else.
 *
 * Callbacks run where steps run; see engine/duplex.h.
 */
#ifndef COFFERDAM_LINK_LINK_H
#define COFFERDAM_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cofferdam/agent/v1/agent.pb-c.h"
#include "engine/operation.h"

typedef struct cdam_link cdam_link;
typedef struct cdam_channel cdam_channel;

typedef Cofferdam__Agent__V1__ToAgent cdam_to_agent;
typedef Cofferdam__Agent__V1__FromAgent cdam_from_agent;
typedef Cofferdam__Agent__V1__Done cdam_agent_done;

/* What a channel is told. */
typedef struct cdam_channel_events {
  /* Any body but Credit and Done; it lives for the call. False with *failure set for what makes no
   * sense here: that breaks the link. */
  bool (*message)(cdam_channel *channel, const cdam_from_agent *message, cdam_error *failure);
  /* Data or Entry can be sent again, after cdam_channel_can_send said no. May be NULL. */
  void (*writable)(cdam_channel *channel);
  /* The end, told once, the last callback. status is CDAM_OK after a Done without an error; else
   * what its error means (link_error.c), or why the link broke, and then `done` is NULL. The
   * channel is closed and may be opened again, also here. */
  void (*done)(cdam_channel *channel, cdam_status status, const cdam_error *error,
               const cdam_agent_done *done);
} cdam_channel_events;

/* Embedded in whatever uses it; zeroed before its first use. Its members are link.c's own. */
struct cdam_channel {
  TAILQ_ENTRY(cdam_channel) in_link;
  cdam_link *link; /* NULL when it is closed */
  uint32_t number; /* 0 while its request waits for the link or for a free number */
  struct cdam_opening *opening;
  const cdam_channel_events *events;
  int64_t credit;  /* bytes that may be sent */
  int64_t granted; /* bytes that the agent may still send */
  uint64_t taken;  /* bytes taken since the last grant */
  bool wants_to_send;
  bool cancelled;
  bool hold; /* credit is given back by cdam_channel_grant alone */
};

/* ---- the link ---- */

/* A link to the agent in a container, by `COMMAND relay`, with one reference. It connects with its
 * first channel. `container_id` is copied. NULL when out of memory. */
cdam_link *cdam_link_new(cdam_loop *loop, const char *container_id, cdam_error *err);

/* The same to the agent of a container that is about to be started for the first time, with `init
 * --stdio`, over its own standard streams. It connects at once. `ready` runs once, where steps run:
 * when the engine has opened the streams, or when it did not and the link is broken; and not after
 * cdam_link_drop_ready or the last unref. */
cdam_link *cdam_link_new_attached(cdam_loop *loop, const char *container_id,
                                  void (*ready)(void *user), void *user, cdam_error *err);
void cdam_link_drop_ready(cdam_link *link);

cdam_link *cdam_link_ref(cdam_link *link);

/* The last one closes it: the agent then ends what this client had not asked to outlive it. NULL is
 * fine. An open channel counts as a reference. */
void cdam_link_unref(cdam_link *link);

/* It broke, or its loop is gone; a new one has to be made. */
bool cdam_link_is_broken(const cdam_link *link);

/* It is of no use for a new request: it broke, or its stream was closed from the other side and
 * nobody has read so far yet. That takes a system call. */
bool cdam_link_has_ended(const cdam_link *link);

/* The loop it lives in; NULL when that is gone. */
cdam_loop *cdam_link_loop(const cdam_link *link);

/* What the agent said in its hello; "" before. `instance` is lower-case hex; `workspace` is also ""
 * when the agent has none. */
const char *cdam_link_instance(const cdam_link *link);
const char *cdam_link_workspace(const cdam_link *link);

/* ---- channels ---- */

/* Opens a channel with its request (whose channel number is filled in); sent when the link is up.
 * CDAM_ERR_NO_MEMORY, CDAM_ERR_INVALID (a request larger than a frame), and what broke the link;
 * then nothing is open and no callback runs. */
cdam_status cdam_channel_open(cdam_link *link, cdam_channel *channel, cdam_to_agent *request,
                              const cdam_channel_events *events, cdam_error *err);

static inline bool cdam_channel_is_open(const cdam_channel *channel) {
  return channel->link != NULL;
}

/* May a charged message (Data, Entry) be sent now? When not, `writable` will tell. False too as
 * long as a lot waits to be sent. */
bool cdam_channel_can_send(cdam_channel *channel);

/* Sends a message on an open channel. Charged ones only after cdam_channel_can_send.
 * CDAM_ERR_NO_MEMORY breaks the link; of one that broke already the error is what broke it. Either
 * way `done` follows. CDAM_ERR_ARGUMENT for a closed channel. */
cdam_status cdam_channel_send(cdam_channel *channel, cdam_to_agent *message, cdam_error *err);

/* Data, the form that is used most: without building a message. At most CDAM_LINK_PIECE bytes. */
cdam_status cdam_channel_send_data(cdam_channel *channel, const void *bytes, size_t length,
                                   bool end, cdam_error *err);
#define CDAM_LINK_PIECE (128 * 1024)

/* Normally what a message was charged is given back when `message` returns. With hold, only by
 * cdam_channel_grant, which is how a slow reader slows the sender down. */
void cdam_channel_set_hold(cdam_channel *channel, bool hold);
void cdam_channel_grant(cdam_channel *channel, size_t bytes);

/* What a message was charged; for cdam_channel_grant. Only inside `message`. */
size_t cdam_channel_message_charge(const cdam_channel *channel);

/* Sends Cancel; `done` follows. Does nothing when it is closed or was cancelled. */
void cdam_channel_cancel(cdam_channel *channel);

/* The owner goes away now: cancels, and what still comes for it is thrown away. No callback
 * runs any more, and `channel` may be freed at once. */
void cdam_channel_abandon(cdam_channel *channel);

#endif
