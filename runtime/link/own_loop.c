/* SPDX-License-Identifier: Apache-2.0 */
#include "link/own_loop.h"

#include <stdlib.h>

#include "base/fail.h"
#include "engine/client_private.h"
#include "link/session_link.h"

cdam_own_loop *cdam_own_loop_new(cdam_client *client) {
  cdam_own_loop *own = calloc(1, sizeof *own);
  if (!own) return NULL;
  own->references = 1;
  own->loop = cdam_client_borrow_loop(client);
  if (own->loop) return own;
  free(own);
  return NULL;
}

cdam_own_loop *cdam_own_loop_ref(cdam_own_loop *own) {
  own->references++;
  return own;
}

void cdam_own_loop_unref(cdam_own_loop *own) {
  if (!own || --own->references) return;
  cdam_client_return_loop(own->loop->client, own->loop);
  free(own);
}

cdam_loop *cdam_session_own_loop(cdam_session *session) {
  if (!session->own_loop) session->own_loop = cdam_own_loop_new(session->client);
  return session->own_loop ? session->own_loop->loop : NULL;
}

cdam_status cdam_session_own_link(cdam_session *session, cdam_own_loop **own, cdam_link **link,
                                  cdam_error *err) {
  cdam_loop *loop = cdam_session_own_loop(session);
  if (!loop) return cdam_fail_memory(err);
  if (loop->turning || loop->dispatching)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "a blocking call inside of a callback of another");
  *own = session->own_loop;
  /* Nobody has looked since the last call: the link may have broken. */
  cdam_loop_turn(loop, 0);
  return cdam_session_link(session, loop, link, err);
}
