/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/order.h"

#include <string.h>

#include "base/fail.h"

static cdam_status lie(cdam_error *err, const char *what) {
  return cdam_fail(err, CDAM_ERR_AGENT, "the agent sent a tree that is none: %s", what);
}

static bool is_path(const ProtobufCBinaryData *path) {
  return path->len <= CDAM_TREE_PATH && (path->len == 0 || !memchr(path->data, 0, path->len));
}

/* The innermost open directory's path, a slash, and a name: that is all an entry's may be. */
static cdam_status take_name(cdam_tree_order *order, const ProtobufCBinaryData *path,
                             cdam_error *err) {
  const char *text = (const char *)path->data;
  size_t base = order->length;
  if (path->len <= base || (base && memcmp(text, order->path, base) != 0))
    return lie(err, "something outside the directory it is in");
  if (base && text[base++] != '/') return lie(err, "something outside the directory it is in");
  size_t length = path->len - base;
  if (length == 0 || length > CDAM_TREE_NAME || memchr(text + base, '/', length))
    return lie(err, "a bad name");
  memcpy(order->name, text + base, length);
  order->name[length] = '\0';
  if (strcmp(order->name, ".") == 0 || strcmp(order->name, "..") == 0)
    return lie(err, "a bad name");
  return CDAM_OK;
}

static cdam_status check_target(const cdam_entry *entry, cdam_error *err) {
  bool has_one = entry->type == CDAM_ENTRY(LINK) || entry->type == CDAM_ENTRY(HARD_LINK);
  if (has_one && (entry->target.len == 0 || !is_path(&entry->target)))
    return lie(err, "a link without a text");
  return CDAM_OK;
}

static cdam_status check_type(const cdam_entry *entry, cdam_error *err) {
  switch ((int)entry->type) {
  case CDAM_ENTRY(FILE):
  case CDAM_ENTRY(DIRECTORY):
  case CDAM_ENTRY(LINK):
  case CDAM_ENTRY(PIPE):
  case CDAM_ENTRY(HARD_LINK):
    return CDAM_OK;
  default:
    return lie(err, "something of a type that is not copied");
  }
}

static cdam_status leave(cdam_tree_order *order, const cdam_entry *entry, cdam_error *err) {
  if (order->depth == 0 || entry->path.len != order->length ||
      (order->length && memcmp(entry->path.data, order->path, order->length) != 0))
    return lie(err, "it left a directory that it was not in");
  order->depth--;
  order->length = order->depth ? order->lengths[order->depth - 1] : 0;
  order->name[0] = '\0';
  return CDAM_OK;
}

static cdam_status enter(cdam_tree_order *order, const cdam_entry *entry, cdam_error *err) {
  if (order->depth == CDAM_TREE_DEPTH) return lie(err, "it is too deep");
  if (entry->path.len) memcpy(order->path, entry->path.data, entry->path.len);
  order->length = entry->path.len;
  order->lengths[order->depth++] = order->length;
  return CDAM_OK;
}

static cdam_status take_top(cdam_tree_order *order, const cdam_entry *entry, cdam_error *err) {
  if (entry->path.len) return lie(err, "its top has a name");
  if (entry->type == CDAM_ENTRY(HARD_LINK)) return lie(err, "its top is a hard link");
  order->begun = true;
  order->name[0] = '\0';
  return CDAM_OK;
}

cdam_status cdam_tree_order_entry(cdam_tree_order *order, const cdam_entry *entry,
                                  cdam_error *err) {
  if (order->in_file) return lie(err, "an entry in the middle of a file");
  if (!is_path(&entry->path)) return lie(err, "a bad path");
  if (entry->mtime_ns > 999999999) return lie(err, "a bad time");
  if (order->begun && order->depth == 0) return lie(err, "something after its end");
  if (order->begun && entry->type == CDAM_ENTRY(LEAVE_DIRECTORY)) return leave(order, entry, err);
  cdam_status status = check_type(entry, err);
  if (status == CDAM_OK) status = check_target(entry, err);
  if (status == CDAM_OK)
    status = order->begun ? take_name(order, &entry->path, err) : take_top(order, entry, err);
  if (status != CDAM_OK) return status;
  if (entry->type == CDAM_ENTRY(DIRECTORY)) return enter(order, entry, err);
  order->in_file = entry->type == CDAM_ENTRY(FILE);
  order->left = entry->size;
  return CDAM_OK;
}

cdam_status cdam_tree_order_data(cdam_tree_order *order, size_t length, bool end, cdam_error *err) {
  if (!order->in_file) return lie(err, "content without a file");
  if (length > order->left) return lie(err, "more content than the file has");
  order->left -= length;
  order->in_file = !end;
  return CDAM_OK;
}

cdam_status cdam_tree_order_end(const cdam_tree_order *order, cdam_error *err) {
  if (!order->begun) return lie(err, "nothing at all");
  if (order->in_file) return lie(err, "a file without its end");
  if (order->depth) return lie(err, "a directory that was not left");
  return CDAM_OK;
}
