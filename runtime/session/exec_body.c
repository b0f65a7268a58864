/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec_body.h"

#include <jansson.h>
#include <stdio.h>
#include <uuid/uuid.h>

#include "base/json_text.h"

static bool append_texts(json_t *array, const char *const *texts) {
  for (size_t i = 0; texts && texts[i]; i++)
    if (json_array_append_new(array, json_string(texts[i])) < 0) return false;
  return true;
}

static bool append_marker(json_t *env, const char *marker) {
  char text[sizeof CDAM_EXEC_MARKER + CDAM_EXEC_MARKER_SIZE];
  if (!marker) return true;
  snprintf(text, sizeof text, "%s=%s", CDAM_EXEC_MARKER, marker);
  return json_array_append_new(env, json_string(text)) == 0;
}

static bool set_text(json_t *object, const char *key, const char *text) {
  return !text || json_object_set_new(object, key, json_string(text)) == 0;
}

static bool set_env(json_t *object, const cdam_exec_body *from) {
  if (!from->env && !from->marker) return true;
  json_t *env = json_array();
  bool done = env && append_texts(env, from->env) && append_marker(env, from->marker) &&
              json_object_set(object, "Env", env) == 0;
  json_decref(env);
  return done;
}

static json_t *make(const cdam_exec_body *from) {
  json_t *argv = json_array();
  json_t *body = NULL;
  if (argv && append_texts(argv, from->argv))
    body = json_pack("{s:b, s:b, s:b, s:b, s:O}", "AttachStdin", from->input, "AttachStdout", 1,
                     "AttachStderr", 1, "Tty", from->terminal, "Cmd", argv);
  json_decref(argv);
  if (body && set_env(body, from) && set_text(body, "User", from->user) &&
      set_text(body, "WorkingDir", from->workdir))
    return body;
  json_decref(body);
  return NULL;
}

char *cdam_exec_body_text(const cdam_exec_body *from) {
  json_t *body = make(from);
  char *text = body ? cdam_json_text(body, JSON_COMPACT) : NULL;
  json_decref(body);
  return text;
}

void cdam_exec_make_marker(char marker[CDAM_EXEC_MARKER_SIZE]) {
  uuid_t uuid;
  uuid_generate(uuid);
  uuid_unparse_lower(uuid, marker);
}
