/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a process's streams, signals and window size to and fro until its end: `exec`, `attach`
 * and `logs`. One thread, one poll. */
#ifndef COFFERDAM_CLI_EXEC_LIVE_H
#define COFFERDAM_CLI_EXEC_LIVE_H

#include "sandbox.h"

typedef enum cli_live_interrupts {
  CLI_LIVE_PASS_ON, /* INT, TERM and HUP go to the command */
  CLI_LIVE_LEAVE    /* they end this program */
} cli_live_interrupts;

typedef struct cli_live_plan {
  const cdam_process_command *command; /* to spawn, or: */
  const char *key;                     /* of a process to attach to, */
  const cdam_process_attachment *attachment;
  cli_live_interrupts interrupts;
  bool input;    /* standard input goes to it */
  bool terminal; /* it has one: the window size goes to it */
  bool raw;      /* standard input is a terminal, to be made raw */
  bool until;    /* only what was written before these offsets: for `logs` */
  uint64_t stdout_until;
  uint64_t stderr_until;
} cli_live_plan;

/* The status of the command, or the exit code after a line on stderr. */
int cli_live_run(const cli_args *args, const cli_sandbox *sandbox, const cli_live_plan *plan);

/* After a command that could not be started: 126 or 127. */
int cli_not_started(const cdam_process_command *command, const cdam_error *err);

#endif
