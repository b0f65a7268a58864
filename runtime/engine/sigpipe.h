/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps SIGPIPE from the program that uses the library, without touching its handlers. libcurl
 * itself sends with MSG_NOSIGNAL, but not all the TLS libraries that it may be built with do. */
#ifndef COFFERDAM_ENGINE_SIGPIPE_H
#define COFFERDAM_ENGINE_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

typedef struct cdam_sigpipe {
  sigset_t before;
  bool held;
} cdam_sigpipe;

/* Blocks SIGPIPE in this thread when `needed`. */
void cdam_sigpipe_hold(cdam_sigpipe *guard, bool needed);

/* Drops one that came meanwhile and restores the thread's mask. */
void cdam_sigpipe_release(cdam_sigpipe *guard);

#endif
