/* SPDX-License-Identifier: Apache-2.0 */
/* A program's descriptor, as the end of a feed or a drain: used without waiting for it, and without
 * touching its file status flags. */
#ifndef COFFERDAM_LINK_PUMP_END_H
#define COFFERDAM_LINK_PUMP_END_H

#include <sys/types.h>

#include "engine/loop.h"
#include "engine/poller.h"

typedef enum cdam_pump_end_kind {
  CDAM_PUMP_FILE,   /* never waits, or only for a disk */
  CDAM_PUMP_SOCKET, /* can be asked not to wait */
  CDAM_PUMP_STREAM  /* a pipe or terminal */
} cdam_pump_end_kind;

/* The program's descriptor. It is used under a number of our own, for several of our ends may use
 * the same one, and each is in the loop's set. */
typedef struct cdam_pump_end {
  int fd; /* or -1 */
  cdam_socket_watch watch;
  cdam_posted ready;
  cdam_loop *loop; /* NULL when it is gone */
  cdam_posted loop_end;
  cdam_pump_end_kind kind;
  void (*run)(struct cdam_pump_end *end);
} cdam_pump_end;

/* `fd` -1: there is none. `run` is called where steps run, when it is ready. False when out of
 * descriptors; to be closed all the same. */
bool cdam_pump_end_open(cdam_pump_end *end, cdam_loop *loop, int fd,
                        void (*run)(cdam_pump_end *end));
void cdam_pump_end_close(cdam_pump_end *end);

/* Has the loop wait for it. False when out of memory. */
bool cdam_pump_end_wait(cdam_pump_end *end, uint32_t events);
void cdam_pump_end_wait_no_more(cdam_pump_end *end);

/* -1 when it failed, or would have to wait: cdam_pump_would_wait tells. */
ssize_t cdam_pump_end_read(const cdam_pump_end *end, void *bytes, size_t size);
ssize_t cdam_pump_end_write(const cdam_pump_end *end, const void *bytes, size_t length);

/* Is that what errno says? */
bool cdam_pump_would_wait(void);

#endif
