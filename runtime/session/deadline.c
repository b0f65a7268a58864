/* SPDX-License-Identifier: Apache-2.0 */
#include "session/deadline.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "options/formats.h"

/* The end of the year 9999, as the schema has it. */
#define MAX_DEADLINE 253402300799

cdam_status cdam_check_deadline(const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  uint64_t deadline = cdam_generated_deadline(options);
  if (!deadline) return CDAM_OK;
  time_t now = time(NULL);
  /* A clock that does not go proves nothing. */
  if (now > 0 && (uint64_t)now < deadline) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_EXPIRED,
                   "the sandbox's deadline, %" PRIu64 " seconds since 1970, has passed", deadline);
}

uint64_t cdam_deadline_of_label(const char *label) {
  uint64_t deadline = 0;
  if (!label || !cdam_decimal_parse(label, strlen(label), MAX_DEADLINE, &deadline)) return 0;
  return deadline;
}
