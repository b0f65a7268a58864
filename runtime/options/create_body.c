/* SPDX-License-Identifier: Apache-2.0 */
#include "options/create_body.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "options/formats.h"

/* The object under a key, made when it is absent. Borrowed; NULL when out of memory. */
static json_t *object_under(json_t *parent, const char *key, size_t length) {
  json_t *object = json_object_getn(parent, key, length);
  if (object) return object;
  object = json_object();
  if (json_object_setn_new(parent, key, length, object) != 0) return NULL;
  return object;
}

bool cdam_body_put(json_t *body, const char *path, json_t *value) {
  if (!value) return false;
  const char *dot;
  while (body && (dot = strchr(path, '.')) != NULL) {
    body = object_under(body, path, (size_t)(dot - path));
    path = dot + 1;
  }
  /* json_object_set_new takes the reference even when it fails. */
  return json_object_set_new(body, path, value) == 0;
}

bool cdam_body_put_label(json_t *body, const char *key, json_t *value) {
  json_t *labels = value ? object_under(body, "Labels", strlen("Labels")) : NULL;
  if (labels) return json_object_set_new(labels, key, value) == 0;
  json_decref(value);
  return false;
}

bool cdam_query_put(cdam_buffer *query, const char *name, const char *value) {
  return cdam_buffer_append_text(query, "&") && cdam_buffer_append_text(query, name) &&
         cdam_buffer_append_text(query, "=") && cdam_buffer_append_escaped(query, value);
}

/* Appends a new value, or frees the whole array. */
static json_t *appended(json_t *array, json_t *value) {
  if (json_array_append_new(array, value) == 0) return array;
  json_decref(array);
  return NULL;
}

json_t *cdam_body_strings(char *const *items, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < count; i++) {
    array = appended(array, json_string(cdam_text(items[i])));
  }
  return array;
}

json_t *cdam_body_uints(const uint32_t *items, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < count; i++) {
    array = appended(array, json_integer(items[i]));
  }
  return array;
}

json_t *cdam_body_env(const cdam_map *map) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < map->count; i++) {
    array = appended(array, json_pack("s++", cdam_map_key(map, i), "=", cdam_map_value(map, i)));
  }
  return array;
}

/* Sets a key to a new value, or frees the whole object. */
static json_t *with(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) == 0) return object;
  json_decref(object);
  return NULL;
}

json_t *cdam_body_object(const cdam_map *map) {
  json_t *object = json_object();
  for (size_t i = 0; object && i < map->count; i++) {
    object = with(object, cdam_map_key(map, i), json_string(cdam_map_value(map, i)));
  }
  return object;
}

json_t *cdam_body_decimal(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return json_string(text);
}

json_t *cdam_body_ulimits(const cdam_map *map) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < map->count; i++) {
    uint64_t soft = 0, hard = 0;
    /* A value that nobody checked must not end in a body without its limit. */
    if (!cdam_ulimit_parse(cdam_map_value(map, i), &soft, &hard)) soft = hard = 0;
    array = appended(array, json_pack("{s:s s:I s:I}", "Name", cdam_map_key(map, i), "Soft",
                                      (json_int_t)soft, "Hard", (json_int_t)hard));
  }
  return array;
}

void cdam_port_key(uint32_t port, char key[static CDAM_PORT_KEY_SIZE]) {
  snprintf(key, CDAM_PORT_KEY_SIZE, "%lu/tcp", (unsigned long)port);
}

json_t *cdam_body_port_set(const uint32_t *ports, size_t count) {
  json_t *object = json_object();
  for (size_t i = 0; object && i < count; i++) {
    char key[CDAM_PORT_KEY_SIZE];
    cdam_port_key(ports[i], key);
    object = with(object, key, json_object());
  }
  return object;
}

json_t *cdam_body_port_bindings(const uint32_t *ports, size_t count) {
  json_t *object = json_object();
  for (size_t i = 0; object && i < count; i++) {
    char key[CDAM_PORT_KEY_SIZE];
    cdam_port_key(ports[i], key);
    object = with(object, key, json_pack("[{ss ss}]", "HostIp", CDAM_PORT_HOST, "HostPort", ""));
  }
  return object;
}
