/* SPDX-License-Identifier: Apache-2.0 */
/* A watch: a channel to the agent, and the events that came and were not fetched yet. */
#ifndef COFFERDAM_FILE_WATCH_H
#define COFFERDAM_FILE_WATCH_H

#include <cofferdam/file.h>

#include "base/buffer.h"
#include "engine/loop.h"
#include "file/request.h"
#include "link/own_loop.h"

struct cdam_file_watch {
  cdam_channel channel;       /* first: a callback's channel is its watch */
  cdam_link *link;            /* a reference, once it is open */
  cdam_own_loop *own;         /* a reference; NULL for one of a program's loop */
  cdam_file_request *opening; /* waits for the first event; NULL from then on */
  cdam_buffer events;         /* watch_events.c: records, each with its name behind it */
  size_t first;               /* offset of the first that was not fetched */
  bool lost;                  /* memory was out: OVERFLOW comes behind what is there */
  bool gone;                  /* GONE comes last, and ever after */
  bool failed;                /* or this does */
  cdam_error failure;
  char name[CDAM_FILE_MAX_PATH + 1]; /* of the event that was fetched */
  cdam_file_watch_ready ready;
  void *user;
  cdam_posted told; /* tells what came before `ready` was set */
};

/* Is there an event to fetch? */
bool cdam_file_watch_has_event(const cdam_file_watch *watch);

/* Takes what the agent sent; false for what makes no sense. */
bool cdam_file_watch_put(cdam_file_watch *watch, const Cofferdam__Agent__V1__WatchEvent *event,
                         size_t charge, cdam_error *failure);

/* Fetches the first event, and gives its credit back. False when there is none. */
bool cdam_file_watch_take(cdam_file_watch *watch, cdam_file_event *event);

#endif
