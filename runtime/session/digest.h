/* SPDX-License-Identifier: Apache-2.0 */
/* Digests as texts: of the agent's program, of the options that isolate. */
#ifndef COFFERDAM_SESSION_DIGEST_H
#define COFFERDAM_SESSION_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/client_private.h"

/* The SHA-256 of some bytes. False when out of memory. */
bool cdam_digest(const void *bytes, size_t length, char digest[CDAM_DIGEST_SIZE]);

#endif
