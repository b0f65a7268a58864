/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <stddef.h>

static const int kinds[] = {SIGINT, SIGTERM, SIGHUP};

void cli_hold_signals(cli_hold *hold) {
  sigemptyset(&hold->held);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct sigaction action;
    /* One that is ignored (nohup) would stay pending while it is blocked. */
    if (sigaction(kinds[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaddset(&hold->held, kinds[i]);
  }
  sigprocmask(SIG_BLOCK, &hold->held, &hold->before);
}

bool cli_interrupted(const cli_hold *hold) {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (sigismember(&hold->held, kinds[i]) == 1 && sigismember(&pending, kinds[i]) == 1)
      return true;
  return false;
}

void cli_release_signals(const cli_hold *hold) {
  sigprocmask(SIG_SETMASK, &hold->before, NULL);
}
