/* SPDX-License-Identifier: Apache-2.0 */
#include "state/wire.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "state/schema.h"

enum { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_LENGTH = 2, WIRE_32BIT = 5 };

/* The readers below return NULL, or what is wrong with the bytes at `fault_at`. */
typedef struct walk {
  const unsigned char *base;
  const unsigned char *at;
  const unsigned char *fault_at;
  bool fault_placed; /* fault_field is set */
  char fault_field[128];
  size_t fields;
} walk;

typedef struct tag {
  uint32_t number;
  unsigned wire_type;
  const unsigned char *start;
} tag;

static const char *fault(walk *w, const unsigned char *at, const char *text) {
  w->fault_at = at;
  return text;
}

static const char *read_varint(walk *w, const unsigned char *end, uint64_t *value) {
  const unsigned char *start = w->at;
  const unsigned char *at = start;
  if (at < end && *at < 0x80) { /* most of them */
    *value = *at;
    w->at = at + 1;
    return NULL;
  }
  uint64_t result = 0;
  for (unsigned shift = 0;; shift += 7, at++) {
    if (at == end) return fault(w, start, "the data end within a number");
    if (shift == 63 && *at > 1) return fault(w, start, "a number is larger than 64 bits");
    result |= (uint64_t)(*at & 0x7f) << shift;
    if (*at < 0x80) break;
  }
  if (*at == 0) return fault(w, start, "a number is longer than it must be");
  *value = result;
  w->at = at + 1;
  return NULL;
}

static const char *read_tag(walk *w, const unsigned char *end, tag *out) {
  uint64_t value;
  out->start = w->at;
  const char *wrong = read_varint(w, end, &value);
  if (wrong) return wrong;
  if (value >> 3 == 0) return fault(w, out->start, "field number 0");
  if (value > UINT32_MAX) return fault(w, out->start, "a field number above 2^29-1");
  if (++w->fields > CDAM_WIRE_MAX_FIELDS) return fault(w, out->start, "too many fields");
  out->number = (uint32_t)(value >> 3);
  out->wire_type = value & 7;
  return NULL;
}

/* Reads a length, and leaves w->at at the first of as many bytes. */
static const char *read_length(walk *w, const unsigned char *end, size_t *length) {
  const unsigned char *start = w->at;
  uint64_t value;
  const char *wrong = read_varint(w, end, &value);
  if (wrong) return wrong;
  if (value > (size_t)(end - w->at)) return fault(w, start, "a length goes beyond the end");
  *length = (size_t)value;
  return NULL;
}

static const char *skip_bytes(walk *w, const unsigned char *end, size_t count) {
  if (count > (size_t)(end - w->at)) return fault(w, w->at, "the data end within a value");
  w->at += count;
  return NULL;
}

/* Passes over a value of which only the wire type is known. */
static const char *skip_value(walk *w, const unsigned char *end, const tag *t) {
  uint64_t number;
  size_t length;
  const char *wrong;
  switch (t->wire_type) {
  case WIRE_VARINT:
    return read_varint(w, end, &number);
  case WIRE_64BIT:
    return skip_bytes(w, end, 8);
  case WIRE_32BIT:
    return skip_bytes(w, end, 4);
  case WIRE_LENGTH:
    wrong = read_length(w, end, &length);
    if (!wrong) w->at += length;
    return wrong;
  case 3:
  case 4:
    return fault(w, t->start, "a group");
  default:
    return fault(w, t->start, "a wire type that does not exist");
  }
}

static bool is_scalar(ProtobufCType type) {
  return type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_UINT64 ||
         type == PROTOBUF_C_TYPE_BOOL || type == PROTOBUF_C_TYPE_ENUM;
}

/* One number of a known field: it must survive being stored in the field's C type. */
static const char *check_scalar(walk *w, const unsigned char *end, ProtobufCType type) {
  const unsigned char *start = w->at;
  uint64_t value;
  const char *wrong = read_varint(w, end, &value);
  if (wrong) return wrong;
  if (type == PROTOBUF_C_TYPE_UINT32 && value > UINT32_MAX)
    return fault(w, start, "a number above 2^32-1");
  if (type == PROTOBUF_C_TYPE_BOOL && value > 1)
    return fault(w, start, "a boolean that is neither 0 nor 1");
  if (type == PROTOBUF_C_TYPE_ENUM && value > INT32_MAX)
    return fault(w, start, "an enum value that is negative or above 2^31-1");
  return NULL;
}

static const char *check_text(walk *w, const unsigned char *end) {
  const unsigned char *start = w->at;
  size_t length = (size_t)(end - start);
  w->at = end;
  if (cdam_utf8_text(start, length)) return NULL;
  return fault(w, start, memchr(start, 0, length) ? "a NUL in a text" : "a text that is not UTF-8");
}

static const char *walk_message(walk *w, const cdam_path *path, unsigned depth,
                                const ProtobufCMessageDescriptor *descriptor,
                                const unsigned char *end);

/* The value of a known field, of a length that is known and in bounds. */
static const char *check_bytes(walk *w, const cdam_path *path, unsigned depth,
                               const ProtobufCFieldDescriptor *field, const unsigned char *end) {
  const char *wrong = NULL;
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
    return check_text(w, end);
  case PROTOBUF_C_TYPE_BYTES:
    w->at = end;
    return NULL;
  case PROTOBUF_C_TYPE_MESSAGE:
    if (depth == CDAM_MAX_DEPTH) return fault(w, w->at, "messages nested too deep");
    return walk_message(w, path, depth + 1, field->descriptor, end);
  default:
    if (!is_scalar(field->type)) return fault(w, w->at, "a type that is not in use");
    while (!wrong && w->at < end)
      wrong = check_scalar(w, end, field->type); /* packed */
    return wrong;
  }
}

static const char *check_value(walk *w, const cdam_path *path, unsigned depth,
                               const ProtobufCFieldDescriptor *field, const tag *t,
                               const unsigned char *end) {
  bool scalar = is_scalar(field->type);
  if (scalar && t->wire_type == WIRE_VARINT) return check_scalar(w, end, field->type);
  bool packed = scalar && field->label == PROTOBUF_C_LABEL_REPEATED;
  if (t->wire_type != WIRE_LENGTH || (scalar && !packed))
    return fault(w, t->start, "a wire type that is not the field's");
  size_t length;
  const char *wrong = read_length(w, end, &length);
  return wrong ? wrong : check_bytes(w, path, depth, field, w->at + length);
}

/* The path is on the stack of the frames that a fault leaves, so it is written down at once. */
static void note_path(walk *w, const cdam_path *path) {
  if (w->fault_placed) return;
  w->fault_placed = true;
  cdam_path_text(path, w->fault_field, sizeof w->fault_field);
}

/* Field N mostly stands at place N - 1; protobuf-c searches for those that do not. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *descriptor,
                                                  uint32_t number) {
  if (number <= descriptor->n_fields && descriptor->fields[number - 1].id == number)
    return &descriptor->fields[number - 1];
  return protobuf_c_message_descriptor_get_field(descriptor, number);
}

static const char *walk_field(walk *w, const cdam_path *parent, unsigned depth,
                              const ProtobufCMessageDescriptor *descriptor, cdam_seen *seen,
                              const unsigned char *end) {
  tag t;
  const char *wrong = read_tag(w, end, &t);
  if (wrong) return wrong;
  const ProtobufCFieldDescriptor *field = find_field(descriptor, t.number);
  if (!field && !cdam_message_info_of(descriptor))
    return fault(w, t.start, "a map entry with a field that is neither key nor value");
  if (!field) return skip_value(w, end, &t);
  cdam_path path = {parent, field->name, NULL, -1};
  if (field->label != PROTOBUF_C_LABEL_REPEATED &&
      !cdam_see(seen, (size_t)(field - descriptor->fields)))
    wrong = fault(w, t.start, "the field is there twice");
  else
    wrong = check_value(w, &path, depth, field, &t, end);
  if (wrong) note_path(w, &path);
  return wrong;
}

static const char *walk_message(walk *w, const cdam_path *path, unsigned depth,
                                const ProtobufCMessageDescriptor *descriptor,
                                const unsigned char *end) {
  cdam_seen seen = {{0}};
  const char *wrong = NULL;
  while (!wrong && w->at < end)
    wrong = walk_field(w, path, depth, descriptor, &seen, end);
  return wrong;
}

static cdam_status report(const walk *w, const char *wrong, cdam_error *err) {
  const char *field = w->fault_placed ? w->fault_field : "";
  cdam_fail(err, CDAM_ERR_MALFORMED, "not a well-formed state: byte %zu%s%s: %s",
            (size_t)(w->fault_at - w->base), field[0] ? ", " : "", field, wrong);
  if (err) cdam_printable(err->field, sizeof err->field, field, strlen(field));
  return CDAM_ERR_MALFORMED;
}

cdam_status cdam_wire_check(const ProtobufCMessageDescriptor *descriptor,
                            const unsigned char *bytes, size_t length, cdam_error *err) {
  walk w = {.base = bytes, .at = bytes};
  const char *wrong = walk_message(&w, NULL, 0, descriptor, bytes + length);
  return wrong ? report(&w, wrong, err) : CDAM_OK;
}

cdam_status cdam_wire_find_seal(const unsigned char *bytes, size_t length, cdam_seal_place *place,
                                cdam_error *err) {
  walk w = {.base = bytes, .at = bytes};
  const unsigned char *end = bytes + length;
  *place = (cdam_seal_place){length, length};
  while (w.at < end) {
    tag t;
    const char *wrong = read_tag(&w, end, &t);
    const unsigned char *value = w.at;
    if (!wrong) wrong = skip_value(&w, end, &t);
    if (!wrong && t.number == CDAM_SEAL_FIELD) {
      if (t.wire_type != WIRE_LENGTH)
        wrong = fault(&w, t.start, "a wire type that is not the field's");
      else if (w.at != end)
        wrong = fault(&w, t.start, "the seal is not the last field");
    }
    if (wrong) return report(&w, wrong, err);
    if (t.number != CDAM_SEAL_FIELD) continue;
    while (*value >= 0x80)
      value++;
    *place = (cdam_seal_place){(size_t)(t.start - bytes), (size_t)(value + 1 - bytes)};
  }
  return CDAM_OK;
}
