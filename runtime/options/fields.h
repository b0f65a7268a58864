/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and changing fields of protobuf-c messages, whose memory is malloc's. Generated
 * accessors are made of these. */
#ifndef COFFERDAM_OPTIONS_FIELDS_H
#define COFFERDAM_OPTIONS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include <cofferdam/error.h>

/* CDAM_ERR_ARGUMENT: an argument is NULL. */
cdam_status cdam_fail_null(cdam_error *err, const char *argument);

/* Message strings may be NULL in a message made by hand; that means "". */
const char *cdam_text(const char *text);

/* Replaces a string field by a copy of a text that needs no check. CDAM_ERR_NO_MEMORY; the field is
 * then as it was. */
cdam_status cdam_set_text(char **field, const char *text, cdam_error *err);

/* Replaces a string field by a copy of `value`. CDAM_ERR_ARGUMENT (NULL), CDAM_ERR_INVALID
 * (no UTF-8), CDAM_ERR_NO_MEMORY; the field is then as it was. */
cdam_status cdam_field_set_string(char **slot, const char *field, const char *value,
                                  cdam_error *err);

/* Appends to a repeated field. The errors of cdam_field_set_string. */
cdam_status cdam_field_add_string(char ***items, size_t *count, const char *field,
                                  const char *value, cdam_error *err);
cdam_status cdam_field_add_uint32(uint32_t **items, size_t *count, uint32_t value, cdam_error *err);

void cdam_field_clear_strings(char ***items, size_t *count);
void cdam_field_clear_uint32(uint32_t **items, size_t *count);

/* A map<string, string> field: a view of its array of entries. After a change
 * the message's own pointer and count are set from it. */
typedef struct cdam_map {
  void **entries;
  size_t count;
  const ProtobufCMessageDescriptor *entry; /* string key = 1, string value = 2 */
} cdam_map;

/* Of entry `index`, which is in range. Never NULL. */
const char *cdam_map_key(const cdam_map *map, size_t index);
const char *cdam_map_value(const cdam_map *map, size_t index);

/* The value of a key, or NULL. */
const char *cdam_map_get(const cdam_map *map, const char *key);

/* Puts a copy of key and value; replaces the value of a key that is there. Entries stay sorted by
 * the bytes of their keys. The errors of cdam_field_set_string; the map is then as it was. */
cdam_status cdam_map_put(cdam_map *map, const char *field, const char *key, const char *value,
                         cdam_error *err);

/* Tells whether the key was there. */
bool cdam_map_remove(cdam_map *map, const char *key);

void cdam_map_clear(cdam_map *map);

/* The same entries, in whatever order. Keys are distinct in both. */
bool cdam_map_equal(const cdam_map *a, const cdam_map *b);

#endif
