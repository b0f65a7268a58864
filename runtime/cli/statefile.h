/* SPDX-License-Identifier: Apache-2.0 */
/* States in files, on standard input and on standard output. "-" stands for either. */
#ifndef COFFERDAM_CLI_STATEFILE_H
#define COFFERDAM_CLI_STATEFILE_H

#include "cli.h"

/* Each returns CLI_OK, or the exit code after a line on stderr. */

bool cli_is_stream(const char *path);

/* The key of --key-file; NULL in *key when there is none. */
int cli_key_open(const cli_args *args, cdam_key **key);

/* The bytes of a state, not looked at. Free *bytes with free(). */
int cli_bytes_read(const cli_args *args, const char *path, unsigned char **bytes, size_t *length);

/* The same for a text of at most `most` bytes; one byte more is read, and tells that it is longer.
 */
int cli_text_read(const cli_args *args, const char *path, size_t most, char **text, size_t *length);

int cli_state_read(const cli_args *args, const char *path, const cdam_key *key, cdam_state **state);

/* Reads the operand with the key, and hands it to `use`. */
int cli_with_state(const cli_args *args, int (*use)(const cli_args *args, const cdam_state *state));

/* Writes through symbolic links. On failure the old file is as it was. */
int cli_state_write(const cli_args *args, const char *path, const cdam_state *state,
                    const cdam_key *key);

/* Writes JSON or text format and a newline to a file that was claimed, or to standard output. */
int cli_text_write(const cli_args *args, const char *path, const char *text);

/* Can a state be written there? Asked before an engine is touched. */
int cli_state_check_writable(const cli_args *args, const char *path);

/*
 * A file that a new state goes to. A file that holds something is refused: it may be the
 * only way back to a sandbox. Claiming makes an empty file and locks it, so that of two
 * commands at once one is refused. Releasing removes it again if it is still empty.
 */
typedef struct cli_claim {
  const char *path;
  int fd; /* -1: a stream, or not claimed */
  bool made;
} cli_claim;

int cli_claim_new_file(const cli_args *args, const char *path, cli_claim *claim);
void cli_claim_release(cli_claim *claim);

#endif
