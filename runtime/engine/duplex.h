/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A duplex: a POST that the engine answers with 101 (or 200) and a raw stream in both directions,
 * as POST /exec/{id}/start and POST /containers/{id}/attach do. It has a connection of its own,
 * over a unix socket or TLS, which libcurl opens (CURLOPT_CONNECT_ONLY) and curl_easy_send and
 * curl_easy_recv use. Input that is sent before the head of the answer has come is lost by the
 * engine, so it is held back until then.
 *
 * When its loop ends first, the connection is closed and no callback runs any more; the duplex is
 * then as one whose end was told. It still has to be closed.
 *
 * Callbacks run where steps run: in cdam_loop_turn or cdam_loop_dispatch, one after the other,
 * never inside a call of this header. They may call anything here, cdam_duplex_close included.
 */
#ifndef COFFERDAM_ENGINE_DUPLEX_H
#define COFFERDAM_ENGINE_DUPLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/operation.h"

typedef struct cdam_duplex cdam_duplex;

typedef struct cdam_duplex_events {
  /* The head of the answer is there. May be NULL. */
  void (*opened)(void *user);
  /* Bytes of the stream, in their order; they live for the call. */
  void (*received)(void *user, const char *bytes, size_t length);
  /* What waits to be sent fell to CDAM_DUPLEX_LOW or below after it had been above. May be NULL. */
  void (*drained)(void *user);
  /* The end, told once, the last callback: CDAM_OK when the engine closed the stream (an engine
   * that was killed may look like that, too, on a unix socket; what the stream carries has to
   * tell), else an error: the engine's answer (as cdam_answer_check says it, its http_status set),
   * CDAM_ERR_CONNECT, CDAM_ERR_TIMEOUT (no head in time), CDAM_ERR_PROTOCOL (no HTTP, or the
   * connection broke off), CDAM_ERR_NO_MEMORY.
   * Not after cdam_duplex_close. The duplex stays allocated until cdam_duplex_close. */
  void (*closed)(void *user, cdam_status status, const cdam_error *error);
} cdam_duplex_events;

#define CDAM_DUPLEX_LOW (64 * 1024)

/* Opens one. `path` is from behind the API version, `body` JSON text; both are copied, `events` is
 * not. The API version is settled first where it is not known. Counts as a stream among the loop's
 * connections, and waits for one. NULL when out of memory (err says so); everything else is told by
 * `closed`. */
cdam_duplex *cdam_duplex_open(cdam_loop *loop, const char *path, const char *body,
                              int64_t timeout_ms, const cdam_duplex_events *events, void *user,
                              cdam_error *err);

/* Queues bytes to be sent, also before it is open. False when out of memory: nothing was queued.
 * Bytes for an engine that has stopped reading, after cdam_duplex_end_writing, and after the end
 * go nowhere. */
bool cdam_duplex_write(cdam_duplex *duplex, const void *bytes, size_t length);

/* Bytes that are queued and not yet given to the socket. */
size_t cdam_duplex_pending(const cdam_duplex *duplex);

/* Does it still take bytes? False when they would go nowhere. */
bool cdam_duplex_is_writable(const cdam_duplex *duplex);

/* Has any of the request been sent, or may it have been? */
bool cdam_duplex_was_sent(const cdam_duplex *duplex);

/* Has the other side closed the stream, as far as the kernel knows by now? Before its end there may
 * be bytes that were not read yet. A system call that does not wait. */
bool cdam_duplex_has_hung_up(const cdam_duplex *duplex);

/* No more is written: after what is queued the socket is half-closed. */
void cdam_duplex_end_writing(cdam_duplex *duplex);

/* Stops reading from the socket, and goes on. While it is stopped the end is not noticed; what has
 * come with the head is kept. */
void cdam_duplex_set_reading(cdam_duplex *duplex, bool reading);

/* Closes the connection and frees it; no callback runs any more. NULL is fine. */
void cdam_duplex_close(cdam_duplex *duplex);

#endif
