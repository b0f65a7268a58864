/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/tree.h>

#include "base/fail.h"
#include "tree/transfer.h"
#include "tree/walk.h"
#include "tree/writer.h"

cdam_status cdam_tree_check(const cdam_session *session, const cdam_tree_options *options,
                            cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  if (!options) return CDAM_OK;
  return cdam_file_check_reserved(options->reserved,
                                  sizeof options->reserved / sizeof *options->reserved, err);
}

cdam_status cdam_tree_run(cdam_tree_transfer *transfer, cdam_session *session,
                          cdam_tree_result *result, cdam_error *err) {
  cdam_status status = cdam_file_request_run(&transfer->request, session, err);
  if (result) *result = transfer->result;
  cdam_file_request_free(&transfer->request);
  return status;
}

static cdam_status submit(cdam_tree_transfer *transfer, cdam_loop *loop, cdam_session *session,
                          cdam_tree_callback callback, void *user, cdam_operation **operation,
                          cdam_error *err) {
  transfer->callback = callback;
  return cdam_file_request_submit(&transfer->request, loop, session, user, operation, err);
}

static cdam_status check_local(const cdam_session *session, const char *local,
                               const cdam_tree_options *options, cdam_error *err) {
  cdam_status status = cdam_tree_check(session, options, err);
  if (status == CDAM_OK && !local) status = cdam_fail(err, CDAM_ERR_ARGUMENT, "local is NULL");
  return status;
}

/* ---- up ---- */

static cdam_status new_upload(const cdam_session *session, const char *local, const char *path,
                              const cdam_tree_options *options, cdam_tree_transfer **out,
                              cdam_error *err) {
  const cdam_tree_options none = {0};
  cdam_tree_feed *feed = NULL;
  cdam_status status = check_local(session, local, options, err);
  if (status == CDAM_OK) status = cdam_file_check_path(path, "path", err);
  if (status == CDAM_OK) status = cdam_tree_walk_new(local, &feed, err);
  if (status != CDAM_OK) return status;
  return cdam_tree_upload_new(session, path, options ? options : &none, feed, out, err);
}

cdam_status cdam_tree_upload(cdam_session *session, const char *local, const char *path,
                             const cdam_tree_options *options, cdam_tree_result *result,
                             cdam_error *err) {
  cdam_tree_transfer *transfer = NULL;
  if (result) *result = (cdam_tree_result){0};
  cdam_status status = new_upload(session, local, path, options, &transfer, err);
  return status == CDAM_OK ? cdam_tree_run(transfer, session, result, err) : status;
}

cdam_status cdam_tree_upload_start(cdam_loop *loop, cdam_session *session, const char *local,
                                   const char *path, const cdam_tree_options *options,
                                   cdam_tree_callback callback, void *user,
                                   cdam_operation **operation, cdam_error *err) {
  cdam_tree_transfer *transfer = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback != NULL, operation, err);
  if (status == CDAM_OK) status = new_upload(session, local, path, options, &transfer, err);
  if (status != CDAM_OK) return status;
  return submit(transfer, loop, session, callback, user, operation, err);
}

/* ---- down ---- */

static cdam_status new_download(const cdam_session *session, const char *path, const char *local,
                                const cdam_tree_options *options, cdam_tree_transfer **out,
                                cdam_error *err) {
  const cdam_tree_options none = {0};
  if (!options) options = &none;
  cdam_tree_target *target = NULL;
  cdam_status status = check_local(session, local, options, err);
  if (status == CDAM_OK) status = cdam_file_check_path(path, "path", err);
  if (status == CDAM_OK) status = cdam_tree_writer_new(local, options, &target, err);
  if (status != CDAM_OK) return status;
  return cdam_tree_download_new(session, path, options, target, out, err);
}

cdam_status cdam_tree_download(cdam_session *session, const char *path, const char *local,
                               const cdam_tree_options *options, cdam_tree_result *result,
                               cdam_error *err) {
  cdam_tree_transfer *transfer = NULL;
  if (result) *result = (cdam_tree_result){0};
  cdam_status status = new_download(session, path, local, options, &transfer, err);
  return status == CDAM_OK ? cdam_tree_run(transfer, session, result, err) : status;
}

cdam_status cdam_tree_download_start(cdam_loop *loop, cdam_session *session, const char *path,
                                     const char *local, const cdam_tree_options *options,
                                     cdam_tree_callback callback, void *user,
                                     cdam_operation **operation, cdam_error *err) {
  cdam_tree_transfer *transfer = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback != NULL, operation, err);
  if (status == CDAM_OK) status = new_download(session, path, local, options, &transfer, err);
  if (status != CDAM_OK) return status;
  return submit(transfer, loop, session, callback, user, operation, err);
}
