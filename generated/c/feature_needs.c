/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "feature_needs.h"

#include "option_fields.h"
#include "options/features.h"
#include "options/generated.h"

const unsigned cdam_generated_revision = 3;

/* Every feature known, in ascending order. The array has one element more, so that it is never
 * empty. */
enum { FEATURE_COUNT = 11 };

static void list_features(const Cofferdam__V1__SandboxOptions *options,
                          cdam_feature_need list[FEATURE_COUNT + 1]) {
  list[0] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_NETWORK_ISOLATION,
      .name = "FEATURE_NETWORK_ISOLATION",
      .option = "network_mode",
      .needed = options && cdam_in_use_network_mode(options),
  };
  list[1] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_MEMORY,
      .name = "FEATURE_MEMORY",
      .option = "memory_bytes",
      .needed = options && cdam_in_use_memory_bytes(options),
  };
  list[2] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_CPUS,
      .name = "FEATURE_CPUS",
      .option = "nano_cpus",
      .needed = options && cdam_in_use_nano_cpus(options),
  };
  list[3] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_PIDS_LIMIT,
      .name = "FEATURE_PIDS_LIMIT",
      .option = "pids_limit",
      .needed = options && cdam_in_use_pids_limit(options),
  };
  list[4] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_READ_ONLY_ROOT,
      .name = "FEATURE_READ_ONLY_ROOT",
      .option = "read_only_root",
      .needed = options && cdam_in_use_read_only_root(options),
  };
  list[5] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_USER,
      .name = "FEATURE_USER",
      .option = "user",
      .needed = options && cdam_in_use_user(options),
  };
  list[6] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_DROP_ALL_CAPABILITIES,
      .name = "FEATURE_DROP_ALL_CAPABILITIES",
      .option = "drop_all_capabilities",
      .needed = options && cdam_in_use_drop_all_capabilities(options),
  };
  list[7] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_NO_NEW_PRIVILEGES,
      .name = "FEATURE_NO_NEW_PRIVILEGES",
      .option = "no_new_privileges",
      .needed = options && cdam_in_use_no_new_privileges(options),
  };
  list[8] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_RUNTIME,
      .name = "FEATURE_RUNTIME",
      .option = "runtime",
      .needed = options && cdam_in_use_runtime(options),
  };
  list[9] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_ULIMITS,
      .name = "FEATURE_ULIMITS",
      .option = "ulimits",
      .needed = options && cdam_in_use_ulimits(options),
  };
  list[10] = (cdam_feature_need){
      .number = COFFERDAM__V1__FEATURE__FEATURE_DEADLINE,
      .name = "FEATURE_DEADLINE",
      .option = "deadline",
      .needed = options && cdam_in_use_deadline(options),
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

uint64_t cdam_generated_deadline(const Cofferdam__V1__SandboxOptions *options) {
  return options->deadline;
}
