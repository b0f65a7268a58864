/* SPDX-License-Identifier: Apache-2.0 */
/* What is true of every state and of all options that the library accepts, wherever they come from.
 */
#ifndef COFFERDAM_TESTS_FUZZ_STATE_CHECKS_H
#define COFFERDAM_TESTS_FUZZ_STATE_CHECKS_H

#include "fuzz.h"

/* The key of the goldens' HMAC seals. Made once. */
const cdam_key *fuzz_key(void);

/* required_features says NETWORK_ISOLATION if and only if the options say NONE; bytes and JSON
 * that are made of the state are read back as the same state. */
void fuzz_check_state(const cdam_state *state, const cdam_key *key);

/* The same for options. */
void fuzz_check_options(const cdam_options *options);

/* The canonical bytes of a message without its seal, or NULL where it has none. Free with free().
 */
struct ProtobufCMessage;
unsigned char *fuzz_pack(const struct ProtobufCMessage *message, size_t *length);

/* Are the canonical bytes of two messages, seals left out, the same? */
bool fuzz_same(const struct ProtobufCMessage *a, const struct ProtobufCMessage *b);

#endif
