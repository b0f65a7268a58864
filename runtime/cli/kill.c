/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"
#include "report.h"
#include "sandbox.h"

enum { GRACE_MS = 2000 };

static cdam_status end(const cli_args *args, cdam_process *process, cdam_error *err) {
  if (args->signal) return cdam_process_signal(process, args->signal, CDAM_TARGET_GROUP, err);
  uint32_t grace_ms = args->grace_ms < 0 ? GRACE_MS : (uint32_t)args->grace_ms;
  return cdam_process_kill(process, grace_ms, err);
}

static int kill_it(const cli_args *args, const cli_sandbox *sandbox) {
  cdam_error err;
  cdam_process *process = NULL;
  cdam_process_attachment nothing = {.no_output = true};
  cdam_status status =
      cdam_process_attach(sandbox->session, args->operands[0], &nothing, &process, &err);
  if (status == CDAM_OK) status = end(args, process, &err);
  cdam_process_free(process);
  return status == CDAM_OK ? CLI_OK : cli_fail(args, &err, NULL);
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = CLI_OK;
  if (args->signal && args->grace_ms >= 0)
    code = cli_usage(args->command, "--signal and --grace do not go together");
  if (code == CLI_OK) code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = kill_it(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_kill = {
    .name = "kill",
    .usage = "--state FILE [FLAG]... KEY",
    .purpose = "End a command and all that it started, or send it a signal.",
    .notes = "KEY is what 'exec --detach' printed; 'ps' lists them. Everything that descends from "
             "the command gets TERM and, after the time of --grace, KILL; cofferdam waits until "
             "all of it is gone. One that has ended already is fine.\n"
             "With --signal its process group gets that signal, and nothing is waited for. That a "
             "command has ended is an error then.",
    .examples = "  cofferdam kill --state s.pb $key\n"
                "  cofferdam kill --state s.pb --grace 0 $key\n"
                "  cofferdam kill --state s.pb --signal USR1 $key\n",
    .exits = cli_exits_sandbox,
    .flags =
        CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_SIGNAL | CLI_FLAG_GRACE | CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_KEY,
    .takes_policy = true,
    .run = run,
};
