/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"
#include "feature_needs.h"
#include "options/generated.h"
#include "options/rules.h"

static const char network_mode_words[] = "UNSET (0), NONE (1)";

static bool cdam_is_network_mode(Cofferdam__V1__NetworkMode value) {
  switch (value) {
  case COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET:
  case COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_NONE:
    return true;
  default:
    return false;
  }
}

static const char profile_words[] = "UNSET (0), HARDENED (1)";

static bool cdam_is_profile(Cofferdam__V1__Profile value) {
  switch (value) {
  case COFFERDAM__V1__PROFILE__PROFILE_UNSET:
  case COFFERDAM__V1__PROFILE__PROFILE_HARDENED:
    return true;
  default:
    return false;
  }
}

static const char feature_words[] =
    "UNSPECIFIED (0), NETWORK_ISOLATION (1), MEMORY (2), CPUS (3), PIDS_LIMIT (4), "
    "READ_ONLY_ROOT (5), USER (6), DROP_ALL_CAPABILITIES (7), NO_NEW_PRIVILEGES (8), RUNTIME "
    "(9), ULIMITS (10), DEADLINE (11)";

static bool cdam_is_feature(Cofferdam__V1__Feature value) {
  switch (value) {
  case COFFERDAM__V1__FEATURE__FEATURE_UNSPECIFIED:
  case COFFERDAM__V1__FEATURE__FEATURE_NETWORK_ISOLATION:
  case COFFERDAM__V1__FEATURE__FEATURE_MEMORY:
  case COFFERDAM__V1__FEATURE__FEATURE_CPUS:
  case COFFERDAM__V1__FEATURE__FEATURE_PIDS_LIMIT:
  case COFFERDAM__V1__FEATURE__FEATURE_READ_ONLY_ROOT:
  case COFFERDAM__V1__FEATURE__FEATURE_USER:
  case COFFERDAM__V1__FEATURE__FEATURE_DROP_ALL_CAPABILITIES:
  case COFFERDAM__V1__FEATURE__FEATURE_NO_NEW_PRIVILEGES:
  case COFFERDAM__V1__FEATURE__FEATURE_RUNTIME:
  case COFFERDAM__V1__FEATURE__FEATURE_ULIMITS:
  case COFFERDAM__V1__FEATURE__FEATURE_DEADLINE:
    return true;
  default:
    return false;
  }
}

static cdam_status check_sandbox_options_image(const Cofferdam__V1__SandboxOptions *message,
                                               const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {.max_bytes = 512, .format = CDAM_TEXT_IMAGE_REFERENCE};
  const cdam_place place = {.prefix = prefix, .field = "image"};
  if (!cdam_text(message->image)[0]) return cdam_fail_required(&place, err);
  return cdam_check_string(&place, message->image, &rules, err);
}

static cdam_status check_sandbox_options_exposed_ports(const Cofferdam__V1__SandboxOptions *message,
                                                       const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "exposed_ports"};
  cdam_status status = cdam_check_count(&place, message->n_exposed_ports, 256, err);
  for (size_t i = 0; status == CDAM_OK && i < message->n_exposed_ports; i++) {
    cdam_place item = cdam_place_item(&place, i);
    status = cdam_check_uint(&item, message->exposed_ports[i], 1, 65535, err);
  }
  if (status == CDAM_OK) {
    status = cdam_check_unique_uint32(&place, message->exposed_ports, message->n_exposed_ports,
                                      err);
  }
  return status;
}

static cdam_status check_sandbox_options_labels(const Cofferdam__V1__SandboxOptions *message,
                                                const char *prefix, cdam_error *err) {
  static const cdam_map_rules rules = {
      .max_pairs = 256,
      .keys = {.min_bytes = 1, .max_bytes = 256, .not_prefix = "io.cofferdam."},
      .values = {.max_bytes = 16384},
  };
  const cdam_place place = {.prefix = prefix, .field = "labels"};
  cdam_map map = {(void **)message->labels, message->n_labels,
                  &cofferdam__v1__sandbox_options__labels_entry__descriptor};
  return cdam_check_map(&place, &map, &rules, err);
}

static cdam_status check_sandbox_options_env(const Cofferdam__V1__SandboxOptions *message,
                                             const char *prefix, cdam_error *err) {
  static const cdam_map_rules rules = {
      .max_pairs = 1024,
      .keys = {.min_bytes = 1, .max_bytes = 256, .not_contains = "="},
      .values = {.max_bytes = 65536},
  };
  const cdam_place place = {.prefix = prefix, .field = "env"};
  cdam_map map = {(void **)message->env, message->n_env,
                  &cofferdam__v1__sandbox_options__env_entry__descriptor};
  return cdam_check_map(&place, &map, &rules, err);
}

static cdam_status check_sandbox_options_network_mode(const Cofferdam__V1__SandboxOptions *message,
                                                      const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "network_mode"};
  return cdam_check_enum(&place, message->network_mode, cdam_is_network_mode(message->network_mode),
                         network_mode_words, err);
}

static cdam_status check_sandbox_options_profile(const Cofferdam__V1__SandboxOptions *message,
                                                 const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "profile"};
  return cdam_check_enum(&place, message->profile, cdam_is_profile(message->profile), profile_words,
                         err);
}

static cdam_status check_sandbox_options_memory_bytes(const Cofferdam__V1__SandboxOptions *message,
                                                      const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "memory_bytes"};
  if (!message->memory_bytes) return CDAM_OK;
  return cdam_check_uint(&place, message->memory_bytes, 6291456, 1125899906842624, err);
}

static cdam_status check_sandbox_options_nano_cpus(const Cofferdam__V1__SandboxOptions *message,
                                                   const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "nano_cpus"};
  if (!message->nano_cpus) return CDAM_OK;
  return cdam_check_uint_step(&place, message->nano_cpus, 10000000, 1024000000000, 10000, err);
}

static cdam_status check_sandbox_options_pids_limit(const Cofferdam__V1__SandboxOptions *message,
                                                    const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "pids_limit"};
  if (!message->pids_limit) return CDAM_OK;
  return cdam_check_uint(&place, message->pids_limit, 8, 4194304, err);
}

static cdam_status check_sandbox_options_tmpfs(const Cofferdam__V1__SandboxOptions *message,
                                               const char *prefix, cdam_error *err) {
  static const cdam_map_rules rules = {
      .max_pairs = 32,
      .keys = {.min_bytes = 2, .max_bytes = 1024, .format = CDAM_TEXT_PATH, .not_contains = ":"},
      .values = {.max_bytes = 256, .format = CDAM_TEXT_TMPFS},
  };
  const cdam_place place = {.prefix = prefix, .field = "tmpfs"};
  cdam_map map = {(void **)message->tmpfs, message->n_tmpfs,
                  &cofferdam__v1__sandbox_options__tmpfs_entry__descriptor};
  return cdam_check_map(&place, &map, &rules, err);
}

static cdam_status check_sandbox_options_user(const Cofferdam__V1__SandboxOptions *message,
                                              const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {
      .min_bytes = 1,
      .max_bytes = 128,
      .format = CDAM_TEXT_USER,
  };
  const cdam_place place = {.prefix = prefix, .field = "user"};
  if (!cdam_text(message->user)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->user, &rules, err);
}

static cdam_status check_sandbox_options_runtime(const Cofferdam__V1__SandboxOptions *message,
                                                 const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {
      .min_bytes = 1,
      .max_bytes = 128,
      .format = CDAM_TEXT_WORD,
  };
  const cdam_place place = {.prefix = prefix, .field = "runtime"};
  if (!cdam_text(message->runtime)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->runtime, &rules, err);
}

static cdam_status check_sandbox_options_ulimits(const Cofferdam__V1__SandboxOptions *message,
                                                 const char *prefix, cdam_error *err) {
  static const cdam_map_rules rules = {
      .max_pairs = 16,
      .keys = {.min_bytes = 1, .max_bytes = 16, .format = CDAM_TEXT_ULIMIT_NAME},
      .values = {.min_bytes = 3, .max_bytes = 48, .format = CDAM_TEXT_ULIMIT},
  };
  const cdam_place place = {.prefix = prefix, .field = "ulimits"};
  cdam_map map = {(void **)message->ulimits, message->n_ulimits,
                  &cofferdam__v1__sandbox_options__ulimits_entry__descriptor};
  return cdam_check_map(&place, &map, &rules, err);
}

static cdam_status check_sandbox_options_hostname(const Cofferdam__V1__SandboxOptions *message,
                                                  const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {
      .min_bytes = 1,
      .max_bytes = 63,
      .format = CDAM_TEXT_HOSTNAME,
  };
  const cdam_place place = {.prefix = prefix, .field = "hostname"};
  if (!cdam_text(message->hostname)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->hostname, &rules, err);
}

static cdam_status check_sandbox_options_platform(const Cofferdam__V1__SandboxOptions *message,
                                                  const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {
      .min_bytes = 3,
      .max_bytes = 64,
      .format = CDAM_TEXT_PLATFORM,
  };
  const cdam_place place = {.prefix = prefix, .field = "platform"};
  if (!cdam_text(message->platform)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->platform, &rules, err);
}

static cdam_status check_sandbox_options_workspace(const Cofferdam__V1__SandboxOptions *message,
                                                   const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {
      .min_bytes = 1,
      .max_bytes = 1024,
      .format = CDAM_TEXT_PATH,
  };
  const cdam_place place = {.prefix = prefix, .field = "workspace"};
  if (!cdam_text(message->workspace)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->workspace, &rules, err);
}

static cdam_status check_sandbox_options_deadline(const Cofferdam__V1__SandboxOptions *message,
                                                  const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "deadline"};
  if (!message->deadline) return CDAM_OK;
  return cdam_check_uint(&place, message->deadline, 1, 253402300799, err);
}

static cdam_status check_profiled(const Cofferdam__V1__SandboxOptions *message, const char *prefix,
                                  cdam_error *err) {
  if (!message->profile) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK && message->user && message->user[0]) {
    static const cdam_string_rules rules = {.max_bytes = 128, .format = CDAM_TEXT_PLAIN_USER};
    const cdam_place place = {.prefix = prefix, .field = "user"};
    status = cdam_check_string(&place, message->user, &rules, err);
  }
  return status;
}

cdam_status cdam_generated_validate_options(const Cofferdam__V1__SandboxOptions *message,
                                            const char *prefix, cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = check_sandbox_options_image(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_exposed_ports(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_labels(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_env(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_network_mode(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_profile(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_memory_bytes(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_nano_cpus(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_pids_limit(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_tmpfs(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_user(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_runtime(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_ulimits(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_hostname(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_platform(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_workspace(message, prefix, err);
  if (status == CDAM_OK) status = check_sandbox_options_deadline(message, prefix, err);
  if (status == CDAM_OK) status = check_profiled(message, prefix, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}

static cdam_status check_session_state_schema_revision(const Cofferdam__V1__SessionState *message,
                                                       const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "schema_revision"};
  if (!message->schema_revision) return cdam_fail_required(&place, err);
  return CDAM_OK;
}

static cdam_status check_session_state_required_features(const Cofferdam__V1__SessionState *message,
                                                         const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "required_features"};
  cdam_status status = cdam_check_count(&place, message->n_required_features, 64, err);
  for (size_t i = 0; status == CDAM_OK && i < message->n_required_features; i++) {
    cdam_place item = cdam_place_item(&place, i);
    status = cdam_check_enum(&item, message->required_features[i],
                             cdam_is_feature(message->required_features[i]), feature_words, err);
  }
  if (status == CDAM_OK) {
    status = cdam_check_unique_uint32(&place, (const uint32_t *)message->required_features,
                                      message->n_required_features, err);
  }
  return status;
}

static cdam_status check_session_state_session_id(const Cofferdam__V1__SessionState *message,
                                                  const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {.format = CDAM_TEXT_UUID};
  const cdam_place place = {.prefix = prefix, .field = "session_id"};
  if (!cdam_text(message->session_id)[0]) return cdam_fail_required(&place, err);
  return cdam_check_string(&place, message->session_id, &rules, err);
}

static cdam_status check_session_state_options(const Cofferdam__V1__SessionState *message,
                                               const char *prefix, cdam_error *err) {
  const cdam_place place = {.prefix = prefix, .field = "options"};
  if (!message->options) return cdam_fail_required(&place, err);
  return CDAM_OK;
}

static cdam_status check_session_state_image_id(const Cofferdam__V1__SessionState *message,
                                                const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {.format = CDAM_TEXT_IMAGE_ID};
  const cdam_place place = {.prefix = prefix, .field = "image_id"};
  if (!cdam_text(message->image_id)[0]) return cdam_fail_required(&place, err);
  return cdam_check_string(&place, message->image_id, &rules, err);
}

static cdam_status check_session_state_container_id(const Cofferdam__V1__SessionState *message,
                                                    const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {.format = CDAM_TEXT_CONTAINER_ID};
  const cdam_place place = {.prefix = prefix, .field = "container_id"};
  if (!cdam_text(message->container_id)[0]) return cdam_fail_required(&place, err);
  return cdam_check_string(&place, message->container_id, &rules, err);
}

static cdam_status check_engine_identity_id(const Cofferdam__V1__EngineIdentity *message,
                                            const char *prefix, cdam_error *err) {
  static const cdam_string_rules rules = {.max_bytes = 256, .format = CDAM_TEXT_TOKEN};
  const cdam_place place = {.prefix = prefix, .field = "id"};
  if (!cdam_text(message->id)[0]) return CDAM_OK;
  return cdam_check_string(&place, message->id, &rules, err);
}

static cdam_status validate_engine_identity(const Cofferdam__V1__EngineIdentity *message,
                                            const char *prefix, cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = check_engine_identity_id(message, prefix, err);
  return status;
}

static cdam_status check_session_state(const Cofferdam__V1__SessionState *message,
                                       const char *prefix, cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = check_session_state_schema_revision(message, prefix, err);
  if (status == CDAM_OK) status = check_session_state_required_features(message, prefix, err);
  if (status == CDAM_OK) status = check_session_state_session_id(message, prefix, err);
  if (status == CDAM_OK) status = check_session_state_options(message, prefix, err);
  if (status == CDAM_OK) status = check_session_state_image_id(message, prefix, err);
  if (status == CDAM_OK) status = check_session_state_container_id(message, prefix, err);
  if (status == CDAM_OK && message->options) {
    status = cdam_generated_validate_options(message->options, "options.", err);
  }
  if (status == CDAM_OK && message->engine) {
    status = validate_engine_identity(message->engine, "engine.", err);
  }
  return status;
}

cdam_status cdam_generated_validate_state(const Cofferdam__V1__SessionState *state,
                                          cdam_error *err) {
  cdam_status status = cdam_generated_check_known_features(state, err);
  if (status == CDAM_OK) status = check_session_state(state, "", err);
  if (status == CDAM_OK) status = cdam_generated_check_profile(state, err);
  if (status == CDAM_OK) status = cdam_generated_check_needed_features(state, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}
