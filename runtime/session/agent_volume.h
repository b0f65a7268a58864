/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume through which sandboxes have the agent, a part of a larger operation.
 *
 * "cofferdam-agent-<SHA-256 of the program>" holds that one program, execute-only. It is filled
 * once for each engine, by PUT archive to a helper: a container that mounts it, is never started,
 * and is deleted in every case; where it is mounted there no image can know. The helper's name is
 * the lock: who finds it taken waits, and removes it when it is older than a fill can take. The
 * fill is read back before anybody relies on it.
 *
 * That a volume is filled is known by a second, empty one, "<name>-ready", which is made last,
 * while the helper is still there. It counts as long as it is not older than what it stands for (by
 * the engine's own times), so a volume that was pruned and made again, empty, by a create request
 * is not taken for a filled one; and in doubt the content is read back, byte by byte. A client
 * remembers what it has found, for one engine, and asks again when a container does not start for
 * want of the program.
 *
 * Killed at any moment a client leaves at most a volume without its marker, which the next one
 * reads back and fills if need be, and a helper, which the next one removes after a minute.
 */
#ifndef COFFERDAM_SESSION_AGENT_VOLUME_H
#define COFFERDAM_SESSION_AGENT_VOLUME_H

#include "session/agent_binary.h"
#include "session/create_request.h"
#include "session/session_private.h"

/* Called at the end; with CDAM_OK the volume of job->digest is filled. */
typedef void (*cdam_agent_ensured)(cdam_operation *op, cdam_status status, const cdam_error *error);

/* Stands in the operation's struct; its steps find it as op->part. */
typedef struct cdam_agent_job {
  char digest[CDAM_DIGEST_SIZE]; /* of the program */
  cdam_agent_ensured done;
  const cdam_agent_binary *binary;
  const char *image;                   /* the helper's; borrowed */
  char helper[CDAM_CONTAINER_ID_SIZE]; /* "" while there is none of ours */
  char fill_id[CDAM_UUID_SIZE];        /* the helper's label, which tells ours from another's */
  int64_t give_up_at;                  /* waiting for another's helper */
  int64_t marked_at;                   /* seconds since the epoch by the engine; 0: no marker */
  int64_t engine_now;                  /* likewise, when a helper of another was found */
  bool doubt;                          /* the marker does not count */
  bool marked;                         /* there is a marker */
  bool existed;                        /* the volume did, so something may be in it */
  bool written;                        /* by us */
  bool abandoned;
  bool released_twice; /* removing the helper is tried again, once */
  int64_t away_since;  /* or more often, when the engine went away meanwhile */
  cdam_status status;  /* kept while the helper is removed */
  cdam_error error;
} cdam_agent_job;

/*
 * Makes sure that the volume of the program for this engine, whose id the client has learned, is
 * there and filled. With `doubt` neither the client's memory nor the marker counts. `image` is the
 * id of an image on the engine, borrowed.
 *
 * CDAM_ERR_NO_AGENT: it cannot be had, for want of the program or since the engine refuses a step;
 * the message says why. What kept the engine from answering at all is told as it is.
 */
void cdam_agent_ensure(cdam_operation *op, cdam_agent_job *job, const char *image, bool doubt,
                       cdam_agent_ensured done);

/* Ends a job early, whose exchanges were dropped: removes the helper if there is one. `done` gets
 * CDAM_OK. */
void cdam_agent_abandon(cdam_operation *op, cdam_agent_job *job, cdam_agent_ensured done);

#endif
