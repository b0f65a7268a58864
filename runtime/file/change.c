/* SPDX-License-Identifier: Apache-2.0 */
/* Directories, names, links and attributes: requests that have no result. */
#include <cofferdam/file.h>

#include "base/fail.h"
#include "file/request.h"

/* The agent says nothing while it removes a tree. Whether it lives at all is the link's matter. */
#define TREE_PATIENCE 10

static const cdam_file_kind make_directory_kind = {
    .verb = "make directory", .changes = true, .deliver = cdam_file_deliver_done};
static const cdam_file_kind remove_kind = {
    .verb = "remove", .changes = true, .deliver = cdam_file_deliver_done};
static const cdam_file_kind rename_kind = {
    .verb = "rename", .changes = true, .deliver = cdam_file_deliver_done};
static const cdam_file_kind make_link_kind = {
    .verb = "link", .changes = true, .deliver = cdam_file_deliver_done};
static const cdam_file_kind set_attributes_kind = {
    .verb = "set attributes of", .changes = true, .deliver = cdam_file_deliver_done};

static cdam_status prepare(const cdam_file_kind *kind, const cdam_session *session,
                           const char *path, const char *other, cdam_file_request **out,
                           cdam_error *err) {
  return cdam_file_request_new(sizeof(cdam_file_request), kind, session, path, other, out, err);
}

static cdam_status submit(cdam_file_request *request, cdam_loop *loop, cdam_session *session,
                          cdam_done_callback callback, void *user, cdam_operation **operation,
                          cdam_error *err) {
  request->callback.done = callback;
  return cdam_file_request_submit(request, loop, session, user, operation, err);
}

/* ---- directories ---- */

static cdam_status prepare_make_directory(const cdam_session *session, const char *path,
                                          uint32_t permissions, bool parents,
                                          cdam_file_request **out, cdam_error *err) {
  cdam_status status = cdam_file_check_permissions(permissions, err);
  if (status == CDAM_OK) status = prepare(&make_directory_kind, session, path, NULL, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = *out;
  CDAM_FILE_BODY(request, make_directory, MAKE_DIRECTORY);
  request->body.make_directory.path = cdam_file_bytes(request->path);
  request->body.make_directory.mode = permissions;
  request->body.make_directory.parents = parents;
  return CDAM_OK;
}

cdam_status cdam_file_make_directory(cdam_session *session, const char *path, uint32_t permissions,
                                     bool parents, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = prepare_make_directory(session, path, permissions, parents, &request, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(request, session, err) : status;
}

cdam_status cdam_file_make_directory_start(cdam_loop *loop, cdam_session *session, const char *path,
                                           uint32_t permissions, bool parents,
                                           cdam_done_callback callback, void *user,
                                           cdam_operation **operation, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK)
    status = prepare_make_directory(session, path, permissions, parents, &request, err);
  if (status != CDAM_OK) return status;
  return submit(request, loop, session, callback, user, operation, err);
}

/* ---- removing ---- */

static cdam_status prepare_remove(const cdam_session *session, const char *path, bool recursive,
                                  bool missing_ok, cdam_file_request **out, cdam_error *err) {
  cdam_status status = prepare(&remove_kind, session, path, NULL, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = *out;
  CDAM_FILE_BODY(request, remove, REMOVE);
  request->body.remove.path = cdam_file_bytes(request->path);
  request->body.remove.recursive = recursive;
  request->body.remove.missing_ok = missing_ok;
  if (recursive) request->patience = TREE_PATIENCE;
  return CDAM_OK;
}

cdam_status cdam_file_remove(cdam_session *session, const char *path, bool recursive,
                             bool missing_ok, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = prepare_remove(session, path, recursive, missing_ok, &request, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(request, session, err) : status;
}

cdam_status cdam_file_remove_start(cdam_loop *loop, cdam_session *session, const char *path,
                                   bool recursive, bool missing_ok, cdam_done_callback callback,
                                   void *user, cdam_operation **operation, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK)
    status = prepare_remove(session, path, recursive, missing_ok, &request, err);
  if (status != CDAM_OK) return status;
  return submit(request, loop, session, callback, user, operation, err);
}

/* ---- renaming ---- */

static cdam_status prepare_rename(const cdam_session *session, const char *from, const char *to,
                                  bool no_replace, cdam_file_request **out, cdam_error *err) {
  cdam_status status = cdam_file_check_path(from, "from", err);
  if (status == CDAM_OK) status = cdam_file_check_path(to, "to", err);
  if (status == CDAM_OK) status = prepare(&rename_kind, session, from, to, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = *out;
  CDAM_FILE_BODY(request, rename, RENAME);
  request->body.rename.from = cdam_file_bytes(request->path);
  request->body.rename.to = cdam_file_bytes(request->other);
  request->body.rename.no_replace = no_replace;
  return CDAM_OK;
}

cdam_status cdam_file_rename(cdam_session *session, const char *from, const char *to,
                             bool no_replace, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = prepare_rename(session, from, to, no_replace, &request, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(request, session, err) : status;
}

cdam_status cdam_file_rename_start(cdam_loop *loop, cdam_session *session, const char *from,
                                   const char *to, bool no_replace, cdam_done_callback callback,
                                   void *user, cdam_operation **operation, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_rename(session, from, to, no_replace, &request, err);
  if (status != CDAM_OK) return status;
  return submit(request, loop, session, callback, user, operation, err);
}

/* ---- links ---- */

static cdam_status prepare_make_link(const cdam_session *session, const char *path,
                                     const char *target, bool hard, cdam_file_request **out,
                                     cdam_error *err) {
  cdam_status status = cdam_file_check_path(target, "target", err);
  if (status == CDAM_OK) status = prepare(&make_link_kind, session, path, target, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = *out;
  CDAM_FILE_BODY(request, make_link, MAKE_LINK);
  request->body.make_link.path = cdam_file_bytes(request->path);
  request->body.make_link.target = cdam_file_bytes(request->other);
  request->body.make_link.hard = hard;
  return CDAM_OK;
}

cdam_status cdam_file_make_link(cdam_session *session, const char *path, const char *target,
                                bool hard, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = prepare_make_link(session, path, target, hard, &request, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(request, session, err) : status;
}

cdam_status cdam_file_make_link_start(cdam_loop *loop, cdam_session *session, const char *path,
                                      const char *target, bool hard, cdam_done_callback callback,
                                      void *user, cdam_operation **operation, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_make_link(session, path, target, hard, &request, err);
  if (status != CDAM_OK) return status;
  return submit(request, loop, session, callback, user, operation, err);
}

/* ---- attributes ---- */

static cdam_status check_attributes(const cdam_file_attributes *attributes, cdam_error *err) {
  if (!attributes) return cdam_fail(err, CDAM_ERR_ARGUMENT, "attributes is NULL");
  if (attributes->set_mtime && attributes->mtime_ns >= 1000000000)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "mtime_ns is 999999999 at most");
  if (attributes->set_size && attributes->size > INT64_MAX)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "size is larger than any file");
  cdam_status status = CDAM_OK;
  if (attributes->set_permissions)
    status = cdam_file_check_permissions(attributes->permissions, err);
  if (status == CDAM_OK)
    status = cdam_file_check_reserved(attributes->reserved, sizeof attributes->reserved, err);
  return status;
}

static cdam_status prepare_set_attributes(const cdam_session *session, const char *path,
                                          const cdam_file_attributes *attributes,
                                          cdam_file_request **out, cdam_error *err) {
  cdam_status status = check_attributes(attributes, err);
  if (status == CDAM_OK) status = prepare(&set_attributes_kind, session, path, NULL, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = *out;
  CDAM_FILE_BODY(request, set_attributes, SET_ATTRIBUTES);
  Cofferdam__Agent__V1__SetAttributes *body = &request->body.set_attributes;
  body->path = cdam_file_bytes(request->path);
  body->follow = attributes->follow;
  body->set_mode = attributes->set_permissions;
  body->mode = attributes->set_permissions ? attributes->permissions : 0;
  body->set_owner = attributes->set_owner;
  body->uid = attributes->uid;
  body->gid = attributes->gid;
  body->set_mtime = attributes->set_mtime;
  body->mtime_s = attributes->mtime;
  body->mtime_ns = attributes->set_mtime ? attributes->mtime_ns : 0;
  body->set_size = attributes->set_size;
  body->size = attributes->set_size ? attributes->size : 0;
  return CDAM_OK;
}

cdam_status cdam_file_set_attributes(cdam_session *session, const char *path,
                                     const cdam_file_attributes *attributes, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = prepare_set_attributes(session, path, attributes, &request, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(request, session, err) : status;
}

cdam_status cdam_file_set_attributes_start(cdam_loop *loop, cdam_session *session, const char *path,
                                           const cdam_file_attributes *attributes,
                                           cdam_done_callback callback, void *user,
                                           cdam_operation **operation, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_set_attributes(session, path, attributes, &request, err);
  if (status != CDAM_OK) return status;
  return submit(request, loop, session, callback, user, operation, err);
}
