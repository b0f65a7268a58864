/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/transfer.h"

#include <stdio.h>

#include "base/fail.h"

/* The operation has ended with what the agent said: adds which entry that was about. */
static void name_entry(cdam_error *error, const char *entry) {
  const cdam_error old = *error;
  cdam_fail(error, old.code, "%s (at \"%s\")", old.message, entry);
  error->retry = old.retry;
  error->system_errno = old.system_errno;
}

void cdam_tree_take_done(cdam_tree_transfer *transfer, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done) {
  cdam_operation *op = &transfer->request.op;
  bool named = !op->finished && !transfer->request.failing && status != CDAM_OK && done;
  char entry[sizeof error->field];
  snprintf(entry, sizeof entry, "%s", named ? error->field : "");
  cdam_file_take_done(&transfer->request, status, error, done);
  if (entry[0] && op->finished && op->status != CDAM_OK) name_entry(&op->error, entry);
}

void cdam_tree_deliver(cdam_tree_transfer *transfer) {
  const cdam_operation *op = &transfer->request.op;
  if (transfer->callback) transfer->callback(op->user, op->status, &transfer->result, &op->error);
}
