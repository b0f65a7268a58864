/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container can reach on its host besides what the options speak of: privileges, devices,
 * mounts, the host's namespaces. No create request of ours asks for any of it, so a container that
 * has it was made by somebody else, whatever labels it bears.
 */
#ifndef COFFERDAM_SESSION_REACH_H
#define COFFERDAM_SESSION_REACH_H

#include <jansson.h>

#include "options/generated.h"

/* Compares an inspect answer with what a create request leaves out. What the options themselves
 * put into the request is left to their own comparison. CDAM_ERR_DRIFT, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_check_reach(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err);

#endif
