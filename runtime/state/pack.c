/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "state/schema.h"

/* Writes from the end to the front, so that the length of what was written is known when its
 * prefix is due, and nothing is measured beforehand. */
typedef struct writer {
  unsigned char *data; /* the last `used` of `capacity` bytes are written */
  size_t used;
  size_t capacity;
  cdam_status status; /* the first failure; nothing is written after it */
  cdam_error *err;
} writer;

static bool grow(writer *w, size_t more) {
  size_t most = CDAM_STATE_MAX_BYTES + 4096; /* the seal and what is spare */
  if (more > most || w->used > most - more) {
    w->status = cdam_fail(w->err, CDAM_ERR_INVALID, "it would take more than %zu bytes", most);
    return false;
  }
  size_t capacity = w->capacity ? w->capacity : 1024;
  while (capacity - w->used < more)
    capacity *= 2;
  unsigned char *data = malloc(capacity);
  if (!data) {
    w->status = cdam_fail_memory(w->err);
    return false;
  }
  if (w->used) memcpy(data + capacity - w->used, w->data + w->capacity - w->used, w->used);
  free(w->data);
  w->data = data;
  w->capacity = capacity;
  return true;
}

/* Makes room for `more` bytes in front. */
static inline bool make_room(writer *w, size_t more) {
  return !w->status && (more <= w->capacity - w->used || grow(w, more));
}

static void put(writer *w, const void *bytes, size_t length) {
  if (length == 0 || !make_room(w, length)) return;
  w->used += length;
  memcpy(w->data + w->capacity - w->used, bytes, length);
}

static void put_varint(writer *w, uint64_t value) {
  if (value < 0x80) { /* most of them */
    if (make_room(w, 1)) w->data[w->capacity - ++w->used] = (unsigned char)value;
    return;
  }
  unsigned char bytes[10];
  size_t length = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[length++] = (unsigned char)(value | 0x80);
  bytes[length++] = (unsigned char)value;
  put(w, bytes, length);
}

static void put_tag(writer *w, uint32_t number, ProtobufCWireType wire_type) {
  put_varint(w, (uint64_t)number << 3 | wire_type);
}

/* Closes what was written since `before` as a length-delimited field. */
static void put_prefix(writer *w, uint32_t number, size_t before) {
  put_varint(w, w->used - before);
  put_tag(w, number, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
}

static void refuse(writer *w, const cdam_path *path, const char *text) {
  if (!w->status) w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, path, text);
}

static void put_text(writer *w, uint32_t number, const cdam_path *path, const char *text) {
  size_t before = w->used, length = strlen(text);
  if (!cdam_utf8_valid((const unsigned char *)text, length))
    refuse(w, path, "a text that is not UTF-8");
  put(w, text, length);
  put_prefix(w, number, before);
}

static void put_message(writer *w, const ProtobufCMessage *message, uint32_t leave_out);

/* The number that a scalar is on the wire. */
static uint64_t scalar_at(const void *member, ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_UINT32:
    return *(const uint32_t *)member;
  case PROTOBUF_C_TYPE_UINT64:
    return *(const uint64_t *)member;
  case PROTOBUF_C_TYPE_BOOL:
    return *(const protobuf_c_boolean *)member ? 1 : 0;
  default: { /* enums; a negative one is sign-extended */
    int64_t value = *(const int *)member;
    return (uint64_t)value;
  }
  }
}

static void put_scalar(writer *w, const ProtobufCFieldDescriptor *field, const void *member) {
  uint64_t value = scalar_at(member, field->type);
  cdam_path path = {NULL, field->name, NULL, -1};
  if (field->type == PROTOBUF_C_TYPE_ENUM && value > INT32_MAX)
    refuse(w, &path, "an enum value that is negative");
  put_varint(w, value);
}

/* One value that is not a default, or an element. */
static void put_value(writer *w, const ProtobufCFieldDescriptor *field, const void *member) {
  size_t before = w->used;
  cdam_path path = {NULL, field->name, NULL, -1};
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
    put_text(w, field->id, &path, *(const char *const *)member ? *(const char *const *)member : "");
    return;
  case PROTOBUF_C_TYPE_BYTES: {
    const ProtobufCBinaryData *bytes = member;
    put(w, bytes->data, bytes->len);
    put_prefix(w, field->id, before);
    return;
  }
  case PROTOBUF_C_TYPE_MESSAGE:
    put_message(w, *(ProtobufCMessage *const *)member, 0);
    put_prefix(w, field->id, before);
    return;
  default:
    put_scalar(w, field, member);
    put_tag(w, field->id, PROTOBUF_C_WIRE_TYPE_VARINT);
  }
}

static bool is_default(const ProtobufCFieldDescriptor *field, const void *member) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
    return !*(const char *const *)member || !**(const char *const *)member;
  case PROTOBUF_C_TYPE_BYTES:
    return ((const ProtobufCBinaryData *)member)->len == 0;
  case PROTOBUF_C_TYPE_MESSAGE:
    return !*(ProtobufCMessage *const *)member;
  default:
    return scalar_at(member, field->type) == 0;
  }
}

static void put_map(writer *w, const ProtobufCMessage *message,
                    const ProtobufCFieldDescriptor *field) {
  cdam_sorted_map map;
  if (!w->status) w->status = cdam_sorted_map_of(message, field, &map, w->err);
  if (w->status) return;
  cdam_path path = {NULL, field->name, map.duplicate, -1};
  if (map.duplicate) refuse(w, &path, "the key is there twice");
  for (size_t i = map.count; i-- && !w->status;) {
    size_t before = w->used;
    path.key = cdam_entry_key(map.entries[i]);
    put_text(w, 2, &path, cdam_entry_value(map.entries[i]));
    put_text(w, 1, &path, path.key);
    put_prefix(w, field->id, before);
  }
  cdam_sorted_map_free(&map);
}

static void put_repeated(writer *w, const ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field) {
  size_t size = cdam_element_size(field->type);
  size_t count = *cdam_field_count(message, field);
  const char *array = *(const char *const *)cdam_field_member(message, field);
  bool packed = (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
  size_t before = w->used;
  for (size_t i = count; i-- && !w->status;) {
    if (packed)
      put_scalar(w, field, array + i * size);
    else
      put_value(w, field, array + i * size);
  }
  if (packed && count) put_prefix(w, field->id, before);
}

/* They were checked when they were read; they keep their order, behind all that is known. */
static void put_unknown(writer *w, const ProtobufCMessage *message) {
  for (unsigned i = message->n_unknown_fields; i--;) {
    const ProtobufCMessageUnknownField *field = &message->unknown_fields[i];
    put(w, field->data, field->len);
    put_tag(w, field->tag, field->wire_type);
  }
}

static void put_message(writer *w, const ProtobufCMessage *message, uint32_t leave_out) {
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  put_unknown(w, message);
  for (unsigned i = message->descriptor->n_fields; i-- && !w->status;) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (field->id == leave_out) continue;
    if (cdam_element_size(field->type) == 0)
      w->status = cdam_fail(w->err, CDAM_ERR_INVALID, "%s: a type that is not in use", field->name);
    else if (info && info->fields[i].is_map)
      put_map(w, message, field);
    else if (field->label == PROTOBUF_C_LABEL_REPEATED)
      put_repeated(w, message, field);
    else if (!is_default(field, cdam_field_member(message, field)))
      put_value(w, field, cdam_field_member(message, field));
  }
}

cdam_status cdam_pack(const ProtobufCMessage *message, uint32_t leave_out, size_t room,
                      unsigned char **bytes, size_t *length, cdam_error *err) {
  writer w = {.err = err};
  if (make_room(&w, room + 1)) put_message(&w, message, leave_out);
  if (make_room(&w, room)) memmove(w.data, w.data + w.capacity - w.used, w.used);
  if (w.status) {
    free(w.data);
    return w.status;
  }
  *bytes = w.data;
  *length = w.used;
  return CDAM_OK;
}
