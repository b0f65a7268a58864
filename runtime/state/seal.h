/* SPDX-License-Identifier: Apache-2.0 */
/* The seal: the last field of a state, over every byte before it. */
#ifndef COFFERDAM_STATE_SEAL_H
#define COFFERDAM_STATE_SEAL_H

#include <stddef.h>

#include "state/key.h"
#include "state/wire.h"

/* Tag, length, algorithm, the longest key id, digest. */
#define CDAM_SEAL_MAX_BYTES 192

/* The bytes of the whole seal field. */
typedef struct cdam_seal_bytes {
  unsigned char bytes[CDAM_SEAL_MAX_BYTES];
  size_t length;
} cdam_seal_bytes;

/* Makes the seal of a body: SHA-256, or HMAC-SHA-256 with a key. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_seal_make(const unsigned char *body, size_t length, const cdam_key *key,
                           cdam_seal_bytes *seal, cdam_error *err);

/* Checks the seal of a state by the rules of cdam_state_parse. CDAM_ERR_SEAL,
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_seal_check(const unsigned char *bytes, size_t length, const cdam_seal_place *place,
                            const cdam_key *key, cdam_error *err);

#endif
