/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and states as values: make, copy, check, compare, and turn into bytes,
 * files, ProtoJSON and text format and back. The accessors of single fields are generated:
 * see options.h and state.h.
 *
 * No function here touches an engine.
 */
#ifndef COFFERDAM_MESSAGE_H
#define COFFERDAM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>

CDAM_BEGIN_DECLS

/* What a sandbox is created with. Opaque. */
typedef struct cdam_options cdam_options;

/* What brings a sandbox back. Opaque. */
typedef struct cdam_state cdam_state;

/* A key for HMAC seals. Opaque; immutable, so threads may share it. */
typedef struct cdam_key cdam_key;

/* No serialized state is larger than this. */
#define CDAM_STATE_MAX_BYTES (1024 * 1024)

/* ---- options ---- */

/* New options, every field at its default. Free with cdam_options_free.
 * CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_new(cdam_options **out, cdam_error *err);

/* A deep copy, unknown fields included. Free with cdam_options_free.
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_copy(const cdam_options *options, cdam_options **out,
                                                  cdam_error *err);

CDAM_API void cdam_options_free(cdam_options *options);

/* Checks every field against its rule, as cdam_create does first.
 * CDAM_ERR_INVALID with the field's path, such as "env[A=B]". Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_validate(const cdam_options *options, cdam_error *err);

/*
 * Sets what the options' profile stands for, where it is not set: of a map, each entry whose key is
 * not there. What is set stays as it is. Without a profile nothing is changed. cdam_create does
 * this to a copy, and the state holds the result, so that a profile never means anything else for a
 * sandbox that exists. Call it to see or change what a profile stands for. CDAM_ERR_ARGUMENT,
 * CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_options_resolve_profile(cdam_options *options,
                                                             cdam_error *err);

/* ProtoJSON, one line, no final newline, as protobuf's own JSON printers give
 * it: lowerCamelCase names, defaults left out, enum values by name. It holds
 * env values. Free *json with free(). CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY.
 * Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_to_json(const cdam_options *options, char **json,
                                                     cdam_error *err);

/* Reads ProtoJSON (names in lowerCamelCase or as in the .proto file) and
 * validates. Refuses unknown names, repeated names, values of the wrong type or
 * out of range, and enum values that the schema does not define. A number may be
 * written as 1, 1.0 or "1"; an enum value by its name or number.
 * CDAM_ERR_MALFORMED, CDAM_ERR_INVALID. Free with cdam_options_free. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_from_json(const char *json, size_t length,
                                                       cdam_options **out, cdam_error *err);

/* protobuf's text format, as protobuf's own printers give it: one value on a line, names as in the
 * .proto file, defaults left out, a final newline. It holds env values. Free *text with free().
 * CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_to_text(const cdam_options *options, char **text,
                                                     cdam_error *err);

/* Reads text format and validates. Refuses what cdam_options_from_json refuses, and field numbers,
 * extensions and Any. The error has line and column, and no piece of a value.
 * CDAM_ERR_MALFORMED, CDAM_ERR_INVALID. Free with cdam_options_free. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_options_from_text(const char *text, size_t length,
                                                       cdam_options **out, cdam_error *err);

/* ---- keys ---- */

/* A key of `length` bytes (16 to 1024; take 32 random ones) called `id`, a name of
 * printable ASCII that is written into seals; it is no secret. The bytes are copied
 * and wiped by cdam_key_free. CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_key_new(const char *id, const void *bytes, size_t length,
                                             cdam_key **out, cdam_error *err);

/* The key in a file: its whole content is the key, its base name the id.
 * Refuses a file that others than its owner can write. CDAM_ERR_IO,
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_key_load(const char *path, cdam_key **out, cdam_error *err);

CDAM_API void cdam_key_free(cdam_key *key);

/* ---- states ---- */

/* A deep copy, unknown fields included. Free with cdam_state_free.
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_copy(const cdam_state *state, cdam_state **out,
                                                cdam_error *err);

CDAM_API void cdam_state_free(cdam_state *state);

/* Checks every rule, and that required_features says what the options need, as
 * cdam_resume does first. CDAM_ERR_INVALID, CDAM_ERR_UNSUPPORTED. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_validate(const cdam_state *state, cdam_error *err);

/*
 * The state as bytes: deterministic (equal content and key give equal bytes),
 * unknown fields kept, sealed with `key`, or with plain SHA-256 when key is NULL.
 * Validates first. Free *bytes with free().
 * CDAM_ERR_INVALID, CDAM_ERR_UNSUPPORTED, CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_state_serialize(const cdam_state *state, const cdam_key *key,
                                                     unsigned char **bytes, size_t *length,
                                                     cdam_error *err);

/*
 * Reads a state and validates it. The bytes are untrusted: everything that
 * protobuf parsers pass over in silence (cuts, duplicates, narrowed numbers, bad
 * UTF-8, NUL in strings, ...) is refused.
 *
 * Seals: without a key, an unsealed state and one with a right SHA-256 seal are
 * read, and one sealed by HMAC is refused, since nobody checked it. With a key,
 * only a right HMAC seal by that key is read.
 *
 * Free with cdam_state_free. CDAM_ERR_MALFORMED, CDAM_ERR_SEAL, CDAM_ERR_INVALID,
 * CDAM_ERR_UNSUPPORTED, CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_state_parse(const void *bytes, size_t length,
                                                 const cdam_key *key, cdam_state **out,
                                                 cdam_error *err);

/* cdam_state_serialize into a file, durably and all or nothing: a temporary file
 * of mode 0600 in the same directory, fsync, rename, fsync of the directory.
 * On failure the old file is as it was (save for a directory that cannot be synced: the new file
 * is then in place, and a crash may bring the old one back). Something at `path` that is not a
 * regular file is refused and never replaced, a symbolic link included. The errors of
 * cdam_state_serialize, and CDAM_ERR_IO. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_save(const cdam_state *state, const char *path,
                                                const cdam_key *key, cdam_error *err);

/* cdam_state_parse of a regular file or a pipe. CDAM_ERR_IO, and the errors of
 * cdam_state_parse. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_load(const char *path, const cdam_key *key,
                                                cdam_state **out, cdam_error *err);

/* As cdam_options_to_json; the seal that was read, if any, is shown. Fields that this
 * library does not know are not shown. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_to_json(const cdam_state *state, char **json,
                                                   cdam_error *err);

/* As cdam_options_from_json. JSON that holds a seal must hold the right one: it is
 * checked over the canonical bytes, by the rules of cdam_state_parse.
 * Free with cdam_state_free. CDAM_ERR_MALFORMED, CDAM_ERR_INVALID, CDAM_ERR_SEAL,
 * CDAM_ERR_UNSUPPORTED, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_from_json(const char *json, size_t length,
                                                     const cdam_key *key, cdam_state **out,
                                                     cdam_error *err);

/* As cdam_options_to_text and cdam_options_from_text, with seals as cdam_state_to_json and
 * cdam_state_from_json have them. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_to_text(const cdam_state *state, char **text,
                                                   cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_state_from_text(const char *text, size_t length,
                                                     const cdam_key *key, cdam_state **out,
                                                     cdam_error *err);

/* The forms that people read. */
typedef enum cdam_form { CDAM_FORM_JSON = 0, CDAM_FORM_TEXT = 1 } cdam_form;

/* Hears of a name that was ignored, by its path: "engine.flavour". */
typedef void (*cdam_ignored_callback)(void *user, const char *field);

/*
 * As cdam_state_from_json or cdam_state_from_text, for a document of a later revision: a name that
 * the schema does not know is told to `ignored`, which must not be NULL, and left out. What it said
 * is lost. Therefore refused as ever: an unknown name in the options, since what it stands for
 * would be gone when the container is recreated; a known name in another spelling; unknown enum
 * values, and so unknown features; and a seal that also covers what was left out. The state is
 * only good when the call succeeds, whatever was told. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_state_read_ignoring(cdam_form form, const char *text,
                                                         size_t length, const cdam_key *key,
                                                         cdam_ignored_callback ignored, void *user,
                                                         cdam_state **out, cdam_error *err);

/* What stands in the place of a value that is hidden. */
#define CDAM_HIDDEN "(hidden)"

/* For logs and screens: the state in that form, with CDAM_HIDDEN for every value that may be a
 * secret (the values of env), and *hidden, which may be NULL, how many these were. It is no state
 * any more: the seal, if any, is that of the real one. Free *text with free().
 * CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_show(const cdam_state *state, cdam_form form,
                                                char **text, size_t *hidden, cdam_error *err);

/* One difference between two states. The texts are the call's own, and values are as in text
 * format, enum values without their prefix; NULL stands for nothing there. */
typedef struct cdam_difference {
  const char *field;  /* "image_id", "options.env[PATH]" */
  const char *before; /* in the first state */
  const char *after;  /* in the second one */
  bool isolates;      /* the option isolates: one of the two sandboxes reaches more */
  bool loses;         /* it isolates, is in use in the first state, and no more in the second */
  bool sensitive;     /* the values may be secrets: do not show them unless asked to */
} cdam_difference;

/* False ends the comparison. */
typedef bool (*cdam_difference_callback)(void *user, const cdam_difference *difference);

/* Calls `tell` for every difference, field by field in the schema's order, and keeps the number of
 * calls in *count, which may be NULL. Digests of seals are not compared: they follow from the rest.
 * Of fields that this library does not know only their number is told.
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_state_diff(const cdam_state *first, const cdam_state *second,
                                                cdam_difference_callback tell, void *user,
                                                size_t *count, cdam_error *err);

/* Does the state, or its options, hold fields that this library does not know?
 * They are kept. A container that is gone cannot be recreated from options of
 * which some are unknown; it can be reattached. Since 0.1. */
CDAM_API bool cdam_state_has_unknown_fields(const cdam_state *state);

CDAM_END_DECLS

#endif
