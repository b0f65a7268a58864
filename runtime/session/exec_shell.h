/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine has no call that ends an exec, and its process id is the host's, of no use inside.
 * So a second exec runs a shell, as the same user, that looks for the marker in the
 * environment of every process, and for children and sessions of those that it found. It
 * uses nothing but the shell's own words, for there may be nothing else in the image.
 */
#ifndef COFFERDAM_SESSION_EXEC_SHELL_H
#define COFFERDAM_SESSION_EXEC_SHELL_H

#include "engine/exec_id.h"
#include "engine/operation.h"

typedef enum cdam_exec_shell_end {
  CDAM_SHELL_CLEAN,   /* nothing is left alive; or the signal was sent */
  CDAM_SHELL_REST,    /* something is; or there was nothing to send it to */
  CDAM_SHELL_NOWHERE, /* the whole sandbox is gone */
  CDAM_SHELL_FAILED   /* it could not be run: `error` */
} cdam_exec_shell_end;

typedef struct cdam_exec_shell {
  const char *container_id; /* borrowed, as the other texts */
  const char *user;         /* or NULL */
  const char *marker;
  unsigned grace; /* tenths of a second between TERM and KILL; 0: no TERM */
  int signal;     /* instead of all that, only this; 0: none */
  const char *to; /* of the signal: "process", "group" or "tree" */
  void (*done)(cdam_operation *op, cdam_exec_shell_end end, const cdam_error *error);

  char id[CDAM_EXEC_ID_SIZE];
  unsigned shell; /* which one is tried; kept from one run to the next */
  int64_t poll_ms;
} cdam_exec_shell;

/* Runs it among the steps of `op`, as a part of it; `done` runs in one of them. */
void cdam_exec_shell_run(cdam_exec_shell *shell, cdam_operation *op);

#endif
