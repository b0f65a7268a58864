/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation that brings up a container for a state: image, create, verify, start,
 * verify; with a rollback that removes what it made when a later step fails. cdam_create starts it
 * at the image; cdam_resume looks for the container first (resume.c) and comes here when it is
 * missing.
 */
#ifndef COFFERDAM_SESSION_LAUNCH_H
#define COFFERDAM_SESSION_LAUNCH_H

#include <jansson.h>

#include "engine/image.h"
#include <cofferdam/loop.h>

#include "engine/operation.h"
#include "link/link.h"
#include "session/adopt.h"
#include "session/agent_volume.h"
#include "session/create_request.h"
#include "session/session_private.h"

/* What to do with a container that was inspected and found as the state says. */
typedef void (*cdam_verified_step)(cdam_launch *launch, const json_t *inspect);

struct cdam_launch {
  cdam_operation op;     /* first: a step's operation is its launch */
  cdam_session *session; /* being built; its state is ours to change */
  cdam_resume_flags flags;
  cdam_image_job image;
  const char *image_reference; /* what the engine is asked for; lives in the state */
  char creation_id[CDAM_UUID_SIZE];
  bool recreating;
  bool made;    /* this operation made the container, and removes it when it fails */
  bool started; /* this operation started a container that it did not make */
  bool unpaused;
  int attempts;            /* at creating, while another resume does the same */
  int64_t away_since;      /* the engine cannot be reached, while cleaning up; or 0 */
  int lookups;             /* for a container whose creation was never answered */
  bool doubtful;           /* the name was taken, perhaps by our own request, sent twice */
  cdam_adoption *adoption; /* that comes before, or NULL */
  cdam_agent_job agent;
  cdam_link *link;     /* to the agent of a container that this operation starts, or NULL */
  bool attaching;      /* it waits for that */
  bool with_agent;     /* the container to be created gets it */
  bool agent_restored; /* its volume was looked into, since a start failed */
  char found_agent[CDAM_DIGEST_SIZE]; /* of the container that was inspected; "" */
  cdam_verified_step verified;
  cdam_error failure; /* the first one, kept while cleaning up */
  cdam_session_callback callback;
};

/* A launch of a session, which has its client and a state and is taken over also when this fails.
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_launch_new(cdam_session *session, const cdam_resume_flags *flags,
                            cdam_launch **out, cdam_error *err);

/* Runs it, beginning with `start`, and frees it; on CDAM_OK hands out the session. */
cdam_status cdam_launch_run(cdam_launch *launch, cdam_step start, cdam_session **out,
                            cdam_error *err);

/* The same in a loop; frees it when that fails. */
cdam_status cdam_launch_submit(cdam_launch *launch, cdam_loop *loop, cdam_step start,
                               cdam_session_callback callback, void *user,
                               cdam_operation **operation, cdam_error *err);

static inline cdam_launch *cdam_launch_of(cdam_operation *op) {
  return (cdam_launch *)op;
}

static inline cdam_state *cdam_launch_state(cdam_launch *launch) {
  return launch->session->state;
}

/* ---- launch.c ---- */

/* Sends a request without a body to /containers/CONTAINER ACTION. */
void cdam_launch_send(cdam_launch *launch, const char *method, const char *container,
                      const char *action, cdam_step next);

/* Inspects the state's container and verifies it; `next` runs when all is well. */
void cdam_launch_inspect(cdam_launch *launch, cdam_verified_step next);

/* Verifies an inspect answer, and keeps what it says of the agent. */
cdam_status cdam_launch_verify(cdam_launch *launch, const json_t *inspect, cdam_error *err);

/* From a container that is as the state says to one that runs: starts it when it is stopped,
 * unpauses it when that is allowed, verifies it again after either, and finishes. */
void cdam_launch_bring_up(cdam_launch *launch, const json_t *inspect);

void cdam_launch_start(cdam_launch *launch);

/* The end: undoes what this operation did, and finishes with the error. */
void cdam_launch_fail(cdam_launch *launch, const cdam_error *error);
void cdam_launch_fail_with(cdam_launch *launch, cdam_status status, cdam_error *error);

/* While cleaning up: the engine went away (since when, is kept in `away_since`, 0 at first), and
 * `again` will run when it may be back. False when this is not so, or has gone on for too long. */
bool cdam_await_engine(cdam_operation *op, int64_t *away_since, const cdam_reply *reply,
                       cdam_step again);

/* Finishes with launch->failure; there is nothing to undo. */
void cdam_launch_finish_failed(cdam_launch *launch);

/* ---- launch_image.c: where it begins ---- */

void cdam_launch_create(cdam_operation *op, const cdam_reply *reply);
void cdam_launch_recreate(cdam_launch *launch);

/* ---- launch_agent.c ---- */

/* The last before the create request: makes sure of the agent, as the client's policy has it. */
void cdam_launch_prepare_container(cdam_launch *launch);

/* Starts a container for the first time; when this operation made it, and it has an agent, with a
 * link to that, so that the first command finds one. */
void cdam_launch_start_first(cdam_launch *launch);

/* Drops that link. NULL is fine. */
void cdam_launch_drop_link(cdam_launch *launch);

/* Does this answer to a start say that the agent's program is missing? */
bool cdam_launch_lacks_agent(const cdam_launch *launch, const cdam_reply *reply);

/* Looks into the agent's volume, fills it again if need be, and starts the container once more; or
 * fails with CDAM_ERR_NO_AGENT. */
void cdam_launch_restore_agent(cdam_launch *launch, const cdam_error *refusal);

/* ---- launch_container.c ---- */

void cdam_launch_create_container(cdam_launch *launch);

/* Ends with the error after it has looked for a container that the engine may have made, or be
 * making, without having answered. */
void cdam_launch_fail_unanswered(cdam_launch *launch, const cdam_error *error);

/* Cleaning up has time of its own, whatever became of the operation's. */
#define CDAM_CLEANUP_MS 30000

#endif
