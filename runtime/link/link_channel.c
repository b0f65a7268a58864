/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "link/link_private.h"

#define SMALL 1024

/* The most that a channel number adds to a message. */
#define CHANNEL_BYTES 6

/* ---- sending ---- */

static bool write_two(cdam_link *link, const void *head, size_t head_length, const void *rest,
                      size_t length) {
  if (!link->transport->write(link->duplex, head, head_length)) return false;
  return length == 0 || link->transport->write(link->duplex, rest, length);
}

static size_t size_of(const cdam_to_agent *message) {
  return cofferdam__agent__v1__to_agent__get_packed_size(message);
}

bool cdam_link_send(cdam_link *link, const cdam_to_agent *message, size_t *length) {
  uint8_t small[SMALL];
  size_t body = size_of(message);
  uint8_t *bytes = body + CDAM_FRAME_HEAD > sizeof small ? malloc(body + CDAM_FRAME_HEAD) : small;
  if (!bytes) return false;
  size_t head = cdam_frame_head(bytes, 0, body);
  cofferdam__agent__v1__to_agent__pack(message, bytes + head);
  bool sent = link->transport->write(link->duplex, bytes, head + body);
  if (bytes != small) free(bytes);
  if (length) *length = body;
  return sent;
}

static cdam_status break_for_memory(cdam_link *link, cdam_error *err) {
  cdam_error error;
  cdam_fail_memory(&error);
  cdam_link_break(link, &error);
  if (err) *err = error;
  return CDAM_ERR_NO_MEMORY;
}

static void send_simple(cdam_link *link, cdam_to_agent *message, uint32_t number) {
  message->channel = number;
  if (!cdam_link_send(link, message, NULL)) break_for_memory(link, NULL);
}

static void send_cancel(cdam_link *link, uint32_t number) {
  Cofferdam__Agent__V1__Cancel cancel = COFFERDAM__AGENT__V1__CANCEL__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = CDAM_TO(CANCEL);
  message.cancel = &cancel;
  send_simple(link, &message, number);
}

static void send_credit(cdam_link *link, uint32_t number, uint32_t bytes) {
  Cofferdam__Agent__V1__Credit credit = COFFERDAM__AGENT__V1__CREDIT__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  credit.bytes = bytes;
  message.body_case = CDAM_TO(CREDIT);
  message.credit = &credit;
  send_simple(link, &message, number);
}

/* ---- numbers ---- */

cdam_link_slot *cdam_link_slot_of(cdam_link *link, uint32_t number) {
  if (number == 0 || number > link->slot_count) return NULL;
  cdam_link_slot *slot = &link->slots[number - 1];
  return slot->in_use ? slot : NULL;
}

static bool has_number(const cdam_link *link) {
  return link->in_use < link->max_channels;
}

static bool make_slot(cdam_link *link) {
  if (link->slot_count == link->slot_room) {
    uint32_t room = link->slot_room ? 2 * link->slot_room : 16;
    cdam_link_slot *slots = realloc(link->slots, room * sizeof *slots);
    if (!slots) return false;
    link->slots = slots;
    link->slot_room = room;
  }
  link->slots[link->slot_count++] = (cdam_link_slot){.next_free = link->free_slot};
  link->free_slot = link->slot_count;
  return true;
}

/* 0 when out of memory. */
static uint32_t take_number(cdam_link *link, cdam_channel *channel) {
  if (!link->free_slot && !make_slot(link)) return 0;
  uint32_t number = link->free_slot;
  cdam_link_slot *slot = &link->slots[number - 1];
  link->free_slot = slot->next_free;
  *slot = (cdam_link_slot){.channel = channel, .in_use = true};
  link->in_use++;
  channel->number = number;
  channel->credit = link->initial_credit;
  return number;
}

void cdam_link_free_number(cdam_link *link, uint32_t number) {
  link->slots[number - 1] = (cdam_link_slot){.next_free = link->free_slot};
  link->free_slot = number;
  link->in_use--;
}

/* ---- what waits for a number ---- */

static bool add_body(cdam_opening *opening, const cdam_to_agent *message) {
  uint32_t length = (uint32_t)size_of(message);
  uint8_t small[SMALL];
  uint8_t *bytes = length + sizeof length > sizeof small ? malloc(length + sizeof length) : small;
  if (!bytes) return false;
  memcpy(bytes, &length, sizeof length);
  cofferdam__agent__v1__to_agent__pack(message, bytes + sizeof length);
  bool added = cdam_buffer_append(&opening->bodies, bytes, length + sizeof length);
  if (bytes != small) free(bytes);
  return added;
}

static void free_opening(cdam_link *link, cdam_channel *channel) {
  cdam_opening *opening = channel->opening;
  if (!opening) return;
  TAILQ_REMOVE(&link->openings, opening, in_link);
  cdam_buffer_clear(&opening->bodies);
  free(opening);
  channel->opening = NULL;
}

static bool make_opening(cdam_link *link, cdam_channel *channel, const cdam_to_agent *request) {
  cdam_opening *opening = calloc(1, sizeof *opening);
  if (!opening) return false;
  opening->channel = channel;
  channel->opening = opening;
  TAILQ_INSERT_TAIL(&link->openings, opening, in_link);
  if (add_body(opening, request)) return true;
  free_opening(link, channel);
  return false;
}

static bool send_opening(cdam_link *link, cdam_opening *opening) {
  uint32_t number = take_number(link, opening->channel);
  if (!number) return false;
  const char *at = opening->bodies.data, *end = at + opening->bodies.length;
  while (at < end) {
    uint32_t length;
    uint8_t head[CDAM_FRAME_HEAD];
    memcpy(&length, at, sizeof length);
    at += sizeof length;
    size_t head_length = cdam_frame_head(head, number, length);
    if (!write_two(link, head, head_length, at, length)) return false;
    at += length;
  }
  return true;
}

static void close_cancelled(cdam_channel *channel) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_CANCELLED, "the operation was cancelled");
  cdam_channel_close(channel, CDAM_ERR_CANCELLED, &error, NULL);
}

void cdam_link_admit(cdam_link *link) {
  cdam_opening *opening;
  while (link->state == CDAM_LINK_UP && has_number(link) &&
         (opening = TAILQ_FIRST(&link->openings))) {
    cdam_channel *channel = opening->channel;
    if (channel->cancelled) {
      close_cancelled(channel);
      continue;
    }
    if (!send_opening(link, opening)) {
      break_for_memory(link, NULL);
      return;
    }
    free_opening(link, channel);
    if (channel->wants_to_send) cdam_channel_wake_writer(channel);
  }
}

void cdam_link_close_unsent(cdam_link *link) {
  cdam_opening *opening = TAILQ_FIRST(&link->openings);
  while (opening) {
    bool cancelled = opening->channel->cancelled;
    if (cancelled) close_cancelled(opening->channel);
    opening = cancelled ? TAILQ_FIRST(&link->openings) : TAILQ_NEXT(opening, in_link);
  }
}

/* ---- opening and closing ---- */

/* Sends the request, or lets it wait. */
static cdam_status begin(cdam_link *link, cdam_channel *channel, cdam_to_agent *request,
                         cdam_error *err) {
  if (link->state == CDAM_LINK_UP && has_number(link) && TAILQ_EMPTY(&link->openings)) {
    request->channel = take_number(link, channel);
    if (!request->channel) return cdam_fail_memory(err);
    if (cdam_link_send(link, request, NULL)) return cdam_ok(err);
    cdam_link_free_number(link, channel->number);
    return cdam_fail_memory(err);
  }
  if (!make_opening(link, channel, request)) return cdam_fail_memory(err);
  if (link->state != CDAM_LINK_NEW) return cdam_ok(err);
  cdam_status status = cdam_link_connect(link, err);
  if (status != CDAM_OK) free_opening(link, channel);
  return status;
}

cdam_status cdam_channel_open(cdam_link *link, cdam_channel *channel, cdam_to_agent *request,
                              const cdam_channel_events *events, cdam_error *err) {
  if (channel->link) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the channel is open already");
  if (cdam_link_is_broken(link)) {
    if (err) *err = link->trouble;
    return link->trouble.code;
  }
  request->channel = 0;
  if (size_of(request) + CHANNEL_BYTES > CDAM_FRAME_MAX)
    return cdam_fail(err, CDAM_ERR_INVALID,
                     "the request is larger than the agent takes (%zu bytes)", CDAM_FRAME_MAX);
  channel->number = 0;
  channel->opening = NULL;
  channel->events = events;
  channel->credit = 0;
  channel->granted = CDAM_LINK_CREDIT;
  channel->taken = 0;
  channel->wants_to_send = channel->cancelled = false;
  bool first = TAILQ_EMPTY(&link->channels);
  cdam_status status = begin(link, channel, request, err);
  if (status != CDAM_OK) return status;
  channel->link = cdam_link_ref(link);
  TAILQ_INSERT_TAIL(&link->channels, channel, in_link);
  if (first && link->state == CDAM_LINK_UP) cdam_link_listen(link);
  return CDAM_OK;
}

/* Takes it from its link, whose reference is the caller's then. */
static cdam_link *detach(cdam_channel *channel) {
  cdam_link *link = channel->link;
  free_opening(link, channel);
  TAILQ_REMOVE(&link->channels, channel, in_link);
  channel->link = NULL;
  return link;
}

void cdam_channel_close(cdam_channel *channel, cdam_status status, const cdam_error *error,
                        const cdam_agent_done *done) {
  cdam_link *link = detach(channel);
  channel->events->done(channel, status, error, done);
  cdam_link_unref(link);
}

void cdam_link_close_all(cdam_link *link) {
  cdam_channel *channel;
  while ((channel = TAILQ_FIRST(&link->channels)))
    cdam_channel_close(channel, link->trouble.code, &link->trouble, NULL);
}

void cdam_channel_cancel(cdam_channel *channel) {
  cdam_link *link = channel->link;
  if (!link || channel->cancelled) return;
  channel->cancelled = true;
  if (cdam_link_is_broken(link)) return;
  if (channel->opening)
    cdam_loop_post(link->loop, &link->work);
  else
    send_cancel(link, channel->number);
}

/* Its number is in use until Done comes, which may need credit for what comes before. */
void cdam_channel_abandon(cdam_channel *channel) {
  if (!channel->link) return;
  bool sent = !channel->opening && !cdam_link_is_broken(channel->link);
  cdam_link *link = detach(channel);
  cdam_link_slot *slot = sent ? cdam_link_slot_of(link, channel->number) : NULL;
  if (slot) {
    slot->channel = NULL;
    slot->granted = channel->granted;
    if (!channel->cancelled) send_cancel(link, channel->number);
    if (!cdam_link_is_ending(link)) cdam_link_grant_abandoned(link, channel->number, slot);
  }
  cdam_link_unref(link);
}

/* ---- messages of a channel ---- */

static cdam_status check_open(const cdam_channel *channel, cdam_error *err) {
  if (!channel->link) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the channel is closed");
  if (!cdam_link_is_broken(channel->link)) return CDAM_OK;
  if (err) *err = channel->link->trouble;
  return channel->link->trouble.code;
}

bool cdam_channel_can_send(cdam_channel *channel) {
  cdam_link *link = channel->link;
  bool may = link && !cdam_link_is_broken(link) && channel->number && channel->credit > 0 &&
             link->transport->pending(link->duplex) < CDAM_LINK_HIGH;
  channel->wants_to_send = !may;
  return may;
}

static bool needs_credit(const cdam_to_agent *message) {
  return message->body_case == CDAM_TO(ENTRY) ||
         (message->body_case == CDAM_TO(DATA) && message->data->data.len > 0);
}

cdam_status cdam_channel_send(cdam_channel *channel, cdam_to_agent *message, cdam_error *err) {
  cdam_status status = check_open(channel, err);
  if (status != CDAM_OK) return status;
  message->channel = channel->number;
  if (size_of(message) > CDAM_FRAME_MAX)
    return cdam_fail(err, CDAM_ERR_INVALID, "the message is larger than the agent takes");
  cdam_link *link = channel->link;
  size_t length;
  if (channel->opening)
    return add_body(channel->opening, message) ? cdam_ok(err) : break_for_memory(link, err);
  if (!cdam_link_send(link, message, &length)) return break_for_memory(link, err);
  if (needs_credit(message)) channel->credit -= (int64_t)length;
  return cdam_ok(err);
}

static cdam_status keep_data(cdam_channel *channel, const void *bytes, size_t length, bool end,
                             cdam_error *err) {
  Cofferdam__Agent__V1__Data data = COFFERDAM__AGENT__V1__DATA__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  data.data.data = (uint8_t *)(uintptr_t)bytes;
  data.data.len = length;
  data.end = end;
  message.body_case = CDAM_TO(DATA);
  message.data = &data;
  return cdam_channel_send(channel, &message, err);
}

cdam_status cdam_channel_send_data(cdam_channel *channel, const void *bytes, size_t length,
                                   bool end, cdam_error *err) {
  if (length > CDAM_LINK_PIECE)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "more data than fit into a message");
  cdam_status status = check_open(channel, err);
  if (status != CDAM_OK) return status;
  if (channel->opening) return keep_data(channel, bytes, length, end, err);
  uint8_t head[CDAM_FRAME_HEAD];
  size_t head_length = cdam_frame_data_head(head, channel->number, length, end);
  if (!write_two(channel->link, head, head_length, bytes, length))
    return break_for_memory(channel->link, err);
  if (length) channel->credit -= (int64_t)(head_length - 4 + length);
  return cdam_ok(err);
}

/* ---- credit ---- */

void cdam_channel_set_hold(cdam_channel *channel, bool hold) {
  channel->hold = hold;
}

void cdam_channel_grant(cdam_channel *channel, size_t bytes) {
  cdam_link *link = channel->link;
  if (!link || cdam_link_is_broken(link) || !channel->number) return;
  int64_t most = CDAM_LINK_CREDIT - channel->granted - (int64_t)channel->taken;
  channel->taken += most < 0 ? 0 : bytes < (size_t)most ? bytes : (size_t)most;
  if (channel->taken < CDAM_LINK_CREDIT_STEP) return;
  channel->granted += (int64_t)channel->taken;
  uint32_t credit = (uint32_t)channel->taken;
  channel->taken = 0;
  send_credit(link, channel->number, credit);
}

void cdam_link_grant_abandoned(cdam_link *link, uint32_t number, cdam_link_slot *slot) {
  int64_t missing = CDAM_LINK_CREDIT - slot->granted;
  if (missing < CDAM_LINK_CREDIT_STEP) return;
  slot->granted += missing;
  send_credit(link, number, (uint32_t)missing);
}

size_t cdam_channel_message_charge(const cdam_channel *channel) {
  return channel->link ? channel->link->charge : 0;
}

void cdam_channel_wake_writer(cdam_channel *channel) {
  if (!channel->wants_to_send || !channel->events->writable || !cdam_channel_can_send(channel))
    return;
  channel->events->writable(channel);
}

/* Each in turn, for the first one alone may fill what there is room for. */
void cdam_link_wake_writers(cdam_link *link) {
  uint32_t count = link->slot_count;
  for (uint32_t i = 0; i < count && !cdam_link_is_ending(link); i++) {
    if (link->transport->pending(link->duplex) >= CDAM_LINK_HIGH) return;
    uint32_t place = link->next_writer % link->slot_count;
    link->next_writer = place + 1;
    cdam_channel *channel = link->slots[place].channel;
    if (channel) cdam_channel_wake_writer(channel);
  }
}
