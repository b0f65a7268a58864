/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's own id, which GET /info tells and a client keeps. */
#ifndef COFFERDAM_ENGINE_ENGINE_ID_H
#define COFFERDAM_ENGINE_ENGINE_ID_H

#include <stdbool.h>

#include "engine/client_private.h"

/* Copies the id that the client has learned; false when it has not asked yet. An engine
 * without an id has "". */
bool cdam_client_engine_id(cdam_client *client, char id[CDAM_ENGINE_ID_SIZE]);

/* Keeps the id and the architecture of this answer to GET /info, and copies the id.
 * CDAM_ERR_PROTOCOL for an id that is none; the engine's errors. */
cdam_status cdam_client_learn_engine_id(cdam_client *client, const cdam_reply *reply,
                                        char id[CDAM_ENGINE_ID_SIZE], cdam_error *err);

#endif
