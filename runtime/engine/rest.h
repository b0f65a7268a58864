/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that brings much over a unix socket is read in few large pieces. The engine writes
 * pieces of 32 KiB. Who reads each as it comes has everything from the sandbox to here sleep and
 * wake for it; who lets the socket fill before he reads (some 200 KiB) gets the same bytes sooner,
 * for half of the processor's time.
 */
#ifndef COFFERDAM_ENGINE_REST_H
#define COFFERDAM_ENGINE_REST_H

#include "engine/poller.h"

/* Of one stream; embedded, zeroed but for `over`. */
typedef struct cdam_rest {
  TAILQ_ENTRY(cdam_rest) in_loop;
  /* It may be read again. Runs inside cdam_poller_run, where nothing can be done but to note it. */
  void (*over)(struct cdam_rest *rest);
  size_t in_a_row; /* bytes that came in large pieces */
  bool resting;
} cdam_rest;

typedef struct cdam_rests cdam_rests;

/* So many bytes were read, and there is no more for now. True: it rests, and is not to be read
 * until `over`. */
bool cdam_rest_after(cdam_loop *loop, cdam_rest *rest, size_t length);

/* The stream is going. */
void cdam_rest_end(cdam_loop *loop, cdam_rest *rest);

/* For the loop's end; NULL is fine. */
void cdam_rests_free(cdam_rests *rests);

#endif
