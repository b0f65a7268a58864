/* SPDX-License-Identifier: Apache-2.0 */
/* What the wire walk, the packer and ProtoJSON share: they all work over the descriptors, so a
 * new field changes none of them. */
#ifndef COFFERDAM_STATE_SCHEMA_H
#define COFFERDAM_STATE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/generated.h"

/* Messages nest no deeper than this; the schema itself is not recursive. */
#define CDAM_MAX_DEPTH 8

/* What the generator says of a message; NULL for a map entry. */
const cdam_message_info *cdam_message_info_of(const ProtobufCMessageDescriptor *descriptor);

/* Where a field is in a message: the value, the pointer to the array of a repeated field, or
 * its number of elements. */
static inline void *cdam_field_member(const ProtobufCMessage *message,
                                      const ProtobufCFieldDescriptor *field) {
  return (char *)(uintptr_t)message + field->offset;
}

static inline size_t *cdam_field_count(const ProtobufCMessage *message,
                                       const ProtobufCFieldDescriptor *field) {
  return (size_t *)(void *)((char *)(uintptr_t)message + field->quantifier_offset);
}

/* The size of one element of a repeated field; 0 for a type that the schema does not use. */
size_t cdam_element_size(ProtobufCType type);

/* Which fields of a message have been met. {0} is none. */
typedef struct cdam_seen {
  uint64_t bits[4];
} cdam_seen;

/* False when the field was met before (or when the message has too many to tell). */
static inline bool cdam_see(cdam_seen *seen, size_t field_index) {
  if (field_index >= 64 * (sizeof seen->bits / sizeof *seen->bits)) return false;
  uint64_t bit = UINT64_C(1) << (field_index % 64);
  if (seen->bits[field_index / 64] & bit) return false;
  seen->bits[field_index / 64] |= bit;
  return true;
}

/* Where we are, for error messages: a chain from the field at hand to the message. */
typedef struct cdam_path {
  const struct cdam_path *parent; /* NULL at the top */
  const char *name;
  const char *key; /* of a map entry, or NULL */
  long index;      /* of a repeated field, or -1 */
} cdam_path;

/* "options.env[PATH]", "required_features[0]"; cut to fit, printable. */
void cdam_path_text(const cdam_path *path, char *text, size_t size);

/* cdam_fail with a field path in front of the message and in err->field. */
cdam_status cdam_fail_path(cdam_error *err, cdam_status code, const cdam_path *path,
                           const char *text);

#endif
