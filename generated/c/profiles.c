/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "options/profiles.h"

#include <cofferdam/options.h>

#include "base/fail.h"
#include "option_fields.h"
#include "options/generated.h"

static cdam_status apply_hardened(cdam_options *options, cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK && !cdam_in_use_network_mode(&options->message)) {
    cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  }
  if (status == CDAM_OK && !cdam_in_use_memory_bytes(&options->message)) {
    cdam_options_set_memory_bytes(options, 536870912);
  }
  if (status == CDAM_OK && !cdam_in_use_nano_cpus(&options->message)) {
    cdam_options_set_nano_cpus(options, 1000000000);
  }
  if (status == CDAM_OK && !cdam_in_use_pids_limit(&options->message)) {
    cdam_options_set_pids_limit(options, 256);
  }
  if (status == CDAM_OK && !cdam_in_use_read_only_root(&options->message)) {
    cdam_options_set_read_only_root(options, true);
  }
  if (status == CDAM_OK && !cdam_in_use_user(&options->message)) {
    status = cdam_options_set_user(options, "65532:65532", err);
  }
  if (status == CDAM_OK && !cdam_in_use_drop_all_capabilities(&options->message)) {
    cdam_options_set_drop_all_capabilities(options, true);
  }
  if (status == CDAM_OK && !cdam_in_use_no_new_privileges(&options->message)) {
    cdam_options_set_no_new_privileges(options, true);
  }
  if (status == CDAM_OK && !cdam_in_use_workspace(&options->message)) {
    status = cdam_options_set_workspace(options, "/workspace", err);
  }
  if (status == CDAM_OK) {
    status = cdam_profile_put(cdam_options_tmpfs_mount(options, "/tmp"), options, "/tmp",
                              "rw,noexec,nosuid,nodev,size=64m,mode=1777,uid={uid},gid={gid}",
                              cdam_options_user(options), cdam_options_set_tmpfs_mount, err);
  }
  if (status == CDAM_OK) {
    status = cdam_profile_put(cdam_options_tmpfs_mount(options, "/workspace"), options,
                              "/workspace",
                              "rw,exec,nosuid,nodev,size=256m,mode=1777,uid={uid},gid={gid}",
                              cdam_options_user(options), cdam_options_set_tmpfs_mount, err);
  }
  if (status == CDAM_OK) {
    status = cdam_profile_put(cdam_options_ulimit(options, "core"), options, "core", "0:0",
                              cdam_options_user(options), cdam_options_set_ulimit, err);
  }
  if (status == CDAM_OK) {
    status = cdam_profile_put(cdam_options_ulimit(options, "nofile"), options, "nofile",
                              "1024:1024", cdam_options_user(options), cdam_options_set_ulimit,
                              err);
  }
  return status;
}

static cdam_status check_hardened(const Cofferdam__V1__SessionState *state, cdam_error *err) {
  const Cofferdam__V1__SandboxOptions *options = state->options;
  if (!cdam_in_use_network_mode(options)) {
    return cdam_fail_unresolved("network_mode", "hardened", err);
  }
  if (!cdam_in_use_memory_bytes(options)) {
    return cdam_fail_unresolved("memory_bytes", "hardened", err);
  }
  if (!cdam_in_use_nano_cpus(options)) {
    return cdam_fail_unresolved("nano_cpus", "hardened", err);
  }
  if (!cdam_in_use_pids_limit(options)) {
    return cdam_fail_unresolved("pids_limit", "hardened", err);
  }
  if (!cdam_in_use_read_only_root(options)) {
    return cdam_fail_unresolved("read_only_root", "hardened", err);
  }
  if (!cdam_in_use_user(options)) {
    return cdam_fail_unresolved("user", "hardened", err);
  }
  if (!cdam_in_use_drop_all_capabilities(options)) {
    return cdam_fail_unresolved("drop_all_capabilities", "hardened", err);
  }
  if (!cdam_in_use_no_new_privileges(options)) {
    return cdam_fail_unresolved("no_new_privileges", "hardened", err);
  }
  if (!cdam_in_use_ulimits(options)) {
    return cdam_fail_unresolved("ulimits", "hardened", err);
  }
  return CDAM_OK;
}

cdam_status cdam_generated_resolve_profile(cdam_options *options, cdam_error *err) {
  switch (options->message.profile) {
  case COFFERDAM__V1__PROFILE__PROFILE_HARDENED:
    return apply_hardened(options, err);
  default:
    return CDAM_OK;
  }
}

cdam_status cdam_generated_check_profile(const Cofferdam__V1__SessionState *state,
                                         cdam_error *err) {
  switch (state->options->profile) {
  case COFFERDAM__V1__PROFILE__PROFILE_HARDENED:
    return check_hardened(state, err);
  default:
    return CDAM_OK;
  }
}
