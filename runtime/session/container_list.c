/* SPDX-License-Identifier: Apache-2.0 */
#include "session/container_list.h"

#include "base/buffer.h"
#include "base/fail.h"
#include "engine/answer.h"

void cdam_container_list_send(cdam_operation *op, const char *labels, cdam_step next) {
  cdam_error error;
  cdam_buffer path = {0};
  bool ok = cdam_buffer_append_text(&path, "/containers/json?all=1&filters=") &&
            cdam_buffer_append_escaped(&path, "{\"label\":[") &&
            cdam_buffer_append_escaped(&path, labels) && cdam_buffer_append_escaped(&path, "]}");
  if (ok)
    cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path.data}, next);
  else
    cdam_operation_finish(op, cdam_fail_memory(&error), &error);
  cdam_buffer_clear(&path);
}

cdam_status cdam_container_list_read(const cdam_reply *reply, json_t **out, cdam_error *err) {
  cdam_status status = cdam_answer_json(reply, "list containers", out, err);
  if (status == CDAM_OK && !json_is_array(*out))
    status = cdam_fail(err, CDAM_ERR_PROTOCOL, "the engine's list of containers is no array");
  return status;
}
