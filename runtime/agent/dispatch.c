/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"

#include "files.h"
#include "path.h"
#include "process_requests.h"
#include "server.h"

static agent_channel *find(agent_peer *peer, uint32_t number) {
  agent_channel *channel = peer->channels[number % AGENT_PEER_BUCKETS];
  while (channel && channel->number != number)
    channel = channel->next;
  return channel;
}

static void pong(agent_peer *peer, const MSG(Ping) * ping) {
  MSG(Pong) answer = MSG_INIT(PONG);
  answer.token = ping->token;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(PONG);
  message.pong = &answer;
  agent_peer_send(peer, &message);
}

static void connection_message(agent_peer *peer, const MSG(ToAgent) * message) {
  if (message->body_case == TO(PING))
    pong(peer, message->ping);
  else
    agent_peer_fail(peer, ERR(PROTOCOL), "not a message for channel 0");
}

static void add_credit(agent_peer *peer, agent_channel *channel, uint32_t bytes) {
  channel->credit += bytes;
  if (channel->credit > INT32_MAX) {
    agent_peer_fail(peer, ERR(PROTOCOL), "too much credit");
    return;
  }
  if (channel->blocked && channel->credit > 0) agent_channel_wake(channel);
}

/* Data and Entry: in the credit, and for an operation that takes them. */
static void content(agent_peer *peer, agent_channel *channel, const MSG(ToAgent) * message,
                    uint32_t length) {
  /* An end without data is free: nobody has to wait to say that there is no more. */
  bool is_free = message->body_case == TO(DATA) && message->data->data.len == 0;
  if (channel->granted <= 0 && !is_free) {
    agent_peer_fail(peer, ERR(PROTOCOL), "sent without credit");
    return;
  }
  if (!is_free) channel->granted -= length;
  if (message->body_case == TO(DATA) && channel->class->data)
    channel->class->data(channel, message->data);
  else if (message->body_case == TO(ENTRY) && channel->class->entry)
    channel->class->entry(channel, message->entry);
  else
    agent_peer_fail(peer, ERR(PROTOCOL), "the operation takes no such message");
}

static void cancel(agent_channel *channel) {
  if (channel->class->cancel)
    channel->class->cancel(channel);
  else
    agent_channel_fail(channel, ERR(CANCELLED), "cancelled");
}

/* A message for an operation that is under way; it may have ended meanwhile, and then the message
 * just crossed its Done. */
static bool channel_message(agent_peer *peer, const MSG(ToAgent) * message, uint32_t length) {
  int body = message->body_case;
  if (body != TO(CREDIT) && body != TO(DATA) && body != TO(ENTRY) && body != TO(CANCEL))
    return false;
  agent_channel *channel = find(peer, message->channel);
  if (!channel) return true;
  if (body == TO(CREDIT))
    add_credit(peer, channel, message->credit->bytes);
  else if (body == TO(CANCEL))
    cancel(channel);
  else
    content(peer, channel, message, length);
  return true;
}

void agent_dispatch(agent_peer *peer, const MSG(ToAgent) * message, uint32_t length) {
  if (message->channel == 0) {
    connection_message(peer, message);
    return;
  }
  if (channel_message(peer, message, length)) return;
  if (find(peer, message->channel)) {
    agent_peer_fail(peer, ERR(PROTOCOL), "the channel is in use");
    return;
  }
  if (peer->server->shutting_down) {
    agent_reply_fail(peer, message->channel, ERR(SHUTTING_DOWN), "the sandbox is ending");
    return;
  }
  if (peer->channel_count >= AGENT_MAX_CHANNELS) {
    agent_reply_fail(peer, message->channel, ERR(LIMIT), "too many channels");
    return;
  }
  agent_workspace_need(peer->server);
  if (agent_process_request(peer, message) || agent_file_request(peer, message)) return;
  agent_reply_fail(peer, message->channel, ERR(UNKNOWN_REQUEST), "unknown request");
}
