/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "help.h"
#include "report.h"
#include "show.h"
#include "statefile.h"

typedef struct listing {
  const cli_args *args;
  const char *headline; /* or NULL once it was printed */
  size_t hidden;
} listing;

/* What the two states are to each other, before what differs in detail. */
static const char *relation(const cdam_state *first, const cdam_state *second) {
  if (strcmp(cdam_state_session_id(first), cdam_state_session_id(second)) != 0)
    return "two sandboxes: the session ids differ";
  if (strcmp(cdam_state_container_id(first), cdam_state_container_id(second)) != 0)
    return "one sandbox, whose container was recreated";
  return "one sandbox, in the same container";
}

static void put_change(const cdam_difference *d, bool hide) {
  const char *before = hide && d->before ? CDAM_HIDDEN : d->before;
  const char *after = hide && d->after ? CDAM_HIDDEN : d->after;
  if (!before)
    fputs("added ", stdout);
  else if (!after)
    fputs("removed ", stdout);
  else if (hide)
    fputs("changed ", stdout);
  if (before && !(hide && after)) cli_put_text(stdout, before);
  if (before && after && !hide) fputs(" -> ", stdout);
  if (after) cli_put_text(stdout, after);
}

static bool put_difference(void *user, const cdam_difference *d) {
  listing *l = user;
  if (l->headline) puts(l->headline);
  l->headline = NULL;
  bool hide = d->sensitive && !l->args->show_env;
  l->hidden += hide;
  cli_put_text(stdout, d->field);
  fputs(": ", stdout);
  put_change(d, hide);
  if (d->isolates) fputs(d->loses ? " (isolation lost!)" : " (isolation differs)", stdout);
  putchar('\n');
  return true;
}

static int diff(const cli_args *args, const cdam_state *first, const cdam_state *second) {
  listing l = {.args = args, .headline = relation(first, second)};
  size_t count = 0;
  cdam_error err;
  if (cdam_state_diff(first, second, put_difference, &l, &count, &err) != CDAM_OK)
    return cli_fail(args, &err, NULL);
  int code = cli_finish_stdout(args);
  if (code == CLI_OK && l.hidden)
    cli_say("note: hidden values: %zu; --show-env shows them", l.hidden);
  return code == CLI_OK && count ? CLI_DIFFERENT : code;
}

static int run_diff(cli_args *args) {
  cdam_key *key = NULL;
  cdam_state *first = NULL, *second = NULL;
  if (cli_is_stream(args->operands[0]) && cli_is_stream(args->operands[1]))
    return cli_usage(args->command, "only one of the two states can come from standard input");
  int code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->operands[0], key, &first);
  if (code == CLI_OK) code = cli_state_read(args, args->operands[1], key, &second);
  if (code == CLI_OK) code = diff(args, first, second);
  cdam_state_free(first);
  cdam_state_free(second);
  cdam_key_free(key);
  return code;
}

const cli_command cli_state_diff = {
    .name = "state diff",
    .usage = "FILE FILE [--show-env] [--key-file FILE]",
    .purpose = "Say what differs between two states, in words.",
    .notes = "Field by field, from the first to the second state; nothing when they are equal. "
             "The digests of seals are not compared. Of environment variables only the names are "
             "shown, unless --show-env is given. With --key-file both states must be sealed with "
             "that key.",
    .examples = "  cofferdam state diff before.pb after.pb\n",
    .exits = "  0   nothing differs\n"
             "  1   something differs\n"
             "  2   wrong usage\n"
             "  10  a state, its seal or the key is refused, or a file cannot be\n"
             "      read\n"
             "  12  out of memory, or the output cannot be written\n",
    .flags = CLI_FLAG_KEY_FILE | CLI_FLAG_SHOW_ENV,
    .operands = CLI_OPERANDS_FILES,
    .run = run_diff,
};
