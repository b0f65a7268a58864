/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/version.h>

#include "options/generated.h"

const char *cdam_version(void) {
  return CDAM_VERSION;
}

unsigned cdam_schema_revision(void) {
  return cdam_generated_revision;
}
