/* SPDX-License-Identifier: Apache-2.0 */
#include "options/compare_text.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "options/place.h"

bool cdam_json_equals_text(const json_t *value, const char *text) {
  if (!text || !json_is_string(value)) return false;
  size_t length = strlen(text);
  return json_string_length(value) == length && memcmp(json_string_value(value), text, length) == 0;
}

bool cdam_json_equals_uint(const json_t *value, uint64_t number) {
  if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
  return (uint64_t)json_integer_value(value) == number;
}

void cdam_describe_json(const json_t *value, char *text, size_t size) {
  if (!value) {
    snprintf(text, size, "absent");
    return;
  }
  switch (json_typeof(value)) {
  case JSON_NULL:
    snprintf(text, size, "null");
    break;
  case JSON_STRING:
    if (json_string_length(value) == 0) {
      snprintf(text, size, "an empty text");
    } else {
      cdam_printable(text, size, json_string_value(value), json_string_length(value));
    }
    break;
  case JSON_INTEGER:
    snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    break;
  case JSON_REAL:
    snprintf(text, size, "a fraction");
    break;
  case JSON_TRUE:
  case JSON_FALSE:
    snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    break;
  case JSON_ARRAY:
    snprintf(text, size, "a list of %zu", json_array_size(value));
    break;
  case JSON_OBJECT:
    snprintf(text, size, "an object with %zu keys", json_object_size(value));
    break;
  }
}

/* The smallest key above `last` (NULL: of all), or NULL. */
static const char *next_key(const json_t *object, const char *last) {
  const char *best = NULL;
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)object, key, value) {
    if (last && strcmp(key, last) <= 0) continue;
    if (!best || strcmp(key, best) < 0) best = key;
  }
  return best;
}

void cdam_describe_keys(const json_t *object, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (const char *key = next_key(object, NULL); key; key = next_key(object, key)) {
    size_t comma = used ? 2 : 0;
    if (used + comma + 2 > size) return;
    memcpy(text + used, ", ", comma);
    cdam_printable(text + used + comma, size - used - comma, key, strlen(key));
    used += strlen(text + used + comma) + comma;
  }
}

cdam_status cdam_drift_at(const char *path, const char *expected, const json_t *actual,
                          cdam_error *err) {
  char found[sizeof err->actual];
  cdam_describe_json(actual, found, sizeof found);
  return cdam_fail_drift(err, path, expected, found);
}

cdam_status cdam_drift_at_key(const char *path, const char *key, const char *expected,
                              const char *actual, cdam_error *err) {
  char field[CDAM_PLACE_SIZE];
  cdam_place_text(&(cdam_place){.prefix = "", .field = path, .key = key}, field);
  return cdam_fail_drift(err, field, expected, actual);
}
