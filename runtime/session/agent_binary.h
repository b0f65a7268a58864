/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's program for the engine's architecture, from the client's agent directory. */
#ifndef COFFERDAM_SESSION_AGENT_BINARY_H
#define COFFERDAM_SESSION_AGENT_BINARY_H

#include "engine/client_private.h"

/*
 * The program for the engine that the client has learned of (engine_id.h). It is read once for each
 * client and lives as long as it; any number of threads may ask. Only a regular file of at most
 * 1 MiB is taken, not through a link, that is an ELF program for that architecture.
 * CDAM_ERR_NO_AGENT (the message says which file and why), CDAM_ERR_NO_MEMORY.
 */
cdam_status cdam_agent_binary_get(cdam_client *client, const cdam_agent_binary **out,
                                  cdam_error *err);

#endif
