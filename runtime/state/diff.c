/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "state/pack.h"
#include "state/textproto.h"

/* One comparison. The functions below do nothing after a failure, or when the caller has heard
 * enough. */
typedef struct differ {
  cdam_difference_callback tell;
  void *user;
  size_t count;
  bool stopped;
  cdam_status status;
  cdam_error *err;
} differ;

/* A field in both messages, each of which may be NULL. */
typedef struct pair {
  const cdam_path *path;
  const ProtobufCFieldDescriptor *field;
  const cdam_field_info *info;
  const ProtobufCMessage *first, *second;
} pair;

static bool is_over(const differ *d) {
  return d->stopped || d->status;
}

static void must(differ *d, bool ok) {
  if (!ok && !d->status) d->status = cdam_fail_memory(d->err);
}

static void report(differ *d, const pair *p, const cdam_path *path, const char *before,
                   const char *after, bool loses) {
  if (is_over(d)) return;
  char field[1024];
  cdam_path_text(path, field, sizeof field);
  d->count++;
  d->stopped = !d->tell(d->user, &(cdam_difference){.field = field,
                                                    .before = before,
                                                    .after = after,
                                                    .isolates = p->info->isolates,
                                                    .loses = p->info->isolates && loses,
                                                    .sensitive = p->info->sensitive});
}

/* ---- values as text ---- */

static void add(differ *d, cdam_buffer *out, const char *text) {
  if (!d->status) must(d, cdam_buffer_append_text(out, text));
}

static void add_quoted(differ *d, cdam_buffer *out, const void *bytes, size_t length) {
  if (!d->status) must(d, cdam_textproto_quote(out, bytes, length, true));
}

static void add_message(differ *d, cdam_buffer *out, const ProtobufCMessage *message) {
  char *text = NULL;
  if (!d->status) d->status = cdam_textproto_write(message, &text, d->err);
  add(d, out, "{ ");
  add(d, out, text ? text : "");
  add(d, out, "}");
  free(text);
}

static void add_value(differ *d, cdam_buffer *out, const ProtobufCFieldDescriptor *field,
                      const void *member) {
  if (field->type == PROTOBUF_C_TYPE_MESSAGE)
    add_message(d, out, *(ProtobufCMessage *const *)member);
  else if (!d->status)
    must(d, cdam_textproto_scalar(out, field, member, true));
}

/* ---- fields ---- */

/* The default of a number, a truth or an enum has a name; that of a text is nothing. */
static const char *scalar_text(differ *d, cdam_buffer *out, const pair *p,
                               const ProtobufCMessage *message) {
  const uint64_t zero = 0;
  bool is_text =
      p->field->type == PROTOBUF_C_TYPE_STRING || p->field->type == PROTOBUF_C_TYPE_BYTES;
  bool is_there = cdam_field_is_present(message, p->field);
  if (!is_there && is_text) return NULL;
  add_value(d, out, p->field, is_there ? cdam_field_member(message, p->field) : &zero);
  return cdam_buffer_text(out);
}

static bool is_same(const char *before, const char *after) {
  return before && after ? strcmp(before, after) == 0 : before == after;
}

static void diff_scalar(differ *d, const pair *p) {
  cdam_buffer first = {0}, second = {0};
  const char *before = scalar_text(d, &first, p, p->first);
  const char *after = scalar_text(d, &second, p, p->second);
  bool lost =
      cdam_field_is_present(p->first, p->field) && !cdam_field_is_present(p->second, p->field);
  if (!is_same(before, after)) report(d, p, p->path, before, after, lost);
  cdam_buffer_clear(&first);
  cdam_buffer_clear(&second);
}

static void *element_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        size_t index) {
  return *(char **)cdam_field_member(message, field) + index * cdam_element_size(field->type);
}

static size_t count_of(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  return message ? *cdam_field_count(message, field) : 0;
}

/* "[80, 443]"; NULL for none. */
static const char *list_text(differ *d, cdam_buffer *out, const pair *p,
                             const ProtobufCMessage *message) {
  size_t count = count_of(message, p->field);
  for (size_t i = 0; i < count; i++) {
    add(d, out, i ? ", " : "[");
    add_value(d, out, p->field, element_at(message, p->field, i));
  }
  if (count == 0) return NULL;
  add(d, out, "]");
  return cdam_buffer_text(out);
}

/* Does the second list lack something that the first one has? */
static bool loses_element(differ *d, const pair *p) {
  bool lost = false;
  for (size_t i = 0; i < count_of(p->first, p->field) && !lost; i++) {
    cdam_buffer one = {0};
    add_value(d, &one, p->field, element_at(p->first, p->field, i));
    lost = true;
    for (size_t k = 0; k < count_of(p->second, p->field) && lost; k++) {
      cdam_buffer other = {0};
      add_value(d, &other, p->field, element_at(p->second, p->field, k));
      lost = strcmp(cdam_buffer_text(&one), cdam_buffer_text(&other)) != 0;
      cdam_buffer_clear(&other);
    }
    cdam_buffer_clear(&one);
  }
  return lost;
}

static void diff_list(differ *d, const pair *p) {
  cdam_buffer first = {0}, second = {0};
  const char *before = list_text(d, &first, p, p->first);
  const char *after = list_text(d, &second, p, p->second);
  if (!is_same(before, after))
    report(d, p, p->path, before, after, p->info->isolates && loses_element(d, p));
  cdam_buffer_clear(&first);
  cdam_buffer_clear(&second);
}

/* ---- maps ---- */

/* Either may be NULL. */
static void diff_entry(differ *d, const pair *p, const ProtobufCMessage *first,
                       const ProtobufCMessage *second) {
  cdam_path path = *p->path;
  path.key = cdam_entry_key(first ? first : second);
  const char *before = first ? cdam_entry_value(first) : NULL;
  const char *after = second ? cdam_entry_value(second) : NULL;
  if (is_same(before, after)) return;
  cdam_buffer old = {0}, new = {0};
  if (before) add_quoted(d, &old, before, strlen(before));
  if (after) add_quoted(d, &new, after, strlen(after));
  report(d, p, &path, before ? cdam_buffer_text(&old) : NULL, after ? cdam_buffer_text(&new) : NULL,
         !after);
  cdam_buffer_clear(&old);
  cdam_buffer_clear(&new);
}

static void sort_map(differ *d, const ProtobufCMessage *message,
                     const ProtobufCFieldDescriptor *field, cdam_sorted_map *map) {
  *map = (cdam_sorted_map){0};
  if (message && !d->status) d->status = cdam_sorted_map_of(message, field, map, d->err);
}

static void diff_map(differ *d, const pair *p) {
  cdam_sorted_map first, second;
  sort_map(d, p->first, p->field, &first);
  sort_map(d, p->second, p->field, &second);
  size_t i = 0, k = 0;
  while (!is_over(d) && (i < first.count || k < second.count)) {
    int order = i == first.count ? 1
                : k == second.count
                    ? -1
                    : strcmp(cdam_entry_key(first.entries[i]), cdam_entry_key(second.entries[k]));
    diff_entry(d, p, order <= 0 ? first.entries[i] : NULL, order >= 0 ? second.entries[k] : NULL);
    i += order <= 0;
    k += order >= 0;
  }
  cdam_sorted_map_free(&first);
  cdam_sorted_map_free(&second);
}

/* ---- messages ---- */

static void diff_message(differ *d, const cdam_path *parent,
                         const ProtobufCMessageDescriptor *descriptor,
                         const ProtobufCMessage *first, const ProtobufCMessage *second);

/* An empty message, and none. */
static bool is_bare(const ProtobufCMessage *message) {
  if (message && message->n_unknown_fields) return false;
  for (unsigned i = 0; message && i < message->descriptor->n_fields; i++)
    if (cdam_field_is_present(message, &message->descriptor->fields[i])) return false;
  return true;
}

static void diff_child(differ *d, const pair *p) {
  const ProtobufCMessage *first = NULL, *second = NULL;
  if (p->first) first = *(ProtobufCMessage **)cdam_field_member(p->first, p->field);
  if (p->second) second = *(ProtobufCMessage **)cdam_field_member(p->second, p->field);
  if (!first != !second && is_bare(first) && is_bare(second))
    report(d, p, p->path, first ? "{ }" : NULL, second ? "{ }" : NULL, false);
  else
    diff_message(d, p->path, p->field->descriptor, first, second);
}

static bool has_same_unknown(const ProtobufCMessage *first, const ProtobufCMessage *second,
                             size_t count) {
  for (size_t i = 0; i < count; i++) {
    const ProtobufCMessageUnknownField *a = &first->unknown_fields[i];
    const ProtobufCMessageUnknownField *b = &second->unknown_fields[i];
    if (a->tag != b->tag || a->wire_type != b->wire_type || a->len != b->len ||
        memcmp(a->data, b->data, a->len) != 0)
      return false;
  }
  return true;
}

/* What they hold cannot be said, and may be secret. */
static void diff_unknown(differ *d, const cdam_path *parent, const ProtobufCMessage *first,
                         const ProtobufCMessage *second) {
  static const cdam_field_info nothing = {0};
  size_t before = first ? first->n_unknown_fields : 0;
  size_t after = second ? second->n_unknown_fields : 0;
  if (before == after && has_same_unknown(first, second, before)) return;
  char texts[2][48];
  snprintf(texts[0], sizeof texts[0], "%zu unknown", before);
  snprintf(texts[1], sizeof texts[1], "%zu %s", after, before == after ? "others" : "unknown");
  cdam_path path = {parent, "(unknown fields)", NULL, -1};
  report(d, &(pair){.info = &nothing}, &path, before ? texts[0] : NULL, after ? texts[1] : NULL,
         false);
}

static void diff_message(differ *d, const cdam_path *parent,
                         const ProtobufCMessageDescriptor *descriptor,
                         const ProtobufCMessage *first, const ProtobufCMessage *second) {
  const cdam_message_info *info = cdam_message_info_of(descriptor);
  for (unsigned i = 0; i < descriptor->n_fields && !is_over(d); i++) {
    cdam_path path = {parent, descriptor->fields[i].name, NULL, -1};
    pair p = {&path, &descriptor->fields[i], &info->fields[i], first, second};
    bool is_digest = descriptor == &cofferdam__v1__seal__descriptor && p.field->id == 3;
    if (is_digest) continue;
    if (p.info->is_map)
      diff_map(d, &p);
    else if (p.field->label == PROTOBUF_C_LABEL_REPEATED)
      diff_list(d, &p);
    else if (p.field->type == PROTOBUF_C_TYPE_MESSAGE)
      diff_child(d, &p);
    else
      diff_scalar(d, &p);
  }
  diff_unknown(d, parent, first, second);
}

cdam_status cdam_state_diff(const cdam_state *first, const cdam_state *second,
                            cdam_difference_callback tell, void *user, size_t *count,
                            cdam_error *err) {
  if (count) *count = 0;
  if (!first || !second || !tell) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_diff: NULL");
  differ d = {.tell = tell, .user = user, .err = err};
  diff_message(&d, NULL, first->message.base.descriptor, &first->message.base,
               &second->message.base);
  if (count) *count = d.count;
  return d.status ? d.status : cdam_ok(err);
}
