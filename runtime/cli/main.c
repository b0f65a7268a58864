/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "help.h"
#include "report.h"

static const cli_command *const commands[] = {
    &cli_create,       &cli_resume,       &cli_exec,
    &cli_ps,           &cli_attach,       &cli_logs,
    &cli_kill,         &cli_cp,           &cli_ls,
    &cli_cat,          &cli_list,         &cli_rm,
    &cli_reap,         &cli_state_show,   &cli_state_diff,
    &cli_state_check,  &cli_state_seal,   &cli_state_verify,
    &cli_state_import, &cli_state_export, NULL,
};

/* What may stand before the command. */
static const cli_command before_command = {
    .name = "",
    .flags = CLI_FLAGS_ENGINE | CLI_FLAG_VERSION | CLI_FLAG_HELP,
    .operands = CLI_OPERANDS_COMMAND,
};

/* A descriptor that is closed would be given to the first file or socket. These fail
 * when they are used. */
static void fill_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) return;
}

/* The command that argv begins with; *words is how many of its words name it. */
static const cli_command *find_command(int argc, char **argv, int *words) {
  for (size_t i = 0; commands[i]; i++) {
    const char *name = commands[i]->name;
    size_t first = strcspn(name, " ");
    if (strlen(argv[0]) != first || strncmp(name, argv[0], first) != 0) continue;
    if (name[first] == '\0') {
      *words = 1;
      return commands[i];
    }
    *words = 2;
    if (argc > 1 && strcmp(name + first + 1, argv[1]) == 0) return commands[i];
  }
  return NULL;
}

static bool asks_for_help(const char *word) {
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int unknown(const cli_args *args, int argc, char **argv, int words) {
  if (words == 2 && (argc < 2 || !asks_for_help(argv[1]))) {
    if (argc < 2)
      cli_say("%s needs a command; see 'cofferdam %s --help'", argv[0], argv[0]);
    else
      cli_say("unknown command '%s %s'; see 'cofferdam %s --help'", argv[0], argv[1], argv[0]);
    return CLI_USAGE;
  }
  if (words == 2) return cli_help_overview(args, commands, "state ");
  return cli_usage(args->command, "unknown command '%s'", argv[0]);
}

static int run_command(cli_args *args, int argc, char **argv) {
  int words = 0;
  const cli_command *command = find_command(argc, argv, &words);
  if (!command) return unknown(args, argc, argv, words);
  int code = cli_args_parse(args, command, argc - words + 1, argv + words - 1);
  if (code != CLI_OK) return code;
  return args->help ? cli_help_command(args, command) : command->run(args);
}

static int help_on(cli_args *args, int argc, char **argv) {
  if (argc == 0) return cli_help_overview(args, commands, "");
  int words = 0;
  const cli_command *command = find_command(argc, argv, &words);
  if (command) return cli_help_command(args, command);
  if (words == 2 && argc == 1) return cli_help_overview(args, commands, "state ");
  return unknown(args, argc, argv, words);
}

static int show_version(const cli_args *args) {
  printf("cofferdam %s (schema revision %u)\n", cdam_version(), cdam_schema_revision());
  return cli_finish_stdout(args);
}

static int dispatch(cli_args *args, int argc, char **argv) {
  int code = cli_args_parse(args, &before_command, argc, argv);
  if (code != CLI_OK) return code;
  if (args->help) return cli_help_overview(args, commands, "");
  if (args->version) return show_version(args);
  int count = args->operand_count;
  char **words = args->operands;
  if (count == 0) return cli_usage(args->command, "no command is given");
  if (strcmp(words[0], "help") == 0) return help_on(args, count - 1, words + 1);
  return run_command(args, count, words);
}

int main(int argc, char **argv) {
  fill_descriptors();
  cli_args args = {0};
  int code = dispatch(&args, argc, argv);
  cli_args_free(&args);
  return code;
}
