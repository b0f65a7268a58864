/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals. */
#ifndef COFFERDAM_AGENT_PTY_H
#define COFFERDAM_AGENT_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The master (not blocking), or -1 with errno; has its size before anybody can look. */
int agent_pty_open(uint32_t rows, uint32_t columns, bool set_owner, uid_t uid, int *slave);
bool agent_pty_resize(int master, uint32_t rows, uint32_t columns);

#endif
