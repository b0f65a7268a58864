/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a container gets the agent, and what becomes of one whose agent is missing. */
#include "session/launch.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "engine/engine_id.h"
#include "engine/loop.h"
#include "link/agent_path.h"
#include "session/agent_container.h"
#include "session/session.h"

/* ---- before a container is created ---- */

/* What the sandbox is without the agent, and why. */
static cdam_status warn(cdam_launch *launch, const cdam_error *why, cdam_error *err) {
  char text[sizeof why->message + 256], safe[sizeof text];
  snprintf(
      text, sizeof text,
      "the sandbox has no agent, so commands take longer, are not certain to end when they are "
      "told to, and need what the image has: %s",
      why->message);
  cdam_printable(safe, sizeof safe, text, strlen(text));
  return cdam_session_warn(launch->session, safe, err);
}

static void ready(cdam_operation *op, cdam_status status, const cdam_error *why) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error = *why;
  launch->with_agent = status == CDAM_OK;
  if (status == CDAM_ERR_NO_AGENT && op->client->config.agent == CDAM_AGENT_AUTO)
    status = warn(launch, why, &error);
  if (status == CDAM_OK)
    cdam_launch_create_container(launch);
  else
    cdam_launch_fail_with(launch, status, &error);
}

void cdam_launch_prepare_container(cdam_launch *launch) {
  if (launch->op.client->config.agent == CDAM_AGENT_OFF)
    cdam_launch_create_container(launch);
  else
    cdam_agent_ensure(&launch->op, &launch->agent, cdam_launch_state(launch)->message.image_id,
                      false, ready);
}

/* ---- the first start ---- */

static void attached(void *user) {
  cdam_launch *launch = user;
  launch->attaching = false;
  cdam_operation_release(&launch->op);
  cdam_launch_start(launch);
  cdam_operation_stepped(&launch->op);
}

/* Streams that nobody may ever use are not to keep others waiting. */
static bool has_room(const cdam_loop *loop) {
  return loop->running_streams < loop->max_connections / 2;
}

/* The streams have room for one client, and only who made the container can know to be the first.
 */
void cdam_launch_start_first(cdam_launch *launch) {
  const char *container = cdam_launch_state(launch)->message.container_id;
  cdam_error ignored;
  cdam_launch_drop_link(launch);
  if (launch->made && launch->session->has_agent && has_room(launch->op.loop))
    launch->link = cdam_link_new_attached(launch->op.loop, container, attached, launch, &ignored);
  launch->attaching = launch->link != NULL;
  if (launch->attaching)
    cdam_operation_hold(&launch->op);
  else
    cdam_launch_start(launch);
}

void cdam_launch_drop_link(cdam_launch *launch) {
  cdam_link *link = launch->link;
  if (!link) return;
  launch->link = NULL;
  cdam_link_drop_ready(link);
  cdam_link_unref(link);
  if (launch->attaching) cdam_operation_release(&launch->op);
  launch->attaching = false;
}

/* ---- a container that does not start for want of the program ---- */

/* Engines word it differently, and all of them name the file or its volume. */
bool cdam_launch_lacks_agent(const cdam_launch *launch, const cdam_reply *reply) {
  return launch->session->has_agent && reply->http >= 400 &&
         strstr(reply->body, CDAM_AGENT_NAME) != NULL;
}

static void fail(cdam_launch *launch, const char *why) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_NO_AGENT, "container %.12s does not find its agent: %.400s",
            cdam_launch_state(launch)->message.container_id, why);
  cdam_launch_fail(launch, &error);
}

static void restored(cdam_operation *op, cdam_status status, const cdam_error *error) {
  cdam_launch *launch = cdam_launch_of(op);
  if (status == CDAM_OK && strcmp(launch->agent.digest, launch->found_agent) == 0)
    cdam_launch_start(launch);
  else if (status == CDAM_OK || status == CDAM_ERR_NO_AGENT)
    fail(launch,
         status == CDAM_OK ? "it is one of another version of this library" : error->message);
  else
    cdam_launch_fail(launch, error);
}

static void restore(cdam_launch *launch) {
  cdam_agent_ensure(&launch->op, &launch->agent, cdam_launch_state(launch)->message.image_id, true,
                    restored);
}

static void engine_known(cdam_operation *op, const cdam_reply *reply) {
  cdam_launch *launch = cdam_launch_of(op);
  cdam_error error;
  char id[CDAM_ENGINE_ID_SIZE];
  cdam_status status = cdam_client_learn_engine_id(op->client, reply, id, &error);
  if (status == CDAM_OK)
    restore(launch);
  else
    cdam_launch_fail_with(launch, status, &error);
}

void cdam_launch_restore_agent(cdam_launch *launch, const cdam_error *refusal) {
  char id[CDAM_ENGINE_ID_SIZE];
  if (launch->agent_restored) {
    fail(launch, refusal->message);
    return;
  }
  launch->agent_restored = true;
  if (cdam_client_engine_id(launch->op.client, id))
    restore(launch);
  else
    cdam_operation_send(&launch->op, &(cdam_request){.method = "GET", .path = "/info"},
                        engine_known);
}
