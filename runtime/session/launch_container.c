/* SPDX-License-Identifier: Apache-2.0 */
/* The create request and its odd answers. */
#include "session/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/answer.h"
#include "session/session.h"
#include "session/verify.h"

/* How often a create is tried while another resume of the same state makes and unmakes containers
 * of the same name, and how long to wait in between. */
#define CREATE_ATTEMPTS 5
#define CREATE_RETRY_MS 200
/* How often, and how far apart, to look for a container whose creation was never answered: the
 * engine may still be at it, above all when it had let the deadline pass. */
#define LOOKUPS 5
#define LOOKUPS_AFTER_TIMEOUT 25
#define LOOKUP_MS 400

static void lookup_by_name(cdam_launch *launch, cdam_step next) {
  char name[CDAM_NAME_SIZE];
  cdam_container_name(cdam_launch_state(launch)->message.session_id, name);
  cdam_launch_send(launch, "GET", name, "/json", next);
}

/* Takes the container of an answer as the state's. */
static cdam_status take_container(cdam_launch *launch, const json_t *json, cdam_error *err) {
  const char *id = cdam_json_string_at(json, "Id");
  if (!cdam_is_container_id(id))
    return cdam_fail(err, CDAM_ERR_PROTOCOL, "the engine gave a container without a full id");
  return cdam_set_text(&cdam_launch_state(launch)->message.container_id, id, err);
}

static bool is_own_creation(const cdam_launch *launch, const json_t *inspect) {
  const char *label = cdam_label_of(inspect, CDAM_LABEL_CREATION);
  return label && !strcmp(label, launch->creation_id);
}

static void retry_create(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_launch_create_container(cdam_launch_of(op));
}

/* The name is taken: by our own request, sent twice; by another resume of the same state, whose
 * container is adopted when it is as the state says; or by somebody else. */
static cdam_status adopt(cdam_launch *launch, const json_t *inspect, cdam_error *err) {
  if (is_own_creation(launch, inspect)) {
    cdam_status status = take_container(launch, inspect, err);
    launch->made = status == CDAM_OK;
    return status;
  }
  if (!launch->recreating ||
      !cdam_is_session_container(inspect, cdam_launch_state(launch)->message.session_id))
    return cdam_fail(err, CDAM_ERR_NOT_OURS,
                     "the name cofferdam-%s belongs to a container that is not this session's",
                     cdam_launch_state(launch)->message.session_id);
  return take_container(launch, inspect, err);
}

static void name_holder_inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  launch->doubtful = false;
  bool vanished =
      status == CDAM_ERR_NOT_FOUND ||
      (status == CDAM_OK && cdam_container_status_of(inspect) == CDAM_CONTAINER_UNUSABLE);
  if (vanished && launch->recreating && launch->attempts < CREATE_ATTEMPTS) {
    cdam_operation_after(op, CREATE_RETRY_MS, retry_create);
  } else {
    if (status == CDAM_OK) status = adopt(launch, inspect, &error);
    if (status == CDAM_OK)
      cdam_launch_inspect(launch, cdam_launch_bring_up);
    else
      cdam_launch_fail_with(launch, status, &error);
  }
  json_decref(inspect);
}

static void look_for_unanswered(cdam_operation *op, const cdam_reply *reply);

/* Looking has come to its end; what the engine may do after it, the caller has to know. */
static void finish_unanswered(cdam_launch *launch) {
  char name[CDAM_NAME_SIZE], text[sizeof launch->failure.message];
  cdam_container_name(cdam_launch_state(launch)->message.session_id, name);
  snprintf(text, sizeof text, "%.400s (should the engine still make %s, remove it)",
           launch->failure.message, name);
  cdam_printable(launch->failure.message, sizeof launch->failure.message, text, strlen(text));
  cdam_launch_finish_failed(launch);
}

/* The create request got no answer. When the engine made the container all the same it is
 * removed; the first failure is what the caller sees. */
static void unanswered_inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  json_t *inspect = NULL;
  cdam_error error;
  if (cdam_await_engine(op, &launch->away_since, reply, look_for_unanswered)) return;
  int lookups = launch->failure.code == CDAM_ERR_TIMEOUT ? LOOKUPS_AFTER_TIMEOUT : LOOKUPS;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  if (status == CDAM_OK && is_own_creation(launch, inspect) &&
      take_container(launch, inspect, &error) == CDAM_OK) {
    launch->made = true;
    error = launch->failure;
    cdam_launch_fail(launch, &error);
  } else if (status == CDAM_ERR_NOT_FOUND && ++launch->lookups < lookups) {
    cdam_operation_after(op, LOOKUP_MS, look_for_unanswered);
  } else {
    finish_unanswered(launch);
  }
  json_decref(inspect);
}

static void look_for_unanswered(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  lookup_by_name(cdam_launch_of(op), unanswered_inspected);
}

void cdam_launch_fail_unanswered(cdam_launch *launch, const cdam_error *error) {
  launch->failure = *error;
  launch->op.deadline = cdam_now_ms() + CDAM_CLEANUP_MS;
  lookup_by_name(launch, unanswered_inspected);
}

static cdam_status keep_warnings(cdam_launch *launch, const json_t *json, cdam_error *err) {
  size_t index;
  const json_t *warning;
  json_array_foreach(cdam_json_at(json, "Warnings"), index, warning) {
    if (!json_is_string(warning)) continue;
    cdam_status status = cdam_session_warn(launch->session, json_string_value(warning), err);
    if (status != CDAM_OK) return status;
  }
  return CDAM_OK;
}

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  json_t *json = NULL;
  cdam_status status = cdam_answer_json(reply, "create container", &json, &error);
  if (cdam_is_name_taken(reply)) {
    launch->doubtful = true;
    lookup_by_name(launch, name_holder_inspected);
    return;
  }
  if (status == CDAM_OK) status = take_container(launch, json, &error);
  bool unanswered = reply->http == 0 || (reply->http < 300 && status != CDAM_OK);
  if (unanswered) {
    cdam_launch_fail_unanswered(launch, &error);
  } else if (status != CDAM_OK) {
    cdam_launch_fail_with(launch, status, &error);
  } else {
    launch->made = true;
    status = keep_warnings(launch, json, &error);
    if (status == CDAM_OK)
      cdam_launch_inspect(launch, cdam_launch_bring_up);
    else
      cdam_launch_fail_with(launch, status, &error);
  }
  json_decref(json);
}

void cdam_launch_create_container(cdam_launch *launch) {
  cdam_error error;
  char *body = NULL;
  cdam_status status = cdam_create_request_body(
      cdam_launch_state(launch), launch->image_reference, launch->image.volumes,
      launch->creation_id, launch->with_agent ? launch->agent.digest : NULL, &body, &error);
  if (status != CDAM_OK) {
    cdam_launch_fail_with(launch, status, &error);
    return;
  }
  launch->attempts++;
  char name[CDAM_NAME_SIZE];
  cdam_container_name(cdam_launch_state(launch)->message.session_id, name);
  cdam_buffer path = {0};
  bool done = cdam_buffer_append_text(&path, "/containers/create?name=") &&
              cdam_buffer_append_text(&path, name) &&
              cdam_generated_create_query(cdam_launch_state(launch)->message.options, &path);
  if (done)
    cdam_operation_send(
        &launch->op, &(cdam_request){.method = "POST", .path = path.data, .body = body}, created);
  else
    cdam_launch_fail_with(launch, cdam_fail_memory(&error), &error);
  cdam_buffer_clear(&path);
  free(body);
}
