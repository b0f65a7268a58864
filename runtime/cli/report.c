/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "show.h"
#include "statefile.h"

__attribute__((format(printf, 1, 0))) static void put_line(const char *format, va_list args,
                                                           const char *tail) {
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0) text = NULL;
  fputs("cofferdam: ", stderr);
  cli_put_text(stderr, text ? text : "out of memory");
  if (tail) cli_put_text(stderr, tail);
  fputc('\n', stderr);
  free(text);
}

void cli_say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_line(format, args, NULL);
  va_end(args);
}

int cli_usage(const cli_command *command, const char *format, ...) {
  char tail[80];
  bool named = command && command->name[0];
  snprintf(tail, sizeof tail, "; see 'cofferdam %s%s--help'", named ? command->name : "",
           named ? " " : "");
  va_list args;
  va_start(args, format);
  put_line(format, args, tail);
  va_end(args);
  return CLI_USAGE;
}

int cli_failure_code(const cli_args *args) {
  return args->command->is_exec ? CLI_EXEC_FAILED : CLI_ENGINE;
}

int cli_no_memory(const cli_args *args) {
  cli_say("out of memory; try again when the machine has some");
  return cli_failure_code(args);
}

static int exit_code(const cli_args *args, cdam_status code, const char *source) {
  switch (code) {
  case CDAM_OK:
    return CLI_OK;
  case CDAM_ERR_ARGUMENT:
    return source ? CLI_INVALID : CLI_USAGE;
  case CDAM_ERR_IO:
    return source ? CLI_INVALID : cli_failure_code(args);
  case CDAM_ERR_INVALID:
  case CDAM_ERR_MALFORMED:
  case CDAM_ERR_SEAL:
  case CDAM_ERR_UNSUPPORTED:
  case CDAM_ERR_POLICY:
  case CDAM_ERR_EXPIRED:
    return CLI_INVALID;
  case CDAM_ERR_DRIFT:
  case CDAM_ERR_NOT_OURS:
    return CLI_DRIFT;
  default:
    return cli_failure_code(args);
  }
}

static const char *seal_advice(const cli_args *args) {
  if (args->key_file) return "use an intact copy, or the key that it was sealed with";
  return "use an intact copy, or give its key with --key-file";
}

static const char *drift_advice(const cli_args *args) {
  if (args->command->takes_options) return "nothing was left behind; do not trust this engine";
  return "nothing was changed; look at the container, or give it up with 'cofferdam rm'";
}

static const char *missing_advice(const cli_args *args) {
  if (args->command->takes_options) return "name an image that the engine has or can pull";
  if (args->command->is_exec) return "bring it back with 'cofferdam resume' first";
  return "look at what there is with 'cofferdam list'";
}

static const char *exited_advice(const cli_args *args) {
  if (args->command->takes_options) return "nothing was left behind";
  if (args->command->is_exec) return "bring it back with 'cofferdam resume' first";
  return "see with 'docker inspect' how it ended, or give it up with 'cofferdam rm'";
}

static const char *not_ours_advice(const cli_args *args) {
  if ((args->command->flags & CLI_FLAG_ADOPT) && !args->adopt)
    return "nothing was changed; make sure that the state and the engine belong together, and "
           "for an imported state see --adopt";
  return "nothing was changed; make sure that the state and the engine belong together";
}

/* What to do next, or NULL where the help says it. */
static const char *advice(const cli_args *args, cdam_status code) {
  switch (code) {
  case CDAM_ERR_INVALID:
    if (args->command->takes_options) return "see 'cofferdam create --help'";
    return "use an intact copy, or create a new sandbox";
  case CDAM_ERR_MALFORMED:
    return "use an intact copy, or create a new sandbox";
  case CDAM_ERR_SEAL:
    return seal_advice(args);
  case CDAM_ERR_UNSUPPORTED:
    return "use a newer cofferdam";
  case CDAM_ERR_POLICY:
    if (args->command->takes_options) return "ask for what --require-... demands";
    return "nothing was done; use another sandbox, or demand less";
  case CDAM_ERR_EXPIRED:
    return "create a new one; 'cofferdam reap' removes what is left of such";
  case CDAM_ERR_DRIFT:
    return drift_advice(args);
  case CDAM_ERR_NOT_OURS:
    return not_ours_advice(args);
  case CDAM_ERR_PAUSED:
    return "'cofferdam resume --unpause' does so";
  case CDAM_ERR_NOT_FOUND:
    return missing_advice(args);
  case CDAM_ERR_EXITED:
    return exited_advice(args);
  case CDAM_ERR_CONNECT:
    return "--host names another one";
  case CDAM_ERR_TIMEOUT:
    return "see whether the engine is well, and try again";
  case CDAM_ERR_PROTOCOL:
    return "see whether that is a Docker engine, and try again";
  case CDAM_ERR_API_VERSION:
    return "use another engine, or another release of cofferdam";
  case CDAM_ERR_PULL:
    return "check the name and the registry, or load the image into the engine";
  case CDAM_ERR_OTHER_ENGINE:
    return "use --host or DOCKER_HOST to reach the engine that it was made on";
  case CDAM_ERR_NO_MEMORY:
    return "try again when the machine has some";
  case CDAM_ERR_NO_PROCESS:
    return "see 'cofferdam ps' for those that there are";
  case CDAM_ERR_NO_AGENT:
    return "a sandbox that is created anew has one";
  case CDAM_ERR_AGENT:
    return "see whether the sandbox is well, and try again";
  case CDAM_ERR_LIMIT:
    return "end something in the sandbox, and try again";
  default:
    return NULL;
  }
}

static const char *system_advice(cdam_status code, const char *source) {
  if (code == CDAM_ERR_IO && source) return "check that path and its permissions";
  if (code == CDAM_ERR_ARGUMENT && source) return "check that file";
  return NULL;
}

/* The failure before may have come with one at cleaning up. */
static const char *left_behind_advice(const cdam_error *err) {
  if (strstr(err->message, " could not be removed: ")) return "remove it by hand";
  if (strstr(err->message, " could not be stopped again: ") ||
      strstr(err->message, " could not be paused again: "))
    return "stop it by hand, or give it up with 'cofferdam rm'";
  return NULL;
}

int cli_fail(const cli_args *args, const cdam_error *err, const char *source) {
  const char *next = left_behind_advice(err);
  if (!next) next = system_advice(err->code, source);
  if (!next) next = advice(args, err->code);
  if (!next) {
    cli_usage(args->command, "%s", err->message);
    return exit_code(args, err->code, source);
  }
  bool named = !source || cli_is_stream(source) || strstr(err->message, source);
  size_t length = strlen(err->message);
  bool asks = length && err->message[length - 1] == '?';
  cli_say("%s%s%s%s %s", named ? "" : source, named ? "" : ": ", err->message, asks ? "" : ";",
          next);
  return exit_code(args, err->code, source);
}

int cli_finish_stdout(const cli_args *args) {
  bool failed = ferror(stdout) != 0;
  if (fflush(stdout) == 0 && !failed) return CLI_OK;
  cli_say("cannot write to standard output: %s; check where it goes", strerror(errno));
  return cli_failure_code(args);
}

void cli_format_time(int64_t seconds, char *buffer, size_t size) {
  time_t when = (time_t)seconds;
  struct tm parts;
  if (!gmtime_r(&when, &parts) || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    snprintf(buffer, size, "@%" PRId64, seconds);
}
