/* SPDX-License-Identifier: Apache-2.0 */
#include "ps.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "help.h"
#include "report.h"
#include "show.h"

int cli_find_process(const cli_args *args, const cli_sandbox *sandbox, cdam_process_list **list,
                     cdam_process_info *info) {
  cdam_error err;
  const char *key = args->operands[0];
  if (cdam_processes(sandbox->session, list, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  for (size_t i = 0; cdam_process_list_get(*list, i, info); i++)
    if (strcmp(info->key, key) == 0) return CLI_OK;
  cli_say("there is no process '%s' in this sandbox; see 'cofferdam ps'", key);
  return cli_failure_code(args);
}

/* ---- columns ---- */

static const char *ended_by(const cdam_process_exit *exit) {
  switch (exit->ended_by) {
  case CDAM_ENDED_ITSELF:
    return "itself";
  case CDAM_ENDED_TIMEOUT:
    return "timeout";
  case CDAM_ENDED_KILL:
    return "kill";
  case CDAM_ENDED_CLIENT_GONE:
    return "client gone";
  case CDAM_ENDED_SHUTDOWN:
    return "shutdown";
  default:
    return "unknown";
  }
}

static void format_state(const cdam_process_info *info, char *buffer, size_t size) {
  if (info->running)
    snprintf(buffer, size, "running");
  else if (info->exit.ended_by == CDAM_ENDED_TIMEOUT)
    snprintf(buffer, size, "timed out");
  else if (info->exit.code >= 0)
    snprintf(buffer, size, "exited %d", info->exit.code);
  else if (info->exit.signal > 0)
    snprintf(buffer, size, "signal %d", info->exit.signal);
  else
    snprintf(buffer, size, "ended");
}

static int put_table(const cli_args *args, const cdam_process_list *list) {
  cdam_process_info info;
  int width = 3;
  for (size_t i = 0; cdam_process_list_get(list, i, &info); i++)
    if (strlen(info.key) > (size_t)width) width = (int)strlen(info.key);
  printf("%-*s  %-7s  %-10s  %-20s  %s\n", width, "KEY", "PID", "STATE", "STARTED", "COMMAND");
  for (size_t i = 0; cdam_process_list_get(list, i, &info); i++) {
    char state[32], started[64];
    format_state(&info, state, sizeof state);
    cli_format_time(info.started / 1000, started, sizeof started);
    printf("%-*s  %-7" PRIu32 "  %-10s  %-20s  ", width, info.key, info.pid, state, started);
    cli_put_text(stdout, info.command);
    putchar('\n');
  }
  return cli_finish_stdout(args);
}

/* ---- JSON ---- */

static json_t *output_json(uint64_t begin, uint64_t end) {
  return json_pack("{s:I, s:I}", "begin", (json_int_t)begin, "end", (json_int_t)end);
}

static json_t *exit_json(const cdam_process_info *info) {
  const cdam_process_exit *exit = &info->exit;
  if (info->running) return json_null();
  return json_pack("{s:o, s:o, s:s, s:b, s:I, s:I, s:I, s:I}", "code",
                   exit->code >= 0 ? json_integer(exit->code) : json_null(), "signal",
                   exit->signal > 0 ? json_integer(exit->signal) : json_null(), "ended_by",
                   ended_by(exit), "out_of_memory", exit->out_of_memory, "user_us",
                   (json_int_t)exit->user_us, "system_us", (json_int_t)exit->system_us,
                   "elapsed_us", (json_int_t)exit->elapsed_us, "max_rss_kib",
                   (json_int_t)exit->max_rss_kib);
}

static json_t *entry_json(const cdam_process_info *info) {
  char started[64];
  cli_format_time(info->started / 1000, started, sizeof started);
  return json_pack("{s:s, s:I, s:s, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:o}", "key", info->key,
                   "pid", (json_int_t)info->pid, "started", started, "command", info->command,
                   "running", info->running, "tree_alive", info->tree_alive, "outlive",
                   info->outlive, "terminal", info->terminal, "stdout",
                   output_json(info->stdout_begin, info->stdout_end), "stderr",
                   output_json(info->stderr_begin, info->stderr_end), "exit", exit_json(info));
}

static int put_json(const cli_args *args, const cdam_process_list *list) {
  json_t *array = json_array();
  cdam_process_info info;
  bool ok = array != NULL;
  for (size_t i = 0; ok && cdam_process_list_get(list, i, &info); i++)
    ok = json_array_append_new(array, entry_json(&info)) == 0;
  ok = ok && cli_put_json(array);
  json_decref(array);
  if (!ok && !ferror(stdout)) return cli_no_memory(args);
  return cli_finish_stdout(args);
}

/* ---- the command ---- */

static int put_processes(const cli_args *args, const cli_sandbox *sandbox) {
  cdam_error err;
  cdam_process_list *list = NULL;
  if (cdam_processes(sandbox->session, &list, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  int code = args->json ? put_json(args, list) : put_table(args, list);
  cdam_process_list_free(list);
  return code;
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = put_processes(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_ps = {
    .name = "ps",
    .usage = "--state FILE [--json]",
    .purpose = "List the commands of a sandbox: running, or ended and remembered.",
    .notes = "Commands of every client, not what they started in turn. Those that were started "
             "with --detach are remembered when they have ended, the last 256 of them. KEY names "
             "one until the sandbox is stopped. COMMAND is cut to 1 KiB.\n"
             "With --json: an array of objects with key, pid, started (UTC), command, running, "
             "tree_alive (something that it started runs), outlive, terminal; stdout and stderr, "
             "each with begin and end, the offsets of what is kept; and exit, which is null while "
             "it runs, and then has code, signal, ended_by, out_of_memory, user_us, system_us, "
             "elapsed_us and max_rss_kib.",
    .examples = "  cofferdam ps --state s.pb\n"
                "  cofferdam ps --state s.pb --json | jq -r '.[] | select(.running).key'\n",
    .exits = cli_exits_sandbox,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_JSON | CLI_FLAGS_ENGINE,
    .takes_policy = true,
    .run = run,
};
