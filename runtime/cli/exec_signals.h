/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a command runs, as a descriptor to wait for. */
#ifndef COFFERDAM_CLI_EXEC_SIGNALS_H
#define COFFERDAM_CLI_EXEC_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef struct cli_signals {
  int fd;
  sigset_t before;
} cli_signals;

/* Takes over those that end, stop and continue this process or tell of a new window size, unless
 * they are ignored (nohup); with `all` false only what concerns the terminal. False with errno set.
 */
bool cli_signals_open(cli_signals *signals, bool all);

/* The next one that has come; 0: none. */
int cli_signals_next(const cli_signals *signals);

bool cli_signal_is_ignored(int number);

/* Everything is as it was before. A signal that was raised meanwhile does what it does. */
void cli_signals_close(cli_signals *signals);

#endif
