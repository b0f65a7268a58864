/* SPDX-License-Identifier: Apache-2.0 */
#include "link/own_loop.h"

#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "link/session_link.h"

/* NULL when out of memory or of descriptors. */
static cdam_own_loop *new_own_loop(cdam_client *client) {
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

static int wait_ms(int64_t until_us) {
  if (until_us < 0) return -1;
  int64_t left = until_us - cdam_now_us();
  if (left <= 0) return 0;
  int64_t ms = (left + 999) / 1000;
  return ms > INT_MAX ? INT_MAX : (int)ms;
}

cdam_status cdam_own_loop_turn(cdam_own_loop *own, int64_t until_us, cdam_error *err) {
  cdam_status status = cdam_loop_check_blocking(own->loop, err);
  if (status != CDAM_OK) return status;
  own->loop->turning = true;
  cdam_loop_turn(own->loop, wait_ms(until_us));
  own->loop->turning = false;
  return CDAM_OK;
}

void cdam_own_loop_flush(cdam_own_loop *own) {
  if (own && !cdam_loop_is_at_work(own->loop)) cdam_loop_turn(own->loop, 0);
}

cdam_loop *cdam_session_own_loop(cdam_session *session) {
  if (!session->own_loop) session->own_loop = new_own_loop(session->client);
  return session->own_loop ? session->own_loop->loop : NULL;
}

cdam_status cdam_session_own_blocking(cdam_session *session, cdam_own_loop **own, cdam_error *err) {
  cdam_loop *loop = cdam_session_own_loop(session);
  if (!loop) return cdam_fail_loop(err);
  *own = session->own_loop;
  return cdam_loop_check_blocking(loop, err);
}

cdam_status cdam_session_own_link(cdam_session *session, cdam_own_loop **own, cdam_link **link,
                                  cdam_error *err) {
  cdam_status status = cdam_session_own_blocking(session, own, err);
  return status == CDAM_OK ? cdam_session_link(session, (*own)->loop, link, err) : status;
}
