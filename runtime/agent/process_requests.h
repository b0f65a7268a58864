/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about processes. */
#ifndef COFFERDAM_AGENT_PROCESS_REQUESTS_H
#define COFFERDAM_AGENT_PROCESS_REQUESTS_H

#include "peer.h"

/* False: the message is none of them. */
bool agent_process_request(agent_peer *peer, const MSG(ToAgent) * message);

/* In start.c. */
void agent_start(agent_peer *peer, uint32_t number, const MSG(Start) * start);

#endif
