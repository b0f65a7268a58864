/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: one curl_multi with its connections, and the exchanges and timers under way in it.
 * Used by one thread at a time. Two ways lead through it:
 *
 *   cdam_loop_turn   waits, lets libcurl work, and runs the steps of what has ended: for the
 *                    blocking calls, which borrow a loop from the client's pool
 *   cdam_loop_dispatch, cdam_loop_fd   the same without waiting, for a caller's loop
 *                    (dispatch.c, and <cofferdam/loop.h>)
 *
 * In both, libcurl says which sockets it wants to hear of, and an epoll set holds them (poller.h);
 * what has to happen later is in a heap (timers.h). So the work of a turn depends on what has
 * happened and not on how much is under way.
 */
#ifndef COFFERDAM_ENGINE_LOOP_H
#define COFFERDAM_ENGINE_LOOP_H

#include <curl/curl.h>
#include <sys/queue.h>

#include "engine/operation.h"
#include "engine/timers.h"

TAILQ_HEAD(cdam_exchange_list, cdam_exchange);
TAILQ_HEAD(cdam_operation_list, cdam_operation);
TAILQ_HEAD(cdam_posted_list, cdam_posted);

/* A call that runs later where steps run, or at the end of a loop. Embedded in what it is about;
 * `run` is set by the owner, and the rest starts as zeros. */
typedef struct cdam_posted {
  TAILQ_ENTRY(cdam_posted) in_loop;
  void (*run)(struct cdam_posted *posted);
  bool queued;
} cdam_posted;

/* As much as is read from a stream at a time. */
#define CDAM_SCRATCH_SIZE (128 * 1024)

struct epoll_event;

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
  unsigned total; /* of exchanges, the spare ones included */
  cdam_timers timers;
  cdam_exchange *ping;            /* the one that settles the API version, or NULL */
  struct cdam_posted_list posted; /* are to be run */
  struct cdam_posted_list at_end; /* run when the loop ends */
  bool turning;                   /* inside of a blocking call */
  bool performing;     /* inside libcurl: nothing can be taken from it or given to it now */
  unsigned launched;   /* exchanges that were given to it since it last worked */
  bool late;           /* some exchanges should have been given to it meanwhile */
  bool orphans;        /* some exchanges were cancelled meanwhile */
  char api_version[8]; /* the client's; "" until settled */

  /* poller.c */
  int epoll;
  int timer;                 /* a timerfd in the set, or -1 */
  int64_t timer_at;          /* cdam_now_ms() for which it is set; 0: it is not set */
  struct epoll_event *batch; /* what is being handed out, or NULL */
  int batch_count;
  bool lost;   /* a socket may not be watched: what runs has to end */
  bool broken; /* and libcurl is of no use any more */

  /* Connections, of which each running exchange has one; streams keep theirs for long. */
  unsigned max_connections;
  unsigned running;
  unsigned running_streams;
  unsigned connections;                      /* that may have been made so far */
  struct cdam_exchange_list waiting;         /* for a connection, in the order of their coming */
  struct cdam_exchange_list waiting_streams; /* likewise */

  /* duplex.c */
  unsigned duplexes; /* of which each has an exchange for long */
  char *scratch;     /* CDAM_SCRATCH_SIZE bytes to read into, made with the first one; or NULL */
  struct cdam_rests *rests; /* rest.c: made with the first stream that brings much; or NULL */

  /* dispatch.c: operations that were submitted */
  struct cdam_operation_list operations; /* under way */
  struct cdam_operation_list finished;   /* their completions are to be run */
  unsigned pending;                      /* in both lists */
  bool dispatching;
  bool closing; /* it is freed at the end of the dispatch */
};

/* NULL when out of memory or descriptors. */
cdam_loop *cdam_loop_make(cdam_client *client);

/* Cancels what is under way and closes the connections. NULL is fine. */
void cdam_loop_destroy(cdam_loop *loop);

/* Cancels what is under way; the connections stay open for the next user. */
void cdam_loop_settle(cdam_loop *loop);

/* Waits at most max_wait_ms (-1: until something ends) and runs the steps of what has
 * ended. */
void cdam_loop_turn(cdam_loop *loop, int max_wait_ms);

/* Is it at work further up the stack, so that nothing can wait in it? */
static inline bool cdam_loop_is_at_work(const cdam_loop *loop) {
  return loop->turning || loop->dispatching;
}

/* CDAM_ERR_ARGUMENT when it is, for what begins to block in it. */
cdam_status cdam_loop_check_blocking(const cdam_loop *loop, cdam_error *err);

/* Has `run` called once in the next turn or dispatch, where steps run; the loop does not wait
 * before. Nothing happens when it waits for that already. It may post itself again from `run`, and
 * is then run in the turn after: so what has a lot to do does it in pieces. */
void cdam_loop_post(cdam_loop *loop, cdam_posted *posted);

/* For what is done outside of a turn and makes something due in the next one: a caller's loop gets
 * one. */
void cdam_loop_wake(cdam_loop *loop);

/* Takes it back; nothing happens when it is not waiting (the loop may be gone then). */
void cdam_loop_unpost(cdam_loop *loop, cdam_posted *posted);

/* Has `run` called at the end of the loop: when it is destroyed, or goes back to the client's pool.
 * Operations that were submitted have completed by then; the loop can still be used to take things
 * out of it, and nothing that is posted or sent runs any more. */
void cdam_loop_on_end(cdam_loop *loop, cdam_posted *posted);
void cdam_loop_forget_end(cdam_loop *loop, cdam_posted *posted);

/* ---- for dispatch.c ---- */

/* Lets libcurl work on what has happened, waiting at most so long for the first event (-1: for
 * ever), and ends what has ended. */
void cdam_loop_perform(cdam_loop *loop, int wait_ms);

/* Hands what was sent meanwhile to libcurl, which begins at once. */
void cdam_loop_kick(cdam_loop *loop);

/* Runs the steps of those that have ended by now, until `until_us` (0: all of them). */
void cdam_loop_run_steps(cdam_loop *loop, int64_t until_us);

/* Sees to it that the loop's descriptor becomes readable when something is due (dispatch.c). */
void cdam_loop_arm(cdam_loop *loop);

/* How long to wait for the next time that something is due: 0 is now, -1 never. */
int64_t cdam_loop_wait_ms(cdam_loop *loop);

#endif
