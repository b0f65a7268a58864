/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
/* Whether options are in use (differ from their defaults), views of maps, and Docker's words for
 * enum values. */
#ifndef COFFERDAM_OPTION_FIELDS_H
#define COFFERDAM_OPTION_FIELDS_H

#include <stdbool.h>

#include "cofferdam/v1/options.pb-c.h"
#include "options/fields.h"

static inline bool cdam_in_use_image(const Cofferdam__V1__SandboxOptions *options) {
  return options->image && options->image[0];
}

static inline bool cdam_in_use_exposed_ports(const Cofferdam__V1__SandboxOptions *options) {
  return options->n_exposed_ports > 0;
}

static inline bool cdam_in_use_labels(const Cofferdam__V1__SandboxOptions *options) {
  return options->n_labels > 0;
}

static inline cdam_map cdam_map_of_labels(const Cofferdam__V1__SandboxOptions *options) {
  return (cdam_map){(void **)options->labels, options->n_labels,
                    &cofferdam__v1__sandbox_options__labels_entry__descriptor};
}

static inline bool cdam_in_use_env(const Cofferdam__V1__SandboxOptions *options) {
  return options->n_env > 0;
}

static inline cdam_map cdam_map_of_env(const Cofferdam__V1__SandboxOptions *options) {
  return (cdam_map){(void **)options->env, options->n_env,
                    &cofferdam__v1__sandbox_options__env_entry__descriptor};
}

static inline bool cdam_in_use_network_mode(const Cofferdam__V1__SandboxOptions *options) {
  return options->network_mode != 0;
}

/* Docker's word; NULL for a value that has none or is not known. */
const char *cdam_docker_word_network_mode(Cofferdam__V1__NetworkMode value);

#endif
