/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict walk over protobuf bytes, before anything unpacks them.
 *
 * protobuf parsers pass over a good deal in silence, and not all over the same, so that bytes can
 * mean one thing here and another in Python or Go. What passes this walk means the same to all:
 * no cut, no field 0, no group, no duplicate of a singular field, no number that one reader
 * would narrow, no varint longer than it must be, no text that is not UTF-8 or holds a NUL.
 *
 * Unknown fields are checked for their length and are otherwise left alone.
 */
#ifndef COFFERDAM_STATE_WIRE_H
#define COFFERDAM_STATE_WIRE_H

#include <stddef.h>

#include "options/generated.h"

/* The number of SessionState.seal. */
#define CDAM_SEAL_FIELD 2047

/* No input has more fields than this, at all levels together. It bounds the memory that
 * unpacking takes. */
#define CDAM_WIRE_MAX_FIELDS 65536

/* Where the seal is in a state's bytes. */
typedef struct cdam_seal_place {
  size_t offset;         /* of its tag; the length of the state when it has no seal */
  size_t payload_offset; /* of the Seal message; it ends where the state ends */
} cdam_seal_place;

/* Walks the top level only, by tags and lengths. Refuses a seal that is not the last field.
 * CDAM_ERR_MALFORMED. */
cdam_status cdam_wire_find_seal(const unsigned char *bytes, size_t length, cdam_seal_place *place,
                                cdam_error *err);

/* Walks a whole message. CDAM_ERR_MALFORMED with the byte offset and the field's path. Map keys
 * are not compared with each other here: see cdam_sort_maps. */
cdam_status cdam_wire_check(const ProtobufCMessageDescriptor *descriptor,
                            const unsigned char *bytes, size_t length, cdam_error *err);

#endif
