/* SPDX-License-Identifier: Apache-2.0 */
/* A command in a sandbox without an agent: its output is collected, and it has no input. */
#ifndef COFFERDAM_CLI_EXEC_PLAIN_H
#define COFFERDAM_CLI_EXEC_PLAIN_H

#include "cli.h"

/* The status of the command, or the exit code after a line on stderr. */
int cli_exec_plain(const cli_args *args, cdam_session *session);

#endif
