/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args_values.h"
#include "report.h"

typedef struct own_flag {
  unsigned bit;
  const char *name;
  const char *metavar;
  const char *help;
} own_flag;

static const own_flag own_flags[] = {
    {CLI_FLAG_STATE, "state", "FILE",
     "The file of the sandbox's state; - is standard input or output."},
    {CLI_FLAG_KEY_FILE, "key-file", "FILE",
     "Seal states with this key (HMAC-SHA-256), and read only those that are sealed with it."},
    {CLI_FLAG_FORMAT, "format", "FORMAT", "agents-json, json or text."},
    {CLI_FLAG_FORM, "format", "FORMAT", "json (which is the default) or text."},
    {CLI_FLAG_SHOW_ENV, "show-env", NULL, "Show the values of environment variables, too."},
    {CLI_FLAG_DRY_RUN, "dry-run", NULL, "Change nothing; say what would be done."},
    {CLI_FLAG_IGNORE_UNKNOWN, "ignore-unknown", NULL,
     "Leave out names that this cofferdam does not know, and say which."},
    {CLI_FLAG_BASE, "base", "FILE",
     "A document of the same sandbox; what a state does not hold is kept from it."},
    {CLI_FLAG_OUT, "out", "FILE", "Write the result here; a file that is new or empty, or -."},
    {CLI_FLAG_UNPAUSE, "unpause", NULL, "Unpause the container if it is paused."},
    {CLI_FLAG_ADOPT, "adopt", NULL,
     "Make the container of an imported state yours, although nothing proves that it is."},
    {CLI_FLAG_INTERACTIVE, "interactive", NULL,
     "Pass standard input on to the command, to its end."},
    {CLI_FLAG_TTY, "tty", NULL, "Give the command a terminal."},
    {CLI_FLAG_DETACH, "detach", NULL,
     "Leave the command running, and print the key that names it."},
    {CLI_FLAG_TIMEOUT, "timeout", "SECONDS", "Kill the command after this time; 1.5 is fine, too."},
    {CLI_FLAG_USER, "user", "USER", "Run as this user: UID, UID:GID, or a name in the image."},
    {CLI_FLAG_WORKDIR, "workdir", "DIR", "Run in this directory of the sandbox."},
    {CLI_FLAG_ENV, "env", "KEY=VALUE",
     "Set a variable for the command, on top of the sandbox's own."},
    {CLI_FLAG_OFFSET, "offset", "BYTES", "Begin behind so many bytes of standard output."},
    {CLI_FLAG_OFFSET, "stderr-offset", "BYTES", "The same of standard error."},
    {CLI_FLAG_SIGNAL, "signal", "SIGNAL",
     "Send only this signal, such as INT or 2, to the process group of the command."},
    {CLI_FLAG_GRACE, "grace", "SECONDS", "The time between TERM and KILL; 2 if not given."},
    {CLI_FLAG_TAR, "tar", NULL, "Standard input or output is a tar archive."},
    {CLI_FLAG_KEEP_OWNER, "keep-owner", NULL, "Users and groups come along, as numbers."},
    {CLI_FLAG_LONG, "long", NULL, "Also show mode, owner, size and time."},
    {CLI_FLAG_NULL, "null", NULL, "End each name with a NUL instead of a newline."},
    {CLI_FLAG_JSON, "json", NULL, "Print JSON."},
    {CLI_FLAG_HOST, "host", "ENDPOINT",
     "The engine: unix:///PATH or tcp://HOST:PORT, instead of DOCKER_HOST."},
    {CLI_FLAG_PLAIN_TCP, "allow-plain-tcp", NULL,
     "Allow tcp:// without TLS. Who can reach such an engine owns its machine."},
    {CLI_FLAG_VERSION, "version", NULL, "Print the version and exit."},
    {CLI_FLAG_HELP, "help", NULL, "Print this help and exit."},
};

#define OWN_FLAG_COUNT (sizeof own_flags / sizeof *own_flags)

/* As docker exec has them, and ls. */
static char letter_of(unsigned bit) {
  switch (bit) {
  case CLI_FLAG_INTERACTIVE:
    return 'i';
  case CLI_FLAG_TTY:
    return 't';
  case CLI_FLAG_DETACH:
    return 'd';
  case CLI_FLAG_USER:
    return 'u';
  case CLI_FLAG_WORKDIR:
    return 'w';
  case CLI_FLAG_ENV:
    return 'e';
  case CLI_FLAG_LONG:
    return 'l';
  case CLI_FLAG_NULL:
    return '0';
  default:
    return 0;
  }
}

static const char policy_prefix[] = "require-";
static const char policy_help[] = "Refuse any sandbox for which this option has another value.";

/* ---- the list of flags ---- */

static bool add_option(cli_slot *slot, const cdam_option_flag *option, bool policy) {
  *slot = (cli_slot){.metavar = option->metavar,
                     .help = policy ? policy_help : option->help,
                     .required = option->required && !policy,
                     .repeatable = option->repeatable,
                     .option = option,
                     .policy = policy};
  if (asprintf(&slot->name, "%s%s", policy ? policy_prefix : "", option->name) >= 0) return true;
  slot->name = NULL;
  return false;
}

static bool add_own(cli_slot *slot, const own_flag *flag) {
  *slot = (cli_slot){.name = strdup(flag->name),
                     .metavar = flag->metavar,
                     .help = flag->help,
                     .letter = letter_of(flag->bit),
                     .required = flag->bit == CLI_FLAG_STATE || flag->bit == CLI_FLAG_FORMAT,
                     .repeatable = flag->bit == CLI_FLAG_ENV,
                     .own = flag->bit};
  return slot->name != NULL;
}

cli_slot *cli_slots_new(const cli_command *command, size_t *count) {
  cli_slot *slots = calloc(2 * cdam_option_flag_count + OWN_FLAG_COUNT, sizeof *slots);
  if (!slots) return NULL;
  size_t used = 0;
  bool ok = true;
  for (size_t i = 0; command->takes_options && i < cdam_option_flag_count; i++)
    ok = add_option(&slots[used++], &cdam_option_flags[i], false) && ok;
  for (size_t i = 0; i < OWN_FLAG_COUNT; i++)
    if ((command->flags | CLI_FLAG_HELP) & own_flags[i].bit)
      ok = add_own(&slots[used++], &own_flags[i]) && ok;
  for (size_t i = 0; command->takes_policy && i < cdam_option_flag_count; i++)
    if (cdam_option_flags[i].isolates)
      ok = add_option(&slots[used++], &cdam_option_flags[i], true) && ok;
  if (!ok) {
    cli_slots_free(slots, used);
    return NULL;
  }
  *count = used;
  return slots;
}

void cli_slots_free(cli_slot *slots, size_t count) {
  for (size_t i = 0; slots && i < count; i++)
    free(slots[i].name);
  free(slots);
}

/* ---- values ---- */

static int add_env(cli_args *args, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) return cli_usage(args->command, "--env takes KEY=VALUE");
  const char **grown = realloc(args->env, (args->env_count + 2) * sizeof *grown);
  if (!grown) return cli_no_memory(args);
  args->env = grown;
  args->env[args->env_count++] = text;
  args->env[args->env_count] = NULL;
  return CLI_OK;
}

static int set_timeout(cli_args *args, const char *text) {
  if (cli_parse_seconds(text, &args->timeout_ms) && args->timeout_ms > 0) return CLI_OK;
  return cli_usage(args->command, "--timeout takes seconds above 0 such as 30 or 1.5, not '%s'",
                   text);
}

static int set_grace(cli_args *args, const char *text) {
  if (cli_parse_seconds(text, &args->grace_ms) && args->grace_ms <= UINT32_MAX) return CLI_OK;
  return cli_usage(args->command, "--grace takes seconds such as 0 or 1.5, not '%s'", text);
}

static int set_signal(cli_args *args, const char *text) {
  args->signal = cli_parse_signal(text);
  if (args->signal > 0) return CLI_OK;
  return cli_usage(args->command, "--signal takes a name or a number such as INT or 2, not '%s'",
                   text);
}

static int set_offset(cli_args *args, const cli_slot *slot, const char *text) {
  bool of_stderr = strcmp(slot->name, "offset") != 0;
  if (cli_parse_count(text, UINT64_MAX, of_stderr ? &args->stderr_offset : &args->stdout_offset))
    return CLI_OK;
  return cli_usage(args->command, "--%s takes a number of bytes, not '%s'", slot->name, text);
}

/* A flag whose value is kept as it is. */
static int set_text(const cli_args *args, const cli_slot *slot, const char **place,
                    const char *text) {
  if (*text == '\0') return cli_usage(args->command, "--%s is empty", slot->name);
  *place = text;
  return CLI_OK;
}

static int set_own(cli_args *args, const cli_slot *slot, const char *text) {
  switch (slot->own) {
  case CLI_FLAG_STATE:
    return set_text(args, slot, &args->state_file, text);
  case CLI_FLAG_KEY_FILE:
    return set_text(args, slot, &args->key_file, text);
  case CLI_FLAG_OUT:
    return set_text(args, slot, &args->out_file, text);
  case CLI_FLAG_FORMAT:
  case CLI_FLAG_FORM:
    return set_text(args, slot, &args->format, text);
  case CLI_FLAG_BASE:
    return set_text(args, slot, &args->base_file, text);
  case CLI_FLAG_USER:
    return set_text(args, slot, &args->user, text);
  case CLI_FLAG_WORKDIR:
    return set_text(args, slot, &args->workdir, text);
  case CLI_FLAG_HOST:
    return set_text(args, slot, &args->host, text);
  case CLI_FLAG_TIMEOUT:
    return set_timeout(args, text);
  case CLI_FLAG_ENV:
    return add_env(args, text);
  case CLI_FLAG_OFFSET:
    return set_offset(args, slot, text);
  case CLI_FLAG_SIGNAL:
    return set_signal(args, text);
  case CLI_FLAG_GRACE:
    return set_grace(args, text);
  case CLI_FLAG_INTERACTIVE:
    args->interactive = true;
    return CLI_OK;
  case CLI_FLAG_TTY:
    args->tty = true;
    return CLI_OK;
  case CLI_FLAG_DETACH:
    args->detach = true;
    return CLI_OK;
  case CLI_FLAG_SHOW_ENV:
    args->show_env = true;
    return CLI_OK;
  case CLI_FLAG_DRY_RUN:
    args->dry_run = true;
    return CLI_OK;
  case CLI_FLAG_TAR:
    args->tar = true;
    return CLI_OK;
  case CLI_FLAG_KEEP_OWNER:
    args->keep_owner = true;
    return CLI_OK;
  case CLI_FLAG_LONG:
    args->long_form = true;
    return CLI_OK;
  case CLI_FLAG_NULL:
    args->null_ended = true;
    return CLI_OK;
  case CLI_FLAG_IGNORE_UNKNOWN:
    args->ignore_unknown = true;
    return CLI_OK;
  case CLI_FLAG_UNPAUSE:
    args->unpause = true;
    return CLI_OK;
  case CLI_FLAG_ADOPT:
    args->adopt = true;
    return CLI_OK;
  case CLI_FLAG_JSON:
    args->json = true;
    return CLI_OK;
  case CLI_FLAG_PLAIN_TCP:
    args->plain_tcp = true;
    return CLI_OK;
  case CLI_FLAG_VERSION:
    args->version = true;
    return CLI_OK;
  default:
    args->help = true;
    return CLI_OK;
  }
}

/* A demand that demands nothing would pass for one that does. */
static int check_demand(const cli_args *args, const cli_slot *slot, const char *text) {
  cdam_error err;
  char *json = NULL;
  if (cdam_options_to_json(args->policy, &json, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  bool empty = strcmp(json, "{}") == 0;
  free(json);
  if (!empty) return CLI_OK;
  return cli_usage(args->command, "--%s %s demands nothing", slot->name, text ? text : "");
}

static int set_option(cli_args *args, const cli_slot *slot, const char *text) {
  cdam_error err;
  cdam_options **target = slot->policy ? &args->policy : &args->options;
  if (!*target && cdam_options_new(target, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  if (slot->option->set(*target, text, &err) == CDAM_OK)
    return slot->policy ? check_demand(args, slot, text) : CLI_OK;
  if (err.code == CDAM_ERR_NO_MEMORY) return cli_fail(args, &err, NULL);
  cli_usage(args->command, "--%s: %s", slot->name, err.message);
  return CLI_INVALID;
}

/* ---- the parser ---- */

static struct option *getopt_table(const cli_slot *slots, size_t count) {
  struct option *table = calloc(count + 1, sizeof *table);
  for (size_t i = 0; table && i < count; i++)
    table[i] = (struct option){
        .name = slots[i].name,
        .has_arg = slots[i].metavar ? required_argument : no_argument,
        .val = 'L',
    };
  return table;
}

/* getopt_long accepts `--net` for `--network`; what isolates is not guessed, and a
 * flag that comes later must not change what an old script means. */
static bool is_full_name(const char *given, const cli_slot *slot) {
  size_t length = strlen(slot->name);
  return strncmp(given, "--", 2) == 0 && strncmp(given + 2, slot->name, length) == 0 &&
         (given[2 + length] == '\0' || given[2 + length] == '=');
}

static int take_flag(cli_args *args, cli_slot *slot, const char *given, const char *text) {
  bool is_short = given[0] == '-' && given[1] != '-';
  if (!is_short && !is_full_name(given, slot))
    return cli_usage(args->command, "unknown flag '%s'; is it --%s?", given, slot->name);
  if (slot->seen && !slot->repeatable)
    return cli_usage(args->command, "--%s is given twice", slot->name);
  slot->seen = true;
  return slot->option ? set_option(args, slot, text) : set_own(args, slot, text);
}

static int bad_flag(const cli_args *args, int kind, const char *given) {
  int name = (int)strcspn(given, "=");
  if (kind == ':') return cli_usage(args->command, "%s needs a value", given);
  if (strncmp(given, "--", 2) == 0 && given[name] == '=' && optopt)
    return cli_usage(args->command, "%.*s takes no value", name, given);
  return cli_usage(args->command, "unknown flag '%.*s'", name, given);
}

/* The letters of the short flags, as getopt_long wants them. */
static void getopt_letters(const cli_slot *slots, size_t count, char letters[64]) {
  size_t used = 0;
  for (const char *first = "+:h"; *first; first++)
    letters[used++] = *first;
  for (size_t i = 0; i < count && used < 61; i++) {
    if (!slots[i].letter) continue;
    letters[used++] = slots[i].letter;
    if (slots[i].metavar) letters[used++] = ':';
  }
  letters[used] = '\0';
}

static cli_slot *slot_of_letter(cli_slot *slots, size_t count, int letter) {
  for (size_t i = 0; i < count; i++)
    if (slots[i].letter == letter) return &slots[i];
  return NULL;
}

static int read_flags(cli_args *args, cli_slot *slots, size_t count, const struct option *table,
                      int argc, char **argv) {
  char letters[64];
  getopt_letters(slots, count, letters);
  optind = 0;
  opterr = 0;
  for (;;) {
    int index = -1;
    int before = optind ? optind : 1;
    const char *given = before < argc ? argv[before] : "";
    int found = getopt_long(argc, argv, letters, table, &index);
    if (found == -1) {
      bool dashes = optind > before;
      if (dashes || args->command->operands == CLI_OPERANDS_COMMAND || optind >= argc) break;
      argv[1 + args->operand_count++] = argv[optind++];
      continue;
    }
    if (found == 'h') args->help = true;
    if (found == '?' || found == ':') return bad_flag(args, found, given);
    cli_slot *slot = found == 'L' ? &slots[index] : slot_of_letter(slots, count, found);
    int code = slot ? take_flag(args, slot, given, optarg) : CLI_OK;
    if (code != CLI_OK || args->help) return code;
  }
  while (optind < argc)
    argv[1 + args->operand_count++] = argv[optind++];
  argv[1 + args->operand_count] = NULL;
  args->operands = argv + 1;
  return CLI_OK;
}

static int check_operands(const cli_args *args) {
  const cli_command *command = args->command;
  switch (command->operands) {
  case CLI_OPERANDS_NONE:
    if (args->operand_count == 0) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[0]);
  case CLI_OPERANDS_FILES:
    if (args->operand_count < 2 || !args->operands[0][0] || !args->operands[1][0])
      return cli_usage(command, "%s needs two FILEs", command->name);
    if (args->operand_count == 2) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[2]);
  case CLI_OPERANDS_KEY:
    if (args->operand_count == 0 || args->operands[0][0] == '\0')
      return cli_usage(command, "%s needs the KEY of a process", command->name);
    if (args->operand_count == 1) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[1]);
  case CLI_OPERANDS_COPY:
    if (args->operand_count < 2 || !args->operands[0][0] || !args->operands[1][0])
      return cli_usage(command, "%s needs SRC and DST", command->name);
    if (args->operand_count == 2) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[2]);
  case CLI_OPERANDS_PATH:
    if (args->operand_count < 2) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[1]);
  case CLI_OPERANDS_PATHS:
    if (args->operand_count > 0) return CLI_OK;
    return cli_usage(command, "%s needs a PATH", command->name);
  case CLI_OPERANDS_FILE:
    if (args->operand_count == 0 || args->operands[0][0] == '\0')
      return cli_usage(command, "%s needs a FILE", command->name);
    if (args->operand_count == 1) return CLI_OK;
    return cli_usage(command, "'%s' is one argument too many", args->operands[1]);
  default:
    if (args->operand_count > 0 || !command->is_exec) return CLI_OK;
    return cli_usage(command, "%s needs a command", command->name);
  }
}

static int check_required(const cli_args *args, const cli_slot *slots, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (slots[i].required && !slots[i].seen)
      return cli_usage(args->command, "%s needs --%s %s", args->command->name, slots[i].name,
                       slots[i].metavar ? slots[i].metavar : "");
  return check_operands(args);
}

int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv) {
  args->command = command;
  args->operand_count = 0;
  args->grace_ms = -1;
  size_t count = 0;
  cli_slot *slots = cli_slots_new(command, &count);
  struct option *table = slots ? getopt_table(slots, count) : NULL;
  int code = CLI_OK;
  if (!table)
    code = cli_no_memory(args);
  else
    code = read_flags(args, slots, count, table, argc, argv);
  if (code == CLI_OK && !args->help && !args->version) code = check_required(args, slots, count);
  free(table);
  cli_slots_free(slots, count);
  return code;
}

void cli_args_free(cli_args *args) {
  free(args->env);
  cdam_options_free(args->options);
  cdam_options_free(args->policy);
}
