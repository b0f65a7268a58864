/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

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
  return slot->option ? set_option(args, slot, text) : slot->set(args, slot, text);
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
