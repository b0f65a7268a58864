/* SPDX-License-Identifier: Apache-2.0 */
#include "options/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "options/fields.h"

cdam_status cdam_fail_policy(cdam_error *err, const char *field, const char *wanted,
                             const char *given) {
  if (wanted) {
    cdam_fail(err, CDAM_ERR_POLICY, "the client demands %s %s, and this says %s", field, wanted,
              given ? given : "nothing of the kind");
  } else {
    cdam_fail(err, CDAM_ERR_POLICY, "the client demands another value of %s", field);
  }
  if (!err) return CDAM_ERR_POLICY;
  snprintf(err->field, sizeof err->field, "%s", field);
  return CDAM_ERR_POLICY;
}

bool cdam_same_strings(char *const *a, size_t a_count, char *const *b, size_t b_count) {
  if (a_count != b_count) return false;
  for (size_t i = 0; i < a_count; i++) {
    if (strcmp(cdam_text(a[i]), cdam_text(b[i])) != 0) return false;
  }
  return true;
}

bool cdam_same_uint32(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count) {
  return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}
