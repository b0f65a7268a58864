/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutator for targets that read JSON: half of the time it changes the tree instead of the text,
 * so that inputs stay JSON. A value is replaced by another, by one of the words below, or by a
 * value from elsewhere in the tree; members are added, removed and renamed.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char *const values[] = {
    "null",   "true",       "false",    "{}",       "[]",          "0",         "1",
    "-1",     "1.0",        "2",        "80",       "65536",       "\"\"",      "\"none\"",
    "\"1\"",  "[[]]",       "[{}]",     "{\"\":0}", "1e3",         "{\"a\":1}", "[1]",
    "\"A=\"", "\"bridge\"", "\"host\"", "\"/:/h\"", "\"private\"", "[\"A=b\"]"};

static const char *const names[] = {
    "none",          "bridge", "IPAddress",        "networkMode", "network_mode", "NetworkMode",
    "80/tcp",        "HostIp", "labels",           "env",         "value",        "type",
    "exposed_ports", "Labels", "requiredFeatures", "seal",        "options",      ""};

enum { VALUES = sizeof values / sizeof *values, NAMES = sizeof names / sizeof *names };

static unsigned dice(unsigned *seed, unsigned sides) {
  *seed = *seed * 1103515245u + 12345u;
  return (*seed >> 16) % sides;
}

/* Where a value is: in an object by its name, or in an array by its index. */
typedef struct place {
  json_t *parent;
  const char *name;
  size_t index;
} place;

/* Counts the values below `json`; the one that `wanted` counts down to is put in `found`. */
static void walk(json_t *json, size_t *wanted, place *found) {
  const char *name;
  size_t index;
  json_t *value;
  json_object_foreach(json, name, value) {
    if ((*wanted)-- == 0) *found = (place){json, name, 0};
    walk(value, wanted, found);
  }
  json_array_foreach(json, index, value) {
    if ((*wanted)-- == 0) *found = (place){json, NULL, index};
    walk(value, wanted, found);
  }
}

static size_t count(json_t *root) {
  size_t wanted = SIZE_MAX;
  place unused;
  walk(root, &wanted, &unused);
  return SIZE_MAX - wanted;
}

static json_t *at(const place *where) {
  return where->name ? json_object_get(where->parent, where->name)
                     : json_array_get(where->parent, where->index);
}

static place pick(json_t *root, size_t total, unsigned *seed) {
  size_t wanted = dice(seed, (unsigned)total);
  place found = {0};
  walk(root, &wanted, &found);
  return found;
}

static json_t *new_value(json_t *root, size_t total, unsigned *seed) {
  if (dice(seed, 3) > 0) return json_loads(values[dice(seed, VALUES)], JSON_DECODE_ANY, NULL);
  place from = pick(root, total, seed);
  return json_deep_copy(at(&from));
}

static void change(json_t *root, size_t total, unsigned *seed) {
  place where = pick(root, total, seed);
  json_t *value = new_value(root, total, seed);
  switch (dice(seed, 4)) {
  case 0: /* replace */
    if (where.name)
      json_object_set_new(where.parent, where.name, value);
    else
      json_array_set_new(where.parent, where.index, value);
    return;
  case 1: /* remove */
    json_decref(value);
    if (where.name)
      json_object_del(where.parent, where.name);
    else
      json_array_remove(where.parent, where.index);
    return;
  case 2: /* add, next to it or inside */
    if (json_is_object(at(&where)) && dice(seed, 2)) where.parent = at(&where);
    if (json_is_object(where.parent))
      json_object_set_new(where.parent, names[dice(seed, NAMES)], value);
    else
      json_array_append_new(where.parent, value);
    return;
  default: /* rename */
    json_decref(value);
    if (!where.name) return;
    value = json_incref(at(&where));
    json_object_del(where.parent, where.name);
    json_object_set_new(where.parent, names[dice(seed, NAMES)], value);
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  json_t *root = dice(&seed, 2) ? json_loadb((char *)data, size, 0, NULL) : NULL;
  size_t total = root ? count(root) : 0;
  if (total == 0 || total > 10000) {
    json_decref(root);
    return LLVMFuzzerMutate(data, size, max_size);
  }
  for (unsigned changes = 1 + dice(&seed, 3); changes && total; changes--) {
    change(root, total, &seed);
    total = count(root);
  }
  char *text = json_dumps(root, JSON_COMPACT);
  json_decref(root);
  size_t length = text ? strlen(text) : 0;
  if (length == 0 || length > max_size) {
    free(text);
    return LLVMFuzzerMutate(data, size, max_size);
  }
  memcpy(data, text, length);
  free(text);
  return length;
}
