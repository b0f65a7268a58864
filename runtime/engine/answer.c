/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/answer.h"

#include <string.h>

#include "base/fail.h"
#include "base/json_parse.h"
#include "engine/negotiate.h"

#define MAX_MESSAGE 400

static const struct {
  int http;
  const char *phrase;
} phrases[] = {
    {301, "Moved Permanently"},   {302, "Found"},
    {307, "Temporary Redirect"},  {308, "Permanent Redirect"},
    {400, "Bad Request"},         {401, "Unauthorized"},
    {403, "Forbidden"},           {404, "Not Found"},
    {405, "Method Not Allowed"},  {406, "Not Acceptable"},
    {408, "Request Timeout"},     {409, "Conflict"},
    {413, "Payload Too Large"},   {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},   {500, "Internal Server Error"},
    {501, "Not Implemented"},     {502, "Bad Gateway"},
    {503, "Service Unavailable"}, {504, "Gateway Timeout"},
};

static const char *phrase_of(int http) {
  for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
    if (phrases[i].http == http) return phrases[i].phrase;
  return "no reason given";
}

static cdam_retry retry_of(int http) {
  if (http == 429 || http == 502 || http == 503 || http == 504) return CDAM_RETRY_YES;
  if (http == 409 || http / 100 == 5) return CDAM_RETRY_UNKNOWN;
  return CDAM_RETRY_NO;
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void print_trimmed(char *out, size_t size, const char *text, size_t length) {
  while (length && is_space(text[length - 1]))
    length--;
  while (length && is_space(*text))
    text++, length--;
  cdam_printable(out, size, text, length);
}

/* The engine's own words. */
static void engine_message(const cdam_reply *reply, char *out, size_t size) {
  json_error_t problem;
  json_t *json = cdam_json_parse(reply->body, reply->length, &problem);
  const char *message = json ? cdam_json_string_at(json, "message") : NULL;
  if (message)
    print_trimmed(out, size, message, strlen(message));
  else
    print_trimmed(out, size, reply->body, reply->length);
  json_decref(json);
  if (!out[0]) cdam_printable(out, size, phrase_of(reply->http), strlen(phrase_of(reply->http)));
}

static bool is_version_complaint(int http, const char *message) {
  return http == 400 && strstr(message, "client version ") &&
         (strstr(message, " is too old") || strstr(message, " is too new"));
}

cdam_status cdam_answer_check(const cdam_reply *reply, const char *what, cdam_error *err) {
  if (reply->status != CDAM_OK) {
    if (err) *err = *reply->error;
    return reply->status;
  }
  int http = reply->http;
  if (http / 100 == 2 || http == 304) return cdam_ok(err);
  char message[MAX_MESSAGE];
  engine_message(reply, message, sizeof message);
  cdam_status status = http == 404 ? CDAM_ERR_NOT_FOUND : CDAM_ERR_ENGINE;
  if (is_version_complaint(http, message)) {
    status = CDAM_ERR_API_VERSION;
    cdam_fail(err, status, "%s: %s; this library speaks API " CDAM_API_RANGE, what, message);
  } else if (http / 100 == 3) {
    cdam_fail(err, status, "%s: the engine answered with a redirect (%d), which is never followed",
              what, http);
  } else {
    cdam_fail(err, status, "%s: %s", what, message);
  }
  if (err) {
    err->http_status = http;
    err->retry = status == CDAM_ERR_ENGINE ? retry_of(http) : CDAM_RETRY_NO;
  }
  return status;
}

cdam_status cdam_answer_json(const cdam_reply *reply, const char *what, json_t **json,
                             cdam_error *err) {
  *json = NULL;
  cdam_status status = cdam_answer_check(reply, what, err);
  if (status != CDAM_OK) return status;
  json_error_t problem;
  *json = cdam_json_parse(reply->body, reply->length, &problem);
  if (*json) return CDAM_OK;
  if (!problem.text[0]) return cdam_fail_memory(err);
  cdam_fail(err, CDAM_ERR_PROTOCOL, "%s: the engine's answer is no JSON (%s at byte %d)", what,
            problem.text, problem.position);
  if (err) err->http_status = reply->http;
  return CDAM_ERR_PROTOCOL;
}

const json_t *cdam_json_at(const json_t *json, const char *path) {
  while (json && *path) {
    size_t length = strcspn(path, ".");
    json = json_object_getn(json, path, length);
    path += length;
    if (*path == '.') path++;
  }
  return json;
}

const char *cdam_json_string_at(const json_t *json, const char *path) {
  return json_string_value(cdam_json_at(json, path));
}
