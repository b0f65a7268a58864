/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of --state, reattached for one command. */
#ifndef COFFERDAM_CLI_SANDBOX_H
#define COFFERDAM_CLI_SANDBOX_H

#include "cli.h"

typedef struct cli_sandbox {
  cdam_client *client;
  cdam_session *session;
} cli_sandbox;

/* Reads the state, and resumes it without recreating. CLI_OK, or the exit code after a line on
 * stderr. Close it either way. */
int cli_sandbox_open(const cli_args *args, cli_sandbox *sandbox);
void cli_sandbox_close(cli_sandbox *sandbox);

#endif
