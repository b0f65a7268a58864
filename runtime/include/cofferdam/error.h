/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes and cdam_error. */
#ifndef COFFERDAM_ERROR_H
#define COFFERDAM_ERROR_H

#include <cofferdam/export.h>

CDAM_BEGIN_DECLS

/* Why a call failed. Numbers are fixed; new ones may be added. */
typedef enum cdam_status {
  CDAM_OK = 0,

  /* The call itself. */
  CDAM_ERR_ARGUMENT = 1,  /* a NULL or unusable argument; a call out of order */
  CDAM_ERR_NO_MEMORY = 2, /* an allocation failed */
  CDAM_ERR_IO = 3,        /* a local file, source or sink could not be read or written */
  CDAM_ERR_CANCELLED = 4, /* the caller ended an operation early (loop.h) */

  /* Options and states. Nothing on the engine has been changed. */
  CDAM_ERR_INVALID = 10,     /* a field breaks its rule; `field` names it */
  CDAM_ERR_MALFORMED = 11,   /* the bytes or the JSON are not a state, or are damaged */
  CDAM_ERR_SEAL = 12,        /* the seal is wrong, missing, or by another key */
  CDAM_ERR_UNSUPPORTED = 13, /* the state needs a feature that this library does not know; or the
                                sandbox's agent is older than what was asked of it */
  CDAM_ERR_POLICY = 14,      /* the client demands more isolation than this offers */
  CDAM_ERR_EXPIRED = 15,     /* the sandbox's deadline has passed */

  /* The engine's side of a sandbox. */
  CDAM_ERR_DRIFT = 20,     /* the container is not what the state says; `field`,
                              `expected` and `actual` tell. Nothing was changed */
  CDAM_ERR_NOT_OURS = 21,  /* that id or name belongs to another container */
  CDAM_ERR_PAUSED = 22,    /* the container is paused and unpausing was not allowed */
  CDAM_ERR_NOT_FOUND = 23, /* no such container, image, or published port */
  CDAM_ERR_EXITED = 24,    /* the container ended while it was needed */

  /* The engine. */
  CDAM_ERR_CONNECT = 30,      /* the engine cannot be reached */
  CDAM_ERR_TIMEOUT = 31,      /* a deadline passed */
  CDAM_ERR_PROTOCOL = 32,     /* the engine's answer is cut, garbled or too large */
  CDAM_ERR_ENGINE = 33,       /* the engine refused; `http_status` and its message */
  CDAM_ERR_API_VERSION = 34,  /* no API version in common; the message has both ranges */
  CDAM_ERR_PULL = 35,         /* the image could not be pulled */
  CDAM_ERR_OTHER_ENGINE = 36, /* the state belongs to another engine */

  /* Commands. */
  CDAM_ERR_EXEC = 40,        /* the exit status of a command could not be learned */
  CDAM_ERR_NOT_STARTED = 41, /* a command could not be started; `field`, `system_errno` */
  CDAM_ERR_NO_PROCESS = 42,  /* no such process in this sandbox, or its record is gone */

  /* The sandbox's agent and files. */
  CDAM_ERR_NO_AGENT = 50, /* the sandbox has no agent, and this cannot be done without */
  CDAM_ERR_AGENT = 51,    /* the agent broke the protocol, ended, or does not answer */
  CDAM_ERR_LIMIT = 52,    /* one of the agent's limits is reached, or a list is too long */
  CDAM_ERR_FILE = 53,     /* an operation on a file in the sandbox failed; `system_errno` */
  CDAM_ERR_OUTSIDE = 54   /* the path leads out of the workspace */
} cdam_status;

/* Can the same call succeed later without a change by the caller? */
typedef enum cdam_retry {
  CDAM_RETRY_UNKNOWN = 0,
  CDAM_RETRY_NO = 1,
  CDAM_RETRY_YES = 2
} cdam_retry;

/*
 * What went wrong. It owns no memory: declare it on the stack, pass it to any
 * number of calls, drop it. Texts are cut to fit, at a character boundary, and
 * never hold env values, keys or state bytes. Control characters from outside
 * are escaped. Start with `cdam_error err = {0}` where it may be read before a
 * call has filled it.
 */
typedef struct cdam_error {
  cdam_status code;
  cdam_retry retry;
  int http_status;    /* of the engine's answer; 0 where there was none */
  int system_errno;   /* what a system call in the sandbox said, such as ENOENT; or 0 */
  char field[128];    /* "options.env[PATH]", "HostConfig.NetworkMode", "workdir"; or "" */
  char expected[192]; /* CDAM_ERR_DRIFT: what the state says; or "" */
  char actual[192];   /* CDAM_ERR_DRIFT: what was found; or "" */
  char message[512];  /* one line for people, complete in itself */
} cdam_error;

/* The name of a status, "CDAM_ERR_DRIFT"; "CDAM_ERR_?" for a number that is
 * none. Static. Since 0.1. */
CDAM_API const char *cdam_status_name(cdam_status status);

CDAM_END_DECLS

#endif
