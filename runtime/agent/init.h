/* SPDX-License-Identifier: Apache-2.0 */
/* PID 1 of the sandbox; or, for tests, one client on standard input and output. */
#ifndef COFFERDAM_AGENT_INIT_H
#define COFFERDAM_AGENT_INIT_H

#include <stdbool.h>

/* The exit status; -1: bad arguments. */
int agent_init(int argc, char **argv, char **environment, bool init);

#endif
