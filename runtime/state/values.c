/* SPDX-License-Identifier: Apache-2.0 */
#include "state/values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

_Static_assert(sizeof(uint32_t) == sizeof(int) && sizeof(uint32_t) == sizeof(protobuf_c_boolean),
               "cdam_field_is_present reads them alike");

bool cdam_field_is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  if (!message) return false;
  const void *member = cdam_field_member(message, field);
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return *cdam_field_count(message, field) != 0;
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
    return *(const char *const *)member && **(const char *const *)member;
  case PROTOBUF_C_TYPE_BYTES:
    return ((const ProtobufCBinaryData *)member)->len != 0;
  case PROTOBUF_C_TYPE_MESSAGE:
    return *(ProtobufCMessage *const *)member != NULL;
  case PROTOBUF_C_TYPE_UINT64:
    return *(const uint64_t *)member != 0;
  default: /* uint32, bool, enum: of one size */
    return *(const uint32_t *)member != 0;
  }
}

cdam_status cdam_wrong_value(cdam_error *err, const cdam_path *path, const char *text) {
  return cdam_fail_path(err, CDAM_ERR_INVALID, path, text);
}

static uint64_t most_of(ProtobufCType type) {
  return type == PROTOBUF_C_TYPE_UINT64 ? UINT64_MAX : UINT32_MAX;
}

cdam_status cdam_put_number(bool ok, uint64_t number, ProtobufCType type, const cdam_path *path,
                            void *member, cdam_error *err) {
  uint64_t most = most_of(type);
  if (!ok || number > most) {
    char text[64];
    snprintf(text, sizeof text, "is not a whole number from 0 to %llu", (unsigned long long)most);
    return cdam_wrong_value(err, path, text);
  }
  if (type == PROTOBUF_C_TYPE_UINT64)
    *(uint64_t *)member = number;
  else
    *(uint32_t *)member = (uint32_t)number;
  return CDAM_OK;
}

/* "is none of A, B" */
static cdam_status wrong_enum(const ProtobufCEnumDescriptor *descriptor, const cdam_path *path,
                              cdam_error *err) {
  char text[256];
  size_t used = (size_t)snprintf(text, sizeof text, "is none of");
  for (unsigned i = 0; i < descriptor->n_values && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", i ? "," : "",
                             descriptor->values[i].name);
  /* A newer library may have written it, and counts on being refused. */
  bool feature = descriptor == &cofferdam__v1__feature__descriptor;
  return cdam_fail_path(err, feature ? CDAM_ERR_UNSUPPORTED : CDAM_ERR_INVALID, path, text);
}

cdam_status cdam_put_enum(const ProtobufCEnumValue *value,
                          const ProtobufCEnumDescriptor *descriptor, const cdam_path *path,
                          void *member, cdam_error *err) {
  if (!value) return wrong_enum(descriptor, path, err);
  *(int *)member = value->value;
  return CDAM_OK;
}

cdam_status cdam_message_new(const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **out,
                             cdam_error *err) {
  *out = malloc(descriptor->sizeof_message);
  if (!*out) return cdam_fail_memory(err);
  protobuf_c_message_init(descriptor, *out);
  return CDAM_OK;
}

/* ---- names to ignore ---- */

/* Equal but for case and underscores? */
static bool is_like(const char *known, const char *name, size_t length) {
  const char *end = name + length;
  for (;;) {
    while (*known == '_')
      known++;
    while (name < end && *name == '_')
      name++;
    if (name == end || *known == '\0') return name == end && *known == '\0';
    if (tolower((unsigned char)*known++) != tolower((unsigned char)*name++)) return false;
  }
}

bool cdam_may_ignore(const cdam_ignoring *ignoring, const ProtobufCMessageDescriptor *descriptor,
                     const char *name, size_t length) {
  if (!ignoring || !cdam_message_info_of(descriptor) ||
      descriptor == &cofferdam__v1__sandbox_options__descriptor)
    return false;
  for (unsigned i = 0; i < descriptor->n_fields; i++)
    if (is_like(descriptor->fields[i].name, name, length)) return false;
  return true;
}

void cdam_tell_ignored(const cdam_ignoring *ignoring, const cdam_path *path) {
  char text[sizeof((cdam_error *)NULL)->field];
  cdam_path_text(path, text, sizeof text);
  ignoring->ignored(ignoring->user, text);
}
