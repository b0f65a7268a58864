/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel killed for memory in this sandbox. */
#ifndef COFFERDAM_AGENT_MEMORY_EVENTS_H
#define COFFERDAM_AGENT_MEMORY_EVENTS_H

#include "server.h"

/* Where the counter is (cgroup v2 or v1), or -1. */
int agent_memory_events_open(void);
/* Kills so far; 0 where they cannot be read. */
uint64_t agent_memory_events(const agent_server *server);

#endif
