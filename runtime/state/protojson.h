/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ProtoJSON over the descriptors.
 *
 * Written as protobuf's own printers do: lowerCamelCase, defaults left out, enum values by name,
 * 64-bit numbers as strings, bytes in base64, map keys sorted. Unknown fields are not shown.
 *
 * Read strictly. A field is called by its lowerCamelCase name or the one in the .proto file, and
 * once; null is its default. A number is a JSON number without a fraction (1 and 1.0) or a string
 * of decimal digits; an enum value is its name or a number that the schema defines; bytes are
 * base64, standard or for URLs, with or without padding. Nothing else is taken.
 */
#ifndef COFFERDAM_STATE_PROTOJSON_H
#define COFFERDAM_STATE_PROTOJSON_H

#include "options/generated.h"
#include "state/values.h"

/* JSON takes more room than protobuf: six bytes for some of one. */
#define CDAM_JSON_MAX_BYTES (8 * CDAM_STATE_MAX_BYTES)

/* Text as a JSON object, strictly: no name twice, no NUL, UTF-8, at most `most` bytes. *root is a
 * new reference. Errors do not quote the text. CDAM_ERR_MALFORMED, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_json_load(const char *json, size_t length, size_t most, json_t **root,
                           cdam_error *err);

/* One line without a newline. Free *json with free(). CDAM_ERR_INVALID for text that is not UTF-8
 * and for a map with a key twice, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_protojson_write(const ProtobufCMessage *message, char **json, cdam_error *err);

/* `ignoring` may be NULL. Free *message with protobuf_c_message_free_unpacked. CDAM_ERR_MALFORMED
 * for what is not JSON or has an unknown or repeated name, CDAM_ERR_INVALID for a value that its
 * field does not take, CDAM_ERR_UNSUPPORTED for a feature that the schema does not know. */
cdam_status cdam_protojson_read(const char *json, size_t length,
                                const ProtobufCMessageDescriptor *descriptor,
                                const cdam_ignoring *ignoring, ProtobufCMessage **message,
                                cdam_error *err);

#endif
