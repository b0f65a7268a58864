/* SPDX-License-Identifier: Apache-2.0 */
/* What options and states share: copying, and looking for fields that are not known. */
#ifndef COFFERDAM_STATE_MESSAGE_H
#define COFFERDAM_STATE_MESSAGE_H

#include "options/generated.h"

/* A deep copy, unknown fields included; NULL when out of memory. */
ProtobufCMessage *cdam_message_copy(const ProtobufCMessage *message);

/* Does the message, or one that it holds, have fields that the schema does not know? */
bool cdam_message_has_unknown(const ProtobufCMessage *message);

/* Puts CDAM_HIDDEN in the place of every value that may be a secret; *hidden is how many there
 * were. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_message_hide(ProtobufCMessage *message, size_t *hidden, cdam_error *err);

/* Drops the seal that was read. Whoever changes a state calls this, or cdam_state_to_json would
 * show a seal that is no longer right. (Bytes are sealed anew in any case.) */
void cdam_state_forget_seal(cdam_state *state);

#endif
