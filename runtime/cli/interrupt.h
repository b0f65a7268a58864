/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C while a sandbox is being made. A process that dies between "created" and
 * "state saved" leaves a container that nobody can name; so SIGINT, SIGTERM and
 * SIGHUP wait until that is over, and then do what they always do.
 */
#ifndef COFFERDAM_CLI_INTERRUPT_H
#define COFFERDAM_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

typedef struct cli_hold {
  sigset_t held;
  sigset_t before;
} cli_hold;

void cli_hold_signals(cli_hold *hold);

/* Has one of them come? */
bool cli_interrupted(const cli_hold *hold);

/* Lets them through. When one has come, this ends the process. */
void cli_release_signals(const cli_hold *hold);

#endif
