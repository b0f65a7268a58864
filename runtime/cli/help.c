/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "report.h"

enum { WIDTH = 80, COLUMN = 26 };

const char cli_exits_local[] =
    "  0   done\n"
    "  2   wrong usage\n"
    "  10  the state, its seal or the key is refused, or a file cannot be\n"
    "      read or written\n";

const char cli_exits_engine[] = "  0   done\n"
                                "  2   wrong usage\n"
                                "  12  the engine failed, or cannot be reached\n";

const char cli_exits_sandbox[] =
    "  0   done\n"
    "  2   wrong usage\n"
    "  10  an option or the state is refused, or its file cannot be read or\n"
    "      written; the engine was not asked\n"
    "  11  drift: the container is not what the state says, or somebody else's;\n"
    "      nothing was changed\n"
    "  12  the engine failed, or cannot be reached\n";

/* Words of `text`, up to the end of its line, from `column` on. Returns what follows. */
static const char *put_wrapped(const char *text, int column, int at) {
  while (*text && *text != '\n') {
    int length = (int)strcspn(text, " \n");
    if (at > column && at + 1 + length > WIDTH) {
      printf("\n%*s", column, "");
      at = column;
    } else if (at > column) {
      putchar(' ');
      at++;
    }
    printf("%.*s", length, text);
    at += length;
    text += length;
    text += strspn(text, " ");
  }
  putchar('\n');
  return *text ? text + 1 : text;
}

/* Each line of `text` is a paragraph. */
static void put_paragraphs(const char *text) {
  while (*text) {
    putchar('\n');
    text = put_wrapped(text, 0, 0);
  }
}

static void put_slot(const cli_slot *slot) {
  int used = slot->letter ? printf("  -%c, ", slot->letter) : printf("  ");
  used +=
      printf("--%s%s%s", slot->name, slot->metavar ? " " : "", slot->metavar ? slot->metavar : "");
  if (used >= COLUMN) {
    putchar('\n');
    used = 0;
  }
  printf("%*s", COLUMN - used, "");
  int at = COLUMN;
  if (slot->required) {
    fputs("(required)", stdout);
    at += 10;
  } else if (slot->repeatable) {
    fputs("(repeatable)", stdout);
    at += 12;
  }
  put_wrapped(slot->help, COLUMN, at);
}

typedef bool (*slot_filter)(const cli_slot *slot);

static bool is_option(const cli_slot *slot) {
  return slot->option && !slot->policy;
}

static bool is_policy(const cli_slot *slot) {
  return slot->policy;
}

static bool is_own(const cli_slot *slot) {
  return slot->set != NULL;
}

static void put_section(const char *title, const cli_slot *slots, size_t count,
                        slot_filter wanted) {
  bool titled = false;
  for (size_t i = 0; i < count; i++) {
    if (!wanted(&slots[i])) continue;
    if (!titled) printf("\n%s:\n", title);
    titled = true;
    put_slot(&slots[i]);
  }
}

int cli_help_command(const cli_args *args, const cli_command *command) {
  size_t count = 0;
  cli_slot *slots = cli_slots_new(command, &count);
  if (!slots) return cli_no_memory(args);
  printf("Usage: cofferdam %s %s\n\n%s\n", command->name, command->usage, command->purpose);
  put_section("Options of the sandbox", slots, count, is_option);
  put_section("Demands", slots, count, is_policy);
  put_section("Flags", slots, count, is_own);
  if (command->notes) put_paragraphs(command->notes);
  if (command->examples) printf("\nExamples:\n%s", command->examples);
  printf("\nExit status:\n%s", command->exits);
  cli_slots_free(slots, count);
  return cli_finish_stdout(args);
}

int cli_help_overview(const cli_args *args, const cli_command *const *commands,
                      const char *prefix) {
  printf("Usage: cofferdam %s%sCOMMAND ...\n\n", *prefix ? "" : "[FLAG]... ", prefix);
  puts(*prefix ? "Looks at states, and seals them. No engine is touched."
               : "Docker sandboxes that are resumed as they were created, or not at all.");
  puts("\nCommands:");
  for (; *commands; commands++) {
    if (strncmp((*commands)->name, prefix, strlen(prefix)) != 0) continue;
    printf("  %-14s", (*commands)->name);
    put_wrapped((*commands)->purpose, 16, 16);
  }
  if (!*prefix) {
    size_t count = 0;
    cli_slot *slots = cli_slots_new(args->command, &count);
    if (!slots) return cli_no_memory(args);
    put_section("Flags", slots, count, is_own);
    cli_slots_free(slots, count);
    fputs("\nThe engine is the one of DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, as\n"
          "for Docker's own command; without them unix:///var/run/docker.sock.\n"
          "\nExit status:\n",
          stdout);
    fputs(cli_exits_sandbox, stdout);
    puts("exec and attach end with the status of the command; see 'cofferdam exec --help'.");
  }
  printf("\nMore: cofferdam COMMAND --help\n");
  return cli_finish_stdout(args);
}
