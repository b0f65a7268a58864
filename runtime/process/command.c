/* SPDX-License-Identifier: Apache-2.0 */
#include "process/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define MAX_LIMITS 16
#define MAX_USER 255
#define MAX_DIRECTORY 4095
#define MAX_RETAIN (4u * 1024 * 1024)

typedef Cofferdam__Agent__V1__Start start_message;
typedef Cofferdam__Agent__V1__ResourceLimit limit_message;
typedef Cofferdam__Agent__V1__Size size_message;

/* ---- checking ---- */

static const char *wrong_with_terminal(const cdam_process_command *command) {
  if (command->terminal) {
    bool streams = command->join_stderr || command->discard_stdout || command->discard_stderr;
    return streams ? "a terminal has one output: no join_stderr and no discard" : NULL;
  }
  if (command->rows || command->columns) return "rows and columns are of a terminal";
  if (command->join_stderr && command->discard_stderr)
    return "stderr is joined or discarded, not both";
  return NULL;
}

static const char *wrong_with_limits(const cdam_process_command *command) {
  if (command->limit_count > MAX_LIMITS) return "it has more than 16 limits";
  if (command->limit_count && !command->limits) return "its limits are NULL";
  for (size_t i = 0; i < command->limit_count; i++) {
    const cdam_process_limit *limit = &command->limits[i];
    if (limit->resource < 0 || limit->resource > 15) return "a limit's resource is none of Linux's";
    if (limit->soft > limit->hard) return "a soft limit is above its hard one";
  }
  return NULL;
}

static const char *wrong_with(const cdam_process_command *command) {
  if (!command->argv || !command->argv[0]) return "its argv is empty";
  if (!*command->argv[0]) return "its argv[0] is an empty string";
  if (command->user && (!*command->user || strlen(command->user) > MAX_USER))
    return "its user is empty or too long";
  if (command->workdir && command->workdir[0] != '/') return "its workdir is no absolute path";
  if (command->workdir && strlen(command->workdir) > MAX_DIRECTORY)
    return "its workdir is too long";
  if (command->timeout_ms < 0) return "its timeout_ms is negative";
  if (command->retain > MAX_RETAIN) return "more than 4 MiB cannot be retained";
  for (size_t i = 0; i < sizeof command->reserved / sizeof *command->reserved; i++)
    if (command->reserved[i]) return "a reserved member is not false";
  const char *wrong = wrong_with_terminal(command);
  return wrong ? wrong : wrong_with_limits(command);
}

cdam_status cdam_process_check_command(const cdam_process_command *command, cdam_error *err) {
  const char *wrong = wrong_with(command);
  if (wrong) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the command cannot be run: %s", wrong);
  for (size_t i = 0; command->env && command->env[i]; i++)
    if (command->env[i][0] == '=' || !strchr(command->env[i], '='))
      return cdam_fail(err, CDAM_ERR_ARGUMENT, "env[%zu] is not KEY=VALUE", i);
  return CDAM_OK;
}

const char *cdam_process_member_of(int step) {
  switch (step) {
  case COFFERDAM__AGENT__V1__STEP__STEP_EXEC:
    return "argv";
  case COFFERDAM__AGENT__V1__STEP__STEP_DIRECTORY:
    return "workdir";
  case COFFERDAM__AGENT__V1__STEP__STEP_USER:
  case COFFERDAM__AGENT__V1__STEP__STEP_GROUPS:
    return "user";
  case COFFERDAM__AGENT__V1__STEP__STEP_LIMITS:
    return "limits";
  case COFFERDAM__AGENT__V1__STEP__STEP_TERMINAL:
    return "terminal";
  default:
    return "";
  }
}

/* ---- the request: one block, the structs first and the bytes behind them ---- */

typedef struct block {
  start_message start;
  size_message size;
  limit_message limits[MAX_LIMITS];
  limit_message *limit_pointers[MAX_LIMITS];
  ProtobufCBinaryData texts[]; /* argv and env */
} block;

static size_t count_texts(const char *const *texts, size_t *bytes) {
  size_t count = 0;
  for (; texts && texts[count]; count++)
    *bytes += strlen(texts[count]);
  return count;
}

static char *put_text(char *at, ProtobufCBinaryData *to, const char *text) {
  to->len = text ? strlen(text) : 0;
  to->data = (uint8_t *)at;
  if (to->len) memcpy(at, text, to->len);
  return at + to->len;
}

static char *put_texts(char *at, ProtobufCBinaryData *to, const char *const *texts, size_t count) {
  for (size_t i = 0; i < count; i++)
    at = put_text(at, &to[i], texts[i]);
  return at;
}

static void put_limits(block *all, const cdam_process_command *command) {
  for (size_t i = 0; i < command->limit_count; i++) {
    limit_message *limit = &all->limits[i];
    cofferdam__agent__v1__resource_limit__init(limit);
    limit->resource = (uint32_t)command->limits[i].resource;
    limit->soft = command->limits[i].soft;
    limit->hard = command->limits[i].hard;
    all->limit_pointers[i] = limit;
  }
  all->start.limits = all->limit_pointers;
  all->start.n_limits = command->limit_count;
}

static void put_size(block *all, const cdam_process_command *command) {
  if (!command->terminal) return;
  cofferdam__agent__v1__size__init(&all->size);
  all->size.rows = command->rows ? command->rows : 24;
  all->size.columns = command->columns ? command->columns : 80;
  all->start.size = &all->size;
}

static void put_flags(start_message *start, const cdam_process_command *command) {
  start->inherit_env = !command->clear_env;
  start->no_new_privileges = command->no_new_privileges;
  start->terminal = command->terminal;
  start->input = command->input;
  start->discard_output = command->discard_stdout;
  start->discard_error = command->discard_stderr;
  start->join_error = command->join_stderr;
  start->outlive = command->outlive;
  start->retain = command->retain;
  start->timeout_ms =
      (uint64_t)(command->timeout_ms < CDAM_LONGEST_TIMEOUT_MS ? command->timeout_ms
                                                               : CDAM_LONGEST_TIMEOUT_MS);
  start->grace_ms = command->grace_ms;
  start->kill_rest = command->kill_rest;
}

start_message *cdam_process_make_start(const cdam_process_command *command) {
  size_t bytes = 0;
  size_t argc = count_texts(command->argv, &bytes);
  size_t envc = count_texts(command->env, &bytes);
  if (command->user) bytes += strlen(command->user);
  if (command->workdir) bytes += strlen(command->workdir);
  block *all = malloc(sizeof *all + (argc + envc) * sizeof *all->texts + bytes);
  if (!all) return NULL;
  start_message *start = &all->start;
  cofferdam__agent__v1__start__init(start);
  start->argv = all->texts;
  start->n_argv = argc;
  start->env = all->texts + argc;
  start->n_env = envc;
  char *at = (char *)(all->texts + argc + envc);
  at = put_texts(at, start->argv, command->argv, argc);
  at = put_texts(at, start->env, command->env, envc);
  at = put_text(at, &start->user, command->user);
  put_text(at, &start->directory, command->workdir);
  put_limits(all, command);
  put_size(all, command);
  put_flags(start, command);
  return start;
}
