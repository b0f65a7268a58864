/* SPDX-License-Identifier: Apache-2.0 */
/* Which containers of the engine's list may be removed because their time is over. */
#ifndef COFFERDAM_SESSION_REAP_H
#define COFFERDAM_SESSION_REAP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/create_request.h"
#include "session/verify.h"

/* Is this entry of GET /containers/json a sandbox of ours whose deadline has passed? The strings
 * are the entry's. */
bool cdam_is_expired(const json_t *container, int64_t now, const char **session_id,
                     const char **container_id, uint64_t *deadline);

#endif
