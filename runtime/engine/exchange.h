/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: one request and its answer by one libcurl easy handle; or a timer, which is
 * an exchange without a request. Its life:
 *
 *   held      waits for the API version to be settled
 *   waiting   waits for a connection that it may have
 *   running   libcurl has it
 *   backoff   waits a moment before it is tried again
 *   timer     waits for its time
 *   ended     the outcome is there; its step runs in the next turn
 *
 * Structs and easy handles go back to the loop and are used again.
 */
#ifndef COFFERDAM_ENGINE_EXCHANGE_H
#define COFFERDAM_ENGINE_EXCHANGE_H

#include "base/buffer.h"
#include "engine/loop.h"

typedef enum cdam_exchange_state {
  CDAM_EXCHANGE_HELD,
  CDAM_EXCHANGE_WAITING,
  CDAM_EXCHANGE_RUNNING,
  CDAM_EXCHANGE_BACKOFF,
  CDAM_EXCHANGE_TIMER,
  CDAM_EXCHANGE_ENDED,
} cdam_exchange_state;

struct cdam_exchange {
  TAILQ_ENTRY(cdam_exchange) in_loop;
  cdam_exchange *op_next; /* of op->exchanges */
  cdam_loop *loop;
  cdam_operation *op; /* NULL for the loop's ping, and once cancelled */
  void *part;         /* op->part when it was sent */
  cdam_step next;
  cdam_exchange_state state;
  int64_t due;        /* cdam_now_ms() at which it fails, or the timer's time; 0: none */
  int64_t timeout_ms; /* what `due` was made from, for the message */
  int64_t again_at;   /* cdam_now_ms() at which a backoff ends */
  cdam_timer timer;

  /* The request. */
  CURL *easy;                     /* kept between uses */
  struct curl_slist *own_headers; /* NULL when the loop's are used */
  cdam_buffer path;
  cdam_buffer upload;
  bool versioned;
  bool stream;
  bool upgrade;
  bool may_repeat; /* a second sending does no harm */
  unsigned silence_ms;
  cdam_body_sink sink;
  void *sink_user;
  void (*connected)(void *user);
  struct cdam_socket_watch *watch; /* of the socket, ends with it; NULL: libcurl's own */

  /* The answer. */
  unsigned sendings; /* how often libcurl has begun to send it */
  size_t head_bytes;
  bool head_done;
  bool enough; /* of an error's body that is too large */
  int http;
  char api_version[12]; /* the Api-Version header; "" without one, "?" when odd */
  cdam_buffer body;
  cdam_status status; /* the outcome, valid when ended */
  cdam_error error;
  char curl_text[CURL_ERROR_SIZE];
};

/* A blank exchange of the loop, not in any list yet; NULL when out of memory. */
cdam_exchange *cdam_exchange_take(cdam_loop *loop);

/* Makes sure that a few exchanges can be taken without memory, and some for each operation that was
 * submitted. */
bool cdam_exchange_reserve(cdam_loop *loop);

/* Gives an exchange back that is in none of the loop's lists and not in libcurl. */
void cdam_exchange_give(cdam_exchange *exchange);

/* Frees one for good. */
void cdam_exchange_free(cdam_exchange *exchange);

/* Takes the request over: CDAM_ERR_NO_MEMORY. */
cdam_status cdam_exchange_prepare(cdam_exchange *exchange, const cdam_request *request,
                                  cdam_error *err);

/* Hands a prepared exchange, which is in `live`, to libcurl, or lets it wait for a connection; ends
 * it when that fails. */
void cdam_exchange_launch(cdam_exchange *exchange);

/* Lets a prepared exchange, which is in `live`, wait for its turn to be launched. */
void cdam_exchange_wait(cdam_exchange *exchange);

/* Launches some of those that have waited, as far as there are connections. */
void cdam_exchange_admit(cdam_loop *loop);

/* Are there more of them? */
bool cdam_exchange_can_admit(const cdam_loop *loop);

/* Did it fail only because too many connect at once? Then nothing was sent, and it waits a moment
 * instead of ending; cdam_exchange_launch is next. */
bool cdam_exchange_back_off(cdam_exchange *exchange, CURLcode result);

/* Lets it wait a moment before it is launched again. */
void cdam_exchange_pause(cdam_exchange *exchange);

/* The path with the API version. False when out of memory. */
bool cdam_exchange_target(const cdam_exchange *exchange, cdam_buffer *target);

/* Takes it out of libcurl, if it is there. */
void cdam_exchange_stop(cdam_exchange *exchange);

/* Was the engine's queue of connections full (outcome.c)? */
bool cdam_exchange_was_crowded_out(const cdam_exchange *exchange, CURLcode result);

/* The outcome by libcurl's result (outcome.c). */
cdam_status cdam_exchange_outcome(cdam_exchange *exchange, CURLcode result);

/* Moves it to `ended`. Its error stands in exchange->error unless CDAM_OK. */
void cdam_exchange_end(cdam_exchange *exchange, cdam_status status);

/* When it fails or its time comes, its operation's deadline counted in; 0: never. */
int64_t cdam_exchange_due(const cdam_exchange *exchange);

/* Tells the loop's timers of that. To be called whenever it becomes earlier. */
void cdam_exchange_schedule(cdam_exchange *exchange);

/* Takes it out of its operation's list, if it is there (operation.c). */
void cdam_operation_forget(cdam_exchange *exchange);

/* Takes it out of its operation, its list and libcurl, and gives it back. */
void cdam_exchange_drop(cdam_exchange *exchange);

#endif
