/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fail.h"
#include "option_fields.h"
#include "options/generated.h"
#include "options/policy.h"

static cdam_status require_network_mode(const Cofferdam__V1__SandboxOptions *minimum,
                                        const Cofferdam__V1__SandboxOptions *options,
                                        cdam_error *err) {
  if (!cdam_in_use_network_mode(minimum)) return CDAM_OK;
  if (minimum->network_mode == options->network_mode) return CDAM_OK;
  const char *wanted = cdam_docker_word_network_mode(minimum->network_mode);
  const char *given = cdam_docker_word_network_mode(options->network_mode);
  return cdam_fail_policy(err, "network_mode", wanted, given);
}

static cdam_status require_memory_bytes(const Cofferdam__V1__SandboxOptions *minimum,
                                        const Cofferdam__V1__SandboxOptions *options,
                                        cdam_error *err) {
  if (!cdam_in_use_memory_bytes(minimum)) return CDAM_OK;
  if (cdam_in_use_memory_bytes(options) &&
      options->memory_bytes <= minimum->memory_bytes) return CDAM_OK;
  return cdam_fail_policy(err, "memory_bytes", NULL, NULL);
}

static cdam_status require_nano_cpus(const Cofferdam__V1__SandboxOptions *minimum,
                                     const Cofferdam__V1__SandboxOptions *options,
                                     cdam_error *err) {
  if (!cdam_in_use_nano_cpus(minimum)) return CDAM_OK;
  if (cdam_in_use_nano_cpus(options) && options->nano_cpus <= minimum->nano_cpus) return CDAM_OK;
  return cdam_fail_policy(err, "nano_cpus", NULL, NULL);
}

static cdam_status require_pids_limit(const Cofferdam__V1__SandboxOptions *minimum,
                                      const Cofferdam__V1__SandboxOptions *options,
                                      cdam_error *err) {
  if (!cdam_in_use_pids_limit(minimum)) return CDAM_OK;
  if (cdam_in_use_pids_limit(options) && options->pids_limit <= minimum->pids_limit) return CDAM_OK;
  return cdam_fail_policy(err, "pids_limit", NULL, NULL);
}

static cdam_status require_read_only_root(const Cofferdam__V1__SandboxOptions *minimum,
                                          const Cofferdam__V1__SandboxOptions *options,
                                          cdam_error *err) {
  if (!cdam_in_use_read_only_root(minimum)) return CDAM_OK;
  if (minimum->read_only_root == options->read_only_root) return CDAM_OK;
  return cdam_fail_policy(err, "read_only_root", NULL, NULL);
}

static cdam_status require_user(const Cofferdam__V1__SandboxOptions *minimum,
                                const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (!cdam_in_use_user(minimum)) return CDAM_OK;
  if (strcmp(cdam_text(minimum->user), cdam_text(options->user)) == 0) return CDAM_OK;
  return cdam_fail_policy(err, "user", NULL, NULL);
}

static cdam_status require_drop_all_capabilities(const Cofferdam__V1__SandboxOptions *minimum,
                                                 const Cofferdam__V1__SandboxOptions *options,
                                                 cdam_error *err) {
  if (!cdam_in_use_drop_all_capabilities(minimum)) return CDAM_OK;
  if (minimum->drop_all_capabilities == options->drop_all_capabilities) return CDAM_OK;
  return cdam_fail_policy(err, "drop_all_capabilities", NULL, NULL);
}

static cdam_status require_no_new_privileges(const Cofferdam__V1__SandboxOptions *minimum,
                                             const Cofferdam__V1__SandboxOptions *options,
                                             cdam_error *err) {
  if (!cdam_in_use_no_new_privileges(minimum)) return CDAM_OK;
  if (minimum->no_new_privileges == options->no_new_privileges) return CDAM_OK;
  return cdam_fail_policy(err, "no_new_privileges", NULL, NULL);
}

static cdam_status require_runtime(const Cofferdam__V1__SandboxOptions *minimum,
                                   const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (!cdam_in_use_runtime(minimum)) return CDAM_OK;
  if (strcmp(cdam_text(minimum->runtime), cdam_text(options->runtime)) == 0) return CDAM_OK;
  return cdam_fail_policy(err, "runtime", NULL, NULL);
}

static cdam_status require_ulimits(const Cofferdam__V1__SandboxOptions *minimum,
                                   const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (!cdam_in_use_ulimits(minimum)) return CDAM_OK;
  cdam_map wanted = cdam_map_of_ulimits(minimum);
  cdam_map given = cdam_map_of_ulimits(options);
  if (cdam_map_equal(&wanted, &given)) return CDAM_OK;
  return cdam_fail_policy(err, "ulimits", NULL, NULL);
}

static cdam_status require_deadline(const Cofferdam__V1__SandboxOptions *minimum,
                                    const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (!cdam_in_use_deadline(minimum)) return CDAM_OK;
  if (cdam_in_use_deadline(options) && options->deadline <= minimum->deadline) return CDAM_OK;
  return cdam_fail_policy(err, "deadline", NULL, NULL);
}

cdam_status cdam_generated_check_policy(const Cofferdam__V1__SandboxOptions *minimum,
                                        const Cofferdam__V1__SandboxOptions *options,
                                        cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = require_network_mode(minimum, options, err);
  if (status == CDAM_OK) status = require_memory_bytes(minimum, options, err);
  if (status == CDAM_OK) status = require_nano_cpus(minimum, options, err);
  if (status == CDAM_OK) status = require_pids_limit(minimum, options, err);
  if (status == CDAM_OK) status = require_read_only_root(minimum, options, err);
  if (status == CDAM_OK) status = require_user(minimum, options, err);
  if (status == CDAM_OK) status = require_drop_all_capabilities(minimum, options, err);
  if (status == CDAM_OK) status = require_no_new_privileges(minimum, options, err);
  if (status == CDAM_OK) status = require_runtime(minimum, options, err);
  if (status == CDAM_OK) status = require_ulimits(minimum, options, err);
  if (status == CDAM_OK) status = require_deadline(minimum, options, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}

bool cdam_generated_notes(const Cofferdam__V1__SandboxOptions *options, cdam_note_callback note,
                          void *user) {
  if (cdam_in_use_network_mode(options) && cdam_in_use_exposed_ports(options)) {
    static const char text[] =
        "no exposed port can be reached: the sandbox has no network (network_mode NONE)";
    if (!note(user, "network_mode", "exposed_ports", text)) return false;
  }
  return true;
}
