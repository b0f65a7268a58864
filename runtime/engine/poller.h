/* SPDX-License-Identifier: Apache-2.0 */
/* The epoll set of a loop: libcurl's sockets, those of duplexes, and, in a caller's loop, the timer
 * that makes the set's own descriptor readable when something is due. */
#ifndef COFFERDAM_ENGINE_POLLER_H
#define COFFERDAM_ENGINE_POLLER_H

#include "engine/loop.h"

/* Makes the set and connects libcurl to it; the loop has its multi handle. False when out of
 * memory or descriptors. */
bool cdam_poller_open(cdam_loop *loop);

/* Adds the timer. */
bool cdam_poller_add_timer(cdam_loop *loop);

/* For a loop whose multi handle is gone. */
void cdam_poller_close(cdam_loop *loop);

/* Waits at most so long for events (-1: for ever) and gives them to libcurl, and what is due by
 * libcurl's own clock. A few at a time: the rest stays for the next call. */
void cdam_poller_run(cdam_loop *loop, int wait_ms);

/* Only what is due by libcurl's clock, such as what was just given to it. */
void cdam_poller_kick(cdam_loop *loop);

/* A socket that libcurl has connected and no longer looks at. Embedded; its memory is even. */
typedef struct cdam_socket_watch {
  int fd;
  uint32_t events; /* that it is in the set for; 0: it is not there */
  /* Runs inside cdam_poller_run, where nothing can be done but to note it. */
  void (*ready)(struct cdam_socket_watch *watch, uint32_t events);
} cdam_socket_watch;

/* Changes what it is in the set for. False when out of memory. */
bool cdam_poller_watch(cdam_loop *loop, cdam_socket_watch *watch, uint32_t events);

/* Takes it out; nothing more is told. */
void cdam_poller_unwatch(cdam_loop *loop, cdam_socket_watch *watch);

/* Sets the timer to go off in so many ms; 0 is at once, and -1 never. It may go off too early. */
void cdam_poller_set_timer(cdam_loop *loop, int64_t wait_ms);

#endif
