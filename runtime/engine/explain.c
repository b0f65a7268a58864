/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/explain.h"

#include "base/fail.h"
#include "engine/answer.h"

cdam_status cdam_explain(const cdam_reply *reply, cdam_error *trouble, cdam_error *err) {
  json_t *json = NULL;
  cdam_error error;
  cdam_status status = cdam_answer_json(reply, "inspect container", &json, &error);
  if (status == CDAM_ERR_NOT_FOUND) {
    cdam_fail(trouble, CDAM_ERR_NOT_FOUND, "the sandbox's container is gone");
    trouble->http_status = error.http_status;
    return cdam_ok(err);
  }
  if (status != CDAM_OK) {
    if (err) *err = error;
    return status;
  }
  if (json_is_true(cdam_json_at(json, "State.Paused")))
    cdam_fail(trouble, CDAM_ERR_PAUSED, "the sandbox is paused");
  else if (json_is_false(cdam_json_at(json, "State.Running")))
    cdam_fail(trouble, CDAM_ERR_EXITED, "the sandbox is not running");
  json_decref(json);
  return cdam_ok(err);
}
