/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fail.h"
#include "link/link_private.h"

#define CODE(NAME) COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_##NAME
#define STEP(NAME) COFFERDAM__AGENT__V1__STEP__STEP_##NAME

/* The last of asm-generic/errno.h. */
#define LAST_ERRNO 133

static const char *step_words(int step) {
  switch (step) {
  case STEP(FORK):
    return "cannot make a process";
  case STEP(PIPE):
    return "cannot make a pipe";
  case STEP(TERMINAL):
    return "cannot make a terminal";
  case STEP(LIMITS):
    return "cannot set its limits";
  case STEP(GROUPS):
    return "cannot set its groups";
  case STEP(USER):
    return "cannot become its user";
  case STEP(DIRECTORY):
    return "cannot enter its working directory";
  case STEP(EXEC):
    return "cannot run the program";
  case STEP(OPEN):
    return "cannot open";
  case STEP(READ):
    return "cannot read";
  case STEP(WRITE):
    return "cannot write";
  case STEP(SYNC):
    return "cannot write to disk";
  case STEP(RENAME):
    return "cannot rename";
  case STEP(ATTRIBUTES):
    return "cannot set attributes";
  case STEP(CREATE):
    return "cannot create";
  case STEP(REMOVE):
    return "cannot remove";
  case STEP(WORKSPACE):
    return "cannot use the workspace";
  default:
    return "it failed";
  }
}

static cdam_status status_of(int code) {
  switch (code) {
  case CODE(INVALID):
    return CDAM_ERR_ARGUMENT;
  case CODE(LIMIT):
  case CODE(NO_MEMORY):
    return CDAM_ERR_LIMIT;
  case CODE(NO_PROCESS):
    return CDAM_ERR_NO_PROCESS;
  case CODE(SYSTEM):
    return CDAM_ERR_FILE;
  case CODE(NOT_STARTED):
    return CDAM_ERR_NOT_STARTED;
  case CODE(OUTSIDE):
    return CDAM_ERR_OUTSIDE;
  case CODE(CANCELLED):
    return CDAM_ERR_CANCELLED;
  case CODE(UNSUPPORTED):
  case CODE(UNKNOWN_REQUEST):
    return CDAM_ERR_UNSUPPORTED;
  case CODE(SHUTTING_DOWN):
    return CDAM_ERR_EXITED;
  default:
    return CDAM_ERR_AGENT;
  }
}

static const char *code_words(int code) {
  switch (code) {
  case CODE(PROTOCOL):
    return "the agent says that the protocol was broken";
  case CODE(VERSION):
    return "the agent speaks no version of the protocol that this library knows";
  case CODE(INVALID):
    return "the agent refused the request";
  case CODE(LIMIT):
    return "one of the agent's limits is reached";
  case CODE(NO_MEMORY):
    return "the agent is out of memory";
  case CODE(NO_PROCESS):
    return "no such process in the sandbox, or its record is gone";
  case CODE(SYSTEM):
    return "an operation in the sandbox failed";
  case CODE(NOT_STARTED):
    return "the command could not be started";
  case CODE(OUTSIDE):
    return "the path leads out of the workspace";
  case CODE(CANCELLED):
    return "the operation was cancelled";
  case CODE(UNSUPPORTED):
    return "the agent cannot do this here";
  case CODE(UNKNOWN_REQUEST):
    return "the agent of this sandbox does not know this request";
  case CODE(SHUTTING_DOWN):
    return "the sandbox is being ended";
  default:
    return "the agent reports an error that has no meaning";
  }
}

/* What the agent says may come from whoever took its place. */
cdam_status cdam_link_error(const Cofferdam__Agent__V1__Error *error, cdam_error *err) {
  cdam_status status = status_of((int)error->code);
  const char *words = code_words((int)error->code), *text = error->message ? error->message : "";
  char said[256];
  cdam_printable(said, sizeof said, text, strnlen(text, sizeof said));
  bool has_errno = error->system_errno > 0 && error->system_errno <= LAST_ERRNO;
  const char *reason = has_errno ? strerrordesc_np((int)error->system_errno) : NULL;
  if (reason && error->code == CODE(SYSTEM))
    cdam_fail(err, status, "%s: %s", step_words((int)error->step), reason);
  else if (reason && error->code == CODE(NOT_STARTED))
    cdam_fail(err, status, "%s: %s: %s", words, step_words((int)error->step), reason);
  else if (said[0])
    cdam_fail(err, status, "%s (the agent's words: \"%s\")", words, said);
  else
    cdam_fail(err, status, "%s", words);
  if (!err) return status;
  if (has_errno) err->system_errno = (int)error->system_errno;
  if (error->path.len)
    cdam_printable(err->field, sizeof err->field, (const char *)error->path.data, error->path.len);
  return status;
}
