/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "state/pack.h"
#include "state/schema.h"

/* Fields 0 and 1 of every map entry are key and value, both strings. */
static const char *entry_text(const ProtobufCMessage *entry, unsigned index) {
  const char *const *text = cdam_field_member(entry, &entry->descriptor->fields[index]);
  return *text ? *text : "";
}

const char *cdam_entry_key(const ProtobufCMessage *entry) {
  return entry_text(entry, 0);
}

const char *cdam_entry_value(const ProtobufCMessage *entry) {
  return entry_text(entry, 1);
}

static int compare_entries(const void *left, const void *right) {
  ProtobufCMessage *const *a = left, *const *b = right;
  return strcmp(cdam_entry_key(*a), cdam_entry_key(*b));
}

/* The first place where the order is broken, or where a key is repeated; `count` for none. */
static size_t first_out_of_order(ProtobufCMessage **entries, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (compare_entries(&entries[i - 1], &entries[i]) >= 0) return i;
  return count;
}

static const char *find_duplicate(ProtobufCMessage **entries, size_t count) {
  size_t at = first_out_of_order(entries, count);
  return at < count ? cdam_entry_key(entries[at]) : NULL;
}

cdam_status cdam_sorted_map_of(const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field, cdam_sorted_map *out,
                               cdam_error *err) {
  ProtobufCMessage **entries = *(ProtobufCMessage ***)cdam_field_member(message, field);
  *out = (cdam_sorted_map){.entries = entries, .count = *cdam_field_count(message, field)};
  if (first_out_of_order(entries, out->count) == out->count) return CDAM_OK;
  out->owned = malloc(out->count * sizeof *out->owned);
  if (!out->owned) return cdam_fail_memory(err);
  memcpy(out->owned, entries, out->count * sizeof *out->owned);
  qsort(out->owned, out->count, sizeof *out->owned, compare_entries);
  out->entries = out->owned;
  out->duplicate = find_duplicate(out->entries, out->count);
  return CDAM_OK;
}

void cdam_sorted_map_free(cdam_sorted_map *map) {
  free(map->owned);
  *map = (cdam_sorted_map){0};
}

static cdam_status sort_message(ProtobufCMessage *message, const cdam_path *parent,
                                cdam_error *err);

static cdam_status sort_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                              bool is_map, const cdam_path *parent, cdam_error *err) {
  cdam_path path = {parent, field->name, NULL, -1};
  if (field->label != PROTOBUF_C_LABEL_REPEATED) {
    ProtobufCMessage *child = *(ProtobufCMessage **)cdam_field_member(message, field);
    return child ? sort_message(child, &path, err) : CDAM_OK;
  }
  ProtobufCMessage **array = *(ProtobufCMessage ***)cdam_field_member(message, field);
  size_t count = *cdam_field_count(message, field);
  if (!is_map) {
    cdam_status status = CDAM_OK;
    for (size_t i = 0; i < count && !status; i++)
      status = sort_message(array[i], &path, err);
    return status;
  }
  if (first_out_of_order(array, count) == count) return CDAM_OK;
  qsort(array, count, sizeof *array, compare_entries);
  path.key = find_duplicate(array, count);
  return path.key ? cdam_fail_path(err, CDAM_ERR_MALFORMED, &path, "the key is there twice")
                  : CDAM_OK;
}

static cdam_status sort_message(ProtobufCMessage *message, const cdam_path *parent,
                                cdam_error *err) {
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  for (unsigned i = 0; info && i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    cdam_status status = sort_field(message, field, info->fields[i].is_map, parent, err);
    if (status) return status;
  }
  return CDAM_OK;
}

cdam_status cdam_sort_maps(ProtobufCMessage *message, cdam_error *err) {
  return sort_message(message, NULL, err);
}
