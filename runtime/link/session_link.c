/* SPDX-License-Identifier: Apache-2.0 */
#include "link/session_link.h"

#include <stdlib.h>

#include "base/fail.h"
#include "session/session.h"

/* Those that broke go, and the one that lives in the loop when it has ended: nobody turns the loop
 * between blocking calls, and what is sent on such a link is lost. Channels that are still open
 * keep it, and hear of its end from it. The link that lives in the loop, or NULL. */
static cdam_link *find(cdam_session *session, const cdam_loop *loop) {
  cdam_link *found = NULL;
  size_t kept = 0;
  for (size_t i = 0; i < session->link_count; i++) {
    cdam_link *link = session->links[i];
    bool lives_here = cdam_link_loop(link) == loop;
    if (lives_here ? cdam_link_has_ended(link) : cdam_link_is_broken(link)) {
      cdam_link_unref(link);
      continue;
    }
    if (lives_here) found = link;
    session->links[kept++] = link;
  }
  session->link_count = kept;
  return found;
}

static bool make_room(cdam_session *session) {
  size_t size = (session->link_count + 1) * sizeof(cdam_link *);
  cdam_link **links = realloc(session->links, size);
  if (links) session->links = links;
  return links != NULL;
}

static cdam_link *add(cdam_session *session, cdam_loop *loop, cdam_error *err) {
  if (!make_room(session)) {
    cdam_fail_memory(err);
    return NULL;
  }
  char id[CDAM_CONTAINER_ID_SIZE];
  cdam_session_container_id(session, id);
  cdam_link *link = cdam_link_new(loop, id, err);
  if (link) session->links[session->link_count++] = link;
  return link;
}

void cdam_session_take_link(cdam_session *session, cdam_link *link) {
  if (make_room(session))
    session->links[session->link_count++] = link;
  else
    cdam_link_unref(link);
}

cdam_status cdam_session_link(cdam_session *session, cdam_loop *loop, cdam_link **out,
                              cdam_error *err) {
  *out = NULL;
  if (!session->has_agent)
    return cdam_fail(err, CDAM_ERR_NO_AGENT,
                     "the sandbox has no agent: it was adopted, or made without one");
  cdam_link *link = find(session, loop);
  if (!link) link = add(session, loop, err);
  if (!link) return CDAM_ERR_NO_MEMORY;
  *out = cdam_link_ref(link);
  return cdam_ok(err);
}

void cdam_session_spare_loop(cdam_session *session) {
  if (!session->own_loop || find(session, session->own_loop->loop)) return;
  cdam_own_loop_unref(session->own_loop);
  session->own_loop = NULL;
}

void cdam_session_drop_links(cdam_session *session) {
  for (size_t i = 0; i < session->link_count; i++)
    cdam_link_unref(session->links[i]);
  free(session->links);
  session->links = NULL;
  session->link_count = 0;
  cdam_own_loop_unref(session->own_loop);
  session->own_loop = NULL;
}
