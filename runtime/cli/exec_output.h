/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output and error, written as they take it: a reader that is slow holds up nothing but
 * the command. */
#ifndef COFFERDAM_CLI_EXEC_OUTPUT_H
#define COFFERDAM_CLI_EXEC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_outlet_kind {
  CLI_OUTLET_PLAIN,       /* a file: it never waits for long */
  CLI_OUTLET_NONBLOCKING, /* a description of our own, so that nobody else's changes */
  CLI_OUTLET_SOCKET,
  CLI_OUTLET_PIECES /* one that could not be opened again: a little at a time when it is ready */
} cli_outlet_kind;

typedef struct cli_outlet {
  int fd; /* for poll */
  cli_outlet_kind kind;
  char *waiting; /* what it did not take yet */
  size_t begin;
  size_t end;
  size_t capacity;
} cli_outlet;

/* Close it in the end. */
void cli_outlet_open(cli_outlet *outlet, int fd);
void cli_outlet_close(cli_outlet *outlet);

/* Writes what goes and keeps a copy of the rest. False with errno set: it cannot be written any
 * more, or there is no memory. */
bool cli_outlet_put(cli_outlet *outlet, const char *bytes, size_t length);

/* The rest, when poll says that it can be written to. */
bool cli_outlet_flush(cli_outlet *outlet);

/* Is there a rest? */
bool cli_outlet_waits(const cli_outlet *outlet);

#endif
