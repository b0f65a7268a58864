/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp: one side is in the sandbox, the other here.
 *
 *     cp.c          the command, and what goes where
 *     cp_copy.c     from and to local files and directories, with signals
 *     cp_stream.c   from standard input and to standard output
 */
#ifndef COFFERDAM_CLI_CP_H
#define COFFERDAM_CLI_CP_H

#include "sandbox.h"

typedef struct cli_copy {
  const cli_args *args;
  const cli_sandbox *sandbox;
  bool up;            /* into the sandbox */
  const char *inside; /* the path there, as it was given without its colon */
  const char *local;
} cli_copy;

int cli_copy_run(const cli_copy *copy);
int cli_copy_stream(const cli_copy *copy);

/* What was not copied: CLI_OK, or the exit code after a line on stderr. */
int cli_copy_report(uint64_t skipped);

#endif
