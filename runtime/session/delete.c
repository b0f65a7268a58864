/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleting a sandbox: the container that the state names, and then the one that bears the session's
 * name, since another resume may have recreated it after this state was saved. Either may be gone.
 */
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "session/create_request.h"
#include "session/session_private.h"
#include "session/verify.h"

/* The engine refuses to remove a container that is being removed; wait for the end of that. */
#define REMOVAL_WAIT_MS 100
#define REMOVAL_WAITS 100

typedef struct delete_operation {
  cdam_operation op;
  cdam_done_callback callback;
  char session_id[CDAM_UUID_SIZE];
  char container_id[CDAM_CONTAINER_ID_SIZE];
  char name[CDAM_NAME_SIZE];
  const char *target; /* the id, then the name */
  int waits;
} delete_operation;

static void inspect_target(cdam_operation *op, const cdam_reply *reply);

static void target_gone(delete_operation *this) {
  if (this->target == this->name) {
    cdam_operation_finish(&this->op, CDAM_OK, NULL);
    return;
  }
  this->target = this->name;
  inspect_target(&this->op, NULL);
}

static void removed(cdam_operation *op, const cdam_reply *reply) {
  delete_operation *this = (delete_operation *)op;
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "remove container", &error);
  if (status == CDAM_OK || status == CDAM_ERR_NOT_FOUND)
    target_gone(this);
  else if (reply->http == 409 && this->waits++ < REMOVAL_WAITS)
    cdam_operation_after(op, REMOVAL_WAIT_MS, inspect_target);
  else
    cdam_operation_finish(op, status, &error);
}

static void remove_container(delete_operation *this, const json_t *inspect) {
  cdam_error error;
  const char *id = cdam_json_string_at(inspect, "Id");
  if (!cdam_is_container_id(id)) {
    cdam_operation_finish(
        &this->op,
        cdam_fail(&error, CDAM_ERR_PROTOCOL, "the engine gave a container without a full id"),
        &error);
    return;
  }
  char path[160];
  snprintf(path, sizeof path, "/containers/%s?force=1&v=1", id);
  cdam_operation_send(&this->op, &(cdam_request){.method = "DELETE", .path = path}, removed);
}

/* The name of a container that was looked up by its name proves nothing. */
static bool is_ours(const delete_operation *this, const json_t *inspect) {
  const char *session_id = this->session_id;
  return this->target == this->name ? cdam_is_session_container(inspect, session_id)
                                    : cdam_is_owned(inspect, session_id);
}

static void inspected(cdam_operation *op, const cdam_reply *reply) {
  delete_operation *this = (delete_operation *)op;
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  if (status == CDAM_ERR_NOT_FOUND)
    target_gone(this);
  else if (status != CDAM_OK)
    cdam_operation_finish(op, status, &error);
  else if (is_ours(this, inspect))
    remove_container(this, inspect);
  else if (this->target == this->name)
    target_gone(this); /* somebody else's container has the name; ours is gone */
  else
    cdam_operation_finish(op,
                          cdam_fail(&error, CDAM_ERR_NOT_OURS,
                                    "container %.12s does not bear the label of session %s; it "
                                    "was not deleted",
                                    this->target, this->session_id),
                          &error);
  json_decref(inspect);
}

static void inspect_target(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  delete_operation *this = (delete_operation *)op;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", this->target);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, inspected);
}

static cdam_status prepare(const cdam_state *state, delete_operation **out, cdam_error *err) {
  cdam_status status = cdam_state_validate(state, err);
  if (status != CDAM_OK) return status;
  delete_operation *this = calloc(1, sizeof *this);
  if (!this) return cdam_fail_memory(err);
  snprintf(this->session_id, sizeof this->session_id, "%s", state->message.session_id);
  snprintf(this->container_id, sizeof this->container_id, "%s", state->message.container_id);
  cdam_container_name(this->session_id, this->name);
  this->target = this->container_id;
  *out = this;
  return CDAM_OK;
}

cdam_status cdam_delete(cdam_client *client, const cdam_state *state, cdam_error *err) {
  if (!client || !state) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client or state is NULL");
  delete_operation *this = NULL;
  cdam_status status = prepare(state, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_operation_run(&this->op, client, inspect_target, err);
  free(this);
  return status;
}

static void completed(cdam_operation *op) {
  delete_operation *this = (delete_operation *)op;
  this->callback(op->user, op->status, &op->error);
  free(this);
}

cdam_status cdam_delete_start(cdam_loop *loop, const cdam_state *state, cdam_done_callback callback,
                              void *user, cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  if (!state) return cdam_fail(err, CDAM_ERR_ARGUMENT, "state is NULL");
  delete_operation *this = NULL;
  status = prepare(state, &this, err);
  if (status != CDAM_OK) return status;
  this->callback = callback;
  this->op.user = user;
  status = cdam_operation_submit(&this->op, loop, inspect_target, completed, err);
  if (status != CDAM_OK)
    free(this);
  else if (operation)
    *operation = &this->op;
  return status;
}
