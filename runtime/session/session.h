/* SPDX-License-Identifier: Apache-2.0 */
/* Making and changing sessions and their states. */
#ifndef COFFERDAM_SESSION_SESSION_H
#define COFFERDAM_SESSION_SESSION_H

#include "engine/operation.h"
#include "options/fields.h"
#include "session/session_private.h"

/* A session around a state, which it takes over also when this fails; notes about its options are
 * its first warnings. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_session_new(cdam_client *client, cdam_state *state, cdam_session **out,
                             cdam_error *err);

/* Copies the id of the session's container, for an operation that may outlive the session. */
void cdam_session_container_id(const cdam_session *session, char id[CDAM_CONTAINER_ID_SIZE]);

/* CDAM_ERR_ARGUMENT when it is NULL or its client is not the loop's. */
cdam_status cdam_session_check_loop(const cdam_session *session, const cdam_loop *loop,
                                    cdam_error *err);

/* Adds a text to the session's warnings. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_session_warn(cdam_session *session, const char *text, cdam_error *err);

/* CDAM_ERR_POLICY when the client demands more isolation than the options have. */
cdam_status cdam_client_check_policy(const cdam_client *client,
                                     const Cofferdam__V1__SandboxOptions *options, cdam_error *err);

/* Gives the state an EngineIdentity, empty, when it has none. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_ensure_engine_identity(cdam_state *state, cdam_error *err);

/* Are there fields of a later schema in this message (not in those that it holds)? */
static inline bool cdam_has_unknown_fields(const ProtobufCMessage *message) {
  return message->n_unknown_fields > 0;
}

#endif
