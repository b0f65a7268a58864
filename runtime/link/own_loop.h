/* SPDX-License-Identifier: Apache-2.0 */
/* The loop in which a session's blocking calls run. Handles that outlive the session, such as
 * those of processes, keep it. All of them are used by one thread at a time. */
#ifndef COFFERDAM_LINK_OWN_LOOP_H
#define COFFERDAM_LINK_OWN_LOOP_H

#include <stdint.h>

#include "engine/loop.h"

typedef struct cdam_own_loop {
  cdam_loop *loop;
  unsigned references;
} cdam_own_loop;

cdam_own_loop *cdam_own_loop_ref(cdam_own_loop *own);

/* The last one gives the loop back to the client. NULL is fine. */
void cdam_own_loop_unref(cdam_own_loop *own);

/* Lets it work until something has happened, or cdam_now_us() is `until_us` (-1: for ever).
 * CDAM_ERR_ARGUMENT inside of a callback of another blocking call. */
cdam_status cdam_own_loop_turn(cdam_own_loop *own, int64_t until_us, cdam_error *err);

/* What was said last, such as that nobody listens any more, should not wait for the next call. NULL
 * is fine; inside of a callback it goes when the loop goes on. */
void cdam_own_loop_flush(cdam_own_loop *own);

#endif
