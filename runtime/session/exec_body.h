/* SPDX-License-Identifier: Apache-2.0 */
/* The request that makes an exec. */
#ifndef COFFERDAM_SESSION_EXEC_BODY_H
#define COFFERDAM_SESSION_EXEC_BODY_H

#include <stdbool.h>

/* A variable of this name and a value of its own is in the environment of every command: what
 * carries it is what is killed or signalled. */
#define CDAM_EXEC_MARKER "COFFERDAM_EXEC_ID"

/* A marker, with its NUL. */
#define CDAM_EXEC_MARKER_SIZE 37

typedef struct cdam_exec_body {
  const char *const *argv;
  const char *const *env; /* or NULL */
  const char *user;       /* or NULL */
  const char *workdir;    /* or NULL */
  const char *marker;     /* or NULL */
  bool input;
  bool terminal;
} cdam_exec_body;

/* As JSON, to be freed with free(); NULL when out of memory, or when a text is no UTF-8. */
char *cdam_exec_body_text(const cdam_exec_body *body);

/* A marker that nothing else has. */
void cdam_exec_make_marker(char marker[CDAM_EXEC_MARKER_SIZE]);

#endif
