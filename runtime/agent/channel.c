/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "server.h"

#include <stdlib.h>

static void run_task(agent_task *task) {
  agent_channel *channel = AGENT_OWNER(task, agent_channel, task);
  if (channel->blocked) {
    channel->blocked = false;
    channel->peer->blocked_count--;
  }
  channel->class->run(channel);
}

void *agent_channel_open(agent_peer *peer, uint32_t number, size_t size,
                         const agent_channel_class *class) {
  agent_channel *channel = calloc(1, size);
  if (!channel) {
    agent_reply_fail(peer, number, ERR(NO_MEMORY), "out of memory");
    return NULL;
  }
  *channel = (agent_channel){.class = class,
                             .peer = peer,
                             .next = peer->channels[number % AGENT_PEER_BUCKETS],
                             .task = {.run = run_task},
                             .credit = peer->initial_credit,
                             .granted = AGENT_INITIAL_CREDIT,
                             .number = number};
  peer->channels[number % AGENT_PEER_BUCKETS] = channel;
  peer->channel_count++;
  return channel;
}

bool agent_channel_ready(agent_channel *channel) {
  agent_peer *peer = channel->peer;
  if (channel->done || peer->closing || peer->gone) return false;
  if (channel->credit > 0 && peer->queue.end - peer->queue.begin < AGENT_QUEUE_HIGH) return true;
  if (!channel->blocked) {
    channel->blocked = true;
    peer->blocked_count++;
  }
  return false;
}

void agent_channel_send(agent_channel *channel, MSG(FromAgent) * message, bool charged) {
  message->channel = channel->number;
  size_t length = agent_peer_send(channel->peer, message);
  if (charged) channel->credit -= (int64_t)length;
}

void agent_channel_wake(agent_channel *channel) {
  if (!channel->done && channel->class->run)
    agent_loop_queue(&channel->peer->server->loop, &channel->task);
}

void agent_channel_consumed(agent_channel *channel, size_t bytes, bool now) {
  channel->returned += (uint32_t)bytes;
  if (channel->done || channel->returned == 0) return;
  if (!now && channel->returned < AGENT_CREDIT_STEP) return;
  MSG(Credit) credit = MSG_INIT(CREDIT);
  credit.bytes = channel->returned;
  channel->granted += channel->returned;
  channel->returned = 0;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(CREDIT);
  message.credit = &credit;
  agent_channel_send(channel, &message, false);
}

void agent_channel_drop(agent_channel *channel) {
  agent_peer *peer = channel->peer;
  agent_channel **at = &peer->channels[channel->number % AGENT_PEER_BUCKETS];
  while (*at != channel)
    at = &(*at)->next;
  *at = channel->next;
  peer->channel_count--;
  if (channel->blocked) peer->blocked_count--;
  channel->done = true;
  agent_loop_unqueue(&peer->server->loop, &channel->task);
  channel->class->release(channel);
  agent_loop_free(&peer->server->loop, channel);
}

static void send_done(agent_peer *peer, uint32_t number, const MSG(Error) * error,
                      uint64_t skipped) {
  MSG(Done) done = MSG_INIT(DONE);
  done.error = (MSG(Error) *)error;
  done.skipped = skipped;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.channel = number;
  message.body_case = FROM(DONE);
  message.done = &done;
  agent_peer_send(peer, &message);
}

void agent_channel_done(agent_channel *channel, const MSG(Error) * error) {
  if (channel->done) return;
  send_done(channel->peer, channel->number, error, 0);
  agent_channel_drop(channel);
}

void agent_channel_done_skipped(agent_channel *channel, uint64_t skipped) {
  if (channel->done) return;
  send_done(channel->peer, channel->number, NULL, skipped);
  agent_channel_drop(channel);
}

void agent_channel_fail(agent_channel *channel, int code, const char *text) {
  MSG(Error) error = MSG_INIT(ERROR);
  error.code = code;
  error.message = (char *)text;
  agent_channel_done(channel, &error);
}

void agent_channel_fail_system(agent_channel *channel, int step, int system_errno) {
  MSG(Error) error = MSG_INIT(ERROR);
  agent_error_system(&error, step, system_errno);
  agent_channel_done(channel, &error);
}

void agent_reply_done(agent_peer *peer, uint32_t number, const MSG(Error) * error) {
  send_done(peer, number, error, 0);
}

void agent_reply_fail(agent_peer *peer, uint32_t number, int code, const char *text) {
  MSG(Error) error = MSG_INIT(ERROR);
  error.code = code;
  error.message = (char *)text;
  send_done(peer, number, &error, 0);
}

void agent_reply_system(agent_peer *peer, uint32_t number, int step, int system_errno) {
  MSG(Error) error = MSG_INIT(ERROR);
  agent_error_system(&error, step, system_errno);
  send_done(peer, number, &error, 0);
}
