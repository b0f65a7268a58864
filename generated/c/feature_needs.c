/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "feature_needs.h"

#include "option_fields.h"
#include "options/features.h"
#include "options/generated.h"

const unsigned cdam_generated_revision = 2;

/* Every feature known, in ascending order. The array has one element more, so that it is never
 * empty. */
enum { FEATURE_COUNT = 1 };

static void list_features(const Cofferdam__V1__SandboxOptions *options,
                          cdam_feature_need list[FEATURE_COUNT + 1]) {
  list[0] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_NETWORK_ISOLATION,
      .name = "FEATURE_NETWORK_ISOLATION",
      .option = "network_mode",
      .needed = options && cdam_in_use_network_mode(options),
  };
  list[FEATURE_COUNT] = (cdam_feature_need){0};
}

cdam_status cdam_generated_check_known_features(const Cofferdam__V1__SessionState *state,
                                                cdam_error *err) {
  cdam_feature_need list[FEATURE_COUNT + 1];
  list_features(state->options, list);
  return cdam_features_check_known(state, list, FEATURE_COUNT, cdam_generated_revision, err);
}

cdam_status cdam_generated_check_needed_features(const Cofferdam__V1__SessionState *state,
                                                 cdam_error *err) {
  cdam_feature_need list[FEATURE_COUNT + 1];
  list_features(state->options, list);
  return cdam_features_check_needed(state, list, FEATURE_COUNT, err);
}

cdam_status cdam_generated_derive_features(Cofferdam__V1__SessionState *state, cdam_error *err) {
  cdam_feature_need list[FEATURE_COUNT + 1];
  list_features(state->options, list);
  return cdam_features_replace(state, list, FEATURE_COUNT, err);
}
