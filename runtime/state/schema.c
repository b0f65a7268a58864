/* SPDX-License-Identifier: Apache-2.0 */
#include "state/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

const cdam_message_info *cdam_message_info_of(const ProtobufCMessageDescriptor *descriptor) {
  for (size_t i = 0; i < cdam_generated_message_count; i++)
    if (cdam_generated_messages[i].descriptor == descriptor) return &cdam_generated_messages[i];
  return NULL;
}

size_t cdam_element_size(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_UINT32:
    return sizeof(uint32_t);
  case PROTOBUF_C_TYPE_UINT64:
    return sizeof(uint64_t);
  case PROTOBUF_C_TYPE_BOOL:
    return sizeof(protobuf_c_boolean);
  case PROTOBUF_C_TYPE_ENUM:
    return sizeof(int);
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_MESSAGE:
    return sizeof(void *);
  case PROTOBUF_C_TYPE_BYTES:
    return sizeof(ProtobufCBinaryData);
  default:
    return 0;
  }
}

/* Returns how much of the buffer is in use. */
static size_t append(char *text, size_t size, size_t used, const char *piece) {
  cdam_printable(text + used, size - used, piece, strlen(piece));
  return used + strlen(text + used);
}

void cdam_path_text(const cdam_path *path, char *text, size_t size) {
  const cdam_path *chain[CDAM_MAX_DEPTH * 2];
  size_t depth = 0;
  for (; path && depth < sizeof chain / sizeof *chain; path = path->parent)
    chain[depth++] = path;
  size_t used = 0;
  text[0] = '\0';
  while (depth--) {
    const cdam_path *part = chain[depth];
    if (used) used = append(text, size, used, ".");
    used = append(text, size, used, part->name);
    char index[24] = "";
    if (part->index >= 0) snprintf(index, sizeof index, "[%ld]", part->index);
    used = append(text, size, used, index);
    if (!part->key) continue;
    used = append(text, size, used, "[");
    used = append(text, size, used, part->key);
    used = append(text, size, used, "]");
  }
}

cdam_status cdam_fail_path(cdam_error *err, cdam_status code, const cdam_path *path,
                           const char *text) {
  char field[sizeof err->field];
  cdam_path_text(path, field, sizeof field);
  if (field[0])
    cdam_fail(err, code, "%s: %s", field, text);
  else
    cdam_fail(err, code, "%s", text);
  if (err) cdam_printable(err->field, sizeof err->field, field, strlen(field));
  return code;
}
