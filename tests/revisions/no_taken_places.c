/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for runtime/options/taken_places.c in a library of r1 or r2: tmpfs came with r3. */
#include "options/taken_places.h"

cdam_status cdam_check_taken_places(const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  (void)options, (void)err;
  return CDAM_OK;
}
