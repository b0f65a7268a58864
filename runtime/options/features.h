/* SPDX-License-Identifier: Apache-2.0 */
/* required_features: what a reader must know to resume a state without weakening it. */
#ifndef COFFERDAM_OPTIONS_FEATURES_H
#define COFFERDAM_OPTIONS_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>

#include "cofferdam/v1/state.pb-c.h"

/* A feature that this library knows, and whether some options need it. */
typedef struct cdam_feature_need {
  Cofferdam__V1__Feature number;
  const char *name;   /* "FEATURE_NETWORK_ISOLATION" */
  const char *option; /* "network_mode" */
  bool needed;
} cdam_feature_need;

/* Every listed feature is known, or CDAM_ERR_UNSUPPORTED. FEATURE_UNSPECIFIED says nothing and is
 * CDAM_ERR_INVALID. `revision` is the newest one known. */
cdam_status cdam_features_check_known(const Cofferdam__V1__SessionState *state,
                                      const cdam_feature_need *known, size_t known_count,
                                      unsigned revision, cdam_error *err);

/* The list is what the options need, or CDAM_ERR_INVALID. */
cdam_status cdam_features_check_needed(const Cofferdam__V1__SessionState *state,
                                       const cdam_feature_need *known, size_t known_count,
                                       cdam_error *err);

/* Replaces the list by what is needed, in the order of `known`. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_features_replace(Cofferdam__V1__SessionState *state,
                                  const cdam_feature_need *known, size_t known_count,
                                  cdam_error *err);

#endif
