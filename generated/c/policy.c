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

cdam_status cdam_generated_check_policy(const Cofferdam__V1__SandboxOptions *minimum,
                                        const Cofferdam__V1__SandboxOptions *options,
                                        cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (status == CDAM_OK) status = require_network_mode(minimum, options, err);
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
