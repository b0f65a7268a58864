/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "link/link_private.h"

static void broken(cdam_link *link, const char *how) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_AGENT, "the agent broke the protocol: %s", how);
  cdam_link_break(link, &error);
}

/* ---- channel 0 ---- */

/* The agent's last word on the connection. */
static void take_farewell(cdam_link *link, const cdam_agent_done *done) {
  cdam_error error;
  char said[sizeof error.message];
  if (!done->error) {
    broken(link, "it ended the connection without a reason");
    return;
  }
  cdam_status status = cdam_link_error(done->error, &error);
  snprintf(said, sizeof said, "%s", error.message);
  cdam_fail(&error, status == CDAM_ERR_LIMIT ? status : CDAM_ERR_AGENT,
            "the agent ended the connection: %s", said);
  cdam_link_break(link, &error);
}

static void take_greeting(cdam_link *link, const cdam_from_agent *message) {
  cdam_error error;
  if (message->channel == 0 && message->body_case == CDAM_FROM(DONE)) {
    take_farewell(link, message->done);
  } else if (message->channel != 0 || message->body_case != CDAM_FROM(AGENT_HELLO)) {
    broken(link, "its first message is no hello");
  } else if (cdam_link_take_hello(link, message->agent_hello, &error) != CDAM_OK) {
    cdam_link_break(link, &error);
  } else {
    link->state = CDAM_LINK_UP;
    cdam_link_listen(link);
    cdam_link_admit(link);
  }
}

static void take_pong(cdam_link *link, const Cofferdam__Agent__V1__Pong *pong) {
  if (pong->token > link->token || pong->token <= link->answered)
    broken(link, "an answer to a Ping that was not sent");
  else
    link->answered = pong->token;
}

static void take_for_link(cdam_link *link, const cdam_from_agent *message) {
  if (message->body_case == CDAM_FROM(PONG))
    take_pong(link, message->pong);
  else if (message->body_case == CDAM_FROM(DONE))
    take_farewell(link, message->done);
  else
    broken(link, "a message on channel 0 that belongs to an operation, or a second hello");
}

/* ---- other channels ---- */

static void take_credit(cdam_link *link, cdam_channel *channel, uint32_t bytes) {
  if (!channel) return; /* of what was abandoned */
  channel->credit += bytes;
  if (channel->credit > INT32_MAX)
    broken(link, "more credit than there can be");
  else
    cdam_channel_wake_writer(channel);
}

static void take_done(cdam_link *link, uint32_t number, cdam_channel *channel,
                      const cdam_agent_done *done) {
  cdam_link_free_number(link, number);
  if (channel && done->error) {
    cdam_error error;
    cdam_status status = cdam_link_error(done->error, &error);
    cdam_channel_close(channel, status, &error, done);
  } else if (channel) {
    cdam_error none;
    cdam_ok(&none);
    cdam_channel_close(channel, CDAM_OK, &none, done);
  }
  cdam_link_admit(link);
}

static void hand_over(cdam_link *link, uint32_t number, cdam_channel *channel,
                      const cdam_from_agent *message, size_t charge) {
  cdam_error failure;
  cdam_fail(&failure, CDAM_ERR_AGENT, "the agent broke the protocol: an unexpected message");
  link->charge = charge;
  bool fine = channel->events->message(channel, message, &failure);
  link->charge = 0;
  if (!fine) {
    cdam_link_break(link, &failure);
    return;
  }
  /* It may have been abandoned meanwhile. */
  const cdam_link_slot *slot = cdam_link_slot_of(link, number);
  if (charge && slot && slot->channel == channel && !channel->hold)
    cdam_channel_grant(channel, charge);
}

/* A sender may go below zero by one message. */
static bool take_charge(int64_t *granted, size_t charge) {
  if (charge && *granted <= 0) return false;
  *granted -= (int64_t)charge;
  return true;
}

static void take_for_channel(cdam_link *link, const cdam_from_agent *message, size_t length) {
  uint32_t number = message->channel;
  cdam_link_slot *slot = cdam_link_slot_of(link, number);
  if (!slot) {
    broken(link, "a message on a channel that is not open");
    return;
  }
  cdam_channel *channel = slot->channel;
  size_t charge = cdam_frame_is_charged(message) ? length : 0;
  if (!take_charge(channel ? &channel->granted : &slot->granted, charge)) {
    broken(link, "it sent more than it may");
    return;
  }
  switch (message->body_case) {
  case CDAM_FROM(AGENT_HELLO):
  case CDAM_FROM(PONG):
    broken(link, "a message of the connection on an operation's channel");
    return;
  case CDAM_FROM(CREDIT):
    take_credit(link, channel, message->credit->bytes);
    return;
  case CDAM_FROM(DONE):
    take_done(link, number, channel, message->done);
    return;
  default:
    if (channel)
      hand_over(link, number, channel, message, charge);
    else
      cdam_link_grant_abandoned(link, number, slot);
  }
}

/* ---- the stream ---- */

static void take(cdam_link *link, const cdam_frame *frame) {
  cdam_error failure;
  const cdam_from_agent *message = cdam_frame_decode(&link->decoder, frame, &failure);
  if (!message)
    cdam_link_break(link, &failure);
  else if (link->state == CDAM_LINK_GREETING)
    take_greeting(link, message);
  else if (message->channel == 0)
    take_for_link(link, message);
  else
    take_for_channel(link, message, frame->length);
}

/* An engine that could not start the relay may say so where the agent's stream should be. */
static void not_the_agent(cdam_link *link, const uint8_t *bytes, size_t length) {
  cdam_error error;
  char said[200];
  cdam_printable(said, sizeof said, (const char *)bytes,
                 length < sizeof said ? length : sizeof said);
  cdam_fail(&error, CDAM_ERR_AGENT, "instead of the agent's hello there came \"%s\"", said);
  link->hung_up = true;
  cdam_link_end(link, &error);
}

void cdam_link_receive(cdam_link *link, const uint8_t *bytes, size_t length) {
  cdam_error failure;
  cdam_frame frame;
  const uint8_t *all = bytes;
  size_t all_length = length;
  link->heard_at = cdam_now_ms();
  link->unheard = false;
  while (!cdam_link_is_ending(link)) {
    cdam_frame_result result = cdam_frame_next(&link->reader, &bytes, &length, &frame, &failure);
    if (result == CDAM_FRAME_MORE) break;
    if (result == CDAM_FRAME_WHOLE)
      take(link, &frame);
    else if (link->state == CDAM_LINK_GREETING && failure.code == CDAM_ERR_AGENT)
      not_the_agent(link, all, all_length);
    else
      cdam_link_break(link, &failure);
  }
  if (TAILQ_EMPTY(&link->channels)) cdam_frame_reader_trim(&link->reader);
}
