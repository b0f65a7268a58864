/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to bytes, in the one form that equal content has: fields by number, maps sorted by
 * key, both members of a map entry always written, unknown fields last.
 *
 * protobuf-c's own packing cannot do it: it writes maps in the order in which they lie in memory,
 * and leaves out an empty map value, which no other language's library does. The bytes
 * here are those of the deterministic serialization of protobuf's own libraries.
 */
#ifndef COFFERDAM_STATE_PACK_H
#define COFFERDAM_STATE_PACK_H

#include <stdint.h>

#include "options/generated.h"

/* The entries of a map in the order of their keys' bytes. */
typedef struct cdam_sorted_map {
  ProtobufCMessage **entries; /* the message's own array where that is in order already */
  size_t count;
  ProtobufCMessage **owned; /* or NULL */
  const char *duplicate;    /* a key that is there twice, or NULL */
} cdam_sorted_map;

/* CDAM_ERR_NO_MEMORY. Free with cdam_sorted_map_free. */
cdam_status cdam_sorted_map_of(const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field, cdam_sorted_map *out,
                               cdam_error *err);
void cdam_sorted_map_free(cdam_sorted_map *map);

/* The key or the value of a map entry; never NULL. */
const char *cdam_entry_key(const ProtobufCMessage *entry);
const char *cdam_entry_value(const ProtobufCMessage *entry);

/* Sorts the maps of a message that was just unpacked, at all levels. CDAM_ERR_MALFORMED when a
 * key is there twice. */
cdam_status cdam_sort_maps(ProtobufCMessage *message, cdam_error *err);

/* Packs a message without its field `leave_out` (0: none). *bytes is malloc'd, with
 * `room` spare bytes behind the message. What the walk would refuse to read is not written:
 * CDAM_ERR_INVALID for a map with a key twice, for text that is not UTF-8 and a negative enum
 * value; and for more than can be a state (not to the byte). CDAM_ERR_NO_MEMORY. */
cdam_status cdam_pack(const ProtobufCMessage *message, uint32_t leave_out, size_t room,
                      unsigned char **bytes, size_t *length, cdam_error *err);

#endif
