/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/transfer.h"

#include "base/fail.h"

void cdam_tree_take_done(cdam_tree_transfer *transfer, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done) {
  cdam_error named;
  if (status != CDAM_OK && error && error->field[0]) {
    named = *error;
    cdam_fail(&named, status, "\"%s\" in it: %s", error->field, error->message);
    named.retry = error->retry;
    named.system_errno = error->system_errno;
    error = &named;
  }
  cdam_file_take_done(&transfer->request, status, error, done);
}

void cdam_tree_deliver(cdam_tree_transfer *transfer) {
  const cdam_operation *op = &transfer->request.op;
  if (transfer->callback) transfer->callback(op->user, op->status, &transfer->result, &op->error);
}
