/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before the create request: the engine's identity, and the image. */
#include "session/launch.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/engine_id.h"
#include "session/session.h"

/* Checks that the state belongs to the engine that answered GET /info, or, in a state that names no
 * engine, records it. */
static cdam_status settle_engine(cdam_launch *launch, const cdam_reply *reply, cdam_error *err) {
  char id[CDAM_ENGINE_ID_SIZE];
  cdam_status status = cdam_client_learn_engine_id(launch->op.client, reply, id, err);
  if (status != CDAM_OK) return status;
  Cofferdam__V1__EngineIdentity *engine = cdam_launch_state(launch)->message.engine;
  if (!engine->id[0]) return cdam_set_text(&engine->id, id, err);
  if (!strcmp(engine->id, id)) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_OTHER_ENGINE,
                   "the container is missing, and this is not the engine that it was made on: the "
                   "state says %s and this is %s",
                   engine->id, id[0] ? id : "one without an id");
}

static void engine_known(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  cdam_status status = settle_engine(launch, reply, &error);
  if (status == CDAM_OK)
    cdam_launch_prepare_container(launch);
  else
    cdam_launch_fail_with(launch, status, &error);
}

static void ask_engine(cdam_launch *launch, cdam_step next) {
  cdam_operation_send(&launch->op, &(cdam_request){.method = "GET", .path = "/info"}, next);
}

/* ---- create: the image, then the engine's id, then the container ---- */

static void image_found(cdam_operation *op, cdam_status status, const cdam_error *error) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error failure;
  if (status != CDAM_OK) {
    cdam_launch_fail(launch, error);
    return;
  }
  Cofferdam__V1__SessionState *state = &cdam_launch_state(launch)->message;
  status = cdam_set_text(&state->image_id, launch->image.image_id, &failure);
  /* Asking takes the engine some milliseconds, so a client asks once. */
  char engine_id[CDAM_ENGINE_ID_SIZE];
  bool known = cdam_client_engine_id(op->client, engine_id);
  if (status == CDAM_OK && known) status = cdam_set_text(&state->engine->id, engine_id, &failure);
  if (status != CDAM_OK)
    cdam_launch_fail_with(launch, status, &failure);
  else if (known)
    cdam_launch_prepare_container(launch);
  else
    ask_engine(launch, engine_known);
}

void cdam_launch_create(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_launch *launch = cdam_launch_of(op);
  launch->image_reference = cdam_launch_state(launch)->message.options->image;
  launch->image.options = cdam_launch_state(launch)->message.options;
  cdam_image_ensure(op, &launch->image, launch->image_reference, true, image_found);
}

/* ---- recreate: is this the engine, and is the very same image to be had? ---- */

static void image_pulled_again(cdam_operation *op, cdam_status status, const cdam_error *error) {
  cdam_launch *launch = cdam_launch_of(op);
  const Cofferdam__V1__SessionState *state = &cdam_launch_state(launch)->message;
  cdam_error drift;
  if (status == CDAM_OK && strcmp(launch->image.image_id, state->image_id) != 0) {
    cdam_fail_drift(&drift, "image", state->image_id, launch->image.image_id);
    error = &drift;
    status = CDAM_ERR_DRIFT;
  }
  if (status != CDAM_OK) {
    cdam_launch_fail(launch, error);
    return;
  }
  launch->image_reference = state->options->image;
  cdam_launch_prepare_container(launch);
}

/* The image that the sandbox was made from goes before whatever its name means today. */
static void image_looked_up(cdam_operation *op, cdam_status status, const cdam_error *error) {
  cdam_launch *launch = cdam_launch_of(op);
  const Cofferdam__V1__SessionState *state = &cdam_launch_state(launch)->message;
  if (status == CDAM_OK) {
    launch->image_reference = state->image_id;
    cdam_launch_prepare_container(launch);
  } else if (status == CDAM_ERR_NOT_FOUND) {
    cdam_image_job_clear(&launch->image);
    cdam_image_ensure(op, &launch->image, state->options->image, true, image_pulled_again);
  } else {
    cdam_launch_fail(launch, error);
  }
}

static void engine_recognized(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  cdam_status status = settle_engine(launch, reply, &error);
  if (status == CDAM_OK)
    cdam_image_ensure(op, &launch->image, cdam_launch_state(launch)->message.image_id, false,
                      image_looked_up);
  else
    cdam_launch_fail_with(launch, status, &error);
}

void cdam_launch_recreate(cdam_launch *launch) {
  launch->recreating = true;
  launch->image.options = cdam_launch_state(launch)->message.options;
  cdam_launch_state(launch)->message.workspace_ready = false;
  ask_engine(launch, engine_recognized);
}
