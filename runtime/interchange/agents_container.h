/* SPDX-License-Identifier: Apache-2.0 */
/* Is a container one that the SDK's Docker client makes, and no more than that? */
#ifndef COFFERDAM_INTERCHANGE_AGENTS_CONTAINER_H
#define COFFERDAM_INTERCHANGE_AGENTS_CONTAINER_H

#include <jansson.h>
#include <stdbool.h>

#include "options/generated.h"

/*
 * What a comparison with the state does not show: that the container's own process only waits, that
 * it reaches no more of its host than a container of ours, and that its network is the engine's
 * default when the state asks for nothing else; for a recreated container would have that, and an
 * option that the state lacks would be lost. CDAM_ERR_DRIFT.
 */
cdam_status cdam_agents_check_container(const Cofferdam__V1__SandboxOptions *options,
                                        const json_t *inspect, cdam_error *err);

/* The name of a limit that the container has, or NULL. */
const char *cdam_agents_limit_of(const json_t *inspect);

/* Where a volume is mounted, or NULL: a recreated container is without it. */
const char *cdam_agents_volume_of(const json_t *inspect);

#endif
