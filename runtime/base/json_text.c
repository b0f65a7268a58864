/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/buffer.h"

typedef struct sink {
  cdam_buffer text;
  bool failed; /* jansson does not look at every result of its callback */
} sink;

static int take(const char *piece, size_t size, void *user) {
  sink *to = user;
  if (!to->failed) to->failed = !cdam_buffer_append(&to->text, piece, size);
  return to->failed ? -1 : 0;
}

char *cdam_json_text(const json_t *json, size_t flags) {
  sink to = {0};
  if (json && json_dump_callback(json, take, &to, flags) == 0 && !to.failed) return to.text.data;
  cdam_buffer_clear(&to.text);
  return NULL;
}
