/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the check of required_features. */
#ifndef COFFERDAM_FEATURE_NEEDS_H
#define COFFERDAM_FEATURE_NEEDS_H

#include <cofferdam/error.h>

#include "cofferdam/v1/state.pb-c.h"

/* Comes first of all, so that an old reader says what it lacks. */
cdam_status cdam_generated_check_known_features(const Cofferdam__V1__SessionState *state,
                                                cdam_error *err);
cdam_status cdam_generated_check_needed_features(const Cofferdam__V1__SessionState *state,
                                                 cdam_error *err);

#endif
