/* SPDX-License-Identifier: Apache-2.0 */
#include "state/message.h"

#include <stdlib.h>

#include "state/schema.h"

/* protobuf-c's own packing serves here: it keeps everything that it unpacks. */
ProtobufCMessage *cdam_message_copy(const ProtobufCMessage *message) {
  unsigned char *bytes = malloc(protobuf_c_message_get_packed_size(message) + 1);
  if (!bytes) return NULL;
  size_t length = protobuf_c_message_pack(message, bytes);
  ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, length, bytes);
  free(bytes);
  return copy;
}

static bool field_has_unknown(const ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field) {
  ProtobufCMessage **member = cdam_field_member(message, field);
  if (field->label != PROTOBUF_C_LABEL_REPEATED)
    return *member && cdam_message_has_unknown(*member);
  ProtobufCMessage **array = *(ProtobufCMessage ***)(void *)member;
  for (size_t i = 0; i < *cdam_field_count(message, field); i++)
    if (cdam_message_has_unknown(array[i])) return true;
  return false;
}

bool cdam_message_has_unknown(const ProtobufCMessage *message) {
  if (message->n_unknown_fields) return true;
  for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && field_has_unknown(message, field)) return true;
  }
  return false;
}

void cdam_state_forget_seal(cdam_state *state) {
  if (state->message.seal) cofferdam__v1__seal__free_unpacked(state->message.seal, NULL);
  state->message.seal = NULL;
}
