/* SPDX-License-Identifier: Apache-2.0 */
/* What each client that is measured can do. One of library_actions.c and bare_actions.c is linked.
 */
#ifndef COFFERDAM_BENCH_ACTIONS_H
#define COFFERDAM_BENCH_ACTIONS_H

typedef struct actions {
  void (*create)(void);
  void (*exec)(void);
  void (*resume)(void);
  void (*destroy)(void);
} actions;

/* On the engine of DOCKER_HOST, which is a unix socket. */
actions make_actions(const char *image);

/* Says why, and ends the program. */
void die(const char *what, const char *why);

#endif
