/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

const char cli_exits_files[] =
    "  0   done\n"
    "  1   a file could not be read or written, here or in the sandbox, or\n"
    "      something was left out\n"
    "  2   wrong usage\n"
    "  10  the state or the key is refused, or cannot be read\n"
    "  11  drift: the container is not what the state says, or somebody else's\n"
    "  12  the engine failed, or a sandbox that is gone or paused, or has no agent\n";

bool cli_is_inside(const char *operand) {
  return *operand == ':';
}

const char *cli_inside(const char *operand) {
  return cli_is_inside(operand) ? operand + 1 : operand;
}

int cli_fail_file(const cli_args *args, const cdam_error *err) {
  switch (err->code) {
  case CDAM_ERR_OUTSIDE:
    cli_say("%s; only what is in the workspace can be reached", err->message);
    return CLI_FILE_FAILED;
  case CDAM_ERR_FILE:
  case CDAM_ERR_IO:
  case CDAM_ERR_LIMIT:
    cli_say("%s", err->message);
    return CLI_FILE_FAILED;
  default:
    return cli_fail(args, err, NULL);
  }
}

/* ---- standard output ---- */

static bool put(void *user, const void *bytes, size_t length) {
  cli_output *output = user;
  const char *at = bytes;
  while (length) {
    ssize_t n = write(STDOUT_FILENO, at, length);
    if (n < 0 && errno == EAGAIN)
      poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) {
      output->error = n < 0 ? errno : EIO;
      return false;
    }
    at += n;
    length -= (size_t)n;
  }
  return true;
}

cdam_sink cli_stdout_sink(cli_output *output) {
  return (cdam_sink){.write = put, .user = output};
}

int cli_output_failure(const cli_output *output) {
  if (!output->error) return CLI_OK;
  cli_say("cannot write to standard output: %s; check where it goes", strerror(output->error));
  return CLI_FILE_FAILED;
}
