/* SPDX-License-Identifier: Apache-2.0 */
/* The API version, settled once for each client by the Api-Version header of /_ping. */
#ifndef COFFERDAM_ENGINE_NEGOTIATE_H
#define COFFERDAM_ENGINE_NEGOTIATE_H

#include "engine/loop.h"

/* The versions that the library speaks, in words: "1.40 to 1.52". */
#define CDAM_API_RANGE "1.40 to 1.52"

/* The version to speak with an engine whose newest is `offered`, in `chosen`.
 * CDAM_ERR_API_VERSION when there is none in common; CDAM_ERR_PROTOCOL when `offered` is
 * no version. */
cdam_status cdam_negotiate_choose(const char *offered, char chosen[8], cdam_error *err);

/* An exchange waits for the version; starts to settle it if nobody has. */
void cdam_negotiate_begin(cdam_loop *loop);

/* The loop's ping has ended: sends or fails all exchanges that were held. */
void cdam_negotiate_settled(cdam_loop *loop, const cdam_exchange *ping);

/* Settles the client's version by an answer of /_ping, if it is not settled yet. */
cdam_status cdam_negotiate_settle(cdam_client *client, const cdam_reply *reply,
                                  const char *api_version, cdam_error *err);

#endif
