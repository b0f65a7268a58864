/* SPDX-License-Identifier: Apache-2.0 */
/* The loop in which a session's blocking calls run. Handles that outlive the session, such as
 * those of processes, keep it. All of them are used by one thread at a time. */
#ifndef COFFERDAM_LINK_OWN_LOOP_H
#define COFFERDAM_LINK_OWN_LOOP_H

#include "engine/loop.h"

typedef struct cdam_own_loop {
  cdam_loop *loop;
  unsigned references;
} cdam_own_loop;

/* With one reference. NULL when out of memory. */
cdam_own_loop *cdam_own_loop_new(cdam_client *client);

cdam_own_loop *cdam_own_loop_ref(cdam_own_loop *own);

/* The last one gives the loop back to the client. NULL is fine. */
void cdam_own_loop_unref(cdam_own_loop *own);

#endif
