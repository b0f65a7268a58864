/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server inside the test program, for what no real engine can be made to do on
 * demand. A script is a list of rules; each request gets the first rule that matches it
 * and is not used up:
 *
 *     static const scripted_rule rules[] = {
 *         {.method = "POST", .path = "/containers/create*", .reply = {201, .body = "{...}"}},
 *         {.path = "/containers/c1/json", .times = 1, .reply = {404}},
 *         {.path = "/containers/c1/json", .answer = inspect},
 *     };
 *     scripted_engine *engine = scripted_engine_start(rules, 3);
 *     cdam_client *client = scripted_engine_client(engine, 2000);
 *     ...
 *     cdam_client_free(client);
 *     scripted_engine_stop(engine);
 *
 * /_ping is answered with Api-Version 1.41 unless a rule says otherwise. A request that no rule
 * matches is answered with 599, shown on stderr, and makes scripted_engine_stop fail
 * the test. Each connection has a thread of its own. All functions here fail the test
 * (CMocka) when they cannot do their work.
 */
#ifndef COFFERDAM_TESTS_SCRIPTED_ENGINE_H
#define COFFERDAM_TESTS_SCRIPTED_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/client.h>

typedef struct scripted_engine scripted_engine;

/* A request as it came. Lives until scripted_engine_stop. */
typedef struct scripted_request {
  char *method;
  char *path;    /* behind the API version: "/containers/json?all=1" */
  char *version; /* "1.41", or "" for a path without one */
  char *head;    /* request line and headers, as sent */
  char *body;    /* decoded; ends in NUL */
  size_t body_length;
  unsigned connection; /* 1 for the first connection that was made, and so on */
} scripted_request;

/* What happens to the connection after the reply. */
typedef enum scripted_end {
  SCRIPTED_KEEP,  /* it waits for the next request */
  SCRIPTED_CLOSE, /* closed */
  SCRIPTED_RESET, /* closed by RST (TCP), or with unread data (unix socket) */
  SCRIPTED_HANG,  /* stays open, nothing is read or sent any more */
} scripted_end;

/* A reply. Either `raw`, or a status with headers and body. Zero members mean the default. */
typedef struct scripted_reply {
  int status;
  const char *headers; /* more header lines, each ending in \r\n. With a Content-Length or
                          Transfer-Encoding among them none is added */
  const char *body;
  size_t body_length; /* 0: strlen */
  bool chunked;       /* the body goes out as chunks, one for each piece */
  const char *raw;    /* sent as it is, head and all */
  size_t raw_length;  /* 0: strlen */

  size_t piece;            /* bytes in each write: 1 is a byte at a time; 0: all at once */
  unsigned piece_delay_ms; /* between two writes */
  unsigned delay_ms;       /* before the first */
  size_t cut;              /* the connection ends after so many bytes, head included */
  scripted_end end;
} scripted_reply;

/* Makes a reply when the request is there. The engine's lock is held, so answers run one
 * after the other. What the reply points to must stay valid until scripted_engine_stop;
 * scripted_engine_keep helps. */
typedef void (*scripted_answer)(void *user, const scripted_request *request, scripted_reply *reply);

/* Takes over the connection after the request was read; the socket is closed when it returns.
 * Runs without the lock. Anything that was sent behind the request is still unread, unless it
 * came in the same packet, in which case it is in `early`. */
typedef void (*scripted_talk)(void *user, int fd, const scripted_request *request,
                              const char *early, size_t early_length);

typedef struct scripted_rule {
  const char *method;     /* NULL: any */
  const char *path;       /* an fnmatch(3) pattern for the path behind the API version, query and
                             all; "*" matches slashes, too */
  int times;              /* used up after so many requests; 0: never */
  size_t read_at_most;    /* answers when so much of the request's body has come, and leaves
                             the rest unread; 0: the whole body is read first */
  scripted_answer answer; /* changes `reply` as it likes; or NULL */
  scripted_talk talk;     /* instead of any reply; or NULL */
  void *user;             /* for both */
  scripted_reply reply;
} scripted_rule;

/* Starts an engine on a unix socket in a directory of its own, or on 127.0.0.1, or on a
 * unix socket with a given path. `rules` is borrowed until scripted_engine_stop. */
scripted_engine *scripted_engine_start(const scripted_rule *rules, size_t count);
scripted_engine *scripted_engine_start_tcp(const scripted_rule *rules, size_t count);
scripted_engine *scripted_engine_start_at(const char *path, const scripted_rule *rules,
                                          size_t count);

/* "unix:///tmp/.../docker.sock" or "tcp://127.0.0.1:port". */
const char *scripted_engine_endpoint(const scripted_engine *engine);

/* A client of this engine, whose sandboxes get no agent; free it before the engine stops. */
cdam_client *scripted_engine_client(const scripted_engine *engine, unsigned timeout_ms);

/* How many requests came so far that match; NULL and "*" match all, _pings included. */
size_t scripted_engine_count(scripted_engine *engine, const char *method, const char *path);

/* One of them, in the order of their coming; fails the test when there are not so many. */
const scripted_request *scripted_engine_request(scripted_engine *engine, const char *method,
                                                const char *path, size_t index);

/* The value of a header of a request in `value`; false when it has none. */
bool scripted_request_header(const scripted_request *request, const char *name, char *value,
                             size_t size);

/* Waits until as many matching requests have come; fails the test after 5 s. */
void scripted_engine_wait(scripted_engine *engine, const char *method, const char *path,
                          size_t count);

/* Connections that were made, and that are open. */
unsigned scripted_engine_connections(scripted_engine *engine);
unsigned scripted_engine_open_connections(scripted_engine *engine);

/* Closes all connections that wait for a request, as an engine that restarts does; returns
 * when they are closed. */
void scripted_engine_drop(scripted_engine *engine);

/* A printf into memory that lives as long as the engine. May be used inside an answer. */
const char *scripted_engine_keep(scripted_engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends all connections and threads and frees everything. Fails the test when a request came
 * that no rule matched. */
void scripted_engine_stop(scripted_engine *engine);

/* As scripted_engine_stop, without the check: for teardown after a failed test. NULL is fine. */
void scripted_engine_abandon(scripted_engine *engine);

/* An endpoint that nobody may touch: it listens, and untouchable_stop fails the test when
 * anybody has connected. */
typedef struct untouchable_engine untouchable_engine;
untouchable_engine *untouchable_start(void);
const char *untouchable_endpoint(const untouchable_engine *engine);
cdam_client *untouchable_client(const untouchable_engine *engine);
void untouchable_stop(untouchable_engine *engine);

#endif
