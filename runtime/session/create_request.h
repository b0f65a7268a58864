/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that builds the body of POST /containers/create. */
#ifndef COFFERDAM_SESSION_CREATE_REQUEST_H
#define COFFERDAM_SESSION_CREATE_REQUEST_H

#include "options/generated.h"

/* Labels that say whose a container is. The session's identity stays for its life; every create
 * request has a creation id of its own, by which a late or doubtful answer is told from
 * somebody else's work. */
#define CDAM_LABEL_SESSION "io.cofferdam.session-id"
#define CDAM_LABEL_CREATION "io.cofferdam.creation-id"

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
 * state.image_id when a container is recreated. CDAM_ERR_NO_MEMORY.
 */
cdam_status cdam_create_request_body(const cdam_state *state, const char *image,
                                     const char *creation_id, char **body, cdam_error *err);

#endif
