/* SPDX-License-Identifier: Apache-2.0 */

#include "files.h"
#include "report.h"
#include "sandbox.h"

static int put_file(const cli_args *args, const cli_sandbox *sandbox, const char *path) {
  cli_output output = {0};
  cdam_sink sink = cli_stdout_sink(&output);
  cdam_error err;
  if (cdam_file_read_to(sandbox->session, path, 0, 0, &sink, &err) == CDAM_OK) return CLI_OK;
  int code = cli_output_failure(&output);
  return code == CLI_OK ? cli_fail_file(args, &err) : code;
}

static int put_all(const cli_args *args, const cli_sandbox *sandbox) {
  int code = CLI_OK;
  for (int i = 0; i < args->operand_count; i++) {
    int one = put_file(args, sandbox, cli_inside(args->operands[i]));
    if (one != CLI_OK) code = one;
    if (one != CLI_OK && one != CLI_FILE_FAILED) break;
  }
  return code;
}

static int run(cli_args *args) {
  cli_sandbox sandbox = {0};
  int code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = put_all(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_cat = {
    .name = "cat",
    .usage = "--state FILE [:]PATH...",
    .purpose = "Write files of a sandbox to standard output.",
    .notes = "A PATH is relative to the workspace, or absolute within it; a colon before it is "
             "allowed, as in cp. Links are followed as long as they stay in the workspace. After a "
             "file that cannot be read the next ones are written all the same.",
    .examples = "  cofferdam cat --state s.pb result.json\n"
                "  cofferdam cat --state s.pb :logs/1 :logs/2 | less\n",
    .exits = cli_exits_files,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_PATHS,
    .takes_policy = true,
    .run = run,
};
