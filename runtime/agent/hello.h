/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of each side. */
#ifndef COFFERDAM_AGENT_HELLO_H
#define COFFERDAM_AGENT_HELLO_H

#include "peer.h"

void agent_hello(agent_peer *peer, const MSG(ToAgent) * message);

#endif
