/* SPDX-License-Identifier: Apache-2.0 */
#include "file/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "file/request.h"

#define BLOCK 32768
#define FIRST_ENTRIES 16

/* Texts are kept one behind the other in blocks, which never move. */
typedef struct block {
  struct block *next;
  size_t used;
  size_t size;
  char text[];
} block;

struct cdam_file_list {
  cdam_file_info *entries;
  size_t count;
  size_t capacity;
  size_t bytes; /* of all of it */
  block *blocks;
};

/* ---- what is believed ---- */

bool cdam_file_is_name(const ProtobufCBinaryData *name) {
  const char *text = (const char *)name->data;
  if (name->len == 0 || name->len > CDAM_FILE_MAX_PATH) return false;
  if (memchr(text, 0, name->len) || memchr(text, '/', name->len)) return false;
  return !(name->len == 1 && text[0] == '.') && !(name->len == 2 && memcmp(text, "..", 2) == 0);
}

bool cdam_file_entry_check(const Cofferdam__Agent__V1__Entry *entry, bool named,
                           cdam_error *failure) {
  if ((int)entry->type < CDAM_FILE_UNKNOWN || (int)entry->type > CDAM_FILE_BLOCK_DEVICE)
    return cdam_file_refuse(failure, "an entry of no known type");
  if (entry->mode > 07777) return cdam_file_refuse(failure, "an entry with odd permissions");
  if (entry->mtime_ns >= 1000000000) return cdam_file_refuse(failure, "an entry with an odd time");
  if (entry->size > INT64_MAX) return cdam_file_refuse(failure, "an entry with an odd size");
  if (named && !cdam_file_is_name(&entry->path))
    return cdam_file_refuse(failure, "a name that is none");
  if (entry->target.len == 0) return true;
  if ((int)entry->type != CDAM_FILE_LINK || entry->target.len > CDAM_FILE_MAX_PATH ||
      memchr(entry->target.data, 0, entry->target.len))
    return cdam_file_refuse(failure, "an odd link");
  return true;
}

/* ---- lists ---- */

cdam_file_list *cdam_file_list_make(void) {
  return calloc(1, sizeof(cdam_file_list));
}

static bool reserve_entry(cdam_file_list *list) {
  if (list->count < list->capacity) return true;
  size_t capacity = list->capacity ? list->capacity + list->capacity / 2 : FIRST_ENTRIES;
  cdam_file_info *entries = realloc(list->entries, capacity * sizeof *entries);
  if (!entries) return false;
  list->entries = entries;
  list->capacity = capacity;
  return true;
}

/* A copy with a NUL behind it. */
static const char *keep_text(cdam_file_list *list, const ProtobufCBinaryData *text) {
  if (text->len == 0) return "";
  block *at = list->blocks;
  if (!at || at->size - at->used < text->len + 1) {
    /* The first one is of the size of what is in it: most lists are one entry. */
    size_t size = list->blocks && text->len + 1 < BLOCK ? BLOCK : text->len + 1;
    at = malloc(sizeof *at + size);
    if (!at) return NULL;
    *at = (block){.next = list->blocks, .size = size};
    list->blocks = at;
  }
  char *copy = at->text + at->used;
  memcpy(copy, text->data, text->len);
  copy[text->len] = '\0';
  at->used += text->len + 1;
  return copy;
}

cdam_status cdam_file_list_add(cdam_file_list *list, const Cofferdam__Agent__V1__Entry *entry,
                               bool named, cdam_error *err) {
  size_t bytes = list->bytes + sizeof(cdam_file_info) + entry->target.len;
  if (named) bytes += entry->path.len;
  if (list->count >= CDAM_FILE_LIST_ENTRIES || bytes > CDAM_FILE_LIST_BYTES) {
    cdam_fail(err, CDAM_ERR_LIMIT, "it has more than %d entries, or they take more than %u MiB",
              CDAM_FILE_LIST_ENTRIES, CDAM_FILE_LIST_BYTES >> 20);
    err->retry = CDAM_RETRY_NO;
    return CDAM_ERR_LIMIT;
  }
  const char *name = named ? keep_text(list, &entry->path) : "";
  const char *target = keep_text(list, &entry->target);
  if (!name || !target || !reserve_entry(list)) return cdam_fail_memory(err);
  list->bytes = bytes;
  list->entries[list->count++] = (cdam_file_info){
      .name = name,
      .target = target,
      .type = (cdam_file_type)entry->type,
      .permissions = entry->mode,
      .uid = entry->uid,
      .gid = entry->gid,
      .size = entry->size,
      .mtime = entry->mtime_s,
      .mtime_ns = entry->mtime_ns,
      .inode = entry->inode,
      .device = entry->device,
      .links = entry->links,
  };
  return CDAM_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const cdam_file_info *)a)->name, ((const cdam_file_info *)b)->name);
}

void cdam_file_list_sort(cdam_file_list *list) {
  if (list->count < 2) return;
  qsort(list->entries, list->count, sizeof *list->entries, by_name);
  size_t kept = 1;
  for (size_t i = 1; i < list->count; i++)
    if (by_name(&list->entries[kept - 1], &list->entries[i]) != 0)
      list->entries[kept++] = list->entries[i];
  list->count = kept;
}

void cdam_file_list_free(cdam_file_list *list) {
  if (!list) return;
  for (block *at = list->blocks, *next; at; at = next) {
    next = at->next;
    free(at);
  }
  free(list->entries);
  free(list);
}

size_t cdam_file_list_count(const cdam_file_list *list) {
  return list ? list->count : 0;
}

const cdam_file_info *cdam_file_list_get(const cdam_file_list *list, size_t index) {
  return list && index < list->count ? &list->entries[index] : NULL;
}
