/* SPDX-License-Identifier: Apache-2.0 */
/* What to run, as a request to the agent. */
#ifndef COFFERDAM_PROCESS_COMMAND_H
#define COFFERDAM_PROCESS_COMMAND_H

#include <cofferdam/process.h>

#include "link/link.h"

/* A timeout that is longer is a hundred years, with which one can still reckon. */
#define CDAM_LONGEST_TIMEOUT_MS INT64_C(3155760000000)

/* CDAM_ERR_ARGUMENT for what cannot be asked. */
cdam_status cdam_process_check_command(const cdam_process_command *command, cdam_error *err);

/* The member of the command that this step of the agent's was about; "" for none of them. Static.
 */
const char *cdam_process_member_of(int step);

/* The request, which owns all that is in it: one block, to be freed with free(). NULL when out of
 * memory. */
Cofferdam__Agent__V1__Start *cdam_process_make_start(const cdam_process_command *command);

#endif
