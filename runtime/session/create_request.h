/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that builds the body of POST /containers/create. */
#ifndef COFFERDAM_SESSION_CREATE_REQUEST_H
#define COFFERDAM_SESSION_CREATE_REQUEST_H

#include <jansson.h>

#include "engine/operation.h"
#include "options/generated.h"

/* Labels that say whose a container is. The session's identity stays for its life; every create
 * request has a creation id of its own, by which a late or doubtful answer is told from
 * somebody else's work. */
#define CDAM_LABEL_SESSION "io.cofferdam.session-id"
#define CDAM_LABEL_CREATION "io.cofferdam.creation-id"

/* The digest of the agent that a container runs; on a volume that we made for one, our version. */
#define CDAM_LABEL_AGENT "io.cofferdam.agent"

/* When the sandbox is to end, in seconds since the epoch. The options put it there. */
#define CDAM_LABEL_DEADLINE "io.cofferdam.deadline"

/* The digest of the options that isolate (isolation.h). */
#define CDAM_LABEL_ISOLATION "io.cofferdam.isolation"

/* "cofferdam-agent-<digest>", with its NUL: the volume of an agent. */
#define CDAM_AGENT_VOLUME_SIZE (16 + 65)

void cdam_agent_volume_name(const char *digest, char name[CDAM_AGENT_VOLUME_SIZE]);

/* A UUID in text, with its NUL. */
#define CDAM_UUID_SIZE 37

/* "cofferdam-<session id>", with its NUL. */
#define CDAM_NAME_SIZE (10 + CDAM_UUID_SIZE)

void cdam_container_name(const char *session_id, char name[CDAM_NAME_SIZE]);

/* "cofferdam-adopted-<session id>", with its NUL: the name of a container that was adopted. */
#define CDAM_ADOPTED_NAME_SIZE (18 + CDAM_UUID_SIZE)

void cdam_adopted_name(const char *session_id, char name[CDAM_ADOPTED_NAME_SIZE]);

/*
 * The body, as JSON text with sorted keys; free with free(). Used for the first container of a
 * session and for every later one alike. `image` is what the engine is asked for: options.image, or
 * state.image_id when a container is recreated; `volumes` is what that image asks for (image.h), or
 * NULL. `agent` is the digest of the agent that is to be
 * its first process, whose volume is filled; or NULL, and then that is a program that waits.
 * CDAM_ERR_INVALID (a volume of the image would be a hole in a read-only root), CDAM_ERR_NO_MEMORY.
 */
cdam_status cdam_create_request_body(const cdam_state *state, const char *image,
                                     const json_t *volumes, const char *creation_id,
                                     const char *agent, char **body, cdam_error *err);

/* Does this answer to a create request say that there is a container of that name? */
bool cdam_is_name_taken(const cdam_reply *reply);

/* The agent's arguments in a container with this body: a new reference; NULL when out of memory.
 * What options tell the agent they put into the body for the engine, and it is read from there. */
json_t *cdam_agent_arguments(const json_t *body);

/* The mount of an agent's volume, as a create request has it: a new reference, or NULL. */
json_t *cdam_agent_mount(const char *digest, const char *directory, bool read_only);

#endif
