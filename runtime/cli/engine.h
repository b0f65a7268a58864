/* SPDX-License-Identifier: Apache-2.0 */
/* The client that the flags ask for. */
#ifndef COFFERDAM_CLI_ENGINE_H
#define COFFERDAM_CLI_ENGINE_H

#include "cli.h"
#include "interrupt.h"

/* A pull in progress: shown on a terminal, and stopped by an interrupt. */
typedef struct cli_pull {
  const cli_hold *hold; /* NULL: nothing is held */
  bool terminal;
  bool drawn;
} cli_pull;

/* Opens nothing yet. `pull` may be NULL. CLI_OK, or the exit code after a line on
 * stderr. */
int cli_client_new(const cli_args *args, cli_pull *pull, cdam_client **client);

/* Wipes the progress line. */
void cli_pull_done(cli_pull *pull);

/* Resumes the state as the flags say. */
int cli_session_resume(const cli_args *args, cdam_client *client, const cdam_state *state,
                       bool reattach_only, cdam_session **session);

void cli_show_warnings(const cdam_session *session);

#endif
