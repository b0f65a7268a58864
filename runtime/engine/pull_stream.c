/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pull_stream.h"

#include <jansson.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_parse.h"

static const char *string_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static unsigned long long count_of(const json_t *object, const char *key) {
  json_int_t value = json_integer_value(json_object_get(object, key));
  return value > 0 ? (unsigned long long)value : 0;
}

/* Anything under these keys is an error, also when it has no text that can be shown. */
static const json_t *error_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return value && !json_is_null(value) ? value : NULL;
}

static bool take(cdam_pull_stream *stream, const json_t *object, cdam_error *failure) {
  const json_t *detail = error_of(object, "errorDetail");
  if (detail || error_of(object, "error")) {
    const char *text = string_of(detail, "message");
    if (!*text) text = string_of(object, "error");
    if (!*text) text = "the engine gives no reason";
    cdam_fail(failure, CDAM_ERR_PULL, "pull image \"%s\": %s", stream->image, text);
    return false;
  }
  if (!stream->progress) return true;
  const json_t *counts = json_object_get(object, "progressDetail");
  if (stream->progress(stream->progress_user, string_of(object, "status"), string_of(object, "id"),
                       count_of(counts, "current"), count_of(counts, "total")))
    return true;
  cdam_fail(failure, CDAM_ERR_PULL, "pull image \"%s\": stopped by the caller", stream->image);
  if (failure) failure->retry = CDAM_RETRY_NO;
  return false;
}

static bool is_blank(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!strchr(" \t\r", text[i]) || !text[i]) return false;
  return true;
}

/* Some engines put several objects on one line. */
static bool take_line(cdam_pull_stream *stream, const char *text, size_t length, bool last,
                      cdam_error *failure) {
  bool hopeless = cdam_json_is_too_deep(text, length) || memchr(text, '\0', length);
  while (!is_blank(text, length)) {
    json_error_t why = {0};
    json_t *object =
        hopeless ? NULL
                 : json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &why);
    if (!json_is_object(object)) {
      bool no_memory = !object && !hopeless && json_error_code(&why) == json_error_out_of_memory;
      json_decref(object);
      if (no_memory) {
        cdam_fail_memory(failure);
      } else if (last && !hopeless) {
        cdam_fail(failure, CDAM_ERR_PULL, "pull image \"%s\": the engine's answer was cut",
                  stream->image);
      } else {
        cdam_fail(failure, CDAM_ERR_PROTOCOL,
                  "pull image \"%s\": the engine's answer holds a line that is no JSON object",
                  stream->image);
      }
      return false;
    }
    bool go_on = take(stream, object, failure);
    json_decref(object);
    if (!go_on) return false;
    text += why.position;
    length -= (size_t)why.position;
  }
  return true;
}

static bool keep(cdam_pull_stream *stream, const char *bytes, size_t length, cdam_error *failure) {
  if (length > CDAM_PULL_LINE_MAX - stream->line.length) {
    cdam_fail(failure, CDAM_ERR_PROTOCOL,
              "pull image \"%s\": the engine's answer has a line of more than %d bytes",
              stream->image, CDAM_PULL_LINE_MAX);
    return false;
  }
  if (cdam_buffer_append(&stream->line, bytes, length)) return true;
  cdam_fail_memory(failure);
  return false;
}

bool cdam_pull_stream_feed(cdam_pull_stream *stream, const char *bytes, size_t length,
                           cdam_error *failure) {
  while (length > 0) {
    const char *newline = memchr(bytes, '\n', length);
    size_t piece = newline ? (size_t)(newline - bytes) : length;
    if (!keep(stream, bytes, piece, failure)) return false;
    if (!newline) return true;
    if (!take_line(stream, cdam_buffer_text(&stream->line), stream->line.length, false, failure))
      return false;
    stream->line.length = 0;
    bytes += piece + 1;
    length -= piece + 1;
  }
  return true;
}

bool cdam_pull_stream_end(cdam_pull_stream *stream, cdam_error *failure) {
  return take_line(stream, cdam_buffer_text(&stream->line), stream->line.length, true, failure);
}

void cdam_pull_stream_clear(cdam_pull_stream *stream) {
  cdam_buffer_clear(&stream->line);
}
