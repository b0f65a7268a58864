/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <errno.h>
#include <string.h>

void agent_error_system(MSG(Error) * error, int step, int system_errno) {
  bool outside = system_errno == EXDEV && (step == STEP(OPEN) || step == STEP(CREATE));
  error->code = outside ? ERR(OUTSIDE) : system_errno == ENOMEM ? ERR(NO_MEMORY) : ERR(SYSTEM);
  error->step = step;
  error->system_errno = (uint32_t)system_errno;
  error->message = outside ? (char *)"the path leads out of the workspace" : strerror(system_errno);
}
