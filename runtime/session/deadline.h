/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline of a sandbox: an absolute time, kept in its options and in a label. */
#ifndef COFFERDAM_SESSION_DEADLINE_H
#define COFFERDAM_SESSION_DEADLINE_H

#include <stdint.h>

#include "options/generated.h"

/* CDAM_ERR_EXPIRED when the deadline has passed, by the clock of this machine. */
cdam_status cdam_check_deadline(const Cofferdam__V1__SandboxOptions *options, cdam_error *err);

/* The deadline that a label tells; 0 when it tells none. */
uint64_t cdam_deadline_of_label(const char *label);

#endif
