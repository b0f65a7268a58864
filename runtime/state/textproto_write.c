/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "state/pack.h"
#include "state/textproto.h"

/* ---- strings ---- */

/* The letter of \n and the like, or NUL. */
static char letter_of(unsigned char byte) {
  switch (byte) {
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  case '\t':
    return 't';
  case '"':
  case '\'':
  case '\\':
    return (char)byte;
  default:
    return '\0';
  }
}

/* How many bytes from there on can stand as they are. */
static size_t plain_width(const unsigned char *at, size_t length, bool utf8) {
  if (*at < 0x7f) return *at >= 0x20 && !letter_of(*at);
  size_t width = utf8 ? cdam_utf8_width(at, length) : 0;
  return width && !cdam_is_control(at, width) ? width : 0;
}

bool cdam_textproto_quote(cdam_buffer *out, const void *bytes, size_t length, bool utf8) {
  const unsigned char *at = bytes, *end = at + length;
  bool ok = cdam_buffer_append(out, "\"", 1);
  while (ok && at < end) {
    size_t width = plain_width(at, (size_t)(end - at), utf8);
    if (width) {
      ok = cdam_buffer_append(out, at, width);
      at += width;
      continue;
    }
    char escape[8];
    if (letter_of(*at))
      snprintf(escape, sizeof escape, "\\%c", letter_of(*at));
    else
      snprintf(escape, sizeof escape, "\\%03o", *at);
    ok = cdam_buffer_append_text(out, escape);
    at++;
  }
  return ok && cdam_buffer_append(out, "\"", 1);
}

/* ---- scalars ---- */

/* NETWORK_MODE_NONE of NetworkMode is NONE. */
static const char *short_name(const ProtobufCEnumDescriptor *descriptor,
                              const ProtobufCEnumValue *value) {
  const char *at = value->name;
  for (const char *c = descriptor->short_name; *c; c++) {
    if (c != descriptor->short_name && isupper((unsigned char)*c) && *at++ != '_')
      return value->name;
    if (*at++ != toupper((unsigned char)*c)) return value->name;
  }
  return *at == '_' ? at + 1 : value->name;
}

static bool append_number(cdam_buffer *out, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return cdam_buffer_append_text(out, text);
}

static bool append_enum(cdam_buffer *out, const ProtobufCEnumDescriptor *descriptor, int number,
                        bool for_people) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  if (!value) return cdam_buffer_append_text(out, text);
  return cdam_buffer_append_text(out, for_people ? short_name(descriptor, value) : value->name);
}

bool cdam_textproto_scalar(cdam_buffer *out, const ProtobufCFieldDescriptor *field,
                           const void *member, bool for_people) {
  const ProtobufCBinaryData *bytes = member;
  const char *text;
  switch (field->type) {
  case PROTOBUF_C_TYPE_UINT64:
    return append_number(out, *(const uint64_t *)member);
  case PROTOBUF_C_TYPE_BOOL:
    return cdam_buffer_append_text(out, *(const protobuf_c_boolean *)member ? "true" : "false");
  case PROTOBUF_C_TYPE_ENUM:
    return append_enum(out, field->descriptor, *(const int *)member, for_people);
  case PROTOBUF_C_TYPE_STRING:
    text = *(const char *const *)member;
    return cdam_textproto_quote(out, text, strlen(text), for_people);
  case PROTOBUF_C_TYPE_BYTES:
    return cdam_textproto_quote(out, bytes->data, bytes->len, false);
  default:
    return append_number(out, *(const uint32_t *)member);
  }
}

/* ---- fields ---- */

/* The functions below add to the text until the first failure. */
typedef struct writer {
  cdam_buffer out;
  cdam_status status;
  cdam_error *err;
} writer;

static void write_message(writer *w, const cdam_path *parent, const ProtobufCMessage *message,
                          int depth);

static void must(writer *w, bool ok) {
  if (!ok && !w->status) w->status = cdam_fail_memory(w->err);
}

static void add(writer *w, const char *text) {
  if (!w->status) must(w, cdam_buffer_append_text(&w->out, text));
}

static void indent(writer *w, int depth) {
  while (depth--)
    add(w, "  ");
}

static void write_scalar(writer *w, const cdam_path *path, const ProtobufCFieldDescriptor *field,
                         const void *member) {
  const char *text = field->type == PROTOBUF_C_TYPE_STRING ? *(const char *const *)member : NULL;
  if (cdam_element_size(field->type) == 0)
    w->status = cdam_wrong_value(w->err, path, "a type that is not in use");
  else if (text && !cdam_utf8_valid((const unsigned char *)text, strlen(text)))
    w->status = cdam_wrong_value(w->err, path, "a text that is not UTF-8");
  if (!w->status) must(w, cdam_textproto_scalar(&w->out, field, member, false));
}

static void write_value(writer *w, const cdam_path *path, const ProtobufCFieldDescriptor *field,
                        const void *member, int depth) {
  indent(w, depth);
  add(w, field->name);
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
    add(w, " {\n");
    write_message(w, path, *(ProtobufCMessage *const *)member, depth + 1);
    indent(w, depth);
    add(w, "}\n");
    return;
  }
  add(w, ": ");
  write_scalar(w, path, field, member);
  add(w, "\n");
}

static void write_map(writer *w, const cdam_path *path, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, int depth) {
  cdam_sorted_map map;
  w->status = cdam_sorted_map_of(message, field, &map, w->err);
  if (w->status) return;
  for (size_t i = 0; i < map.count && !w->status; i++) {
    cdam_path entry = *path;
    entry.key = cdam_entry_key(map.entries[i]);
    if (map.duplicate)
      w->status = cdam_wrong_value(w->err, &entry, "the map has a key twice");
    else
      write_value(w, &entry, field, &map.entries[i], depth);
  }
  cdam_sorted_map_free(&map);
}

static void write_elements(writer *w, const cdam_path *path, const ProtobufCMessage *message,
                           const ProtobufCFieldDescriptor *field, int depth) {
  const char *elements = *(const char *const *)cdam_field_member(message, field);
  for (size_t i = 0; i < *cdam_field_count(message, field) && !w->status; i++) {
    cdam_path element = *path;
    element.index = (long)i;
    write_value(w, &element, field, elements + i * cdam_element_size(field->type), depth);
  }
}

static void write_message(writer *w, const cdam_path *parent, const ProtobufCMessage *message,
                          int depth) {
  const cdam_message_info *info = cdam_message_info_of(message->descriptor); /* or a map entry */
  for (unsigned i = 0; i < message->descriptor->n_fields && !w->status; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (!cdam_field_is_present(message, field)) continue;
    cdam_path path = {parent, field->name, NULL, -1};
    if (info && info->fields[i].is_map)
      write_map(w, &path, message, field, depth);
    else if (field->label == PROTOBUF_C_LABEL_REPEATED)
      write_elements(w, &path, message, field, depth);
    else
      write_value(w, &path, field, cdam_field_member(message, field), depth);
  }
}

cdam_status cdam_textproto_write(const ProtobufCMessage *message, char **text, cdam_error *err) {
  writer w = {.err = err};
  add(&w, "");
  write_message(&w, NULL, message, 0);
  if (w.status)
    cdam_buffer_clear(&w.out);
  else
    *text = w.out.data;
  return w.status;
}
