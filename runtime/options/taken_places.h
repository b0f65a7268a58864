/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a new sandbox can have no file system of its own. No rule of the schema, since a state may
 * hold it that was written before: what such a state asks for, the engine refuses.
 */
#ifndef COFFERDAM_OPTIONS_TAKEN_PLACES_H
#define COFFERDAM_OPTIONS_TAKEN_PLACES_H

#include <cofferdam/error.h>

#include "cofferdam/v1/options.pb-c.h"

/* CDAM_ERR_INVALID for a tmpfs in the place of the agent, of /proc, /sys or /dev, or below the
 * first three; below /dev there may be one, as in /dev/shm. */
cdam_status cdam_check_taken_places(const Cofferdam__V1__SandboxOptions *options, cdam_error *err);

#endif
