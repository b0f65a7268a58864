/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: every flag that a command takes, as one list for the parser and for
 * the help. The options of a sandbox come from the generated table. */
#ifndef COFFERDAM_CLI_ARGS_H
#define COFFERDAM_CLI_ARGS_H

#include "cli.h"
#include "options/flags.h"

typedef struct cli_slot cli_slot;

/* Sets what the flag is about. CLI_OK, or the exit code after a line on stderr. */
typedef int cli_flag_set(cli_args *args, const cli_slot *slot, const char *text);

struct cli_slot {
  char *name;          /* owned; without the dashes */
  const char *metavar; /* NULL: no value */
  const char *help;
  char letter; /* the short form, or 0 */
  bool required;
  bool repeatable;
  bool seen;
  cli_flag_set *set;              /* of a flag of our own; or NULL */
  size_t place;                   /* in cli_args, for it */
  const cdam_option_flag *option; /* or NULL */
  bool policy;                    /* --require-NAME of `option` */
};

/* ---- flags.c ---- */

/* The flags of a command, in the order of the help. NULL when there is no memory. Free
 * with cli_slots_free. */
cli_slot *cli_slots_new(const cli_command *command, size_t *count);
void cli_slots_free(cli_slot *slots, size_t count);

/* ---- args.c ---- */

/* Reads argv[1] and what follows by the rules of `command`. What is in `args` already
 * (flags given before the command) stays. CLI_OK, or the exit code after a line on
 * stderr. Free with cli_args_free either way. */
int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv);
void cli_args_free(cli_args *args);

#endif
