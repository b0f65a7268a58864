/* SPDX-License-Identifier: Apache-2.0 */
/* The flags that the command line has by itself, and the list of those that a command takes. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "args_values.h"
#include "report.h"

/* ---- values ---- */

/* The member of cli_args that the flag is about. */
static void *place_of(cli_args *args, const cli_slot *slot) {
  return (char *)args + slot->place;
}

static int add_env(cli_args *args, const cli_slot *slot, const char *text) {
  (void)slot;
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) return cli_usage(args->command, "--env takes KEY=VALUE");
  const char **grown = realloc(args->env, (args->env_count + 2) * sizeof *grown);
  if (!grown) return cli_no_memory(args);
  args->env = grown;
  args->env[args->env_count++] = text;
  args->env[args->env_count] = NULL;
  return CLI_OK;
}

static int set_timeout(cli_args *args, const cli_slot *slot, const char *text) {
  (void)slot;
  if (cli_parse_seconds(text, &args->timeout_ms) && args->timeout_ms > 0) return CLI_OK;
  return cli_usage(args->command, "--timeout takes seconds above 0 such as 30 or 1.5, not '%s'",
                   text);
}

static int set_grace(cli_args *args, const cli_slot *slot, const char *text) {
  (void)slot;
  if (cli_parse_seconds(text, &args->grace_ms) && args->grace_ms <= UINT32_MAX) return CLI_OK;
  return cli_usage(args->command, "--grace takes seconds such as 0 or 1.5, not '%s'", text);
}

static int set_signal(cli_args *args, const cli_slot *slot, const char *text) {
  (void)slot;
  args->signal = cli_parse_signal(text);
  if (args->signal > 0) return CLI_OK;
  return cli_usage(args->command, "--signal takes a name or a number such as INT or 2, not '%s'",
                   text);
}

static int set_offset(cli_args *args, const cli_slot *slot, const char *text) {
  if (cli_parse_count(text, UINT64_MAX, place_of(args, slot))) return CLI_OK;
  return cli_usage(args->command, "--%s takes a number of bytes, not '%s'", slot->name, text);
}

/* A flag whose value is kept as it is. */
static int set_text(cli_args *args, const cli_slot *slot, const char *text) {
  if (*text == '\0') return cli_usage(args->command, "--%s is empty", slot->name);
  *(const char **)place_of(args, slot) = text;
  return CLI_OK;
}

static int set_true(cli_args *args, const cli_slot *slot, const char *text) {
  (void)text;
  *(bool *)place_of(args, slot) = true;
  return CLI_OK;
}

/* ---- the flags ---- */

typedef struct own_flag {
  unsigned bit;
  const char *name;
  char letter; /* as docker exec has them, and ls; or 0 */
  const char *metavar;
  cli_flag_set *set;
  size_t place;
  const char *help;
} own_flag;

#define SET(how, member) how, offsetof(cli_args, member)

static const own_flag own_flags[] = {
    {CLI_FLAG_STATE, "state", 0, "FILE", SET(set_text, state_file),
     "The file of the sandbox's state; - is standard input or output."},
    {CLI_FLAG_KEY_FILE, "key-file", 0, "FILE", SET(set_text, key_file),
     "Seal states with this key (HMAC-SHA-256), and read only those that are sealed with it."},
    {CLI_FLAG_FORMAT, "format", 0, "FORMAT", SET(set_text, format), "agents-json, json or text."},
    {CLI_FLAG_FORM, "format", 0, "FORMAT", SET(set_text, format),
     "json (which is the default) or text."},
    {CLI_FLAG_SHOW_ENV, "show-env", 0, NULL, SET(set_true, show_env),
     "Show the values of environment variables, too."},
    {CLI_FLAG_DRY_RUN, "dry-run", 0, NULL, SET(set_true, dry_run),
     "Change nothing; say what would be done."},
    {CLI_FLAG_IGNORE_UNKNOWN, "ignore-unknown", 0, NULL, SET(set_true, ignore_unknown),
     "Leave out names that this cofferdam does not know, and say which."},
    {CLI_FLAG_BASE, "base", 0, "FILE", SET(set_text, base_file),
     "A document of the same sandbox; what a state does not hold is kept from it."},
    {CLI_FLAG_OUT, "out", 0, "FILE", SET(set_text, out_file),
     "Write the result here; a file that is new or empty, or -."},
    {CLI_FLAG_UNPAUSE, "unpause", 0, NULL, SET(set_true, unpause),
     "Unpause the container if it is paused."},
    {CLI_FLAG_ADOPT, "adopt", 0, NULL, SET(set_true, adopt),
     "Make the container of an imported state yours, although nothing proves that it is."},
    {CLI_FLAG_INTERACTIVE, "interactive", 'i', NULL, SET(set_true, interactive),
     "Pass standard input on to the command, to its end."},
    {CLI_FLAG_TTY, "tty", 't', NULL, SET(set_true, tty), "Give the command a terminal."},
    {CLI_FLAG_DETACH, "detach", 'd', NULL, SET(set_true, detach),
     "Leave the command running, and print the key that names it."},
    {CLI_FLAG_TIMEOUT, "timeout", 0, "SECONDS", SET(set_timeout, timeout_ms),
     "Kill the command after this time; 1.5 is fine, too."},
    {CLI_FLAG_USER, "user", 'u', "USER", SET(set_text, user),
     "Run as this user: UID, UID:GID, or a name in the image."},
    {CLI_FLAG_WORKDIR, "workdir", 'w', "DIR", SET(set_text, workdir),
     "Run in this directory of the sandbox."},
    {CLI_FLAG_ENV, "env", 'e', "KEY=VALUE", SET(add_env, env),
     "Set a variable for the command, on top of the sandbox's own."},
    {CLI_FLAG_OFFSET, "offset", 0, "BYTES", SET(set_offset, stdout_offset),
     "Begin behind so many bytes of standard output."},
    {CLI_FLAG_OFFSET, "stderr-offset", 0, "BYTES", SET(set_offset, stderr_offset),
     "The same of standard error."},
    {CLI_FLAG_SIGNAL, "signal", 0, "SIGNAL", SET(set_signal, signal),
     "Send only this signal, such as INT or 2, to the process group of the command."},
    {CLI_FLAG_GRACE, "grace", 0, "SECONDS", SET(set_grace, grace_ms),
     "The time between TERM and KILL; 2 if not given."},
    {CLI_FLAG_TAR, "tar", 0, NULL, SET(set_true, tar),
     "Standard input or output is a tar archive."},
    {CLI_FLAG_KEEP_OWNER, "keep-owner", 0, NULL, SET(set_true, keep_owner),
     "Users and groups come along, as numbers."},
    {CLI_FLAG_LONG, "long", 'l', NULL, SET(set_true, long_form),
     "Also show mode, owner, size and time."},
    {CLI_FLAG_NULL, "null", '0', NULL, SET(set_true, null_ended),
     "End each name with a NUL instead of a newline."},
    {CLI_FLAG_JSON, "json", 0, NULL, SET(set_true, json), "Print JSON."},
    {CLI_FLAG_HOST, "host", 0, "ENDPOINT", SET(set_text, host),
     "The engine: unix:///PATH or tcp://HOST:PORT, instead of DOCKER_HOST."},
    {CLI_FLAG_PLAIN_TCP, "allow-plain-tcp", 0, NULL, SET(set_true, plain_tcp),
     "Allow tcp:// without TLS. Who can reach such an engine owns its machine."},
    {CLI_FLAG_VERSION, "version", 0, NULL, SET(set_true, version), "Print the version and exit."},
    {CLI_FLAG_HELP, "help", 0, NULL, SET(set_true, help), "Print this help and exit."},
};

#undef SET

#define OWN_FLAG_COUNT (sizeof own_flags / sizeof *own_flags)

static const char policy_prefix[] = "require-";
static const char policy_help[] =
    "Refuse any sandbox for which this option has another value; of limits, a lower one will do.";

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
                     .letter = flag->letter,
                     .required = flag->bit == CLI_FLAG_STATE || flag->bit == CLI_FLAG_FORMAT,
                     .repeatable = flag->bit == CLI_FLAG_ENV,
                     .set = flag->set,
                     .place = flag->place};
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
