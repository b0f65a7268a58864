/* SPDX-License-Identifier: Apache-2.0 */
/* What a person wants to know of a state, read from its ProtoJSON. */
#ifndef COFFERDAM_CLI_SUMMARY_H
#define COFFERDAM_CLI_SUMMARY_H

#include "cli.h"

/* Prints the lines of `state check`. CLI_OK, or the exit code after a line on stderr. */
int cli_put_summary(const cli_args *args, const cdam_state *state);

/* The seal that was read, in words: "SHA-256", "HMAC-SHA-256, key NAME"; NULL in *seal
 * when there was none. Free with free(). */
int cli_seal_words(const cli_args *args, const cdam_state *state, char **seal);

#endif
