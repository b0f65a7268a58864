/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "state/base64.h"
#include "state/pack.h"
#include "state/protojson.h"
#include "state/values.h"

/* The functions below make a JSON value, or return NULL with the first failure in `status`. */
typedef struct writer {
  cdam_status status;
  cdam_error *err;
} writer;

static json_t *write_message(writer *w, const cdam_path *parent, const ProtobufCMessage *message);

/* What jansson returns: NULL is want of memory. */
static json_t *made(writer *w, json_t *value) {
  if (!value && !w->status) w->status = cdam_fail_memory(w->err);
  return value;
}

static json_t *write_text(writer *w, const cdam_path *path, const char *text) {
  size_t length = strlen(text);
  if (cdam_utf8_valid((const unsigned char *)text, length))
    return made(w, json_stringn_nocheck(text, length));
  w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, path, "a text that is not UTF-8");
  return NULL;
}

static json_t *write_bytes(writer *w, const cdam_path *path, const ProtobufCBinaryData *bytes) {
  if (bytes->len > INT_MAX / 2) {
    w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, path, "too many bytes");
    return NULL;
  }
  char *text = malloc(CDAM_BASE64_TEXT_SIZE(bytes->len));
  if (!text) return made(w, NULL);
  size_t length = cdam_base64_encode(bytes->data, bytes->len, text);
  json_t *value = made(w, json_stringn_nocheck(text, length));
  free(text);
  return value;
}

static json_t *write_enum(writer *w, const ProtobufCEnumDescriptor *descriptor, int number) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
  return made(w, value ? json_string(value->name) : json_integer(number));
}

static json_t *write_uint64(writer *w, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return made(w, json_string(text));
}

static json_t *write_value(writer *w, const cdam_path *path, const ProtobufCFieldDescriptor *field,
                           const void *member) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_UINT32:
    return made(w, json_integer(*(const uint32_t *)member));
  case PROTOBUF_C_TYPE_UINT64:
    return write_uint64(w, *(const uint64_t *)member);
  case PROTOBUF_C_TYPE_BOOL:
    return made(w, json_boolean(*(const protobuf_c_boolean *)member));
  case PROTOBUF_C_TYPE_ENUM:
    return write_enum(w, field->descriptor, *(const int *)member);
  case PROTOBUF_C_TYPE_STRING:
    return write_text(w, path, *(const char *const *)member);
  case PROTOBUF_C_TYPE_BYTES:
    return write_bytes(w, path, member);
  case PROTOBUF_C_TYPE_MESSAGE:
    return write_message(w, path, *(ProtobufCMessage *const *)member);
  default:
    w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, path, "a type that is not in use");
    return NULL;
  }
}

/* Puts a value into an object and takes it over; frees both and returns NULL on failure. */
static json_t *put(writer *w, json_t *object, const char *name, json_t *value) {
  if (value && json_object_set_new_nocheck(object, name, value) == 0) return object;
  json_decref(object);
  return made(w, NULL);
}

static json_t *write_map(writer *w, const cdam_path *path, const ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field) {
  cdam_sorted_map map;
  w->status = cdam_sorted_map_of(message, field, &map, w->err);
  if (w->status) return NULL;
  json_t *object = made(w, json_object());
  for (size_t i = 0; i < map.count && object; i++) {
    cdam_path entry = *path;
    entry.key = cdam_entry_key(map.entries[i]);
    if (map.duplicate)
      w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, &entry, "the map has a key twice");
    else if (!cdam_utf8_valid((const unsigned char *)entry.key, strlen(entry.key)))
      w->status = cdam_fail_path(w->err, CDAM_ERR_INVALID, &entry, "a key that is not UTF-8");
    json_t *value = w->status ? NULL : write_text(w, &entry, cdam_entry_value(map.entries[i]));
    object = put(w, object, entry.key, value);
  }
  cdam_sorted_map_free(&map);
  return object;
}

static json_t *write_array(writer *w, const cdam_path *path, const ProtobufCMessage *message,
                           const ProtobufCFieldDescriptor *field) {
  const char *elements = *(const char *const *)cdam_field_member(message, field);
  json_t *array = made(w, json_array());
  for (size_t i = 0; i < *cdam_field_count(message, field) && array; i++) {
    cdam_path element = *path;
    element.index = (long)i;
    json_t *value = write_value(w, &element, field, elements + i * cdam_element_size(field->type));
    if (value && json_array_append_new(array, value) == 0) continue;
    json_decref(array);
    array = made(w, NULL);
  }
  return array;
}

static json_t *write_field(writer *w, const cdam_path *path, bool is_map,
                           const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  if (is_map) return write_map(w, path, message, field);
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return write_array(w, path, message, field);
  return write_value(w, path, field, cdam_field_member(message, field));
}

static json_t *write_message(writer *w, const cdam_path *parent, const ProtobufCMessage *message) {
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  json_t *object = made(w, json_object());
  for (unsigned i = 0; i < message->descriptor->n_fields && object; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (!cdam_field_is_present(message, field)) continue;
    cdam_path path = {parent, field->name, NULL, -1};
    json_t *value = write_field(w, &path, info->fields[i].is_map, message, field);
    object = put(w, object, info->fields[i].json_name, value);
  }
  return object;
}

cdam_status cdam_protojson_write(const ProtobufCMessage *message, char **json, cdam_error *err) {
  writer w = {.err = err};
  json_t *object = write_message(&w, NULL, message);
  if (w.status) return w.status;
  char *text = cdam_json_text(object, 0);
  json_decref(object);
  if (!text) return cdam_fail_memory(err);
  *json = text;
  return CDAM_OK;
}
