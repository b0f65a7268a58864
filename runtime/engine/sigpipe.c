/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sigpipe.h"

#include <errno.h>
#include <time.h>

static bool is_pending(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void cdam_sigpipe_hold(cdam_sigpipe *guard, bool needed) {
  guard->held = false;
  /* One that is pending already is the program's own, and blocked: it must stay. */
  if (!needed || is_pending()) return;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  guard->held = pthread_sigmask(SIG_BLOCK, &set, &guard->before) == 0;
}

void cdam_sigpipe_release(cdam_sigpipe *guard) {
  if (!guard->held) return;
  if (is_pending()) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    const struct timespec at_once = {0};
    while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
      ;
  }
  pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
  guard->held = false;
}
