/* SPDX-License-Identifier: Apache-2.0 */
#include "session/adopt.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/agents_json.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/engine_id.h"
#include "engine/image.h"
#include "interchange/agents_container.h"
#include "session/create_request.h"
#include "session/launch.h"
#include "session/reach.h"
#include "session/verify.h"

struct cdam_adoption {
  cdam_launch *launch;
  cdam_session *session; /* the launch's */
  cdam_step next;
  bool labelled;   /* the container bears our label: only the ids are lacking */
  bool image_told; /* the state named the image's id before */
  json_t *inspect; /* the container as it was found */
  cdam_image_job image;
  char name[CDAM_ADOPTED_NAME_SIZE];
};

typedef struct cdam_adoption adoption;

static void finish(adoption *this, cdam_status status, cdam_error *error) {
  if (status == CDAM_OK)
    this->next(&this->launch->op, NULL);
  else
    cdam_launch_fail_with(this->launch, status, error);
}

static adoption *adoption_of(cdam_operation *op) {
  return cdam_launch_of(op)->adoption;
}

static Cofferdam__V1__SessionState *message_of(adoption *this) {
  return &this->session->state->message;
}

/* ---- whose is it, and what is it? ---- */

static cdam_status check_owner(adoption *this, cdam_error *err) {
  const char *container = message_of(this)->container_id;
  const char *id = cdam_json_string_at(this->inspect, "Id");
  const char *name = cdam_json_string_at(this->inspect, "Name");
  if (!id || strcmp(id, container) != 0)
    return cdam_fail(err, CDAM_ERR_NOT_OURS, "the engine answered for another container than %.12s",
                     container);
  if (cdam_is_owned(this->inspect, message_of(this)->session_id)) return CDAM_OK;
  bool labelled = cdam_label_of(this->inspect, CDAM_LABEL_SESSION) ||
                  cdam_label_of(this->inspect, CDAM_LABEL_CREATION);
  if (!labelled && name && strncmp(name, "/cofferdam-", 11) != 0) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_NOT_OURS,
                   "container %.12s belongs to another session than %s and cannot be adopted",
                   container, message_of(this)->session_id);
}

static cdam_status check_usable(adoption *this, cdam_error *err) {
  cdam_container_status status = cdam_container_status_of(this->inspect);
  if (status == CDAM_CONTAINER_PAUSED && !this->launch->flags.unpause)
    return cdam_fail(err, CDAM_ERR_PAUSED, "container %.12s is paused; allow unpausing to adopt it",
                     message_of(this)->container_id);
  if (status == CDAM_CONTAINER_UNUSABLE)
    return cdam_fail(err, CDAM_ERR_ENGINE,
                     "container %.12s cannot be used: the engine says it is %s",
                     message_of(this)->container_id, cdam_container_status_word(this->inspect));
  return CDAM_OK;
}

/* ---- what is not proved ---- */

static cdam_status warn(adoption *this, cdam_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static cdam_status warn(adoption *this, cdam_error *err, const char *format, ...) {
  char text[512], safe[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  cdam_printable(safe, sizeof safe, text, strlen(text));
  return cdam_session_warn(this->session, safe, err);
}

static cdam_status warn_of_process(adoption *this, cdam_error *err) {
  if (json_is_true(cdam_json_at(this->inspect, "HostConfig.Init"))) return CDAM_OK;
  return warn(this, err,
              "the container has no init: stopping it takes the whole grace period, and orphaned "
              "processes stay");
}

static cdam_status warn_of_rest(adoption *this, cdam_error *err) {
  const Cofferdam__V1__SessionState *message = message_of(this);
  cdam_status status = warn(this, err,
                            "container %.12s was adopted on the caller's word: it bore no label of "
                            "session %s, and is known by its name %s from now on",
                            message->container_id, message->session_id, this->name);
  if (!status)
    status = warn(this, err,
                  "what else the container was created with is not known: of its environment only "
                  "the %zu variables in the state were compared, and what its files hold was not",
                  message->options->n_env);
  if (!status) status = warn_of_process(this, err);
  const char *limit = cdam_agents_limit_of(this->inspect);
  if (!status && limit)
    status = warn(this, err,
                  "the container has a limit, HostConfig.%s, that is not in the state; "
                  "a recreated one would be without it",
                  limit);
  const char *volume = cdam_agents_volume_of(this->inspect);
  if (!status && volume)
    status = warn(this, err,
                  "the container has a volume at %s; a recreated one would be without it", volume);
  return status;
}

/* ---- step by step ---- */

/* The container is the session's. */
static void finish_well(adoption *this) {
  this->session->adopted = true;
  finish(this, CDAM_OK, NULL);
}

static void renamed(cdam_operation *op, const cdam_reply *reply) {
  adoption *this = adoption_of(op);
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "rename container", &error);
  if (reply->http == 409)
    status = cdam_fail(&error, CDAM_ERR_NOT_OURS, "the name %s belongs to another container",
                       this->name);
  if (status)
    finish(this, status, &error);
  else
    finish_well(this);
}

/* Last: the name says from now on that the container is ours. */
static void take_name(adoption *this) {
  cdam_error error;
  const Cofferdam__V1__SessionState *message = message_of(this);
  cdam_status status = this->labelled ? CDAM_OK : warn_of_rest(this, &error);
  if (status) {
    finish(this, status, &error);
    return;
  }
  if (cdam_is_owned(this->inspect, message->session_id)) {
    finish_well(this);
    return;
  }
  char path[224];
  snprintf(path, sizeof path, "/containers/%s/rename?name=%s", message->container_id, this->name);
  cdam_operation_send(&this->launch->op, &(cdam_request){.method = "POST", .path = path}, renamed);
}

static void engine_known(cdam_operation *op, const cdam_reply *reply) {
  adoption *this = adoption_of(op);
  cdam_error error;
  char id[CDAM_ENGINE_ID_SIZE];
  cdam_status status = cdam_client_learn_engine_id(op->client, reply, id, &error);
  if (!status) status = cdam_set_text(&message_of(this)->engine->id, id, &error);
  if (status)
    finish(this, status, &error);
  else
    take_name(this);
}

static void compare(adoption *this) {
  cdam_error error;
  Cofferdam__V1__SessionState *message = message_of(this);
  cdam_status status = cdam_generated_compare(message, this->inspect, &error);
  if (!status && !this->labelled)
    status = cdam_agents_check_container(message->options, this->inspect, &error);
  if (!status) status = cdam_check_reach(message, this->inspect, &error);
  if (status)
    finish(this, status, &error);
  else if (message->engine->id[0])
    take_name(this);
  else
    cdam_operation_send(&this->launch->op, &(cdam_request){.method = "GET", .path = "/info"},
                        engine_known);
}

/* The container's image is taken as it is, if the state's name led or leads to it. */
static cdam_status settle_image(adoption *this, bool named, cdam_error *err) {
  char id[72];
  const char *found = cdam_json_string_at(this->inspect, "Image");
  const char *name = cdam_json_string_at(this->inspect, "Config.Image");
  const char *image = message_of(this)->options->image;
  if (!found || !cdam_image_id_parse(found, id))
    return cdam_fail(err, CDAM_ERR_PROTOCOL, "the engine gave a container without an image id");
  bool same = named && strcmp(this->image.image_id, id) == 0;
  if (!same && (!name || strcmp(name, image) != 0))
    return cdam_fail_drift(err, "options.image", image, name ? name : "nothing");
  cdam_status status = cdam_set_text(&message_of(this)->image_id, id, err);
  if (!status)
    status = warn(this, err, "the image's id %s was taken from the container as it is%s", id,
                  same ? "" : "; its name does not lead to that image any more");
  return status;
}

static void image_looked_up(cdam_operation *op, cdam_status status, const cdam_error *found) {
  adoption *this = adoption_of(op);
  cdam_error error = {0};
  bool named = status == CDAM_OK;
  if (named || status == CDAM_ERR_NOT_FOUND)
    status = settle_image(this, named, &error);
  else
    error = *found;
  if (status)
    finish(this, status, &error);
  else
    compare(this);
}

static void looked(cdam_operation *op, const cdam_reply *reply) {
  adoption *this = adoption_of(op);
  cdam_error error;
  cdam_status status = cdam_answer_json(reply, "inspect container", &this->inspect, &error);
  if (status == CDAM_ERR_NOT_FOUND) {
    finish(this, CDAM_OK, NULL);
    return;
  }
  if (!status) status = check_owner(this, &error);
  if (!status) status = check_usable(this, &error);
  this->labelled =
      !status && cdam_is_session_container(this->inspect, message_of(this)->session_id);
  bool owned = !status && cdam_is_owned(this->inspect, message_of(this)->session_id);
  if (status || (owned && this->image_told))
    finish(this, status, &error);
  else if (this->image_told)
    compare(this);
  else
    cdam_image_ensure(op, &this->image, message_of(this)->options->image, false, image_looked_up);
}

void cdam_adopt(cdam_launch *launch, cdam_step next) {
  adoption *this = launch->adoption;
  this->launch = launch;
  this->session = launch->session;
  this->next = next;
  this->image_told = !cdam_state_needs_adoption(this->session->state);
  cdam_adopted_name(message_of(this)->session_id, this->name);
  cdam_launch_send(launch, "GET", message_of(this)->container_id, "/json", looked);
}

cdam_adoption *cdam_adoption_new(void) {
  return calloc(1, sizeof(cdam_adoption));
}

void cdam_adoption_free(cdam_adoption *this) {
  if (!this) return;
  cdam_image_job_clear(&this->image);
  json_decref(this->inspect);
  free(this);
}
