/* SPDX-License-Identifier: Apache-2.0 */
#include "state_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "report.h"
#include "show.h"
#include "statefile.h"

bool cli_form_of(const char *name, cdam_form *form) {
  *form = strcmp(name, "text") == 0 ? CDAM_FORM_TEXT : CDAM_FORM_JSON;
  return *form == CDAM_FORM_TEXT || strcmp(name, "json") == 0;
}

/* The text format ends in a newline by itself. */
static void cut_newline(char *text) {
  size_t length = strlen(text);
  if (length && text[length - 1] == '\n') text[length - 1] = '\0';
}

int cli_form_write(const cli_args *args, const cdam_state *state, cdam_form form, char **text) {
  cdam_error err;
  cdam_status status = form == CDAM_FORM_JSON ? cdam_state_to_json(state, text, &err)
                                              : cdam_state_to_text(state, text, &err);
  if (status != CDAM_OK) return cli_fail(args, &err, NULL);
  cut_newline(*text);
  return CLI_OK;
}

/* ---- reading ---- */

static void say_ignored(void *user, const char *field) {
  (void)user;
  cli_say("note: %s: left out; this cofferdam does not know it", field);
}

static void keep_quiet(void *user, const char *field) {
  (void)user;
  (void)field;
}

static cdam_status read_form(const cli_args *args, cdam_form form, const char *text, size_t length,
                             const cdam_key *key, cdam_ignored_callback ignored, cdam_state **state,
                             cdam_error *err) {
  if (args->ignore_unknown)
    return cdam_state_read_ignoring(form, text, length, key, ignored, NULL, state, err);
  return form == CDAM_FORM_JSON ? cdam_state_from_json(text, length, key, state, err)
                                : cdam_state_from_text(text, length, key, state, err);
}

int cli_form_read(const cli_args *args, cdam_form form, const char *text, size_t length,
                  const cdam_key *key, cdam_state **state) {
  cdam_error err;
  cdam_status status = read_form(args, form, text, length, NULL, keep_quiet, state, &err);
  const cdam_key *used = status == CDAM_ERR_SEAL ? key : NULL;
  if (status != CDAM_OK && !used) return cli_fail(args, &err, args->operands[0]);
  if (status == CDAM_OK && !args->ignore_unknown) return CLI_OK;
  cdam_state_free(*state);
  /* Once more, and told: what is left out of something that is refused does not matter. */
  status = read_form(args, form, text, length, used, say_ignored, state, &err);
  return status == CDAM_OK ? CLI_OK : cli_fail(args, &err, args->operands[0]);
}

/* ---- state show ---- */

static int show(const cli_args *args, const cdam_state *state) {
  cdam_form form = CDAM_FORM_JSON;
  char *text = NULL;
  size_t hidden = 0;
  cdam_error err;
  if (args->format) cli_form_of(args->format, &form);
  if (args->show_env) {
    int code = cli_form_write(args, state, form, &text);
    if (code != CLI_OK) return code;
  } else {
    if (cdam_state_show(state, form, &text, &hidden, &err) != CDAM_OK)
      return cli_fail(args, &err, NULL);
    cut_newline(text);
  }
  cli_put_json_text(text); /* text format escapes it all itself */
  free(text);
  int code = cli_finish_stdout(args);
  if (code == CLI_OK && hidden) cli_say("note: hidden values: %zu; --show-env shows them", hidden);
  return code;
}

static int run_show(cli_args *args) {
  cdam_form form;
  if (args->format && !cli_form_of(args->format, &form))
    return cli_usage(args->command, "--format takes json or text, not '%s'", args->format);
  return cli_with_state(args, show);
}

const cli_command cli_state_show = {
    .name = "state show",
    .usage = "FILE [--format FORMAT] [--show-env] [FLAG]...",
    .purpose = "Print a state as JSON, in one line (protobuf's JSON form), or as text.",
    .notes = "A state that is damaged, wrongly sealed or against the rules is refused.\n"
             "Values of environment variables are shown as " CDAM_HIDDEN ", and what is printed "
             "is then no state any more; with --show-env it can be read again by 'cofferdam state "
             "import'.",
    .examples = "  cofferdam state show s.pb | jq .options\n"
                "  cofferdam state show --format text - <s.pb\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_KEY_FILE | CLI_FLAG_FORM | CLI_FLAG_SHOW_ENV,
    .operands = CLI_OPERANDS_FILE,
    .run = run_show,
};
