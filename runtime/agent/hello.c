/* SPDX-License-Identifier: Apache-2.0 */
#include "hello.h"

#include "server.h"

#include <string.h>
#include <sys/utsname.h>

static void send_hello(agent_peer *peer, uint32_t version, MSG(Error) * error) {
  agent_server *server = peer->server;
  struct utsname name;
  if (uname(&name) != 0) name.machine[0] = '\0';
  MSG(Limits) limits = MSG_INIT(LIMITS);
  limits.max_frame = AGENT_MAX_FRAME;
  limits.max_channels = AGENT_MAX_CHANNELS;
  limits.max_processes = AGENT_MAX_RUNNING;
  limits.max_kept = AGENT_MAX_KEPT;
  limits.max_retain = AGENT_MAX_RETAIN;
  limits.max_path = AGENT_MAX_PATH;
  limits.max_clients = AGENT_MAX_CLIENTS;
  MSG(AgentHello) hello = MSG_INIT(AGENT_HELLO);
  hello.version = version;
  hello.min_version = AGENT_PROTOCOL_MIN;
  hello.max_version = AGENT_PROTOCOL_MAX;
  hello.initial_credit = AGENT_INITIAL_CREDIT;
  hello.limits = &limits;
  hello.agent = (char *)"cofferdam-agent " AGENT_VERSION;
  hello.machine = name.machine;
  hello.workspace.data = (uint8_t *)server->workspace;
  hello.workspace.len = strlen(server->workspace);
  hello.uid = server->uid;
  hello.gid = server->gid;
  hello.init = server->init;
  hello.instance.data = server->instance;
  hello.instance.len = AGENT_INSTANCE_BYTES;
  hello.error = error;
  hello.follows_links = server->follows_links;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(AGENT_HELLO);
  message.agent_hello = &hello;
  agent_peer_send(peer, &message);
}

static void refuse(agent_peer *peer, int code, const char *text) {
  MSG(Error) error = MSG_INIT(ERROR);
  error.code = code;
  error.message = (char *)text;
  send_hello(peer, 0, &error);
  peer->closing = true;
}

void agent_hello(agent_peer *peer, const MSG(ToAgent) * message) {
  const MSG(ClientHello) *hello = message->client_hello;
  if (message->body_case != TO(CLIENT_HELLO) || message->channel != 0) {
    refuse(peer, ERR(PROTOCOL), "the first message must be a hello");
    return;
  }
  if (hello->min_version > hello->max_version || hello->min_version > AGENT_PROTOCOL_MAX ||
      hello->max_version < AGENT_PROTOCOL_MIN) {
    refuse(peer, ERR(VERSION), "no protocol version in common");
    return;
  }
  if (hello->initial_credit == 0 || hello->initial_credit > INT32_MAX ||
      strlen(hello->client) > 64) {
    refuse(peer, ERR(INVALID), "initial credit or client name out of range");
    return;
  }
  peer->greeted = true;
  peer->initial_credit = hello->initial_credit;
  send_hello(peer,
             hello->max_version < AGENT_PROTOCOL_MAX ? hello->max_version : AGENT_PROTOCOL_MAX,
             NULL);
}
