/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf's text format over the descriptors.
 *
 * Written as protobuf's own printers for Python do: two blanks for each level, one line for each
 * value, map keys sorted, defaults left out, everything but printable ASCII escaped, a final
 * newline. Unknown fields are not shown.
 *
 * Read strictly, after protobuf's specification of the format. A field is called by its name in
 * the .proto file; one that is not repeated is there once, and a map has a key once. Taken are
 * comments, `,` or `;` behind a value, `{}` and `<>`, `[a, b]` for repeated fields, strings in
 * either quotes and in pieces, and whole numbers that are decimal, 0x hexadecimal or 0 octal; an
 * enum value is its name or a number that the schema defines. Refused are field numbers,
 * extensions, Any, signs, fractions, NULs and bad UTF-8 in strings, and the escapes \?, \X, \u and
 * \U, which mean one thing here and another in Python.
 */
#ifndef COFFERDAM_STATE_TEXTPROTO_H
#define COFFERDAM_STATE_TEXTPROTO_H

#include "base/buffer.h"
#include "state/values.h"

/* Text takes more room than protobuf: four bytes for some of one. */
#define CDAM_TEXT_MAX_BYTES (8 * CDAM_STATE_MAX_BYTES)

/* What is ignored is nested no deeper. */
#define CDAM_TEXT_MAX_DEPTH 64

/* Free *text with free(). CDAM_ERR_INVALID for text that is not UTF-8 and for a map with a key
 * twice, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_textproto_write(const ProtobufCMessage *message, char **text, cdam_error *err);

/* A string as a literal. With `utf8`, printable characters stay as they are. False when out of
 * memory. */
bool cdam_textproto_quote(cdam_buffer *out, const void *bytes, size_t length, bool utf8);

/* A value that is no message. For people: printable characters, and enum values without their
 * prefix. False when out of memory. */
bool cdam_textproto_scalar(cdam_buffer *out, const ProtobufCFieldDescriptor *field,
                           const void *member, bool for_people);

/* `ignoring` may be NULL. Free *message with protobuf_c_message_free_unpacked. CDAM_ERR_MALFORMED
 * for what is not text format or has an unknown or repeated name, CDAM_ERR_INVALID for a value
 * that its field does not take, CDAM_ERR_UNSUPPORTED for a feature that the schema does not know.
 * The message has line and column, and never a piece of a value. */
cdam_status cdam_textproto_read(const char *text, size_t length,
                                const ProtobufCMessageDescriptor *descriptor,
                                const cdam_ignoring *ignoring, ProtobufCMessage **message,
                                cdam_error *err);

#endif
