/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to stderr: one line for each event, with nothing in it that could
 * change a terminal, and the exit code that belongs to it. */
#ifndef COFFERDAM_CLI_REPORT_H
#define COFFERDAM_CLI_REPORT_H

#include <stdio.h>

#include "cli.h"

/* "cofferdam: TEXT" in one line. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say, with a pointer to the help of the command. CLI_USAGE. */
int cli_usage(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The error with what to do next. `source` is the state file or the key file that it is
 * about, or NULL. The exit code that belongs to it. */
int cli_fail(const cli_args *args, const cdam_error *err, const char *source);

/* The exit code for a failure of the engine or of the system. */
int cli_failure_code(const cli_args *args);

int cli_no_memory(const cli_args *args);

/* Flushes stdout. CLI_OK, or the exit code after a line that says that it could not be
 * written. */
int cli_finish_stdout(const cli_args *args);

/* RFC 3339 in UTC; "@SECONDS" for a time that has none. */
void cli_format_time(int64_t seconds, char *buffer, size_t size);

#endif
