/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_parse.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

typedef struct piece {
  const char *bytes;
  size_t length;
} piece;

typedef struct source {
  piece pieces[3];
  size_t next;
} source;

/* No token is longer than the longest stretch between two quotation marks that open or close a
 * string. */
static size_t longest_token(const char *text, size_t length) {
  size_t longest = 0, start = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && text[i] == '\\') {
      i++;
    } else if (i == length || text[i] == '"') {
      if (i - start > longest) longest = i - start;
      start = i;
    }
  }
  return longest;
}

/* The length of a string that is longer than the token: by its marks, an escape that breaks off,
 * and bytes that got lost. Its last mark must not be the byte for which the buffer has to grow
 * (the sizes are powers of two): without that mark jansson would run on behind the buffer. */
static size_t padding_for(size_t token) {
  size_t padding = token + 16;
  return ((padding + 2) & (padding + 1)) == 0 ? padding + 4 : padding;
}

/* Is there memory for the buffer, its growth and the string? So much that the allocations that
 * follow can be had, since jansson fares badly when one of them cannot. */
static bool has_room(size_t padding) {
  json_malloc_t allocate;
  json_free_t release;
  json_get_alloc_funcs(&allocate, &release);
  void *block = allocate(6 * padding + 1024);
  if (!block) return false;
  release(block);
  return true;
}

/* '["xxxx",' */
static bool make_head(cdam_buffer *head, size_t padding) {
  char xs[256];
  memset(xs, 'x', sizeof xs);
  bool ok = cdam_buffer_append_text(head, "[\"");
  for (size_t part; ok && padding; padding -= part) {
    part = padding < sizeof xs ? padding : sizeof xs;
    ok = cdam_buffer_append(head, xs, part);
  }
  return ok && cdam_buffer_append_text(head, "\",");
}

static size_t feed(void *buffer, size_t size, void *user) {
  source *from = user;
  while (from->next < 3 && from->pieces[from->next].length == 0)
    from->next++;
  if (from->next == 3) return 0;
  piece *now = &from->pieces[from->next];
  size_t count = now->length < size ? now->length : size;
  memcpy(buffer, now->bytes, count);
  now->bytes += count;
  now->length -= count;
  return count;
}

/* The second of the two, if nothing is wrong with the first. */
static json_t *take_second(json_t *both, size_t padding, json_error_t *problem) {
  json_t *second = NULL;
  bool whole = json_string_length(json_array_get(both, 0)) == padding;
  if (!whole)
    problem->text[0] = '\0';
  else if (json_array_size(both) == 2)
    second = json_incref(json_array_get(both, 1));
  if (whole && !json_is_object(second) && !json_is_array(second)) {
    json_decref(second);
    second = NULL;
    problem->position = 0;
    snprintf(problem->text, sizeof problem->text, "no object and no array");
  }
  return second;
}

bool cdam_json_is_too_deep(const char *json, size_t length) {
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < length; i++) {
    if (in_text && json[i] == '\\')
      i++;
    else if (json[i] == '"')
      in_text = !in_text;
    else if (!in_text && (json[i] == '{' || json[i] == '['))
      depth++;
    else if (!in_text && depth && (json[i] == '}' || json[i] == ']'))
      depth--;
    if (depth > CDAM_JSON_MAX_DEPTH) return true;
  }
  return false;
}

json_t *cdam_json_parse(const char *text, size_t length, json_error_t *problem) {
  size_t padding = padding_for(longest_token(text, length));
  cdam_buffer head = {0};
  memset(problem, 0, sizeof *problem);
  const char *nul = memchr(text, '\0', length);
  if (nul) {
    problem->position = (int)(nul - text);
    snprintf(problem->text, sizeof problem->text, "a NUL");
    return NULL;
  }
  if (cdam_json_is_too_deep(text, length)) {
    snprintf(problem->text, sizeof problem->text, "nested too deep");
    return NULL;
  }
  if (!has_room(padding) || !make_head(&head, padding)) {
    cdam_buffer_clear(&head);
    return NULL;
  }
  source from = {.pieces = {{head.data, head.length}, {text, length}, {"]", 1}}};
  json_t *both = json_load_callback(feed, &from, JSON_REJECT_DUPLICATES, problem);
  json_t *second = both ? take_second(both, padding, problem) : NULL;
  if (!both) {
    if (json_error_code(problem) == json_error_out_of_memory) problem->text[0] = '\0';
    int before = (int)head.length;
    problem->position = problem->position > before ? problem->position - before : 0;
  }
  json_decref(both);
  cdam_buffer_clear(&head);
  return second;
}
