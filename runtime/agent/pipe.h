/* SPDX-License-Identifier: Apache-2.0 */
/* The pipes between the engine and us, and of a command's input. In those of 64 KiB that the kernel
 * makes, both sides sleep and wake for every frame of bulk, which takes half as long again by it;
 * so one that fills is made larger. All pipes of a user count together, also those of other
 * sandboxes (pipe(7), pipe-user-pages-soft), so it is made small again when there is no more bulk.
 */
#ifndef COFFERDAM_AGENT_PIPE_H
#define COFFERDAM_AGENT_PIPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct agent_server agent_server;

typedef struct agent_pipe {
  int fd; /* somebody else's; it may be no pipe */
  bool large;
  uint64_t until; /* agent_now_ms() when it may be made small */
} agent_pipe;

/* For as long as the pipe lives. False: it is no pipe, or there is no more for this user. */
bool agent_pipe_make_large(int fd);

/* It fills. True: it was made larger just now. */
bool agent_pipe_enlarge(agent_server *server, agent_pipe *pipe);

void agent_pipe_tick(agent_server *server, agent_pipe *pipe, uint64_t now);

#endif
