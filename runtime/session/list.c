/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/fail.h"
#include "session/container_list.h"
#include "session/create_request.h"
#include "session/verify.h"

struct cdam_sandbox_list {
  json_t *containers; /* the engine's array, entries without our label taken out */
};

typedef struct list_operation {
  cdam_operation op;
  cdam_list_callback callback;
  cdam_sandbox_list *sandboxes;
} list_operation;

static const json_t *label_of_entry(const json_t *entry) {
  return json_object_get(json_object_get(entry, "Labels"), CDAM_LABEL_SESSION);
}

/* Anybody may put our label on a container; as its value only a session's id means anything. */
static bool is_ours(const json_t *entry) {
  const char *label = json_string_value(label_of_entry(entry));
  uuid_t parsed;
  return label && uuid_parse(label, parsed) == 0;
}

static bool is_whole(const json_t *entry) {
  return cdam_is_container_id(json_string_value(json_object_get(entry, "Id"))) &&
         json_is_string(json_object_get(entry, "Image")) &&
         json_is_string(json_object_get(entry, "State"));
}

/* The engine filters by label; one that ignores filters must not widen the list. */
static cdam_status keep_ours(json_t *containers, cdam_error *err) {
  for (size_t i = json_array_size(containers); i-- > 0;) {
    if (!is_ours(json_array_get(containers, i)))
      json_array_remove(containers, i);
    else if (!is_whole(json_array_get(containers, i)))
      return cdam_fail(err, CDAM_ERR_PROTOCOL,
                       "the engine's list has a container without id, image or status");
  }
  return CDAM_OK;
}

static void listed(cdam_operation *op, const cdam_reply *reply) {
  json_t **containers = &((list_operation *)op)->sandboxes->containers;
  cdam_error error;
  cdam_status status = cdam_container_list_read(reply, containers, &error);
  if (status == CDAM_OK) status = keep_ours(*containers, &error);
  cdam_operation_finish(op, status, &error);
}

static void list(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_container_list_send(op, "\"" CDAM_LABEL_SESSION "\"", listed);
}

static list_operation *prepare(cdam_error *err) {
  list_operation *this = calloc(1, sizeof *this);
  if (this && (this->sandboxes = calloc(1, sizeof *this->sandboxes))) return this;
  free(this);
  cdam_fail_memory(err);
  return NULL;
}

static void end(list_operation *this) {
  cdam_list_free(this->sandboxes);
  free(this);
}

static cdam_sandbox_list *take_list(list_operation *this, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_sandbox_list *sandboxes = this->sandboxes;
  this->sandboxes = NULL;
  return sandboxes;
}

cdam_status cdam_list(cdam_client *client, cdam_sandbox_list **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  if (!client) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client is NULL");
  list_operation *this = prepare(err);
  if (!this) return CDAM_ERR_NO_MEMORY;
  cdam_status status = cdam_operation_run(&this->op, client, list, err);
  *out = take_list(this, status);
  end(this);
  return status;
}

static void completed(cdam_operation *op) {
  list_operation *this = (list_operation *)op;
  this->callback(op->user, op->status, take_list(this, op->status), &op->error);
  end(this);
}

cdam_status cdam_list_start(cdam_loop *loop, cdam_list_callback callback, void *user,
                            cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  list_operation *this = prepare(err);
  if (!this) return CDAM_ERR_NO_MEMORY;
  this->callback = callback;
  this->op.user = user;
  status = cdam_operation_submit(&this->op, loop, list, completed, err);
  if (status != CDAM_OK)
    end(this);
  else if (operation)
    *operation = &this->op;
  return status;
}

void cdam_list_free(cdam_sandbox_list *sandboxes) {
  if (!sandboxes) return;
  json_decref(sandboxes->containers);
  free(sandboxes);
}

size_t cdam_list_count(const cdam_sandbox_list *sandboxes) {
  return sandboxes ? json_array_size(sandboxes->containers) : 0;
}

static const json_t *entry_at(const cdam_sandbox_list *sandboxes, size_t index) {
  return sandboxes ? json_array_get(sandboxes->containers, index) : NULL;
}

static const char *text_at(const cdam_sandbox_list *sandboxes, size_t index, const char *key) {
  return json_string_value(json_object_get(entry_at(sandboxes, index), key));
}

const char *cdam_list_session_id(const cdam_sandbox_list *sandboxes, size_t index) {
  return json_string_value(label_of_entry(entry_at(sandboxes, index)));
}

const char *cdam_list_container_id(const cdam_sandbox_list *sandboxes, size_t index) {
  return text_at(sandboxes, index, "Id");
}

const char *cdam_list_image(const cdam_sandbox_list *sandboxes, size_t index) {
  return text_at(sandboxes, index, "Image");
}

const char *cdam_list_status(const cdam_sandbox_list *sandboxes, size_t index) {
  return text_at(sandboxes, index, "State");
}

int64_t cdam_list_created(const cdam_sandbox_list *sandboxes, size_t index) {
  return json_integer_value(json_object_get(entry_at(sandboxes, index), "Created"));
}
