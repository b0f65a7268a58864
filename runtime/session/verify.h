/* SPDX-License-Identifier: Apache-2.0 */
/* Is a container ours, and is it as the state says? */
#ifndef COFFERDAM_SESSION_VERIFY_H
#define COFFERDAM_SESSION_VERIFY_H

#include <jansson.h>
#include <stdbool.h>

#include "options/generated.h"

/* State.Status of an inspect answer. */
typedef enum cdam_container_status {
  CDAM_CONTAINER_CREATED,
  CDAM_CONTAINER_RUNNING,
  CDAM_CONTAINER_PAUSED,
  CDAM_CONTAINER_EXITED,
  CDAM_CONTAINER_UNUSABLE /* restarting, removing, dead, or a word that we do not know */
} cdam_container_status;

cdam_container_status cdam_container_status_of(const json_t *inspect);

/* The engine's word for it; "in no known status" when it gives none. */
const char *cdam_container_status_word(const json_t *inspect);

/* 64 lower-case hexadecimal digits. */
bool cdam_is_digest(const char *text);

/* The same: fit for a URL. */
bool cdam_is_container_id(const char *text);

/* Does the container bear the session's label? */
bool cdam_is_session_container(const json_t *inspect, const char *session_id);

/* Does it bear that label; or, if it bears no session's, the name that adoption gave it? For
 * a container that was looked up by its id. */
bool cdam_is_owned(const json_t *inspect, const char *session_id);

/* Checks an inspect answer against the state: the id, whose it is, the image, every option in use,
 * that an agent is there in the right way, and that it reaches no more than those ask for.
 * CDAM_ERR_NOT_OURS, CDAM_ERR_DRIFT. */
cdam_status cdam_verify(const cdam_state *state, const json_t *inspect, cdam_error *err);

/* The string value of a label, or NULL. (Label keys hold dots, so cdam_json_at is not for
 * them.) */
const char *cdam_label_of(const json_t *inspect, const char *key);

#endif
