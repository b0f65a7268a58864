/* SPDX-License-Identifier: Apache-2.0 */
/* Does a container run our agent, and in the way that a create request of ours has it? */
#ifndef COFFERDAM_SESSION_AGENT_CONTAINER_H
#define COFFERDAM_SESSION_AGENT_CONTAINER_H

#include <jansson.h>
#include <stdbool.h>

#include "options/generated.h"

/* The digest of the agent that the container's label speaks of; NULL without one. 64 lower-case
 * hexadecimal digits, once cdam_check_agent was content. */
const char *cdam_agent_digest_of(const json_t *inspect);

/* Is this one of the mounts of an inspect answer the volume of that agent, read-only and in its
 * place? */
bool cdam_is_agent_mount(const json_t *inspect, const json_t *mount);

/* The same of what its create request asked for (HostConfig.Mounts). */
bool cdam_is_agent_request(const json_t *inspect, const json_t *mount);

/* A container whose label speaks of an agent has to run it as its first process, from its own
 * volume, with the arguments that the options ask for. One without the label is none of this
 * function's business. CDAM_ERR_DRIFT, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_check_agent(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err);

#endif
