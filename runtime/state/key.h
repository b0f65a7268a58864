/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for HMAC seals, from the inside. */
#ifndef COFFERDAM_STATE_KEY_H
#define COFFERDAM_STATE_KEY_H

#include <stddef.h>

#include <cofferdam/message.h>

/* An HMAC-SHA-256 or SHA-256 digest. */
#define CDAM_DIGEST_BYTES 32

#define CDAM_KEY_ID_MAX_BYTES 128

/* The key's name, which is no secret. */
const char *cdam_key_id(const cdam_key *key);

/* HMAC-SHA-256 of the bytes, by any number of threads at once. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_key_hmac(const cdam_key *key, const unsigned char *bytes, size_t length,
                          unsigned char digest[CDAM_DIGEST_BYTES], cdam_error *err);

#endif
