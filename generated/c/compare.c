/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "options/compare.h"

#include "base/fail.h"
#include "option_fields.h"
#include "options/generated.h"

static cdam_status compare_image(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                 cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_image(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = cdam_compare_resolved(inspect, "Image", state->image_id, err);
  return status;
}

static cdam_status compare_exposed_ports(const Cofferdam__V1__SessionState *state,
                                         const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_exposed_ports(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_port_set(inspect, "Config.ExposedPorts", options->exposed_ports,
                                   options->n_exposed_ports, err);
  }
  if (status == CDAM_OK) {
    status = cdam_compare_port_bindings(inspect, "HostConfig.PortBindings", options->exposed_ports,
                                        options->n_exposed_ports, err);
  }
  return status;
}

static cdam_status compare_labels(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                  cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_labels(options)) return CDAM_OK;
  cdam_map map = cdam_map_of_labels(options);
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_object(inspect, "Config.Labels", &map, CDAM_COMPARE_SUBSET, err);
  }
  return status;
}

static cdam_status compare_env(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                               cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_env(options)) return CDAM_OK;
  cdam_map map = cdam_map_of_env(options);
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = cdam_compare_env(inspect, "Config.Env", &map, err);
  return status;
}

static cdam_status compare_network_mode(const Cofferdam__V1__SessionState *state,
                                        const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_network_mode(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_string(inspect, "HostConfig.NetworkMode",
                                 cdam_docker_word_network_mode(options->network_mode),
                                 CDAM_COMPARE_EXACT, err);
  }
  if (status == CDAM_OK) {
    status = cdam_compare_only_network(inspect, "NetworkSettings.Networks",
                                       cdam_docker_word_network_mode(options->network_mode), err);
  }
  return status;
}

static cdam_status compare_profile(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_profile(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_label(inspect, "Config.Labels", "io.cofferdam.profile",
                                cdam_docker_word_profile(options->profile), err);
  }
  return status;
}

static cdam_status compare_memory_bytes(const Cofferdam__V1__SessionState *state,
                                        const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_memory_bytes(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_uint(inspect, "HostConfig.Memory", options->memory_bytes,
                               CDAM_COMPARE_EXACT, err);
  }
  if (status == CDAM_OK) {
    status = cdam_compare_uint(inspect, "HostConfig.MemorySwap", options->memory_bytes,
                               CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_nano_cpus(const Cofferdam__V1__SessionState *state,
                                     const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_nano_cpus(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_uint(inspect, "HostConfig.NanoCpus", options->nano_cpus,
                               CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_pids_limit(const Cofferdam__V1__SessionState *state,
                                      const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_pids_limit(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_uint(inspect, "HostConfig.PidsLimit", options->pids_limit,
                               CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_tmpfs(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                 cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_tmpfs(options)) return CDAM_OK;
  cdam_map map = cdam_map_of_tmpfs(options);
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = cdam_compare_tmpfs(inspect, "HostConfig.Tmpfs", &map, err);
  return status;
}

static cdam_status compare_read_only_root(const Cofferdam__V1__SessionState *state,
                                          const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_read_only_root(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_bool(inspect, "HostConfig.ReadonlyRootfs", options->read_only_root,
                               CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_user(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_user(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_string(inspect, "Config.User", options->user, CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_drop_all_capabilities(const Cofferdam__V1__SessionState *state,
                                                 const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_drop_all_capabilities(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = cdam_compare_no_capabilities(inspect, "HostConfig.CapDrop", err);
  return status;
}

static cdam_status compare_no_new_privileges(const Cofferdam__V1__SessionState *state,
                                             const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_no_new_privileges(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_no_new_privileges(inspect, "HostConfig.SecurityOpt", err);
  }
  return status;
}

static cdam_status compare_runtime(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_runtime(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_string(inspect, "HostConfig.Runtime", options->runtime,
                                 CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_ulimits(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_ulimits(options)) return CDAM_OK;
  cdam_map map = cdam_map_of_ulimits(options);
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = cdam_compare_ulimits(inspect, "HostConfig.Ulimits", &map, err);
  return status;
}

static cdam_status compare_hostname(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                    cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_hostname(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_string(inspect, "Config.Hostname", options->hostname, CDAM_COMPARE_EXACT,
                                 err);
  }
  return status;
}

static cdam_status compare_workspace(const Cofferdam__V1__SessionState *state,
                                     const json_t *inspect, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_workspace(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_string(inspect, "Config.WorkingDir", options->workspace,
                                 CDAM_COMPARE_EXACT, err);
  }
  return status;
}

static cdam_status compare_deadline(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                    cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_deadline(options)) return CDAM_OK;
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) {
    status = cdam_compare_label_uint(inspect, "Config.Labels", "io.cofferdam.deadline",
                                     options->deadline, err);
  }
  return status;
}

cdam_status cdam_generated_compare(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  if (!state->options) return cdam_fail_field(err, "options", "is required");
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = compare_network_mode(state, inspect, err);
  if (status == CDAM_OK) status = compare_memory_bytes(state, inspect, err);
  if (status == CDAM_OK) status = compare_nano_cpus(state, inspect, err);
  if (status == CDAM_OK) status = compare_pids_limit(state, inspect, err);
  if (status == CDAM_OK) status = compare_read_only_root(state, inspect, err);
  if (status == CDAM_OK) status = compare_user(state, inspect, err);
  if (status == CDAM_OK) status = compare_drop_all_capabilities(state, inspect, err);
  if (status == CDAM_OK) status = compare_no_new_privileges(state, inspect, err);
  if (status == CDAM_OK) status = compare_runtime(state, inspect, err);
  if (status == CDAM_OK) status = compare_ulimits(state, inspect, err);
  if (status == CDAM_OK) status = compare_deadline(state, inspect, err);
  if (status == CDAM_OK) status = compare_image(state, inspect, err);
  if (status == CDAM_OK) status = compare_exposed_ports(state, inspect, err);
  if (status == CDAM_OK) status = compare_labels(state, inspect, err);
  if (status == CDAM_OK) status = compare_env(state, inspect, err);
  if (status == CDAM_OK) status = compare_profile(state, inspect, err);
  if (status == CDAM_OK) status = compare_tmpfs(state, inspect, err);
  if (status == CDAM_OK) status = compare_hostname(state, inspect, err);
  if (status == CDAM_OK) status = compare_workspace(state, inspect, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}

cdam_status cdam_generated_compare_image(const Cofferdam__V1__SandboxOptions *options,
                                         const json_t *image, cdam_error *err) {
  if (cdam_in_use_platform(options)) {
    cdam_status status =
        cdam_compare_image_platform(image, "platform", options->platform, err);
    if (status != CDAM_OK) return status;
  }
  return cdam_ok(err);
}
