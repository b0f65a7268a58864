/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "report.h"
#include "state_forms.h"
#include "statefile.h"

/* ---- formats ---- */

typedef struct cli_format {
  const char *name;
  size_t max_bytes;
  cdam_status (*import)(const char *text, size_t length, cdam_state **state,
                        cdam_agents_report **report, cdam_error *err);
  cdam_status (*export)(const cdam_state *state, const char *base, size_t base_length, char **text,
                        cdam_agents_report **report, cdam_error *err);
} cli_format;

/* Those without functions are the forms of state_forms.h. */
static const cli_format formats[] = {
    {"agents-json", CDAM_AGENTS_JSON_MAX_BYTES, cdam_state_from_agents_json,
     cdam_state_to_agents_json},
    {"json", CLI_FORM_MAX_BYTES, NULL, NULL},
    {"text", CLI_FORM_MAX_BYTES, NULL, NULL},
};

static int find_format(const cli_args *args, const cli_format **format) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    *format = &formats[i];
    if (strcmp(formats[i].name, args->format) == 0) return CLI_OK;
  }
  return cli_usage(args->command, "--format takes agents-json, json or text, not '%s'",
                   args->format);
}

/* What did not come through as it was. */
static void show_report(cdam_agents_report *report) {
  for (size_t i = 0; i < cdam_agents_report_count(report); i++)
    cli_say("note: %s: %s", cdam_agents_report_field(report, i),
            cdam_agents_report_text(report, i));
  cdam_agents_report_free(report);
}

static const char *out_of(const cli_args *args) {
  return args->out_file ? args->out_file : "-";
}

/* ---- import ---- */

static int import_agents(const cli_args *args, const cli_format *format, const char *text,
                         size_t length, cdam_state **state) {
  cdam_agents_report *report = NULL;
  cdam_error err;
  if (format->import(text, length, state, &report, &err) != CDAM_OK)
    return cli_fail(args, &err, args->operands[0]);
  show_report(report);
  if (cdam_state_needs_adoption(*state))
    cli_say("note: the container is not yet this state's; see 'cofferdam resume --adopt'");
  return CLI_OK;
}

static int import_text(const cli_args *args, const cli_format *format, const cdam_key *key,
                       cdam_state **state) {
  char *text = NULL;
  size_t length = 0;
  cdam_form form;
  int code = cli_text_read(args, args->operands[0], format->max_bytes, &text, &length);
  if (code != CLI_OK) return code;
  if (cli_form_of(format->name, &form))
    code = cli_form_read(args, form, text, length, key, state);
  else
    code = import_agents(args, format, text, length, state);
  free(text);
  return code;
}

static int run_import(cli_args *args) {
  const cli_format *format;
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  int code = find_format(args, &format);
  if (code == CLI_OK && args->ignore_unknown && format->import)
    code = cli_usage(args->command, "--ignore-unknown goes with --format json or text");
  if (code == CLI_OK) code = cli_key_open(args, &key);
  if (code == CLI_OK) code = import_text(args, format, key, &state);
  cli_claim claim;
  if (code == CLI_OK) {
    code = cli_claim_new_file(args, out_of(args), &claim);
    if (code == CLI_OK) {
      code = cli_state_write(args, out_of(args), state, key);
      cli_claim_release(&claim);
    }
  }
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

const cli_command cli_state_import = {
    .name = "state import",
    .usage = "FILE --format FORMAT [--out FILE] [FLAG]...",
    .purpose = "Make a state of a session of another tool, or of JSON or text.",
    .notes =
        "json and text are what 'cofferdam state export' writes. Names that this cofferdam does "
        "not know are refused, unless --ignore-unknown is given; in the options they are refused "
        "even so. A seal in the document must be right; that of the result is new.\n"
        "agents-json is what the Docker client of the OpenAI Agents SDK gives for a session. "
        "A network_mode of \"none\" stays one; any other is refused. What a state has no place "
        "for is named on stderr, a line each.\n"
        "The container bears no label of ours, so nothing proves that it is this session's. "
        "The first 'cofferdam resume' of the state needs --adopt.",
    .examples = "  cofferdam state import session.json --format agents-json --out s.pb\n"
                "  cofferdam resume --state s.pb --adopt --require-network none\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_FORMAT | CLI_FLAG_IGNORE_UNKNOWN | CLI_FLAG_KEY_FILE | CLI_FLAG_OUT,
    .operands = CLI_OPERANDS_FILE,
    .run = run_import,
};

/* ---- export ---- */

static int write_new(const cli_args *args, const char *text) {
  const char *path = out_of(args);
  if (cli_is_stream(path)) return cli_text_write(args, path, text);
  cli_claim claim;
  int code = cli_claim_new_file(args, path, &claim);
  if (code != CLI_OK) return code;
  code = cli_text_write(args, path, text);
  cli_claim_release(&claim);
  return code;
}

static int export_form(const cli_args *args, cdam_form form, const cdam_state *state) {
  char *text = NULL;
  int code = cli_form_write(args, state, form, &text);
  if (code == CLI_OK) code = write_new(args, text);
  free(text);
  if (code == CLI_OK && cdam_state_has_unknown_fields(state))
    cli_say("note: fields of a later revision were left out; the seal covers them");
  return code;
}

static int export_agents(const cli_args *args, const cli_format *format, const cdam_state *state) {
  char *base = NULL, *text = NULL;
  size_t length = 0;
  int code = CLI_OK;
  if (args->base_file)
    code = cli_text_read(args, args->base_file, format->max_bytes, &base, &length);
  if (code != CLI_OK) return code;
  cdam_agents_report *report = NULL;
  cdam_error err;
  cdam_status status = format->export(state, base, length, &text, &report, &err);
  free(base);
  if (status != CDAM_OK) return cli_fail(args, &err, NULL);
  show_report(report);
  code = write_new(args, text);
  free(text);
  return code;
}

static int run_export(cli_args *args) {
  const cli_format *format;
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  cdam_form form;
  int code = find_format(args, &format);
  if (code == CLI_OK && args->base_file && !format->export)
    code = cli_usage(args->command, "--base goes with --format agents-json");
  if (code == CLI_OK) code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->operands[0], key, &state);
  if (code == CLI_OK)
    code = cli_form_of(format->name, &form) ? export_form(args, form, state)
                                            : export_agents(args, format, state);
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

const cli_command cli_state_export = {
    .name = "state export",
    .usage = "FILE --format FORMAT [--out FILE] [FLAG]...",
    .purpose = "Make a session of another tool, or JSON or text, of a state.",
    .notes = "json and text are protobuf's JSON and text format, with all values.\n"
             "agents-json is read by the Docker client of the OpenAI Agents SDK; it needs release "
             "0.21.1 or newer to know what \"none\" means, and 0.22.1 to compare labels. A state "
             "with isolation that the document cannot say is refused; whatever else it cannot say "
             "is named on stderr, a line each. The output holds the values of environment "
             "variables.\n"
             "--base takes a document of the same session, from which the manifest, the snapshot "
             "and what else a state does not hold are kept.",
    .examples = "  cofferdam state export s.pb --format agents-json --out session.json\n"
                "  cofferdam state export s.pb --format agents-json --base old.json >new.json\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_FORMAT | CLI_FLAG_BASE | CLI_FLAG_KEY_FILE | CLI_FLAG_OUT,
    .operands = CLI_OPERANDS_FILE,
    .run = run_export,
};
