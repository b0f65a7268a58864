/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that annotations give to fields. Generated validation is made of these. No message
 * ever holds a string's value: it may be a secret. */
#ifndef COFFERDAM_OPTIONS_RULES_H
#define COFFERDAM_OPTIONS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/fields.h"
#include "options/place.h"

typedef enum cdam_text_format {
  CDAM_TEXT_ANY,
  CDAM_TEXT_UUID,            /* 8-4-4-4-12 lower-case hexadecimal digits */
  CDAM_TEXT_CONTAINER_ID,    /* 64 lower-case hexadecimal digits */
  CDAM_TEXT_IMAGE_ID,        /* "sha256:" and 64 lower-case hexadecimal digits */
  CDAM_TEXT_IMAGE_REFERENCE, /* as cdam_image_reference_parse has it */
  CDAM_TEXT_TOKEN,           /* printable ASCII without blanks */
  CDAM_TEXT_PATH,            /* absolute, as a path that was cleaned */
  CDAM_TEXT_USER,            /* USER[:GROUP] */
  CDAM_TEXT_PLAIN_USER,      /* UID:GID, neither of them 0 */
  CDAM_TEXT_WORD,            /* letters, digits, "_", "." and "-" */
  CDAM_TEXT_HOSTNAME,
  CDAM_TEXT_PLATFORM, /* os/architecture[/variant] */
  CDAM_TEXT_TMPFS,
  CDAM_TEXT_ULIMIT_NAME,
  CDAM_TEXT_ULIMIT /* SOFT:HARD */
} cdam_text_format;

/* Lengths are in bytes; max_bytes 0 is no bound, NULL no rule. */
typedef struct cdam_string_rules {
  size_t min_bytes;
  size_t max_bytes;
  cdam_text_format format;
  const char *not_contains;
  const char *not_prefix;
} cdam_string_rules;

typedef struct cdam_map_rules {
  size_t max_pairs;
  cdam_string_rules keys;
  cdam_string_rules values;
} cdam_map_rules;

cdam_status cdam_fail_required(const cdam_place *place, cdam_error *err);

/* Valid UTF-8 is always demanded. */
cdam_status cdam_check_string(const cdam_place *place, const char *value,
                              const cdam_string_rules *rules, cdam_error *err);

/* `lte` is the largest value allowed. */
cdam_status cdam_check_uint(const cdam_place *place, uint64_t value, uint64_t gte, uint64_t lte,
                            cdam_error *err);

/* And a multiple of `step`. */
cdam_status cdam_check_uint_step(const cdam_place *place, uint64_t value, uint64_t gte,
                                 uint64_t lte, uint64_t step, cdam_error *err);

cdam_status cdam_check_bytes(const cdam_place *place, size_t length, size_t min_len, size_t max_len,
                             cdam_error *err);

/* `known` tells whether the number is one of the enum's; `words` lists them for the message. */
cdam_status cdam_check_enum(const cdam_place *place, long long number, bool known,
                            const char *words, cdam_error *err);

cdam_status cdam_check_count(const cdam_place *place, size_t count, size_t max, cdam_error *err);

/* No value twice. The count has been checked. */
cdam_status cdam_check_unique_uint32(const cdam_place *place, const uint32_t *items, size_t count,
                                     cdam_error *err);
cdam_status cdam_check_unique_strings(const cdam_place *place, char *const *items, size_t count,
                                      cdam_error *err);

/* Number of pairs, keys, values; and no key twice. */
cdam_status cdam_check_map(const cdam_place *place, const cdam_map *map,
                           const cdam_map_rules *rules, cdam_error *err);

#endif
