/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file from a source. */
#include <cofferdam/file.h>

#include "base/fail.h"
#include "file/list.h"
#include "file/request.h"
#include "link/pump.h"

typedef struct writing {
  cdam_file_request request; /* first */
  cdam_source source;
  cdam_feed *feed;
  bool described; /* the entry came */
} writing;

static writing *writing_of(cdam_file_request *request) {
  return (writing *)request;
}

static bool take_message(cdam_file_request *request, const cdam_from_agent *message,
                         cdam_error *failure) {
  writing *this = writing_of(request);
  if (message->body_case != COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY)
    return cdam_file_refuse(failure, "something else than an entry");
  if (!this->feed || !cdam_feed_is_done(this->feed))
    return cdam_file_refuse(failure, "the entry of a file that is not complete");
  if (this->described) return cdam_file_refuse(failure, "two entries for one");
  if (!cdam_file_entry_check(message->entry, false, failure)) return false;
  this->described = true;
  return true;
}

static void succeeded(cdam_file_request *request) {
  if (writing_of(request)->described)
    cdam_file_succeed(request);
  else
    cdam_file_fail_incomplete(request);
}

/* ---- the source ---- */

static void fed(void *user, const cdam_error *error) {
  writing *this = user;
  if (error) cdam_file_fail_and_wait(&this->request, error);
}

static bool is_open(void *to) {
  return cdam_file_is_open(to);
}

static bool can_send(void *to) {
  return cdam_file_can_send(to);
}

static cdam_status send_data(void *to, const void *bytes, size_t length, bool end,
                             cdam_error *err) {
  return cdam_file_send_data(to, bytes, length, end, err);
}

static const cdam_feed_target to_sandbox = {is_open, can_send, send_data};

static void opened(cdam_file_request *request) {
  writing *this = writing_of(request);
  cdam_error error;
  this->feed =
      cdam_feed_new_to(request->op.loop, &this->source, &to_sandbox, request, fed, this, &error);
  if (this->feed)
    cdam_feed_go(this->feed);
  else
    cdam_file_fail_and_wait(request, &error);
}

static void writable(cdam_file_request *request) {
  writing *this = writing_of(request);
  if (this->feed && !request->failing) cdam_feed_go(this->feed);
}

/* What could be sent and is not has not been given yet. */
static bool waits_for_program(cdam_file_request *request) {
  writing *this = writing_of(request);
  return this->feed && !request->failing && cdam_file_is_open(request) &&
         !cdam_feed_is_done(this->feed) && cdam_file_can_send(request);
}

static void release(cdam_file_request *request) {
  cdam_feed_free(writing_of(request)->feed);
}

static const cdam_file_kind write_kind = {.verb = "write",
                                          .changes = true,
                                          .opened = opened,
                                          .message = take_message,
                                          .writable = writable,
                                          .succeeded = succeeded,
                                          .waits_for_program = waits_for_program,
                                          .deliver = cdam_file_deliver_done,
                                          .release = release};

/* ---- the calls ---- */

static cdam_status check_options(const cdam_file_write_options *options, cdam_error *err) {
  if ((int)options->mode < CDAM_FILE_REPLACE || (int)options->mode > CDAM_FILE_IN_PLACE)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "no such mode of writing: %d", (int)options->mode);
  if (options->offset && options->mode != CDAM_FILE_IN_PLACE)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "an offset is for CDAM_FILE_IN_PLACE alone");
  if (options->offset > INT64_MAX)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "offset is larger than any file");
  cdam_status status = CDAM_OK;
  if (options->set_permissions) status = cdam_file_check_permissions(options->permissions, err);
  if (status == CDAM_OK)
    status = cdam_file_check_reserved(options->reserved, sizeof options->reserved, err);
  return status;
}

static cdam_status prepare(const cdam_session *session, const char *path, const cdam_source *source,
                           const cdam_file_write_options *options, writing **out, cdam_error *err) {
  const cdam_file_write_options defaults = {0};
  if (!options) options = &defaults;
  if (!source) return cdam_fail(err, CDAM_ERR_ARGUMENT, "source is NULL");
  cdam_file_request *request = NULL;
  cdam_status status = cdam_source_check(source, "source", err);
  if (status == CDAM_OK) status = check_options(options, err);
  if (status == CDAM_OK)
    status =
        cdam_file_request_new(sizeof(writing), &write_kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) return status;
  *out = writing_of(request);
  (*out)->source = *source;
  CDAM_FILE_BODY(request, write_file, WRITE_FILE);
  Cofferdam__Agent__V1__WriteFile *body = &request->body.write_file;
  body->path = cdam_file_bytes(request->path);
  body->write_mode = (Cofferdam__Agent__V1__WriteMode)(options->mode + 1);
  body->set_mode = options->set_permissions;
  body->mode = options->set_permissions ? options->permissions : 0;
  body->set_owner = options->set_owner;
  body->uid = options->uid;
  body->gid = options->gid;
  body->sync = options->sync;
  body->parents = options->parents;
  body->offset = options->offset;
  return CDAM_OK;
}

_Static_assert((int)CDAM_FILE_REPLACE + 1 ==
                       (int)COFFERDAM__AGENT__V1__WRITE_MODE__WRITE_MODE_REPLACE &&
                   (int)CDAM_FILE_IN_PLACE + 1 ==
                       (int)COFFERDAM__AGENT__V1__WRITE_MODE__WRITE_MODE_IN_PLACE,
               "the agent's modes are ours, from 1 on");

cdam_status cdam_file_write(cdam_session *session, const char *path, const cdam_source *source,
                            const cdam_file_write_options *options, cdam_error *err) {
  writing *this = NULL;
  cdam_status status = prepare(session, path, source, options, &this, err);
  return status == CDAM_OK ? cdam_file_request_finish_run(&this->request, session, err) : status;
}

cdam_status cdam_file_write_start(cdam_loop *loop, cdam_session *session, const char *path,
                                  const cdam_source *source, const cdam_file_write_options *options,
                                  cdam_done_callback callback, void *user,
                                  cdam_operation **operation, cdam_error *err) {
  writing *this = NULL;
  cdam_status status = cdam_file_start_check(loop, session, callback, operation, err);
  if (status == CDAM_OK) status = prepare(session, path, source, options, &this, err);
  if (status != CDAM_OK) return status;
  this->request.callback.done = callback;
  return cdam_file_request_submit(&this->request, loop, session, user, operation, err);
}
