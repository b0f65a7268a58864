/* SPDX-License-Identifier: Apache-2.0 */
#include "cp.h"

#include <inttypes.h>
#include <string.h>

#include "files.h"
#include "report.h"
#include "statefile.h"

int cli_copy_report(uint64_t skipped) {
  if (!skipped) return CLI_OK;
  cli_say("%" PRIu64 " left out: sockets, devices, or links that lead out of what was copied",
          skipped);
  return CLI_FILE_FAILED;
}

static int check(const cli_args *args) {
  const cli_command *command = args->command;
  bool first = cli_is_inside(args->operands[0]);
  if (first == cli_is_inside(args->operands[1]))
    return cli_usage(command, "one of the two must be :PATH, in the sandbox; a file of this "
                              "machine whose name begins with a colon is ./:NAME");
  bool streams = cli_is_stream(args->operands[first ? 1 : 0]);
  if (args->tar && !streams)
    return cli_usage(command, "--tar reads standard input or writes standard output: give -");
  if (streams && !first && cli_is_stream(args->state_file))
    return cli_usage(command, "--state - and SRC - both take standard input");
  return CLI_OK;
}

static int run(cli_args *args) {
  int code = check(args);
  if (code != CLI_OK) return code;
  cli_sandbox sandbox = {0};
  cli_copy copy = {.args = args, .sandbox = &sandbox, .up = cli_is_inside(args->operands[1])};
  copy.inside = cli_inside(args->operands[copy.up ? 1 : 0]);
  copy.local = args->operands[copy.up ? 0 : 1];
  code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK)
    code = cli_is_stream(copy.local) ? cli_copy_stream(&copy) : cli_copy_run(&copy);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_cp = {
    .name = "cp",
    .usage = "--state FILE [--tar] [--keep-owner] SRC DST",
    .purpose = "Copy files and directories into a sandbox, or out of it.",
    .notes =
        "One of SRC and DST is :PATH, in the sandbox: relative to the workspace, or absolute "
        "within "
        "it; ':' is the workspace. The other one is a path here. When DST is a directory, SRC "
        "becomes something in it under its own name; otherwise DST becomes a copy of SRC. What is "
        "in a directory is copied into another one by SRC/. , and merged with what is there. "
        "Existing files are replaced.\n"
        "Directories need no flag. Modes and times come along; owners do with --keep-owner. Links "
        "are copied as links, SRC too, unless a slash ends it; sockets and devices are left out. "
        "Out of a sandbox come no set-id bits, no link is followed in what is written here, and "
        "links that would lead out of the copy are left out. Of what was left out a line on stderr "
        "says how much, and the status is 1.\n"
        "A file has a temporary name until it is complete (in the sandbox: a single file), so that "
        "Ctrl-C leaves no half one under its name.\n"
        "'-' is standard input or output, for the content of one file. With --tar it is a tar "
        "archive: into the directory :PATH, which is made like those above it if it is missing "
        "(any format that "
        "libarchive reads, compressed or not); or out of :PATH (pax, in which a directory is ./). "
        "A directory to '-' is always an archive. An archive has links and modes as they are in "
        "the sandbox.",
    .examples = "  cofferdam cp --state s.pb src :\n"
                "  cofferdam cp --state s.pb src/. :project\n"
                "  cofferdam cp --state s.pb :out/result.json .\n"
                "  cofferdam cp --state s.pb :out/log - | tail\n"
                "  git archive HEAD | cofferdam cp --tar --state s.pb - :src\n"
                "  cofferdam cp --state s.pb : - | zstd >workspace.tar.zst\n",
    .exits = cli_exits_files,
    .flags =
        CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_TAR | CLI_FLAG_KEEP_OWNER | CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_COPY,
    .takes_policy = true,
    .run = run,
};
