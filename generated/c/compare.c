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

cdam_status cdam_generated_compare(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                   cdam_error *err) {
  if (!state->options) return cdam_fail_field(err, "options", "is required");
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = compare_network_mode(state, inspect, err);
  if (status == CDAM_OK) status = compare_image(state, inspect, err);
  if (status == CDAM_OK) status = compare_exposed_ports(state, inspect, err);
  if (status == CDAM_OK) status = compare_labels(state, inspect, err);
  if (status == CDAM_OK) status = compare_env(state, inspect, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}
