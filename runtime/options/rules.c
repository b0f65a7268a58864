/* SPDX-License-Identifier: Apache-2.0 */
#include "options/rules.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "engine/image.h"
#include "options/formats.h"

cdam_status cdam_fail_required(const cdam_place *place, cdam_error *err) {
  return cdam_fail_place(place, err, "is required");
}

static bool is_hex(const char *text, size_t length) {
  return strspn(text, "0123456789abcdef") >= length;
}

static bool is_digest(const char *text) {
  return is_hex(text, 64) && text[64] == '\0';
}

static bool is_token(const char *text) {
  for (; *text; text++) {
    if (*text <= ' ' || *text > '~') return false;
  }
  return true;
}

/* NULL when the text has the format, or else what is wrong. */
static const char *format_error(const char *text, cdam_text_format format) {
  cdam_image_reference parts;
  const char *why = "is no image reference";
  switch (format) {
  case CDAM_TEXT_ANY:
    return NULL;
  case CDAM_TEXT_UUID:
    return cdam_is_uuid(text) ? NULL : "is no UUID in lower case";
  case CDAM_TEXT_CONTAINER_ID:
    return is_digest(text) ? NULL : "is no full container id (64 hexadecimal digits)";
  case CDAM_TEXT_IMAGE_ID:
    return strncmp(text, "sha256:", 7) == 0 && is_digest(text + 7)
               ? NULL
               : "is no image id (sha256: and 64 hexadecimal digits)";
  case CDAM_TEXT_IMAGE_REFERENCE:
    return cdam_image_reference_parse(text, &parts, &why) ? NULL : why;
  case CDAM_TEXT_TOKEN:
    return is_token(text) ? NULL : "holds something other than printable ASCII without blanks";
  case CDAM_TEXT_PATH:
    return cdam_is_clean_path(text)
               ? NULL
               : "is no absolute path without \".\", \"..\", empty parts and control characters";
  case CDAM_TEXT_USER:
    return cdam_is_user(text) ? NULL : "is no USER[:GROUP] of names or numbers";
  case CDAM_TEXT_PLAIN_USER:
    return cdam_is_plain_user(text) ? NULL : "must be UID:GID, neither of them 0, with a profile";
  case CDAM_TEXT_WORD:
    return cdam_is_word(text) ? NULL : "must be of letters, digits, \"_\", \".\" and \"-\"";
  case CDAM_TEXT_HOSTNAME:
    return cdam_is_hostname(text) ? NULL : "is no host name";
  case CDAM_TEXT_PLATFORM:
    return cdam_is_platform(text) ? NULL : "is no os/architecture[/variant] in lower case";
  case CDAM_TEXT_TMPFS:
    return cdam_tmpfs_error(text);
  case CDAM_TEXT_ULIMIT_NAME:
    return cdam_is_ulimit_name(text) ? NULL : "is no limit that can be set";
  case CDAM_TEXT_ULIMIT: {
    uint64_t soft, hard;
    return cdam_ulimit_parse(text, &soft, &hard) ? NULL : "is no SOFT:HARD, the first no higher";
  }
  }
  return "has a format that is not known";
}

cdam_status cdam_check_string(const cdam_place *place, const char *value,
                              const cdam_string_rules *rules, cdam_error *err) {
  const char *text = cdam_text(value);
  size_t length = strlen(text);
  if (length < rules->min_bytes) {
    return cdam_fail_place(place, err, "is %zu bytes long; at least %zu are needed", length,
                           rules->min_bytes);
  }
  if (rules->max_bytes && length > rules->max_bytes) {
    return cdam_fail_place(place, err, "is %zu bytes long; at most %zu are allowed", length,
                           rules->max_bytes);
  }
  if (!cdam_utf8_valid((const unsigned char *)text, length)) {
    return cdam_fail_place(place, err, "is not valid UTF-8");
  }
  if (rules->not_contains && strstr(text, rules->not_contains)) {
    return cdam_fail_place(place, err, "must not contain \"%s\"", rules->not_contains);
  }
  if (rules->not_prefix && strncmp(text, rules->not_prefix, strlen(rules->not_prefix)) == 0) {
    return cdam_fail_place(place, err, "must not begin with \"%s\"", rules->not_prefix);
  }
  const char *wrong = format_error(text, rules->format);
  return wrong ? cdam_fail_place(place, err, "%s", wrong) : CDAM_OK;
}

cdam_status cdam_check_uint(const cdam_place *place, uint64_t value, uint64_t gte, uint64_t lte,
                            cdam_error *err) {
  if (value >= gte && value <= lte) return CDAM_OK;
  return cdam_fail_place(place, err, "is %llu; %llu to %llu are allowed", (unsigned long long)value,
                         (unsigned long long)gte, (unsigned long long)lte);
}

cdam_status cdam_check_uint_step(const cdam_place *place, uint64_t value, uint64_t gte,
                                 uint64_t lte, uint64_t step, cdam_error *err) {
  cdam_status status = cdam_check_uint(place, value, gte, lte, err);
  if (status != CDAM_OK || value % step == 0) return status;
  return cdam_fail_place(place, err, "is %llu, which is no multiple of %llu",
                         (unsigned long long)value, (unsigned long long)step);
}

cdam_status cdam_check_bytes(const cdam_place *place, size_t length, size_t min_len, size_t max_len,
                             cdam_error *err) {
  if (length >= min_len && length <= max_len) return CDAM_OK;
  return cdam_fail_place(place, err, "is %zu bytes long; %zu to %zu are allowed", length, min_len,
                         max_len);
}

cdam_status cdam_check_enum(const cdam_place *place, long long number, bool known,
                            const char *words, cdam_error *err) {
  if (known) return CDAM_OK;
  return cdam_fail_place(place, err, "is the number %lld, which is none of %s", number, words);
}

cdam_status cdam_check_count(const cdam_place *place, size_t count, size_t max, cdam_error *err) {
  if (count <= max) return CDAM_OK;
  return cdam_fail_place(place, err, "has %zu entries; at most %zu are allowed", count, max);
}

static cdam_status fail_twice(const cdam_place *place, size_t index, size_t first,
                              cdam_error *err) {
  cdam_place item = cdam_place_item(place, index);
  return cdam_fail_place(&item, err, "is the same as item %zu", first);
}

cdam_status cdam_check_unique_uint32(const cdam_place *place, const uint32_t *items, size_t count,
                                     cdam_error *err) {
  for (size_t i = 1; i < count; i++) {
    for (size_t j = 0; j < i; j++) {
      if (items[i] == items[j]) return fail_twice(place, i, j, err);
    }
  }
  return CDAM_OK;
}

cdam_status cdam_check_unique_strings(const cdam_place *place, char *const *items, size_t count,
                                      cdam_error *err) {
  for (size_t i = 1; i < count; i++) {
    for (size_t j = 0; j < i; j++) {
      if (strcmp(cdam_text(items[i]), cdam_text(items[j])) == 0)
        return fail_twice(place, i, j, err);
    }
  }
  return CDAM_OK;
}

/* Is the key of an entry there before it? In a sorted map a look at the neighbour is enough. */
static bool repeats(const cdam_map *map, size_t index, bool sorted) {
  const char *key = cdam_map_key(map, index);
  for (size_t j = index; j-- > 0;) {
    if (strcmp(cdam_map_key(map, j), key) == 0) return true;
    if (sorted) return false;
  }
  return false;
}

static bool is_sorted(const cdam_map *map) {
  for (size_t i = 1; i < map->count; i++) {
    if (strcmp(cdam_map_key(map, i - 1), cdam_map_key(map, i)) > 0) return false;
  }
  return true;
}

cdam_status cdam_check_map(const cdam_place *place, const cdam_map *map,
                           const cdam_map_rules *rules, cdam_error *err) {
  cdam_status status = cdam_check_count(place, map->count, rules->max_pairs, err);
  bool sorted = is_sorted(map);
  for (size_t i = 0; status == CDAM_OK && i < map->count; i++) {
    const char *key = cdam_map_key(map, i);
    cdam_place entry = cdam_place_entry(place, key);
    status = cdam_check_string(&entry, key, &rules->keys, err);
    if (status == CDAM_OK) {
      status = cdam_check_string(&entry, cdam_map_value(map, i), &rules->values, err);
    }
    if (status == CDAM_OK && repeats(map, i, sorted)) {
      status = cdam_fail_place(&entry, err, "is there twice");
    }
  }
  return status;
}
