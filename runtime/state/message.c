/* SPDX-License-Identifier: Apache-2.0 */
#include "state/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "state/values.h"

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

/* ---- hiding ---- */

static cdam_status hide_text(char **text, const char *initial, size_t *hidden, cdam_error *err) {
  char *copy = strdup(CDAM_HIDDEN);
  if (!copy) return cdam_fail_memory(err);
  if (*text != initial) free(*text);
  *text = copy;
  ++*hidden;
  return CDAM_OK;
}

/* A string, strings, or the values of a map. */
static cdam_status hide_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                              bool is_map, size_t *hidden, cdam_error *err) {
  void *member = cdam_field_member(message, field);
  if (field->label != PROTOBUF_C_LABEL_REPEATED)
    return hide_text(member, field->default_value, hidden, err);
  cdam_status status = CDAM_OK;
  for (size_t i = 0; i < *cdam_field_count(message, field) && !status; i++) {
    if (!is_map) {
      status = hide_text(*(char ***)member + i, NULL, hidden, err);
      continue;
    }
    ProtobufCMessage *entry = (*(ProtobufCMessage ***)member)[i];
    const ProtobufCFieldDescriptor *value = &entry->descriptor->fields[1];
    status = hide_text(cdam_field_member(entry, value), value->default_value, hidden, err);
  }
  return status;
}

cdam_status cdam_message_hide(ProtobufCMessage *message, size_t *hidden, cdam_error *err) {
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  cdam_status status = CDAM_OK;
  for (unsigned i = 0; info && i < message->descriptor->n_fields && !status; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (!cdam_field_is_present(message, field)) continue;
    void *member = cdam_field_member(message, field);
    bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (info->fields[i].sensitive)
      status = hide_field(message, field, info->fields[i].is_map, hidden, err);
    else if (field->type == PROTOBUF_C_TYPE_MESSAGE && !info->fields[i].is_map)
      for (size_t at = 0; at < (repeated ? *cdam_field_count(message, field) : 1) && !status; at++)
        status = cdam_message_hide(repeated ? (*(ProtobufCMessage ***)member)[at]
                                            : *(ProtobufCMessage **)member,
                                   hidden, err);
  }
  return status;
}
