/* SPDX-License-Identifier: Apache-2.0 */
/* What is there: one thing, whether there is one, and what is in a directory. */
#include <cofferdam/file.h>

#include <errno.h>

#include "base/fail.h"
#include "file/list.h"
#include "file/request.h"

typedef struct look {
  cdam_file_request request; /* first */
  cdam_file_list *list;
  bool listing; /* any number of entries with names; else one without */
  bool exists;
} look;

static look *look_of(cdam_file_request *request) {
  return (look *)request;
}

/* ---- what comes ---- */

static bool take_entry(cdam_file_request *request, const cdam_from_agent *message,
                       cdam_error *failure) {
  look *this = look_of(request);
  if (message->body_case != COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY)
    return cdam_file_refuse(failure, "something else than an entry");
  if (!cdam_file_entry_check(message->entry, this->listing, failure)) return false;
  if (!this->listing && cdam_file_list_count(this->list) > 0)
    return cdam_file_refuse(failure, "two entries for one");
  cdam_error error;
  if (cdam_file_list_add(this->list, message->entry, this->listing, &error) != CDAM_OK)
    cdam_file_fail(request, &error);
  return true;
}

static void succeeded(cdam_file_request *request) {
  look *this = look_of(request);
  this->exists = cdam_file_list_count(this->list) > 0;
  if (this->listing) cdam_file_list_sort(this->list);
  if (this->listing || this->exists)
    cdam_file_succeed(request);
  else
    cdam_file_fail_incomplete(request);
}

/* A workspace that is not there says nothing about what would be in it. */
static bool is_not_there(cdam_file_request *request, const Cofferdam__Agent__V1__Error *error) {
  if (error->code != COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_SYSTEM ||
      error->step == COFFERDAM__AGENT__V1__STEP__STEP_WORKSPACE ||
      (error->system_errno != ENOENT && error->system_errno != ENOTDIR))
    return false;
  look_of(request)->exists = false;
  return true;
}

/* ---- what is handed out ---- */

static cdam_file_list *take_list(look *this) {
  cdam_file_list *list = this->list;
  this->list = NULL;
  return list;
}

static void deliver_list(cdam_file_request *request) {
  cdam_file_list *list = request->op.status == CDAM_OK ? take_list(look_of(request)) : NULL;
  request->callback.list(request->op.user, request->op.status, list, &request->op.error);
}

static void deliver_exists(cdam_file_request *request) {
  bool exists = request->op.status == CDAM_OK && look_of(request)->exists;
  request->callback.exists(request->op.user, request->op.status, exists, &request->op.error);
}

static void release(cdam_file_request *request) {
  cdam_file_list_free(look_of(request)->list);
}

static const cdam_file_kind stat_kind = {.verb = "look at",
                                         .message = take_entry,
                                         .succeeded = succeeded,
                                         .deliver = deliver_list,
                                         .release = release};
static const cdam_file_kind exists_kind = {.verb = "look for",
                                           .message = take_entry,
                                           .succeeded = succeeded,
                                           .accepts = is_not_there,
                                           .deliver = deliver_exists,
                                           .release = release};
static const cdam_file_kind list_kind = {.verb = "list",
                                         .message = take_entry,
                                         .succeeded = succeeded,
                                         .deliver = deliver_list,
                                         .release = release};

/* ---- preparing ---- */

static cdam_status prepare(const cdam_file_kind *kind, const cdam_session *session,
                           const char *path, look **out, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status =
      cdam_file_request_new(sizeof(look), kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) return status;
  look *this = look_of(request);
  this->list = cdam_file_list_make();
  if (!this->list) {
    cdam_file_request_free(request);
    return cdam_fail_memory(err);
  }
  *out = this;
  return CDAM_OK;
}

static cdam_status prepare_stat(const cdam_file_kind *kind, const cdam_session *session,
                                const char *path, bool follow, look **out, cdam_error *err) {
  cdam_status status = prepare(kind, session, path, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = &(*out)->request;
  CDAM_FILE_BODY(request, stat, STAT);
  request->body.stat.path = cdam_file_bytes(request->path);
  request->body.stat.follow = follow;
  return CDAM_OK;
}

static cdam_status prepare_list(const cdam_session *session, const char *path, look **out,
                                cdam_error *err) {
  cdam_status status = prepare(&list_kind, session, path, out, err);
  if (status != CDAM_OK) return status;
  cdam_file_request *request = &(*out)->request;
  (*out)->listing = true;
  CDAM_FILE_BODY(request, list, LIST);
  request->body.list.path = cdam_file_bytes(request->path);
  return CDAM_OK;
}

/* ---- the calls ---- */

static cdam_status run_for_list(look *this, cdam_session *session, cdam_file_list **out,
                                cdam_error *err) {
  cdam_status status = cdam_file_request_run(&this->request, session, err);
  if (status == CDAM_OK) *out = take_list(this);
  cdam_file_request_free(&this->request);
  return status;
}

cdam_status cdam_file_stat(cdam_session *session, const char *path, bool follow,
                           cdam_file_list **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  look *this = NULL;
  cdam_status status = prepare_stat(&stat_kind, session, path, follow, &this, err);
  return status == CDAM_OK ? run_for_list(this, session, out, err) : status;
}

cdam_status cdam_file_list_directory(cdam_session *session, const char *path, cdam_file_list **out,
                                     cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  look *this = NULL;
  cdam_status status = prepare_list(session, path, &this, err);
  return status == CDAM_OK ? run_for_list(this, session, out, err) : status;
}

cdam_status cdam_file_exists(cdam_session *session, const char *path, bool *exists,
                             cdam_error *err) {
  if (!exists) return cdam_fail(err, CDAM_ERR_ARGUMENT, "exists is NULL");
  *exists = false;
  look *this = NULL;
  cdam_status status = prepare_stat(&exists_kind, session, path, false, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_file_request_run(&this->request, session, err);
  if (status == CDAM_OK) *exists = this->exists;
  cdam_file_request_free(&this->request);
  return status;
}

cdam_status cdam_file_stat_start(cdam_loop *loop, cdam_session *session, const char *path,
                                 bool follow, cdam_file_list_callback callback, void *user,
                                 cdam_operation **operation, cdam_error *err) {
  look *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_stat(&stat_kind, session, path, follow, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.list = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}

cdam_status cdam_file_list_directory_start(cdam_loop *loop, cdam_session *session, const char *path,
                                           cdam_file_list_callback callback, void *user,
                                           cdam_operation **operation, cdam_error *err) {
  look *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_list(session, path, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.list = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}

cdam_status cdam_file_exists_start(cdam_loop *loop, cdam_session *session, const char *path,
                                   cdam_file_exists_callback callback, void *user,
                                   cdam_operation **operation, cdam_error *err) {
  look *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare_stat(&exists_kind, session, path, false, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.exists = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}
