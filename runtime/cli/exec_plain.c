/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_plain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

static const size_t output_cap = 64 * 1024 * 1024;

static int put_output(const cli_args *args, const char *name, FILE *stream, const char *bytes,
                      size_t length, uint64_t total) {
  bool ok = fwrite(bytes, 1, length, stream) == length && fflush(stream) == 0;
  if (!ok) {
    cli_say("cannot write the command's %s: %s; check where it goes", name, strerror(errno));
    return cli_failure_code(args);
  }
  if (total > length)
    cli_say("the command's %s is cut: %zu of %" PRIu64 " bytes are kept; send it to a file instead",
            name, length, total);
  return CLI_OK;
}

/* Engines disagree: for a program that is not there some say 126, others 127. Shells, and
 * Docker's own manual, call it 127. */
static int not_started_code(const cdam_exec_result *result, const char *why) {
  bool missing = strstr(why, "executable file not found") ||
                 (strstr(why, "exec: ") && strstr(why, "no such file or directory"));
  return missing && !strstr(why, "chdir") ? 127 : cdam_exec_result_exit_code(result);
}

static int say_not_started(const cdam_exec_result *result, const char *program) {
  const char *why = cdam_exec_result_stderr(result, NULL);
  if (!why) why = ""; /* it never is; the sanitizers' build cannot know */
  int length = (int)strcspn(why, "\r\n");
  cli_say("%s could not be started%s%.*s; check the command, --user and --workdir", program,
          length ? ": " : "", length, why);
  return not_started_code(result, why);
}

static int say_timed_out(const cdam_exec_result *result) {
  if (cdam_exec_result_still_running(result))
    cli_say("timed out, and the command could not be killed; "
            "end it with 'cofferdam rm', or by stopping the container");
  else
    cli_say("timed out; the command was killed: give it more with --timeout");
  return CLI_TIMED_OUT;
}

static int show(const cli_args *args, const cdam_exec_result *result) {
  if (cdam_exec_result_not_started(result)) return say_not_started(result, args->operands[0]);
  size_t length = 0;
  const char *bytes = cdam_exec_result_stdout(result, &length);
  int code =
      put_output(args, "stdout", stdout, bytes, length, cdam_exec_result_stdout_total(result));
  bytes = cdam_exec_result_stderr(result, &length);
  int second =
      put_output(args, "stderr", stderr, bytes, length, cdam_exec_result_stderr_total(result));
  if (cdam_exec_result_timed_out(result)) return say_timed_out(result);
  if (code == CLI_OK) code = second;
  return code == CLI_OK ? cdam_exec_result_exit_code(result) : code;
}

int cli_exec_plain(const cli_args *args, cdam_session *session) {
  cdam_exec_command command = {
      .argv = (const char *const *)args->operands,
      .env = args->env,
      .user = args->user,
      .workdir = args->workdir,
      .timeout_ms = args->timeout_ms,
      .output_cap = output_cap,
  };
  cdam_exec_result *result = NULL;
  cdam_error err;
  int code;
  if (cdam_exec(session, &command, &result, &err) != CDAM_OK)
    code = cli_fail(args, &err, NULL);
  else
    code = show(args, result);
  cdam_exec_result_free(result);
  return code;
}
