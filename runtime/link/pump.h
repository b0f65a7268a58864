/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the program's sources and sinks (<cofferdam/stream.h>) and a channel, or a stream without
 * the agent.
 *
 *     cdam_feed    reads a source and sends it, as Data, as fast as the channel has credit
 *     cdam_drain   writes what comes into a sink, and gives credit back for what was taken
 *
 * Neither blocks on a descriptor: one that would is waited for in the loop. Its file status flags
 * are left alone, for they are shared with whoever else has it. Memory stays below a piece for a
 * feed, and below the channel's credit for a drain.
 *
 * Callbacks run where steps run (engine/duplex.h), and a feed's `done` also inside cdam_feed_go.
 * Both may be freed in them.
 */
#ifndef COFFERDAM_LINK_PUMP_H
#define COFFERDAM_LINK_PUMP_H

#include <cofferdam/stream.h>

#include "link/link.h"

/* CDAM_ERR_ARGUMENT for a source or sink that is more than one thing, or whose descriptor is not
 * open; NULL is fine. `what` names it in the message: "input". */
cdam_status cdam_source_check(const cdam_source *source, const char *what, cdam_error *err);
cdam_status cdam_sink_check(const cdam_sink *sink, const char *what, cdam_error *err);

/* ---- from a source ---- */

typedef struct cdam_feed cdam_feed;

/* Where a feed's bytes go. */
typedef struct cdam_feed_target {
  /* When not, the feed does nothing. */
  bool (*is_open)(void *to);
  /* When not, cdam_feed_go has to be called again. */
  bool (*can_send)(void *to);
  /* At most CDAM_LINK_PIECE bytes, or none, and with the last ones the end. */
  cdam_status (*send)(void *to, const void *bytes, size_t length, bool end, cdam_error *err);
} cdam_feed_target;

/* All of it was handed to the channel, with the end behind it (error is NULL); or it went wrong:
 * CDAM_ERR_IO for the source, CDAM_ERR_NO_MEMORY. Called once; not when the channel closes. */
typedef void (*cdam_feed_done)(void *user, const cdam_error *error);

/* The struct is copied, what it points to is borrowed. NULL: no bytes, only the end. Nothing
 * is read before the first cdam_feed_go. NULL when out of memory or descriptors. */
cdam_feed *cdam_feed_new(cdam_loop *loop, const cdam_source *source, cdam_channel *channel,
                         cdam_feed_done done, void *user, cdam_error *err);

/* The same into something else; `target` and `to` are borrowed. */
cdam_feed *cdam_feed_new_to(cdam_loop *loop, const cdam_source *source,
                            const cdam_feed_target *target, void *to, cdam_feed_done done,
                            void *user, cdam_error *err);

/* Sends what can be sent now. To be called when the channel is open and its first messages may
 * go, and from the channel's `writable`. Does nothing when the channel is closed, or the feed
 * is done. */
void cdam_feed_go(cdam_feed *feed);

/* Has it handed over everything? */
bool cdam_feed_is_done(const cdam_feed *feed);

/* NULL is fine. */
void cdam_feed_free(cdam_feed *feed);

/* ---- into a sink ---- */

typedef struct cdam_drain cdam_drain;

typedef struct cdam_drain_events {
  /* What waited has been written. May be NULL. */
  void (*emptied)(void *user);
  /* Writing what waited failed: CDAM_ERR_IO. What comes from now on is thrown away. */
  void (*failed)(void *user, const cdam_error *error);
} cdam_drain_events;

/* `channel` is one with hold; NULL: no credit is given. NULL for the sink throws all away. NULL
 * when out of memory or descriptors. */
cdam_drain *cdam_drain_new(cdam_loop *loop, const cdam_sink *sink, cdam_channel *channel,
                           const cdam_drain_events *events, void *user, cdam_error *err);

/* Writes the bytes of a message, or keeps a copy of what cannot be written yet. `charge` is given
 * back to the channel when all of them are written, if it is still open. CDAM_ERR_IO,
 * CDAM_ERR_NO_MEMORY; `failed` is not called as well. */
cdam_status cdam_drain_put(cdam_drain *drain, const void *bytes, size_t length, size_t charge,
                           cdam_error *err);

/* Is everything written? */
bool cdam_drain_is_empty(const cdam_drain *drain);

/* Throws away what waits. NULL is fine. */
void cdam_drain_free(cdam_drain *drain);

#endif
