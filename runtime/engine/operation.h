/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: small state machines over HTTP exchanges with one engine.
 *
 * An operation is a struct whose first member is a cdam_operation. Each of its
 * steps sends a request (or sets a timer) and names the step that runs when the
 * answer is there. All steps run inside cdam_loop_turn, one after the other, never
 * inside the call that sent the request; so a step can do anything to its operation.
 *
 *     static void inspected(cdam_operation *op, const cdam_reply *reply) { ... }
 *     cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, inspected);
 *
 * A loop is one curl_multi with its connections. It is used by one thread at a time. A client
 * keeps a pool of idle loops, from which the blocking calls borrow (cdam_operation_run); a
 * program's own loop (<cofferdam/loop.h>) has operations submitted to it (cdam_operation_submit).
 * Nothing else tells the two apart: what an operation needs it owns, for it may outlive the call
 * that began it.
 */
#ifndef COFFERDAM_ENGINE_OPERATION_H
#define COFFERDAM_ENGINE_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <cofferdam/client.h>
#include <cofferdam/error.h>
#include <cofferdam/loop.h>

typedef struct cdam_exchange cdam_exchange;

/* The end of an exchange, or of a timer. Lives for the call of the step. */
typedef struct cdam_reply {
  cdam_status status;      /* CDAM_OK: a whole answer came, whatever its http code;
                              or the timer ran out. Otherwise `error` says what failed */
  const cdam_error *error; /* NULL when status is CDAM_OK */
  int http;                /* 200, 404, ...; 0 without an answer */
  const char *body;        /* ends in NUL; "" when there is none or when it was streamed */
  size_t length;
} cdam_reply;

typedef void (*cdam_step)(cdam_operation *op, const cdam_reply *reply);

/* Takes a piece of a streamed body. False ends the exchange with CDAM_ERR_PROTOCOL
 * (or with what `*failure` was set to before). */
typedef bool (*cdam_body_sink)(void *user, const char *bytes, size_t length, cdam_error *failure);

/* A request; what it points to is copied or used up before cdam_operation_send returns,
 * except `sink_user`. Zero members mean the default. */
typedef struct cdam_request {
  const char *method;        /* "GET", "POST", "PUT", "DELETE", "HEAD" */
  const char *path;          /* from behind the API version: "/containers/json?all=1"; ids in it
                                have been checked or escaped */
  const char *body;          /* NULL: none, and Content-Length 0 for POST and PUT */
  size_t body_length;        /* 0 with a body: strlen */
  const char *content_type;  /* NULL: application/json */
  const char *registry_auth; /* X-Registry-Auth, or NULL */
  bool unversioned;          /* the path is not prefixed: /_ping */
  bool upgrade;              /* Connection: Upgrade, Upgrade: tcp; the answer may be 101 or
                                200 and is a raw stream to the end of the connection, which is
                                never used again */
  bool stream;               /* no deadline on the whole exchange but the operation's own; the
                                client's timeout bounds the wait for the head of the answer */
  unsigned silence_ms;       /* with stream: fail after so long without a byte; 0: no bound */
  int64_t timeout_ms;        /* instead of the client's timeout; 0: the client's */
  cdam_body_sink sink;       /* gets the body of a 2xx or 101 answer; NULL: it is collected (16 MiB
                                at most). The body of any other answer is always collected */
  void *sink_user;
  void (*connected)(void *user); /* of a duplex, which gets sink_user: libcurl only connects, and
                                    then this runs, where no step runs; the exchange goes on until
                                    its time is over or it is dropped */
} cdam_request;

/* What to do with an operation itself, outside of its steps. */
typedef void (*cdam_operation_action)(cdam_operation *op);

struct cdam_operation {
  cdam_client *client;
  cdam_loop *loop;
  int64_t deadline; /* cdam_now_ms() at which exchanges end in CDAM_ERR_TIMEOUT; 0: none */
  bool finished;
  cdam_status status;       /* valid when finished */
  cdam_error error;         /* likewise */
  void *part;               /* of the part (such as an image job) whose steps run now */
  cdam_exchange *exchanges; /* under way; private to operation.c and loop.c */
  unsigned holds;           /* what it waits for that is no exchange; see cdam_operation_hold */

  /* Ends it early, as far as that is possible now: finishes it, or begins to undo what it
   * did. Called again after the next step when the operation has not finished. NULL: it finishes at
   * once. Set by the operation. */
  cdam_operation_action abort;
  bool cancelled; /* abort is called after each step */

  /* Of a submitted one: gives the outcome to the caller and frees the operation. */
  cdam_operation_action completed;
  void *user; /* the caller's */
  TAILQ_ENTRY(cdam_operation) in_loop;
};

/* Sends a request; `next` runs when the answer is whole, or failed, also when the
 * request could not be sent at all. The first request of a client settles the API version
 * before it. The result is for cdam_operation_cancel only; it may be NULL when out of memory, and
 * `next` runs all the same. */
cdam_exchange *cdam_operation_send(cdam_operation *op, const cdam_request *request, cdam_step next);

/* Runs `next` after some time, with a CDAM_OK reply. */
cdam_exchange *cdam_operation_after(cdam_operation *op, int64_t ms, cdam_step next);

/* Ends an exchange or a timer; its step does not run. NULL is fine. Not for one
 * that has ended. */
void cdam_operation_cancel(cdam_operation *op, cdam_exchange *exchange);

/* The operation is over: cancels what is still under way. `error` is copied and may
 * be op->error itself; with CDAM_OK it is not looked at. */
void cdam_operation_finish(cdam_operation *op, cdam_status status, const cdam_error *error);

/* The blocking call: borrows a loop from the client, runs `start` (its reply is a CDAM_OK one),
 * turns the loop until the operation has finished, and hands out its error. `op` needs no
 * initialization but what is its own; the deadline stays as set. */
cdam_status cdam_operation_run(cdam_operation *op, cdam_client *client, cdam_step start,
                               cdam_error *err);

/* The same in a loop of the caller's own, made by cdam_loop_make, which it keeps. Other operations
 * that live in it (cdam_operation_init_in) go on meanwhile. CDAM_ERR_ARGUMENT inside of a callback
 * of this loop; then nothing runs. */
cdam_status cdam_operation_run_in(cdam_operation *op, cdam_loop *loop, cdam_step start,
                                  cdam_error *err);

/* An operation that is nobody's call, such as a link's: it belongs to a loop, is not counted as
 * pending, sends exchanges as any other, and is held, so that it may have nothing under way. It is
 * over with cdam_operation_finish, before which it must not be freed. All its members are set. */
void cdam_operation_init_in(cdam_operation *op, cdam_loop *loop);

/* It waits, or no longer waits, for something that is no exchange, such as a channel of a link.
 * Without an exchange and without a hold an operation that has not finished is lost. Calls of
 * release beyond those of hold do nothing. */
void cdam_operation_hold(cdam_operation *op);
void cdam_operation_release(cdam_operation *op);

/* For the end of each callback that works on an operation and is no step of it, such as a
 * channel's: what follows each step. It aborts a cancelled one again, and finishes one that is
 * lost. A callback may finish an operation just as a step may; its `completed` runs in the same
 * dispatch, after the callbacks. */
void cdam_operation_stepped(cdam_operation *op);

/* The call that does not block: `start` runs in the loop's next dispatch, and `completed` in the
 * one in which the operation finishes. CDAM_ERR_ARGUMENT for a loop that is being freed,
 * CDAM_ERR_NO_MEMORY; then nothing runs, and the operation is still the caller's. */
cdam_status cdam_operation_submit(cdam_operation *op, cdam_loop *loop, cdam_step start,
                                  cdam_operation_action completed, cdam_error *err);

/* What each _start begins with: *operation (may be NULL) becomes NULL; CDAM_ERR_ARGUMENT when the
 * loop or the callback is missing. */
cdam_status cdam_start_check(const cdam_loop *loop, bool has_callback, cdam_operation **operation,
                             cdam_error *err);

/* The client that a loop belongs to. */
cdam_client *cdam_loop_client(const cdam_loop *loop);

/* Has `abort` end it, now and, when it goes on, after each of its steps. Nothing happens to one
 * that has finished. */
void cdam_operation_abort(cdam_operation *op);

/* Cancels all exchanges and timers under way. */
void cdam_operation_drop_all(cdam_operation *op);

/* Finishes with CDAM_ERR_CANCELLED. */
void cdam_operation_finish_cancelled(cdam_operation *op);

/* Has the engine got a request that may change something, and not yet answered it? Streams are
 * not counted. */
bool cdam_operation_is_committed(const cdam_operation *op);

/* Has any of it been sent? */
bool cdam_exchange_was_sent(const cdam_exchange *exchange);

#endif
