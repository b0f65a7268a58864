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

static inline bool cdam_in_use_profile(const Cofferdam__V1__SandboxOptions *options) {
  return options->profile != 0;
}

static inline bool cdam_in_use_memory_bytes(const Cofferdam__V1__SandboxOptions *options) {
  return options->memory_bytes != 0;
}

static inline bool cdam_in_use_nano_cpus(const Cofferdam__V1__SandboxOptions *options) {
  return options->nano_cpus != 0;
}

static inline bool cdam_in_use_pids_limit(const Cofferdam__V1__SandboxOptions *options) {
  return options->pids_limit != 0;
}

static inline bool cdam_in_use_tmpfs(const Cofferdam__V1__SandboxOptions *options) {
  return options->n_tmpfs > 0;
}

static inline cdam_map cdam_map_of_tmpfs(const Cofferdam__V1__SandboxOptions *options) {
  return (cdam_map){(void **)options->tmpfs, options->n_tmpfs,
                    &cofferdam__v1__sandbox_options__tmpfs_entry__descriptor};
}

static inline bool cdam_in_use_read_only_root(const Cofferdam__V1__SandboxOptions *options) {
  return options->read_only_root != 0;
}

static inline bool cdam_in_use_user(const Cofferdam__V1__SandboxOptions *options) {
  return options->user && options->user[0];
}

static inline bool cdam_in_use_drop_all_capabilities(const Cofferdam__V1__SandboxOptions *options) {
  return options->drop_all_capabilities != 0;
}

static inline bool cdam_in_use_no_new_privileges(const Cofferdam__V1__SandboxOptions *options) {
  return options->no_new_privileges != 0;
}

static inline bool cdam_in_use_runtime(const Cofferdam__V1__SandboxOptions *options) {
  return options->runtime && options->runtime[0];
}

static inline bool cdam_in_use_ulimits(const Cofferdam__V1__SandboxOptions *options) {
  return options->n_ulimits > 0;
}

static inline cdam_map cdam_map_of_ulimits(const Cofferdam__V1__SandboxOptions *options) {
  return (cdam_map){(void **)options->ulimits, options->n_ulimits,
                    &cofferdam__v1__sandbox_options__ulimits_entry__descriptor};
}

static inline bool cdam_in_use_hostname(const Cofferdam__V1__SandboxOptions *options) {
  return options->hostname && options->hostname[0];
}

static inline bool cdam_in_use_platform(const Cofferdam__V1__SandboxOptions *options) {
  return options->platform && options->platform[0];
}

static inline bool cdam_in_use_workspace(const Cofferdam__V1__SandboxOptions *options) {
  return options->workspace && options->workspace[0];
}

static inline bool cdam_in_use_deadline(const Cofferdam__V1__SandboxOptions *options) {
  return options->deadline != 0;
}

/* Docker's word; NULL for a value that has none or is not known. */
const char *cdam_docker_word_network_mode(Cofferdam__V1__NetworkMode value);

/* Docker's word; NULL for a value that has none or is not known. */
const char *cdam_docker_word_profile(Cofferdam__V1__Profile value);

#endif
