/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the generator makes from the schema for the rest of the library. The
 * runtime knows options only through these functions, so a new option changes no
 * line of it. Implemented in generated/c/.
 */
#ifndef COFFERDAM_OPTIONS_GENERATED_H
#define COFFERDAM_OPTIONS_GENERATED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>
#include <cofferdam/message.h>

#include "base/buffer.h"
#include "cofferdam/v1/options.pb-c.h"
#include "cofferdam/v1/state.pb-c.h"

/* The opaque types are the messages themselves: a pointer to one is a pointer to
 * the other. They are made by the message's __init or by unpacking, with malloc, and
 * freed with __free_unpacked and no allocator. */
struct cdam_options {
  Cofferdam__V1__SandboxOptions message;
};
struct cdam_state {
  Cofferdam__V1__SessionState message;
};

/* The newest schema revision known. */
extern const unsigned cdam_generated_revision;

/* (a) Validation. Field paths begin with `prefix` ("" or "options."). */
cdam_status cdam_generated_validate_options(const Cofferdam__V1__SandboxOptions *options,
                                            const char *prefix, cdam_error *err);

/* The rules of the whole state, options included, and the required_features: a
 * number that is not known is CDAM_ERR_UNSUPPORTED (checked first of all, so that an
 * old reader says what it lacks); a list that disagrees with the options, either
 * way, is CDAM_ERR_INVALID. The seal is not looked at. */
cdam_status cdam_generated_validate_state(const Cofferdam__V1__SessionState *state,
                                          cdam_error *err);

/* Replaces required_features by what the options need, in ascending order.
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_generated_derive_features(Cofferdam__V1__SessionState *state, cdam_error *err);

/* (b) The options' part of the body of POST /containers/create. An option that is
 * not in use adds no key. *body is a new reference. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_generated_create_body(const Cofferdam__V1__SandboxOptions *options, json_t **body,
                                       cdam_error *err);

/* What stands in the query of that request, and of one that pulls the image: "&platform=..." is
 * appended, values escaped. False when out of memory. */
bool cdam_generated_create_query(const Cofferdam__V1__SandboxOptions *options, cdam_buffer *query);

/* When the sandbox ends, in seconds since 1970; 0 when it has no deadline, or the schema none. */
uint64_t cdam_generated_deadline(const Cofferdam__V1__SandboxOptions *options);

/* Sets what the profile in use stands for, where it is not set. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_generated_resolve_profile(cdam_options *options, cdam_error *err);

/* A state that names a profile has all isolating options that it stands for, or
 * CDAM_ERR_INVALID. Which values, is the affair of the release that resolved it. */
cdam_status cdam_generated_check_profile(const Cofferdam__V1__SessionState *state, cdam_error *err);

/* (e) Compares every option in use with the answer of GET /containers/{id}/json.
 * CDAM_ERR_DRIFT. */
cdam_status cdam_generated_compare(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err);

/* (e) Compares with the answer of GET /images/{name}/json what an image decides. CDAM_ERR_DRIFT. */
cdam_status cdam_generated_compare_image(const Cofferdam__V1__SandboxOptions *options,
                                         const json_t *image, cdam_error *err);

/* Every isolating option in use in `minimum` has the same value in `options`, or one that the
 * schema calls stricter; or CDAM_ERR_POLICY. */
cdam_status cdam_generated_check_policy(const Cofferdam__V1__SandboxOptions *minimum,
                                        const Cofferdam__V1__SandboxOptions *options,
                                        cdam_error *err);

/* Calls `note` for each annotated note whose two options are both in use: `field`
 * has it, `with` is the other one. Stops when `note` returns false, and then returns
 * false. */
typedef bool (*cdam_note_callback)(void *user, const char *field, const char *with,
                                   const char *text);
bool cdam_generated_notes(const Cofferdam__V1__SandboxOptions *options, cdam_note_callback note,
                          void *user);

/* What protobuf-c's descriptors do not say. `fields` stands parallel to
 * descriptor->fields, which is sorted by number. */
typedef struct cdam_field_info {
  const char *json_name; /* lowerCamelCase */
  bool is_map;           /* repeated entries of string key = 1 and value = 2 */
  bool isolates;         /* losing it would let the sandbox reach more */
  bool sensitive;        /* strings, or the values of a map, that may be secrets */
} cdam_field_info;

typedef struct cdam_message_info {
  const ProtobufCMessageDescriptor *descriptor;
  const cdam_field_info *fields;
} cdam_message_info;

/* Every message of the schema, map entries left out. */
extern const cdam_message_info cdam_generated_messages[];
extern const size_t cdam_generated_message_count;

#endif
