/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "exec_live.h"
#include "help.h"
#include "report.h"
#include "statefile.h"
#include "terminal.h"

static cdam_process_command command_of(const cli_args *args) {
  cdam_process_command command = {
      .argv = (const char *const *)args->operands,
      .env = args->env,
      .user = args->user,
      .workdir = args->workdir,
      .timeout_ms = args->timeout_ms,
      .grace_ms = 500,
      .terminal = args->tty,
      .input = args->interactive,
      .outlive = args->detach,
  };
  if (args->tty) cli_terminal_size(&command.rows, &command.columns);
  return command;
}

static int start_detached(const cli_args *args, const cli_sandbox *sandbox) {
  if (!cdam_session_has_agent(sandbox->session)) {
    cli_say("this sandbox has no agent, without which there is no --detach; leave it out, or "
            "create a new sandbox");
    return CLI_EXEC_FAILED;
  }
  cdam_error err;
  cdam_process *process = NULL;
  cdam_process_command command = command_of(args);
  cdam_status status = cdam_process_spawn(sandbox->session, &command, &process, &err);
  if (status == CDAM_ERR_NOT_STARTED) return cli_not_started(&command, &err);
  if (status != CDAM_OK) return cli_fail(args, &err, NULL);
  printf("%s\n", cdam_process_key(process));
  int code = cli_finish_stdout(args);
  /* Nobody knows it then. */
  if (code != CLI_OK && cdam_process_kill(process, 0, &err) != CDAM_OK) cli_fail(args, &err, NULL);
  cdam_process_free(process);
  return code;
}

static int execute(const cli_args *args, const cli_sandbox *sandbox) {
  if (args->detach) return start_detached(args, sandbox);
  bool raw = args->tty && args->interactive;
  cdam_process_command command = command_of(args);
  cli_live_plan plan = {
      .command = &command,
      .interrupts = raw ? CLI_LIVE_LEAVE : CLI_LIVE_PASS_ON,
      .input = args->interactive,
      .terminal = args->tty,
      .raw = raw,
  };
  return cli_live_run(args, sandbox, &plan);
}

static int check_input(const cli_args *args) {
  if (!args->interactive || args->detach) return CLI_OK;
  if (cli_is_stream(args->state_file))
    return cli_usage(args->command, "--state - and --interactive both take standard input");
  if (args->tty && !isatty(STDIN_FILENO))
    return cli_usage(args->command, "the input device is not a TTY; leave out --tty");
  return CLI_OK;
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = check_input(args);
  if (code == CLI_OK) code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = execute(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_exec = {
    .name = "exec",
    .usage = "--state FILE [FLAG]... -- CMD [ARG]...",
    .purpose = "Run a command in a sandbox, and end with its status.",
    .notes =
        "The container is checked against the state as by resume. One that is stopped is started; "
        "one that is gone is not made again, and FILE is never written. Flags end at '--' or at "
        "CMD. Output comes as it is written. Without --interactive the command has no standard "
        "input.\n"
        "With -it the terminal here is that of the command: every key goes to it, Ctrl-C too, and "
        "no keys detach. Otherwise INT, TERM and HUP are passed on to the command and what it "
        "started; the second INT kills it. When cofferdam ends in any other way, the command is "
        "killed, unless it was started with --detach.\n"
        "The time for --timeout starts with the command. Children that a command leaves running "
        "live on; while they write to its output, cofferdam does not end before they are silent "
        "for two seconds.\n"
        "With --detach the command outlives cofferdam: see ps, attach, logs and kill. The last 128 "
        "KiB of each of its outputs are kept.\n"
        "A sandbox without the agent (an adopted one) runs commands by the engine's exec: no "
        "--detach; signals and --timeout need a shell in the image, and may miss what hides from "
        "it; and when cofferdam is killed, the command runs on.",
    .examples = "  cofferdam exec --state s.pb -- ip addr\n"
                "  cofferdam exec -it --state s.pb -- sh\n"
                "  tar -c src | cofferdam exec -i --state s.pb -- tar -x\n"
                "  cofferdam exec --state s.pb --timeout 1.5 --user 1000 --workdir /tmp \\\n"
                "      --env LANG=C -- sh -c 'make check'\n"
                "  key=$(cofferdam exec --detach --state s.pb -- ./train)\n"
                "  cofferdam exec --state - -- id <s.pb\n",
    .exits = "  The command's own, as it is; 128+N after signal N. Besides:\n"
             "  2    wrong usage\n"
             "  10   the state or the key is refused, or cannot be read\n"
             "  11   drift: the container is not what the state says, or somebody else's\n"
             "  124  the command was timed out\n"
             "  125  cofferdam itself failed: the engine, or a sandbox that is gone or paused\n"
             "  126  the command cannot be run\n"
             "  127  the command was not found\n"
             "  Where one is cofferdam's own, a line 'cofferdam: ...' on stderr says so.\n"
             "  To tell them apart by status alone, ask 'cofferdam resume' first.\n",
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_TIMEOUT | CLI_FLAG_USER |
             CLI_FLAG_WORKDIR | CLI_FLAG_ENV | CLI_FLAG_INTERACTIVE | CLI_FLAG_TTY |
             CLI_FLAG_DETACH | CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_COMMAND,
    .takes_policy = true,
    .is_exec = true,
    .run = run,
};
