/* SPDX-License-Identifier: Apache-2.0 */
/* Leads each message to what deals with it. */
#ifndef COFFERDAM_AGENT_DISPATCH_H
#define COFFERDAM_AGENT_DISPATCH_H

#include "peer.h"

/* `length` is the frame's, which Data and Entry are charged for. */
void agent_dispatch(agent_peer *peer, const MSG(ToAgent) * message, uint32_t length);

#endif
