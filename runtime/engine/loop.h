/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: one curl_multi with its connections, and the exchanges and timers under way in it.
 * A turn lets libcurl work, waits when nothing has happened, and then runs the steps of
 * what has ended. Used by one thread at a time.
 */
#ifndef COFFERDAM_ENGINE_LOOP_H
#define COFFERDAM_ENGINE_LOOP_H

#include <curl/curl.h>
#include <sys/queue.h>

#include "engine/operation.h"

TAILQ_HEAD(cdam_exchange_list, cdam_exchange);

struct cdam_loop {
  cdam_loop *next_idle; /* of the client */
  cdam_client *client;
  CURLM *multi;
  struct curl_slist *headers;      /* for every request without a body */
  struct curl_slist *json_headers; /* for JSON bodies */
  struct cdam_exchange_list live;  /* held, running, timers */
  struct cdam_exchange_list ended; /* their steps are to be run */
  struct cdam_exchange_list spare; /* to be used again, with their easy handles */
  unsigned spare_count;
  cdam_exchange *ping; /* the one that settles the API version, or NULL */
  bool performing;     /* inside libcurl: nothing can be taken from it or given to it now */
  bool late;           /* some exchanges should have been given to it meanwhile */
  bool orphans;        /* some exchanges were cancelled meanwhile */
  char api_version[8]; /* the client's; "" until settled */
};

/* NULL when out of memory. */
cdam_loop *cdam_loop_new(cdam_client *client);

/* Cancels what is under way and closes the connections. NULL is fine. */
void cdam_loop_free(cdam_loop *loop);

/* Cancels what is under way; the connections stay open for the next user. */
void cdam_loop_settle(cdam_loop *loop);

/* Waits at most max_wait_ms (-1: until something ends) and runs the steps of what has
 * ended. */
void cdam_loop_turn(cdam_loop *loop, int max_wait_ms);

/* Nothing is under way, so a turn would wait for ever. */
bool cdam_loop_is_idle(const cdam_loop *loop);

#endif
