/* SPDX-License-Identifier: Apache-2.0 */
#include "options/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "options/place.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc's analyzer loses sight of texts that are stored at an offset. */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

cdam_status cdam_fail_null(cdam_error *err, const char *argument) {
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "%s is NULL", argument);
}

const char *cdam_text(const char *text) {
  return text ? text : "";
}

/* A copy for a message: protobuf-c's own empty string, which it never frees, for "". */
static char *duplicate(const char *text) {
  return text[0] ? strdup(text) : (char *)protobuf_c_empty_string;
}

static void release(char *text) {
  if (text != protobuf_c_empty_string) free(text);
}

static cdam_status check_text(const cdam_place *place, const char *text, cdam_error *err) {
  if (!text) return cdam_fail_null(err, place->field);
  if (!cdam_utf8_valid((const unsigned char *)text, strlen(text))) {
    return cdam_fail_place(place, err, "is not valid UTF-8");
  }
  return CDAM_OK;
}

cdam_status cdam_set_text(char **field, const char *text, cdam_error *err) {
  char *copy = duplicate(text);
  if (!copy) return cdam_fail_memory(err);
  release(*field);
  *field = copy;
  return CDAM_OK;
}

cdam_status cdam_field_set_string(char **slot, const char *field, const char *value,
                                  cdam_error *err) {
  cdam_status status = check_text(&(cdam_place){.prefix = "", .field = field}, value, err);
  if (status == CDAM_OK) status = cdam_set_text(slot, value, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}

/* Room for one more item; false when out of memory. */
static void *grown(void *items, size_t count, size_t size) {
  if (count >= SIZE_MAX / size) return NULL;
  return realloc(items, (count + 1) * size);
}

cdam_status cdam_field_add_string(char ***items, size_t *count, const char *field,
                                  const char *value, cdam_error *err) {
  cdam_place place = {.prefix = "", .field = field, .indexed = true, .index = *count};
  cdam_status status = check_text(&place, value, err);
  if (status != CDAM_OK) return status;
  char **larger = grown(*items, *count, sizeof **items);
  if (!larger) return cdam_fail_memory(err);
  *items = larger;
  /* Of a repeated field protobuf-c frees every item, its own empty string as well. */
  char *copy = strdup(value);
  if (!copy) return cdam_fail_memory(err);
  larger[(*count)++] = copy;
  return cdam_ok(err);
}

cdam_status cdam_field_add_uint32(uint32_t **items, size_t *count, uint32_t value,
                                  cdam_error *err) {
  uint32_t *larger = grown(*items, *count, sizeof **items);
  if (!larger) return cdam_fail_memory(err);
  *items = larger;
  larger[(*count)++] = value;
  return cdam_ok(err);
}

void cdam_field_clear_strings(char ***items, size_t *count) {
  for (size_t i = 0; i < *count; i++) {
    free((*items)[i]);
  }
  free(*items);
  *items = NULL;
  *count = 0;
}

void cdam_field_clear_uint32(uint32_t **items, size_t *count) {
  free(*items);
  *items = NULL;
  *count = 0;
}

/* A string member of an entry. By offset, since each map has an entry type of its own. */
static char **member(const cdam_map *map, void *entry, unsigned which) {
  return (char **)((char *)entry + map->entry->fields[which].offset);
}

static char **key_of(const cdam_map *map, size_t index) {
  return member(map, map->entries[index], 0);
}

static char **value_of(const cdam_map *map, size_t index) {
  return member(map, map->entries[index], 1);
}

const char *cdam_map_key(const cdam_map *map, size_t index) {
  return cdam_text(*key_of(map, index));
}

const char *cdam_map_value(const cdam_map *map, size_t index) {
  return cdam_text(*value_of(map, index));
}

/* The index of a key, or the count. Linear: a map from elsewhere may not be sorted. */
static size_t find(const cdam_map *map, const char *key) {
  size_t index = 0;
  while (index < map->count && strcmp(cdam_map_key(map, index), key) != 0) {
    index++;
  }
  return index;
}

const char *cdam_map_get(const cdam_map *map, const char *key) {
  size_t index = find(map, key);
  return index < map->count ? cdam_map_value(map, index) : NULL;
}

static void *new_entry(const cdam_map *map, const char *key, const char *value) {
  void *entry = malloc(map->entry->sizeof_message);
  if (!entry) return NULL;
  protobuf_c_message_init(map->entry, entry);
  char *key_copy = duplicate(key);
  char *value_copy = duplicate(value);
  if (key_copy) *member(map, entry, 0) = key_copy;
  if (value_copy) *member(map, entry, 1) = value_copy;
  if (key_copy && value_copy) return entry;
  protobuf_c_message_free_unpacked(entry, NULL);
  return NULL;
}

static cdam_status insert(cdam_map *map, const char *key, const char *value, cdam_error *err) {
  void **larger = grown(map->entries, map->count, sizeof *map->entries);
  if (!larger) return cdam_fail_memory(err);
  map->entries = larger;
  void *entry = new_entry(map, key, value);
  if (!entry) return cdam_fail_memory(err);
  size_t at = 0;
  while (at < map->count && strcmp(cdam_map_key(map, at), key) < 0) {
    at++;
  }
  memmove(map->entries + at + 1, map->entries + at, (map->count - at) * sizeof *map->entries);
  map->entries[at] = entry;
  map->count++;
  return cdam_ok(err);
}

cdam_status cdam_map_put(cdam_map *map, const char *field, const char *key, const char *value,
                         cdam_error *err) {
  if (!key || !value) return cdam_fail_null(err, key ? "value" : "key");
  cdam_place place = {.prefix = "", .field = field, .key = key};
  cdam_status status = check_text(&place, key, err);
  if (status == CDAM_OK) status = check_text(&place, value, err);
  if (status != CDAM_OK) return status;
  size_t index = find(map, key);
  if (index == map->count) return insert(map, key, value, err);
  char *copy = duplicate(value);
  if (!copy) return cdam_fail_memory(err);
  release(*value_of(map, index));
  *value_of(map, index) = copy;
  return cdam_ok(err);
}

bool cdam_map_remove(cdam_map *map, const char *key) {
  size_t index = find(map, key);
  if (index == map->count) return false;
  protobuf_c_message_free_unpacked(map->entries[index], NULL);
  map->count--;
  memmove(map->entries + index, map->entries + index + 1,
          (map->count - index) * sizeof *map->entries);
  return true;
}

void cdam_map_clear(cdam_map *map) {
  for (size_t i = 0; i < map->count; i++) {
    protobuf_c_message_free_unpacked(map->entries[i], NULL);
  }
  free(map->entries);
  map->entries = NULL;
  map->count = 0;
}

bool cdam_map_equal(const cdam_map *a, const cdam_map *b) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    const char *other = cdam_map_get(b, cdam_map_key(a, i));
    if (!other || strcmp(other, cdam_map_value(a, i)) != 0) return false;
  }
  return true;
}
