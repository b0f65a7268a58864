/* SPDX-License-Identifier: Apache-2.0 */
/* What descends from a command, found in /proc. */
#ifndef COFFERDAM_AGENT_TREE_H
#define COFFERDAM_AGENT_TREE_H

#include "process.h"

/* One look at all processes, and the signals that the trees being killed are due. True while one
 * needs another pass; `killed` is how many got a KILL. */
bool agent_tree_pass(agent_server *server, size_t *killed);

/* A signal for everything in the tree of one process. False: errno says why nothing got it. */
bool agent_tree_signal(agent_process *process, int signal);

/* Channels that wait for the tree's end get their Done (in process_requests.c). */
void agent_killers_done(agent_process *process);

#endif
