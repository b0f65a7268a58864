/* SPDX-License-Identifier: Apache-2.0 */
/* The local terminal: its size, and raw mode, which ends on every way out. */
#ifndef COFFERDAM_CLI_TERMINAL_H
#define COFFERDAM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Of the first of standard output, input and error that is a terminal and has a size. */
bool cli_terminal_size(uint16_t *rows, uint16_t *columns);

/* Makes a terminal raw. Until cli_terminal_restore a signal that ends the process gives it back
 * first. One terminal at a time. False with errno set: nothing has changed. */
bool cli_terminal_make_raw(int fd);

/* As it was before. Also when it is raw no more. */
void cli_terminal_restore(void);

#endif
