/* SPDX-License-Identifier: Apache-2.0 */
/* What ProtoJSON, text format and the comparison of states share: fields by name, values that are
 * checked before they go into a message, and names that a reader was asked to ignore. */
#ifndef COFFERDAM_STATE_VALUES_H
#define COFFERDAM_STATE_VALUES_H

#include "state/schema.h"

/* Is the field at anything but its default? False for a NULL message. */
bool cdam_field_is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* CDAM_ERR_INVALID. */
cdam_status cdam_wrong_value(cdam_error *err, const cdam_path *path, const char *text);

/* Puts a number into a uint32 or uint64. CDAM_ERR_INVALID when `ok` is false, and for one that is
 * too large. */
cdam_status cdam_put_number(bool ok, uint64_t number, ProtobufCType type, const cdam_path *path,
                            void *member, cdam_error *err);

/* Puts an enum value in. CDAM_ERR_INVALID, for a Feature CDAM_ERR_UNSUPPORTED, when it is NULL. */
cdam_status cdam_put_enum(const ProtobufCEnumValue *value,
                          const ProtobufCEnumDescriptor *descriptor, const cdam_path *path,
                          void *member, cdam_error *err);

/* An empty message. Free with protobuf_c_message_free_unpacked. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_message_new(const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **out,
                             cdam_error *err);

/* Who hears of the names that were ignored. */
typedef struct cdam_ignoring {
  cdam_ignored_callback ignored;
  void *user;
} cdam_ignoring;

/*
 * May a name be ignored that is none of the message's? NULL ignores nothing. Options are never
 * ignored: what the name stands for would be gone when the container is recreated. Nor is a name
 * that is a known one in another spelling: it was meant to count.
 */
bool cdam_may_ignore(const cdam_ignoring *ignoring, const ProtobufCMessageDescriptor *descriptor,
                     const char *name, size_t length);

void cdam_tell_ignored(const cdam_ignoring *ignoring, const cdam_path *path);

#endif
