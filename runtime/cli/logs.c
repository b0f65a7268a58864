/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_live.h"
#include "help.h"
#include "ps.h"
#include "report.h"

static int show(const cli_args *args, const cli_sandbox *sandbox) {
  cdam_process_list *list = NULL;
  cdam_process_info info;
  int code = cli_find_process(args, sandbox, &list, &info);
  if (code == CLI_OK) {
    cdam_process_attachment attachment = {
        .stdout_offset = args->stdout_offset,
        .stderr_offset = args->stderr_offset,
    };
    cli_live_plan plan = {
        .key = info.key,
        .attachment = &attachment,
        .interrupts = CLI_LIVE_LEAVE,
        .until = true,
        .stdout_until = info.stdout_end,
        .stderr_until = info.stderr_end,
    };
    code = cli_live_run(args, sandbox, &plan);
  }
  cdam_process_list_free(list);
  return code;
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = show(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_logs = {
    .name = "logs",
    .usage = "--state FILE [FLAG]... KEY",
    .purpose = "Show what is kept of the output of a command that runs detached.",
    .notes = "KEY is what 'exec --detach' printed; 'ps' lists them. Shows what has been written up "
             "to now, from the given offsets on, and does not wait: see attach for that. Output "
             "behind the offsets that is kept no more is told on stderr. An offset beyond what has "
             "been written is an error.",
    .examples = "  cofferdam logs --state s.pb $key\n"
                "  cofferdam logs --state s.pb --offset $(stat -c %s log) $key >>log\n",
    .exits = cli_exits_sandbox,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_OFFSET | CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_KEY,
    .takes_policy = true,
    .run = run,
};
