/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the CLI share: exit codes, the description of a command, and
 * its parsed arguments. The CLI stands on the public interface alone, and on the
 * generated table of option flags: it names no option of a sandbox itself.
 */
#ifndef COFFERDAM_CLI_CLI_H
#define COFFERDAM_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/cofferdam.h>

/* Of the process. For exec every other status is the command's own. */
enum cli_exit {
  CLI_OK = 0,
  CLI_DIFFERENT = 1,
  CLI_USAGE = 2,
  CLI_INVALID = 10,
  CLI_DRIFT = 11,
  CLI_ENGINE = 12,
  CLI_TIMED_OUT = 124,
  CLI_EXEC_FAILED = 125
};

/* The flags that are the CLI's own. A command takes a set of them. */
enum cli_flag_bit {
  CLI_FLAG_STATE = 1 << 0,
  CLI_FLAG_KEY_FILE = 1 << 1,
  CLI_FLAG_OUT = 1 << 2,
  CLI_FLAG_UNPAUSE = 1 << 3,
  CLI_FLAG_TIMEOUT = 1 << 4,
  CLI_FLAG_USER = 1 << 5,
  CLI_FLAG_WORKDIR = 1 << 6,
  CLI_FLAG_ENV = 1 << 7,
  CLI_FLAG_JSON = 1 << 8,
  CLI_FLAG_HOST = 1 << 9,
  CLI_FLAG_PLAIN_TCP = 1 << 10,
  CLI_FLAG_VERSION = 1 << 11,
  CLI_FLAG_HELP = 1 << 12,
  CLI_FLAG_ADOPT = 1 << 13,
  CLI_FLAG_FORMAT = 1 << 14,
  CLI_FLAG_BASE = 1 << 15,
  CLI_FLAG_FORM = 1 << 16,
  CLI_FLAG_SHOW_ENV = 1 << 17,
  CLI_FLAG_IGNORE_UNKNOWN = 1 << 18,
  CLI_FLAG_INTERACTIVE = 1 << 19,
  CLI_FLAG_TTY = 1 << 20,
  CLI_FLAG_DETACH = 1 << 21,
  CLI_FLAG_OFFSET = 1 << 22, /* and --stderr-offset */
  CLI_FLAG_SIGNAL = 1 << 23,
  CLI_FLAG_GRACE = 1 << 24,
  CLI_FLAG_DRY_RUN = 1 << 25,
  CLI_FLAG_TAR = 1 << 26,
  CLI_FLAG_KEEP_OWNER = 1 << 27,
  CLI_FLAG_LONG = 1 << 28,
  CLI_FLAG_NULL = 1 << 29
};

/* The flags of every command that talks to an engine. */
#define CLI_FLAGS_ENGINE (CLI_FLAG_HOST | CLI_FLAG_PLAIN_TCP)

typedef enum cli_operands {
  CLI_OPERANDS_NONE,
  CLI_OPERANDS_FILE,   /* exactly one, before or after the flags */
  CLI_OPERANDS_FILES,  /* exactly two */
  CLI_OPERANDS_KEY,    /* exactly one, of a process */
  CLI_OPERANDS_COPY,   /* exactly two, where from and where to */
  CLI_OPERANDS_PATH,   /* at most one, in the sandbox */
  CLI_OPERANDS_PATHS,  /* one or more, in the sandbox */
  CLI_OPERANDS_COMMAND /* one or more; flags end at the first */
} cli_operands;

typedef struct cli_args cli_args;

typedef struct cli_command {
  const char *name; /* "create", "state show"; "" for what stands before the command */
  const char *usage;
  const char *purpose;
  const char *notes;    /* or NULL */
  const char *examples; /* or NULL */
  const char *exits;
  unsigned flags;
  cli_operands operands;
  bool takes_options; /* the options of a sandbox, from the table */
  bool takes_policy;  /* --require-NAME for each option that isolates */
  bool is_exec;       /* own failures are CLI_EXEC_FAILED */
  int (*run)(cli_args *args);
} cli_command;

struct cli_args {
  const cli_command *command;
  const char *state_file;
  const char *key_file;
  const char *out_file;
  const char *format;
  const char *base_file;
  const char *user;
  const char *workdir;
  const char *host;
  const char **env; /* ends in NULL; borrowed strings; or NULL */
  size_t env_count;
  int64_t timeout_ms;
  int64_t grace_ms; /* -1: not given */
  uint64_t stdout_offset;
  uint64_t stderr_offset;
  int signal; /* 0: not given */
  bool interactive;
  bool tty;
  bool detach;
  bool show_env;
  bool ignore_unknown;
  bool dry_run;
  bool tar;
  bool keep_owner;
  bool long_form;
  bool null_ended;
  bool unpause;
  bool adopt;
  bool json;
  bool plain_tcp;
  bool version;
  bool help;
  cdam_options *options; /* owned; for a command that takes them */
  cdam_options *policy;  /* owned; NULL when nothing is demanded */
  char **operands;       /* borrowed; ends in NULL after operand_count */
  int operand_count;
};

extern const cli_command cli_create;
extern const cli_command cli_resume;
extern const cli_command cli_exec;
extern const cli_command cli_ps;
extern const cli_command cli_attach;
extern const cli_command cli_logs;
extern const cli_command cli_kill;
extern const cli_command cli_cp;
extern const cli_command cli_ls;
extern const cli_command cli_cat;
extern const cli_command cli_state_show;
extern const cli_command cli_state_check;
extern const cli_command cli_state_diff;
extern const cli_command cli_state_seal;
extern const cli_command cli_state_verify;
extern const cli_command cli_state_import;
extern const cli_command cli_state_export;
extern const cli_command cli_list;
extern const cli_command cli_reap;
extern const cli_command cli_rm;

#endif
