/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exec_id.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"

static bool is_exec_id(const char *text) {
  size_t length = strspn(text, "0123456789abcdefABCDEF");
  return length > 0 && length < CDAM_EXEC_ID_SIZE && !text[length];
}

cdam_status cdam_exec_read_id(const cdam_reply *reply, const char *what, char id[CDAM_EXEC_ID_SIZE],
                              cdam_error *err) {
  json_t *json;
  cdam_status status = cdam_answer_json(reply, what, &json, err);
  if (status != CDAM_OK) return status;
  const char *text = cdam_json_string_at(json, "Id");
  if (text && is_exec_id(text))
    snprintf(id, CDAM_EXEC_ID_SIZE, "%s", text);
  else
    status = cdam_fail(err, CDAM_ERR_PROTOCOL, "%s: the answer has no exec id", what);
  json_decref(json);
  return status;
}

void cdam_exec_path(const char *id, const char *what, char *path, size_t size) {
  snprintf(path, size, "/exec/%s/%s", id, what);
}
