/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent knows of a sandbox's processes. */
#ifndef COFFERDAM_CLI_PS_H
#define COFFERDAM_CLI_PS_H

#include "sandbox.h"

/* Finds the process of args->operands[0]. CLI_OK, or the exit code after a line on stderr. Free
 * *list with cdam_process_list_free either way; *info points into it. */
int cli_find_process(const cli_args *args, const cli_sandbox *sandbox, cdam_process_list **list,
                     cdam_process_info *info);

#endif
