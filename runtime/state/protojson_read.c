/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_parse.h"
#include "state/base64.h"
#include "state/pack.h"
#include "state/protojson.h"
#include "state/values.h"

static cdam_status read_object(const json_t *json, const cdam_path *parent,
                               ProtobufCMessage *message, cdam_error *err);

/* ---- single values ---- */

/* A string of decimal digits, without sign or leading zeros. */
static bool number_of_text(const json_t *json, uint64_t *number) {
  const char *text = json_string_value(json);
  size_t length = json_string_length(json);
  if (length == 0 || length > 20 || (length > 1 && text[0] == '0')) return false;
  uint64_t result = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (result > (UINT64_MAX - digit) / 10) return false;
    result = result * 10 + digit;
  }
  *number = result;
  return true;
}

/* A JSON number without a fraction: 1, and as ProtoJSON has it 1.0. Above 2^53 a number that is
 * written as a fraction is not exact. */
static bool number_of_json(const json_t *json, uint64_t *number) {
  if (json_is_integer(json) && json_integer_value(json) >= 0) {
    *number = (uint64_t)json_integer_value(json);
    return true;
  }
  if (!json_is_real(json)) return false;
  double real = json_real_value(json);
  if (!(real >= 0 && real <= 9007199254740992.0)) return false;
  *number = (uint64_t)real;
  return (double)*number == real;
}

static cdam_status read_number(const json_t *json, const cdam_path *path, ProtobufCType type,
                               void *member, cdam_error *err) {
  uint64_t number = 0;
  bool ok = json_is_string(json) ? number_of_text(json, &number) : number_of_json(json, &number);
  return cdam_put_number(ok, number, type, path, member, err);
}

static cdam_status read_enum(const json_t *json, const cdam_path *path,
                             const ProtobufCEnumDescriptor *descriptor, void *member,
                             cdam_error *err) {
  const ProtobufCEnumValue *value = NULL;
  uint64_t wide;
  if (json_is_string(json))
    value = protobuf_c_enum_descriptor_get_value_by_name(descriptor, json_string_value(json));
  else if (number_of_json(json, &wide) && wide <= INT32_MAX)
    value = protobuf_c_enum_descriptor_get_value(descriptor, (int)wide);
  return cdam_put_enum(value, descriptor, path, member, err);
}

static cdam_status read_text(const json_t *json, const cdam_path *path, char **text,
                             cdam_error *err) {
  if (!json_is_string(json)) return cdam_wrong_value(err, path, "is not a string");
  char *copy = strdup(json_string_value(json)); /* jansson has refused NULs and bad UTF-8 */
  if (!copy) return cdam_fail_memory(err);
  *text = copy;
  return CDAM_OK;
}

static cdam_status read_bytes(const json_t *json, const cdam_path *path, ProtobufCBinaryData *bytes,
                              cdam_error *err) {
  if (!json_is_string(json)) return cdam_wrong_value(err, path, "is not a string");
  size_t length = json_string_length(json);
  bytes->data = malloc(CDAM_BASE64_BYTES_SIZE(length));
  if (!bytes->data) return cdam_fail_memory(err);
  if (cdam_base64_decode(json_string_value(json), length, bytes->data, &bytes->len)) return CDAM_OK;
  return cdam_wrong_value(err, path, "is not base64");
}

static cdam_status read_message(const json_t *json, const cdam_path *path,
                                const ProtobufCMessageDescriptor *descriptor,
                                ProtobufCMessage **out, cdam_error *err) {
  cdam_status status = cdam_message_new(descriptor, out, err);
  return status ? status : read_object(json, path, *out, err);
}

/* Whatever was allocated stands in the message, also on failure, and is freed with it. */
static cdam_status read_value(const json_t *json, const cdam_path *path,
                              const ProtobufCFieldDescriptor *field, void *member,
                              cdam_error *err) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_UINT64:
    return read_number(json, path, field->type, member, err);
  case PROTOBUF_C_TYPE_BOOL:
    if (!json_is_boolean(json)) return cdam_wrong_value(err, path, "is neither true nor false");
    *(protobuf_c_boolean *)member = json_is_true(json);
    return CDAM_OK;
  case PROTOBUF_C_TYPE_ENUM:
    return read_enum(json, path, field->descriptor, member, err);
  case PROTOBUF_C_TYPE_STRING:
    return read_text(json, path, member, err);
  case PROTOBUF_C_TYPE_BYTES:
    return read_bytes(json, path, member, err);
  case PROTOBUF_C_TYPE_MESSAGE:
    return read_message(json, path, field->descriptor, member, err);
  default:
    return cdam_wrong_value(err, path, "is of a type that is not in use");
  }
}

/* ---- arrays and maps ---- */

static char *make_elements(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                           size_t count) {
  char *elements = calloc(count ? count : 1, cdam_element_size(field->type));
  *(char **)cdam_field_member(message, field) = elements;
  return elements;
}

static cdam_status read_array(const json_t *json, const cdam_path *path, ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field, cdam_error *err) {
  if (!json_is_array(json)) return cdam_wrong_value(err, path, "is not an array");
  char *elements = make_elements(message, field, json_array_size(json));
  if (!elements) return cdam_fail_memory(err);
  cdam_status status = CDAM_OK;
  for (size_t i = 0; i < json_array_size(json) && !status; i++) {
    cdam_path element = *path;
    element.index = (long)i;
    /* The element counts before it is read, so that half of one is freed, too. */
    *cdam_field_count(message, field) = i + 1;
    status = read_value(json_array_get(json, i), &element, field,
                        elements + i * cdam_element_size(field->type), err);
  }
  return status;
}

/* Maps are of strings to strings: fields 0 and 1 of the entry. */
static cdam_status read_entry(const char *key, const json_t *json, const cdam_path *path,
                              ProtobufCMessage *entry, cdam_error *err) {
  const ProtobufCFieldDescriptor *fields = entry->descriptor->fields;
  char *copy = strdup(key);
  if (!copy) return cdam_fail_memory(err);
  *(char **)cdam_field_member(entry, &fields[0]) = copy;
  return read_text(json, path, cdam_field_member(entry, &fields[1]), err);
}

static cdam_status read_map(const json_t *json, const cdam_path *path, ProtobufCMessage *message,
                            const ProtobufCFieldDescriptor *field, cdam_error *err) {
  if (!json_is_object(json)) return cdam_wrong_value(err, path, "is not an object");
  char *elements = make_elements(message, field, json_object_size(json));
  if (!elements) return cdam_fail_memory(err);
  ProtobufCMessage **entries = (ProtobufCMessage **)(void *)elements;
  const ProtobufCMessageDescriptor *descriptor = field->descriptor;
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)json, key, value) {
    cdam_path entry = *path;
    entry.key = key;
    size_t *count = cdam_field_count(message, field);
    cdam_status status = cdam_message_new(descriptor, &entries[*count], err);
    if (!status) status = read_entry(key, value, &entry, entries[(*count)++], err);
    if (status) return status;
  }
  return CDAM_OK;
}

/* ---- objects ---- */

/* The index of the field of that name; n_fields for none. */
static unsigned find_field(const cdam_message_info *info, const char *name) {
  unsigned i = 0;
  for (; i < info->descriptor->n_fields; i++)
    if (strcmp(info->fields[i].json_name, name) == 0 ||
        strcmp(info->descriptor->fields[i].name, name) == 0)
      break;
  return i;
}

/* Takes the names out that the reader was asked to ignore. */
static void drop_ignored(json_t *json, const cdam_path *parent,
                         const ProtobufCMessageDescriptor *descriptor,
                         const cdam_ignoring *ignoring) {
  const cdam_message_info *info = cdam_message_info_of(descriptor);
  const char *name;
  json_t *value;
  void *next;
  json_object_foreach_safe(json, next, name, value) {
    unsigned i = find_field(info, name);
    cdam_path path = {parent, i < descriptor->n_fields ? descriptor->fields[i].name : name, NULL,
                      -1};
    if (i == descriptor->n_fields) {
      if (!cdam_may_ignore(ignoring, descriptor, name, strlen(name))) continue;
      cdam_tell_ignored(ignoring, &path);
      json_object_del(json, name);
      continue;
    }
    const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
    if (field->type != PROTOBUF_C_TYPE_MESSAGE || info->fields[i].is_map) continue;
    drop_ignored(value, &path, field->descriptor, ignoring);
    for (size_t at = 0; at < json_array_size(value); at++) {
      path.index = (long)at;
      drop_ignored(json_array_get(value, at), &path, field->descriptor, ignoring);
    }
  }
}

static cdam_status read_field(const json_t *json, const cdam_path *path, bool is_map,
                              ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                              cdam_error *err) {
  if (json_is_null(json)) return CDAM_OK;
  if (cdam_element_size(field->type) == 0)
    return cdam_wrong_value(err, path, "is of a type not in use");
  if (is_map) return read_map(json, path, message, field, err);
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return read_array(json, path, message, field, err);
  return read_value(json, path, field, cdam_field_member(message, field), err);
}

static cdam_status read_object(const json_t *json, const cdam_path *parent,
                               ProtobufCMessage *message, cdam_error *err) {
  if (!json_is_object(json)) return cdam_wrong_value(err, parent, "is not an object");
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  cdam_seen seen = {{0}};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)json, name, value) {
    unsigned i = find_field(info, name);
    cdam_path path = {parent, name, NULL, -1};
    if (i == info->descriptor->n_fields)
      return cdam_fail_path(err, CDAM_ERR_MALFORMED, &path, "there is no such field");
    const ProtobufCFieldDescriptor *field = &info->descriptor->fields[i];
    path.name = field->name;
    if (!cdam_see(&seen, i))
      return cdam_fail_path(err, CDAM_ERR_MALFORMED, &path, "the field is there twice");
    cdam_status status = read_field(value, &path, info->fields[i].is_map, message, field, err);
    if (status) return status;
  }
  return CDAM_OK;
}

/* jansson's own texts quote the input, which may hold secrets. */
static cdam_status syntax_error(const json_error_t *error, cdam_error *err) {
  const char *text = "not JSON";
  switch (json_error_code(error)) {
  case json_error_out_of_memory:
    return cdam_fail_memory(err);
  case json_error_premature_end_of_input:
    text = "the JSON ends too early";
    break;
  case json_error_end_of_input_expected:
    text = "there is something behind the JSON";
    break;
  case json_error_duplicate_key:
    text = "a name is there twice";
    break;
  case json_error_null_byte_in_key:
  case json_error_null_character:
    text = "a NUL in a text";
    break;
  case json_error_invalid_utf8:
    text = "not UTF-8";
    break;
  case json_error_numeric_overflow:
    text = "a number is too large";
    break;
  default:
    break;
  }
  return cdam_fail(err, CDAM_ERR_MALFORMED, "line %d, column %d: %s", error->line, error->column,
                   text);
}

/* Why the text could not be read: read alone, jansson tells the line; and when it can be read now,
 * it was for a NUL that jansson passes over, or for lack of memory. */
static cdam_status explain(const char *json, size_t length, cdam_error *err) {
  json_error_t error;
  json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &error);
  if (!root && error.text[0]) return syntax_error(&error, err);
  json_decref(root);
  if (memchr(json, '\0', length)) return cdam_fail(err, CDAM_ERR_MALFORMED, "a NUL in the JSON");
  return cdam_fail_memory(err);
}

cdam_status cdam_json_load(const char *json, size_t length, size_t most, json_t **root,
                           cdam_error *err) {
  *root = NULL;
  if (length > most)
    return cdam_fail(err, CDAM_ERR_MALFORMED, "the JSON has more than %zu bytes", most);
  if (cdam_json_is_too_deep(json, length))
    return cdam_fail(err, CDAM_ERR_MALFORMED, "the JSON is nested too deep");
  json_error_t error;
  json_t *read = cdam_json_parse(json, length, &error);
  if (!read) return explain(json, length, err);
  if (!json_is_object(read)) {
    json_decref(read);
    return cdam_fail(err, CDAM_ERR_MALFORMED, "the JSON is not an object");
  }
  *root = read;
  return CDAM_OK;
}

cdam_status cdam_protojson_read(const char *json, size_t length,
                                const ProtobufCMessageDescriptor *descriptor,
                                const cdam_ignoring *ignoring, ProtobufCMessage **message,
                                cdam_error *err) {
  json_t *root;
  cdam_status status = cdam_json_load(json, length, CDAM_JSON_MAX_BYTES, &root, err);
  if (status) return status;
  if (ignoring) drop_ignored(root, NULL, descriptor, ignoring);
  ProtobufCMessage *read = NULL;
  status = read_message(root, NULL, descriptor, &read, err);
  json_decref(root);
  if (!status) status = cdam_sort_maps(read, err); /* the document's order is nobody's */
  if (status && read) protobuf_c_message_free_unpacked(read, NULL);
  if (!status) *message = read;
  return status;
}
