/* SPDX-License-Identifier: Apache-2.0 */
/* --help, on stdout. */
#ifndef COFFERDAM_CLI_HELP_H
#define COFFERDAM_CLI_HELP_H

#include "cli.h"

/* Parts of the help that several commands share. */
extern const char cli_exits_local[];
extern const char cli_exits_engine[];
extern const char cli_exits_sandbox[];

int cli_help_command(const cli_args *args, const cli_command *command);

/* The overview; with a `prefix` such as "state " only of the commands that begin with it. */
int cli_help_overview(const cli_args *args, const cli_command *const *commands, const char *prefix);

#endif
