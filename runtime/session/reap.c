/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/reap.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/operation.h"
#include "options/formats.h"
#include "session/container_list.h"
#include "session/deadline.h"
#include "session/engine_time.h"
#include "session/reap.h"
#include "session/session_private.h"

typedef struct reap_entry {
  char session_id[CDAM_UUID_SIZE];
  char container_id[CDAM_CONTAINER_ID_SIZE];
  uint64_t deadline;
  char *failure; /* owned; or NULL */
} reap_entry;

struct cdam_reap_report {
  reap_entry *entries;
  size_t count;
};

typedef struct reap_operation {
  cdam_operation op;
  cdam_reap_callback callback;
  cdam_reap_flags flags;
  cdam_reap_report *report;
  size_t next; /* to be removed */
} reap_operation;

/* ---- what may be removed ---- */

/* Names begin with a slash; links give a container more than one. */
static bool has_name(const json_t *container, const char *name) {
  size_t index;
  const json_t *item;
  json_array_foreach(json_object_get(container, "Names"), index, item) {
    const char *text = json_string_value(item);
    if (text && text[0] == '/' && strcmp(text + 1, name) == 0) return true;
  }
  return false;
}

bool cdam_is_expired(const json_t *container, int64_t now, const char **session_id,
                     const char **container_id, uint64_t *deadline) {
  const json_t *labels = json_object_get(container, "Labels");
  *session_id = json_string_value(json_object_get(labels, CDAM_LABEL_SESSION));
  *container_id = json_string_value(json_object_get(container, "Id"));
  *deadline =
      cdam_deadline_of_label(json_string_value(json_object_get(labels, CDAM_LABEL_DEADLINE)));
  if (!cdam_is_container_id(*container_id) || !*session_id || !cdam_is_uuid(*session_id))
    return false;
  char name[CDAM_NAME_SIZE];
  cdam_container_name(*session_id, name);
  return *deadline > 0 && now > 0 && *deadline <= (uint64_t)now && has_name(container, name);
}

static cdam_status add_entry(cdam_reap_report *report, const json_t *container, int64_t now,
                             cdam_error *err) {
  const char *session_id, *container_id;
  reap_entry entry = {.failure = NULL};
  if (!cdam_is_expired(container, now, &session_id, &container_id, &entry.deadline)) return CDAM_OK;
  reap_entry *grown = realloc(report->entries, (report->count + 1) * sizeof *grown);
  if (!grown) return cdam_fail_memory(err);
  report->entries = grown;
  snprintf(entry.session_id, sizeof entry.session_id, "%s", session_id);
  snprintf(entry.container_id, sizeof entry.container_id, "%s", container_id);
  report->entries[report->count++] = entry;
  return CDAM_OK;
}

static int by_deadline(const void *a, const void *b) {
  const reap_entry *one = a, *other = b;
  if (one->deadline != other->deadline) return one->deadline < other->deadline ? -1 : 1;
  return strcmp(one->session_id, other->session_id);
}

/* ---- steps ---- */

static void remove_next(reap_operation *this);

/* The engine removes it already, on somebody else's word. */
static bool is_gone(const cdam_reply *reply) {
  return reply->http == 404 ||
         (reply->http == 409 && strcasestr(reply->body, "already in progress"));
}

static void removed(cdam_operation *op, const cdam_reply *reply) {
  reap_operation *this = (reap_operation *)op;
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "remove container", &error);
  if (status != CDAM_OK && reply->status != CDAM_OK) {
    cdam_operation_finish(op, status, &error); /* there is no engine to ask any more */
    return;
  }
  reap_entry *entry = &this->report->entries[this->next];
  if (status != CDAM_OK && !is_gone(reply) && !(entry->failure = strdup(error.message))) {
    cdam_operation_finish(op, cdam_fail_memory(&error), &error);
    return;
  }
  this->next++;
  remove_next(this);
}

static void remove_next(reap_operation *this) {
  if (this->flags.dry_run || this->next == this->report->count) {
    cdam_operation_finish(&this->op, CDAM_OK, NULL);
    return;
  }
  char path[160];
  snprintf(path, sizeof path, "/containers/%s?force=1&v=1",
           this->report->entries[this->next].container_id);
  cdam_operation_send(&this->op, &(cdam_request){.method = "DELETE", .path = path}, removed);
}

static void listed(cdam_operation *op, const cdam_reply *reply) {
  reap_operation *this = (reap_operation *)op;
  cdam_error error;
  json_t *containers = NULL;
  cdam_status status = cdam_container_list_read(reply, &containers, &error);
  size_t index;
  const json_t *container;
  if (status == CDAM_OK) {
    json_array_foreach(containers, index, container) {
      status = add_entry(this->report, container, this->flags.now, &error);
      if (status != CDAM_OK) break;
    }
  }
  json_decref(containers);
  if (status != CDAM_OK) {
    cdam_operation_finish(op, status, &error);
    return;
  }
  if (this->report->count)
    qsort(this->report->entries, this->report->count, sizeof *this->report->entries, by_deadline);
  remove_next(this);
}

static void list(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_container_list_send(op, "\"" CDAM_LABEL_SESSION "\",\"" CDAM_LABEL_DEADLINE "\"", listed);
}

static void clock_told(cdam_operation *op, const cdam_reply *reply) {
  reap_operation *this = (reap_operation *)op;
  cdam_error error;
  json_t *info = NULL;
  cdam_status status = cdam_answer_json(reply, "ask for the engine's time", &info, &error);
  int64_t told = cdam_engine_time(cdam_json_string_at(info, "SystemTime"));
  json_decref(info);
  if (status != CDAM_OK) {
    cdam_operation_finish(op, status, &error);
    return;
  }
  this->flags.now = (int64_t)time(NULL);
  if (told && told < this->flags.now) this->flags.now = told;
  list(op, NULL);
}

/* A sandbox's agent goes by the engine's clock. Where the clock here is ahead of it, a sandbox that
 * still runs by right must stay. */
static void begin(cdam_operation *op, const cdam_reply *reply) {
  if (((reap_operation *)op)->flags.now)
    list(op, reply);
  else
    cdam_operation_send(op, &(cdam_request){.method = "GET", .path = "/info"}, clock_told);
}

/* ---- beginning and end ---- */

static cdam_status prepare(const cdam_reap_flags *flags, reap_operation **out, cdam_error *err) {
  for (size_t i = 0; flags && i < sizeof flags->reserved; i++)
    if (flags->reserved[i])
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "a reserved member is not false");
  reap_operation *this = calloc(1, sizeof *this);
  if (!this || !(this->report = calloc(1, sizeof *this->report))) {
    free(this);
    return cdam_fail_memory(err);
  }
  if (flags) this->flags = *flags;
  *out = this;
  return CDAM_OK;
}

static void end(reap_operation *this) {
  cdam_reap_report_free(this->report);
  free(this);
}

static cdam_reap_report *take_report(reap_operation *this, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_reap_report *report = this->report;
  this->report = NULL;
  return report;
}

cdam_status cdam_reap(cdam_client *client, const cdam_reap_flags *flags, cdam_reap_report **out,
                      cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  if (!client) return cdam_fail(err, CDAM_ERR_ARGUMENT, "client is NULL");
  reap_operation *this = NULL;
  cdam_status status = prepare(flags, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_operation_run(&this->op, client, begin, err);
  *out = take_report(this, status);
  end(this);
  return status;
}

static void completed(cdam_operation *op) {
  reap_operation *this = (reap_operation *)op;
  this->callback(op->user, op->status, take_report(this, op->status), &op->error);
  end(this);
}

cdam_status cdam_reap_start(cdam_loop *loop, const cdam_reap_flags *flags,
                            cdam_reap_callback callback, void *user, cdam_operation **operation,
                            cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  reap_operation *this = NULL;
  status = prepare(flags, &this, err);
  if (status != CDAM_OK) return status;
  this->callback = callback;
  this->op.user = user;
  status = cdam_operation_submit(&this->op, loop, begin, completed, err);
  if (status != CDAM_OK)
    end(this);
  else if (operation)
    *operation = &this->op;
  return status;
}

/* ---- the report ---- */

void cdam_reap_report_free(cdam_reap_report *report) {
  if (!report) return;
  for (size_t i = 0; i < report->count; i++)
    free(report->entries[i].failure);
  free(report->entries);
  free(report);
}

size_t cdam_reap_count(const cdam_reap_report *report) {
  return report ? report->count : 0;
}

static const reap_entry *entry_at(const cdam_reap_report *report, size_t index) {
  return index < cdam_reap_count(report) ? &report->entries[index] : NULL;
}

const char *cdam_reap_session_id(const cdam_reap_report *report, size_t index) {
  const reap_entry *entry = entry_at(report, index);
  return entry ? entry->session_id : NULL;
}

const char *cdam_reap_container_id(const cdam_reap_report *report, size_t index) {
  const reap_entry *entry = entry_at(report, index);
  return entry ? entry->container_id : NULL;
}

int64_t cdam_reap_deadline(const cdam_reap_report *report, size_t index) {
  const reap_entry *entry = entry_at(report, index);
  return entry ? (int64_t)entry->deadline : 0;
}

const char *cdam_reap_failure(const cdam_reap_report *report, size_t index) {
  const reap_entry *entry = entry_at(report, index);
  return entry ? entry->failure : NULL;
}
