/* SPDX-License-Identifier: Apache-2.0 */
/* The socket that relays connect to, and who is let in. */
#ifndef COFFERDAM_AGENT_LISTENER_H
#define COFFERDAM_AGENT_LISTENER_H

#include "server.h"

#include <sys/socket.h>
#include <sys/un.h>

/* The abstract name. It lives in the sandbox's network namespace and needs no directory. */
socklen_t agent_socket_address(struct sockaddr_un *address);

/* What a relay answers to the agent's one byte, with its standard input and output. */
#define AGENT_RELAY_MAGIC "cofferdam-relay1"
enum { AGENT_RELAY_MAGIC_BYTES = 16 };

bool agent_listener_open(agent_server *server);

#endif
