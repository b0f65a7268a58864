/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a pull, cut anywhere. The first byte is how many cuts there are (at most 7) and
 * after how many calls the caller stops the pull; as many bytes as there are cuts say where; the
 * rest is the stream.
 *
 * In pieces it comes out as in one, call by call. A pull passes only when every line that is
 * not blank holds JSON objects, and none of them has an error.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "engine/pull_stream.h"
#include "fuzz.h"

typedef struct outcome {
  bool ok;
  cdam_error error;
  cdam_pull_stream stream;
  cdam_buffer calls; /* what the caller was told, in text */
  unsigned count, most;
} outcome;

static bool progress(void *user, const char *status, const char *layer, unsigned long long current,
                     unsigned long long total) {
  outcome *out = user;
  char numbers[64];
  snprintf(numbers, sizeof numbers, "|%llu|%llu\n", current, total);
  FUZZ_CHECK(cdam_buffer_append_text(&out->calls, status));
  FUZZ_CHECK(cdam_buffer_append_text(&out->calls, "|"));
  FUZZ_CHECK(cdam_buffer_append_text(&out->calls, layer));
  FUZZ_CHECK(cdam_buffer_append_text(&out->calls, numbers));
  return ++out->count != out->most;
}

static void feed(outcome *out, const uint8_t *bytes, size_t length) {
  if (!out->ok) return;
  char *copy = fuzz_copy(bytes, length);
  out->ok = cdam_pull_stream_feed(&out->stream, copy, length, &out->error);
  free(copy);
}

static void finish(outcome *out) {
  if (out->ok) out->ok = cdam_pull_stream_end(&out->stream, &out->error);
}

static void start(outcome *out, unsigned most) {
  *out = (outcome){.ok = true, .most = most};
  out->stream = (cdam_pull_stream){.progress = progress, .progress_user = out, .image = "busybox"};
}

static void clear(outcome *out) {
  cdam_pull_stream_clear(&out->stream);
  cdam_buffer_clear(&out->calls);
}

/* A stream that passed, looked at once more: how many objects it holds, none with an error. */
static unsigned count_objects(const char *text, size_t length) {
  unsigned count = 0;
  for (size_t at = 0; at < length;) {
    json_error_t why;
    size_t blank = strspn(text + at, " \t\r\n");
    if (at + blank >= length) break;
    at += blank;
    json_t *object = json_loadb(text + at, length - at, JSON_DISABLE_EOF_CHECK, &why);
    FUZZ_CHECK(json_is_object(object));
    const json_t *error = json_object_get(object, "error");
    const json_t *detail = json_object_get(object, "errorDetail");
    FUZZ_CHECK(!error || json_is_null(error));
    FUZZ_CHECK(!detail || json_is_null(detail));
    json_decref(object);
    at += (size_t)why.position;
    count++;
  }
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t cuts = data[0] & 7;
  unsigned most = data[0] >> 3; /* 0: never */
  if (size < 1 + cuts) return 0;
  const uint8_t *steps = data + 1, *bytes = data + 1 + cuts;
  size_t length = size - 1 - cuts;

  outcome whole, pieces;
  start(&whole, most);
  feed(&whole, bytes, length);
  finish(&whole);
  start(&pieces, most);
  size_t at = 0;
  for (size_t i = 0; i < cuts; i++) {
    size_t step = steps[i] < length - at ? steps[i] : length - at;
    feed(&pieces, bytes + at, step);
    at += step;
  }
  feed(&pieces, bytes + at, length - at);
  finish(&pieces);

  FUZZ_CHECK(whole.ok == pieces.ok);
  FUZZ_CHECK(whole.ok || whole.error.code == pieces.error.code);
  FUZZ_CHECK(whole.ok || strcmp(whole.error.message, pieces.error.message) == 0);
  FUZZ_CHECK(whole.calls.length == pieces.calls.length);
  FUZZ_CHECK(strcmp(cdam_buffer_text(&whole.calls), cdam_buffer_text(&pieces.calls)) == 0);
  if (whole.ok) {
    FUZZ_CHECK(!memchr(bytes, '\0', length));
    char *text = fuzz_text(bytes, length);
    FUZZ_CHECK(count_objects(text, length) == whole.count);
    free(text);
  }
  clear(&whole);
  clear(&pieces);
  return 0;
}
