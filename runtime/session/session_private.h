/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside a session. */
#ifndef COFFERDAM_SESSION_SESSION_PRIVATE_H
#define COFFERDAM_SESSION_SESSION_PRIVATE_H

#include <cofferdam/session.h>

#include "options/generated.h"

/* A container's full id, with its NUL. */
#define CDAM_CONTAINER_ID_SIZE 65

struct cdam_session {
  cdam_client *client; /* borrowed */
  cdam_state *state;   /* owned; container_id names the container */
  bool recreated;
  bool adopted;
  bool has_agent;  /* by what inspect says: its container runs our agent as PID 1 */
  char **warnings; /* owned */
  size_t warning_count;

  /* link/session_link.c */
  struct cdam_link **links; /* at most one for each loop; with a reference to each */
  size_t link_count;
  struct cdam_own_loop *own_loop; /* a reference, or NULL: link/own_loop.h */
};

#endif
