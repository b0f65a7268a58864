/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about files. */
#ifndef COFFERDAM_AGENT_FILES_H
#define COFFERDAM_AGENT_FILES_H

#include "peer.h"

/* False: the message is none of them. */
bool agent_file_request(agent_peer *peer, const MSG(ToAgent) * message);

#endif
