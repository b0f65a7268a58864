/* SPDX-License-Identifier: Apache-2.0 */
/* What cp, ls and cat share: paths inside the sandbox, names for people, failures, output. */
#ifndef COFFERDAM_CLI_FILES_H
#define COFFERDAM_CLI_FILES_H

#include <stdio.h>

#include "cli.h"

/* Of a file or a name, not of the engine: the exit status of cp, ls and cat. */
enum { CLI_FILE_FAILED = 1 };

extern const char cli_exits_files[];

/* Is it ":PATH"? */
bool cli_is_inside(const char *operand);

/* The path in the sandbox, with or without the colon. */
const char *cli_inside(const char *operand);

/* The error, and what to do next. The exit code. */
int cli_fail_file(const cli_args *args, const cdam_error *err);

/* A sink for standard output. With nobody to read it, the process ends as any other does. */
typedef struct cli_output {
  int error; /* errno of what failed, or 0 */
} cli_output;
cdam_sink cli_stdout_sink(cli_output *output);

/* After a call that failed with a sink: CLI_OK when that was not the reason. */
int cli_output_failure(const cli_output *output);

#endif
