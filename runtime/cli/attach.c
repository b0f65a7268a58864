/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "exec_live.h"
#include "help.h"
#include "ps.h"
#include "report.h"
#include "statefile.h"

static int attach(const cli_args *args, const cli_sandbox *sandbox, const cdam_process_info *info) {
  cdam_process_attachment attachment = {
      .stdout_offset = args->stdout_offset,
      .stderr_offset = args->stderr_offset,
      .input = args->interactive,
      .paced = true,
  };
  cli_live_plan plan = {
      .key = info->key,
      .attachment = &attachment,
      .interrupts = CLI_LIVE_LEAVE,
      .input = args->interactive,
      .terminal = info->terminal && args->interactive,
      .raw = info->terminal && args->interactive && isatty(STDIN_FILENO),
  };
  return cli_live_run(args, sandbox, &plan);
}

static int find_and_attach(const cli_args *args, const cli_sandbox *sandbox) {
  cdam_process_list *list = NULL;
  cdam_process_info info;
  int code = cli_find_process(args, sandbox, &list, &info);
  if (code == CLI_OK) code = attach(args, sandbox, &info);
  cdam_process_list_free(list);
  return code;
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = CLI_OK;
  if (args->interactive && cli_is_stream(args->state_file))
    code = cli_usage(args->command, "--state - and --interactive both take standard input");
  if (code == CLI_OK) code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = find_and_attach(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_attach = {
    .name = "attach",
    .usage = "--state FILE [FLAG]... KEY",
    .purpose = "Follow a command that runs detached, and end with its status.",
    .notes = "KEY is what 'exec --detach' printed; 'ps' lists them. What is kept of the output is "
             "shown from the given offsets on, and then what is written, until the command ends. "
             "Output before the offsets that is kept no more is told on stderr. While somebody "
             "follows, the command waits for a slow reader.\n"
             "Ending cofferdam, also by Ctrl-C, leaves the command running. If it has a terminal, "
             "and with --interactive standard input is one, all keys go to the command; to leave, "
             "end cofferdam by a signal.",
    .examples = "  cofferdam attach --state s.pb $key\n"
                "  cofferdam attach --state s.pb --offset 4096 $key >>log\n",
    .exits = "  The command's own, as that of exec, and exec's other ones; see\n"
             "  'cofferdam exec --help'. 125 also when there is no such process.\n",
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_INTERACTIVE | CLI_FLAG_OFFSET |
             CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_KEY,
    .takes_policy = true,
    .is_exec = true,
    .run = run,
};
