/* SPDX-License-Identifier: Apache-2.0 */
/* The links of a session, and operations over them. */
#ifndef COFFERDAM_LINK_SESSION_LINK_H
#define COFFERDAM_LINK_SESSION_LINK_H

#include "link/link.h"
#include "link/own_loop.h"
#include "session/session_private.h"

/* The session's link in a loop, made when there is none or it has ended; with a reference for the
 * caller. CDAM_ERR_NO_AGENT when the container has none; CDAM_ERR_NO_MEMORY. */
cdam_status cdam_session_link(cdam_session *session, cdam_loop *loop, cdam_link **out,
                              cdam_error *err);

/* Gives the session a link that was made for its container; the reference is taken over also when
 * there is no memory, and the link then dropped. */
void cdam_session_take_link(cdam_session *session, cdam_link *link);

/* The loop in which the blocking calls of this session run; made at the first one, and kept, since
 * a link lives in it. NULL when out of memory or of descriptors (cdam_fail_loop). It is the one of
 * session->own_loop (own_loop.h), which handles that outlive the session keep. */
cdam_loop *cdam_session_own_loop(cdam_session *session);

/* What each blocking call begins with: that loop. CDAM_ERR_ARGUMENT inside of a callback of another
 * blocking call; the errors of cdam_fail_loop. */
cdam_status cdam_session_own_blocking(cdam_session *session, cdam_own_loop **own, cdam_error *err);

/* One that goes over the agent: a link in that loop too, with a reference for the caller. The
 * errors of cdam_session_link as well. */
cdam_status cdam_session_own_link(cdam_session *session, cdam_own_loop **own, cdam_link **link,
                                  cdam_error *err);

/* Gives the loop back as long as no link lives in it. */
void cdam_session_spare_loop(cdam_session *session);

/* cdam_session_free: drops the links and the reference to the loop. */
void cdam_session_drop_links(cdam_session *session);

#endif
