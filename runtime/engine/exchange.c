/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <cofferdam/version.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/poller.h"
#include "engine/sigpipe.h"

#define MAX_HEAD (64 * 1024)
#define MAX_BODY (16 * 1024 * 1024)
#define MAX_ERROR_BODY (1024 * 1024)
#define RESERVED 4
/* One that has ended, and the one that its step sends. */
#define RESERVED_EACH 2
#define MAX_SPARE 16
/* At a time, since connecting takes its time. */
#define MAX_ADMITTED 8
/* An engine that has a long queue takes on hundreds in this time. */
#define CROWDED_WAIT_MS 5
#define MAX_SPARE_BUFFER (64 * 1024)

/* ---- taking and giving back ---- */

/* Each has its place in the heap of timers from the start. */
static cdam_exchange *make(cdam_loop *loop) {
  if (!cdam_timers_reserve(&loop->timers, loop->total + 1)) return NULL;
  cdam_exchange *exchange = calloc(1, sizeof *exchange);
  if (!exchange) return NULL;
  exchange->loop = loop;
  loop->total++;
  return exchange;
}

cdam_exchange *cdam_exchange_take(cdam_loop *loop) {
  cdam_exchange *exchange = TAILQ_FIRST(&loop->spare);
  if (!exchange) return make(loop);
  TAILQ_REMOVE(&loop->spare, exchange, in_loop);
  loop->spare_count--;
  return exchange;
}

static unsigned needed(const cdam_loop *loop) {
  return RESERVED + RESERVED_EACH * loop->pending + loop->duplexes;
}

bool cdam_exchange_reserve(cdam_loop *loop) {
  while (loop->spare_count < RESERVED || loop->total < needed(loop)) {
    cdam_exchange *exchange = make(loop);
    if (!exchange) return false;
    TAILQ_INSERT_HEAD(&loop->spare, exchange, in_loop);
    loop->spare_count++;
  }
  return true;
}

static void empty(cdam_buffer *buffer) {
  if (buffer->capacity > MAX_SPARE_BUFFER) cdam_buffer_clear(buffer);
  buffer->length = 0;
  if (buffer->data) buffer->data[0] = '\0';
}

/* The handle of a duplex is its own: it is never one for requests again. */
static void drop_easy(cdam_exchange *exchange) {
  curl_easy_cleanup(exchange->easy);
  exchange->easy = NULL;
}

void cdam_exchange_give(cdam_exchange *exchange) {
  cdam_loop *loop = exchange->loop;
  curl_slist_free_all(exchange->own_headers);
  if (exchange->connected) drop_easy(exchange);
  if (loop->spare_count >= MAX_SPARE && loop->total > needed(loop)) {
    exchange->own_headers = NULL;
    cdam_exchange_free(exchange);
    return;
  }
  empty(&exchange->path);
  empty(&exchange->upload);
  empty(&exchange->body);
  *exchange = (cdam_exchange){
      .loop = loop,
      .easy = exchange->easy,
      .path = exchange->path,
      .upload = exchange->upload,
      .body = exchange->body,
  };
  TAILQ_INSERT_HEAD(&loop->spare, exchange, in_loop);
  loop->spare_count++;
}

void cdam_exchange_free(cdam_exchange *exchange) {
  exchange->loop->total--;
  curl_easy_cleanup(exchange->easy);
  curl_slist_free_all(exchange->own_headers);
  cdam_buffer_clear(&exchange->path);
  cdam_buffer_clear(&exchange->upload);
  cdam_buffer_clear(&exchange->body);
  free(exchange);
}

/* ---- what libcurl calls ---- */

/* Why there is none, libcurl would not tell. An address family that is not there is no reason:
 * another address may do. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  cdam_exchange *exchange = user;
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0 && errno != EAFNOSUPPORT)
    cdam_fail(&exchange->error, CDAM_ERR_CONNECT, "cannot connect to the engine at %s: %s",
              exchange->loop->client->config.endpoint, strerror(errno));
  return fd;
}

/* libcurl sends a request again when a connection that it used before turns out to be dead,
 * whatever the method. Nobody knows whether the engine has acted on the first one. */
static int before_request(void *user, char *remote, char *local, int remote_port, int local_port) {
  (void)remote;
  (void)local;
  (void)remote_port;
  (void)local_port;
  cdam_exchange *exchange = user;
  return exchange->sendings++ && !exchange->may_repeat ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static bool is_success(const cdam_exchange *exchange) {
  return exchange->http / 100 == 2 || exchange->http == 101;
}

/* Of a stream only the wait for the head has the timeout. An error that comes instead of
 * a stream is an ordinary answer. */
static void set_due_after_head(cdam_exchange *exchange) {
  if (!exchange->stream) return;
  if (is_success(exchange)) exchange->timeout_ms = exchange->silence_ms;
  exchange->due = exchange->timeout_ms ? cdam_now_ms() + exchange->timeout_ms : 0;
  if (exchange->state == CDAM_EXCHANGE_RUNNING) cdam_exchange_schedule(exchange);
}

static void end_of_head(cdam_exchange *exchange) {
  long http = 0;
  curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &http);
  if (http < 200 && http != 101) { /* another head will follow */
    exchange->api_version[0] = '\0';
    return;
  }
  exchange->http = (int)http;
  exchange->head_done = true;
  set_due_after_head(exchange);
}

static void note_api_version(cdam_exchange *exchange, const char *value, size_t length) {
  while (length && strchr(" \t\r\n", value[length - 1]))
    length--;
  while (length && (*value == ' ' || *value == '\t'))
    value++, length--;
  bool odd = length == 0 || length >= sizeof exchange->api_version ||
             exchange->api_version[0] != '\0' || memchr(value, '\0', length);
  if (odd) {
    value = "?";
    length = 1;
  }
  memcpy(exchange->api_version, value, length);
  exchange->api_version[length] = '\0';
}

static size_t take_head(char *line, size_t size, size_t count, void *user) {
  static const char name[] = "Api-Version:";
  cdam_exchange *exchange = user;
  size_t length = size * count;
  exchange->head_bytes += length;
  if (exchange->head_bytes > MAX_HEAD) {
    cdam_fail(&exchange->error, CDAM_ERR_PROTOCOL,
              "the head of the engine's answer is larger than %d bytes", MAX_HEAD);
    return 0;
  }
  if (exchange->head_done) return length; /* a trailer */
  if (length <= 2 && (line[0] == '\r' || line[0] == '\n')) end_of_head(exchange);
  if (length >= sizeof name - 1 && strncasecmp(line, name, sizeof name - 1) == 0)
    note_api_version(exchange, line + sizeof name - 1, length - (sizeof name - 1));
  return length;
}

static bool hand_out(cdam_exchange *exchange, const char *bytes, size_t length) {
  cdam_error failure = {0};
  if (exchange->silence_ms) exchange->due = cdam_now_ms() + exchange->silence_ms;
  if (exchange->sink(exchange->sink_user, bytes, length, &failure)) return true;
  if (failure.code == CDAM_OK)
    cdam_fail(&failure, CDAM_ERR_PROTOCOL, "the engine's answer makes no sense");
  exchange->error = failure;
  return false;
}

static bool collect(cdam_exchange *exchange, const char *bytes, size_t length) {
  bool success = is_success(exchange);
  size_t limit = success ? MAX_BODY : MAX_ERROR_BODY;
  if (length > limit - exchange->body.length) {
    exchange->enough = !success;
    cdam_fail(&exchange->error, CDAM_ERR_PROTOCOL, "the engine's answer is larger than %zu bytes",
              limit);
    return false;
  }
  if (cdam_buffer_append(&exchange->body, bytes, length)) return true;
  cdam_fail_memory(&exchange->error);
  return false;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *user) {
  cdam_exchange *exchange = user;
  size_t length = size * count;
  if (!exchange->next && exchange != exchange->loop->ping) return CURL_WRITEFUNC_ERROR;
  bool ok = exchange->sink && is_success(exchange) ? hand_out(exchange, bytes, length)
                                                   : collect(exchange, bytes, length);
  return ok ? length : CURL_WRITEFUNC_ERROR;
}

/* ---- preparing ---- */

#define SET(option, value) ((int)curl_easy_setopt(easy, option, value))

static bool set_tls(CURL *easy, const cdam_client *client) {
  int bad = SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  bad |= SET(CURLOPT_SSL_VERIFYPEER, 1L) | SET(CURLOPT_SSL_VERIFYHOST, 2L);
  bad |= SET(CURLOPT_CAINFO, client->ca_file);
  bad |= SET(CURLOPT_CAPATH, NULL); /* nor does the system's own list count */
  if (client->cert_file)
    bad |= SET(CURLOPT_SSLCERT, client->cert_file) | SET(CURLOPT_SSLKEY, client->key_file);
  return !bad;
}

/* What is the same for every request. Proxies and .netrc are for the web; an
 * engine is reached directly or not at all. */
static bool set_constants(cdam_exchange *exchange) {
  const cdam_client *client = exchange->loop->client;
  CURL *easy = exchange->easy;
  int bad = SET(CURLOPT_NOSIGNAL, 1L) | SET(CURLOPT_QUICK_EXIT, 1L);
  bad |= SET(CURLOPT_PROXY, "") | SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  bad |= SET(CURLOPT_PROTOCOLS_STR,
             client->config.tls && !client->endpoint.socket_path ? "https" : "http");
  bad |= SET(CURLOPT_FOLLOWLOCATION, 0L) | SET(CURLOPT_URL, client->endpoint.base_url);
  bad |= SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) | SET(CURLOPT_HTTP09_ALLOWED, 0L);
  /* Without a limit a Content-Length that overflows is passed over in silence. */
  bad |= SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)INT64_MAX);
  bad |= SET(CURLOPT_USERAGENT, "cofferdam/" CDAM_VERSION);
  bad |= SET(CURLOPT_TCP_NODELAY, 1L) | SET(CURLOPT_TCP_KEEPALIVE, 1L);
  bad |= SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) | SET(CURLOPT_OPENSOCKETDATA, exchange);
  bad |= SET(CURLOPT_PREREQFUNCTION, before_request) | SET(CURLOPT_PREREQDATA, exchange);
  bad |= SET(CURLOPT_HEADERFUNCTION, take_head) | SET(CURLOPT_HEADERDATA, exchange);
  bad |= SET(CURLOPT_WRITEFUNCTION, take_body) | SET(CURLOPT_WRITEDATA, exchange);
  bad |= SET(CURLOPT_ERRORBUFFER, exchange->curl_text) | SET(CURLOPT_PRIVATE, exchange);
  if (client->endpoint.socket_path)
    bad |= SET(CURLOPT_UNIX_SOCKET_PATH, client->endpoint.socket_path);
  else if (client->config.tls)
    bad |= !set_tls(easy, client);
  return !bad;
}

static bool make_easy(cdam_exchange *exchange) {
  if (exchange->easy) return true;
  exchange->easy = curl_easy_init();
  if (exchange->easy && set_constants(exchange)) return true;
  curl_easy_cleanup(exchange->easy);
  exchange->easy = NULL;
  return false;
}

/* "Name:", with an empty value, takes a header away that libcurl would add. */
static bool add_header(cdam_exchange *exchange, const char *name, const char *value) {
  cdam_buffer line = {0};
  bool ok = cdam_buffer_append_text(&line, name) && cdam_buffer_append_text(&line, value);
  struct curl_slist *longer = ok ? curl_slist_append(exchange->own_headers, line.data) : NULL;
  if (longer) exchange->own_headers = longer;
  cdam_buffer_clear(&line);
  return longer != NULL;
}

static bool make_headers(cdam_exchange *exchange, const cdam_request *request) {
  const char *type = request->content_type ? request->content_type : "application/json";
  if (!add_header(exchange, "Expect:", "")) return false;
  if (!add_header(exchange,
                  request->body ? "Content-Type: " : "Content-Type:", request->body ? type : ""))
    return false;
  if (request->registry_auth && !add_header(exchange, "X-Registry-Auth: ", request->registry_auth))
    return false;
  return !request->upgrade || (add_header(exchange, "Connection: Upgrade", "") &&
                               add_header(exchange, "Upgrade: tcp", ""));
}

static bool set_headers(cdam_exchange *exchange, const cdam_request *request) {
  cdam_loop *loop = exchange->loop;
  struct curl_slist *headers = request->body ? loop->json_headers : loop->headers;
  bool own = (request->upgrade && !request->connected) || request->registry_auth ||
             (request->body && request->content_type);
  if (own) {
    if (!make_headers(exchange, request)) return false;
    headers = exchange->own_headers;
  }
  return curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

/* HTTPGET undoes what the request before has set. */
static bool set_method(cdam_exchange *exchange, const char *method) {
  CURL *easy = exchange->easy;
  int bad = SET(CURLOPT_HTTPGET, 1L) | SET(CURLOPT_CUSTOMREQUEST, NULL);
  if (strcmp(method, "GET") == 0) return !bad;
  if (strcmp(method, "HEAD") == 0) return !(bad | SET(CURLOPT_NOBODY, 1L));
  if (strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || exchange->upload.length) {
    bad |= SET(CURLOPT_POST, 1L) | SET(CURLOPT_POSTFIELDS, cdam_buffer_text(&exchange->upload));
    bad |= SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->upload.length);
  }
  if (strcmp(method, "POST") != 0) bad |= SET(CURLOPT_CUSTOMREQUEST, method);
  return !bad;
}

static void take_over(cdam_exchange *exchange, const cdam_request *request) {
  const cdam_client *client = exchange->loop->client;
  exchange->versioned = !request->unversioned;
  exchange->stream = request->stream;
  exchange->upgrade = request->upgrade;
  exchange->silence_ms = request->silence_ms;
  exchange->sink = request->sink;
  exchange->sink_user = request->sink_user;
  exchange->connected = request->connected;
  exchange->may_repeat = strcmp(request->method, "POST") != 0;
  exchange->timeout_ms = request->timeout_ms ? request->timeout_ms : client->config.timeout_ms;
  exchange->due = cdam_now_ms() + exchange->timeout_ms;
}

/* After this time libcurl looks at a connection even when nothing happened, at all of those
 * together that began together; in the middle of TLS handshakes that takes long. */
static long time_of_second_look(cdam_loop *loop) {
  return CURL_HET_DEFAULT + loop->connections++ % 64 * 4;
}

static bool set_connection(cdam_exchange *exchange) {
  CURL *easy = exchange->easy;
  int bad = SET(CURLOPT_FRESH_CONNECT, (long)exchange->upgrade);
  if (exchange->loop->client->config.tls)
    bad |= SET(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, time_of_second_look(exchange->loop));
  if (exchange->connected)
    bad |= SET(CURLOPT_CONNECT_ONLY, 1L) | SET(CURLOPT_BUFFERSIZE, (long)CDAM_SCRATCH_SIZE);
  else
    bad |= SET(CURLOPT_FORBID_REUSE, (long)exchange->upgrade);
  return !bad;
}

cdam_status cdam_exchange_prepare(cdam_exchange *exchange, const cdam_request *request,
                                  cdam_error *err) {
  take_over(exchange, request);
  if (request->connected) drop_easy(exchange);
  size_t upload =
      request->body && !request->body_length ? strlen(request->body) : request->body_length;
  bool ok = make_easy(exchange) && cdam_buffer_append_text(&exchange->path, request->path) &&
            (!upload || cdam_buffer_append(&exchange->upload, request->body, upload)) &&
            set_headers(exchange, request) && set_method(exchange, request->method) &&
            set_connection(exchange);
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

bool cdam_exchange_target(const cdam_exchange *exchange, cdam_buffer *target) {
  if (exchange->versioned && (!cdam_buffer_append_text(target, "/v") ||
                              !cdam_buffer_append_text(target, exchange->loop->api_version)))
    return false;
  return cdam_buffer_append_text(target, cdam_buffer_text(&exchange->path));
}

/* As a target of its own and not as a part of the URL: out of memory, libcurl drops a URL's
 * query and sends the rest. */
static bool set_target(cdam_exchange *exchange) {
  cdam_buffer target = {0};
  bool ok = cdam_exchange_target(exchange, &target) &&
            curl_easy_setopt(exchange->easy, CURLOPT_REQUEST_TARGET, target.data) == CURLE_OK;
  cdam_buffer_clear(&target);
  return ok;
}

/* Streams leave some connections to the others, or nothing could end a stream any more. */
static bool has_connection(const cdam_exchange *exchange) {
  const cdam_loop *loop = exchange->loop;
  if (exchange == loop->ping) return true;
  if (loop->running >= loop->max_connections) return false;
  unsigned others = loop->max_connections / 8 + 1;
  return !exchange->upgrade || loop->running_streams < loop->max_connections - others;
}

static struct cdam_exchange_list *queue_of(const cdam_exchange *exchange) {
  return exchange->upgrade ? &exchange->loop->waiting_streams : &exchange->loop->waiting;
}

static struct cdam_exchange_list *list_of(const cdam_exchange *exchange) {
  if (exchange->state == CDAM_EXCHANGE_ENDED) return &exchange->loop->ended;
  return exchange->state == CDAM_EXCHANGE_WAITING ? queue_of(exchange) : &exchange->loop->live;
}

/* Its time for the answer begins when it is sent. What has a deadline is cleaning up, and goes
 * before what would make more to clean up. */
void cdam_exchange_wait(cdam_exchange *exchange) {
  struct cdam_exchange_list *queue = queue_of(exchange);
  TAILQ_REMOVE(&exchange->loop->live, exchange, in_loop);
  exchange->state = CDAM_EXCHANGE_WAITING;
  exchange->due = 0;
  if (exchange->op->deadline)
    TAILQ_INSERT_HEAD(queue, exchange, in_loop);
  else
    TAILQ_INSERT_TAIL(queue, exchange, in_loop);
  cdam_exchange_schedule(exchange);
}

static void run(cdam_exchange *exchange) {
  cdam_loop *loop = exchange->loop;
  exchange->curl_text[0] = '\0';
  if (!set_target(exchange) || curl_multi_add_handle(loop->multi, exchange->easy) != CURLM_OK) {
    cdam_exchange_end(exchange, cdam_fail_memory(&exchange->error));
    return;
  }
  exchange->state = CDAM_EXCHANGE_RUNNING;
  loop->running++;
  loop->launched++;
  loop->running_streams += exchange->upgrade;
  cdam_exchange_schedule(exchange);
}

static bool has_turn(const cdam_exchange *exchange) {
  const cdam_loop *loop = exchange->loop;
  if (exchange == loop->ping || exchange->state == CDAM_EXCHANGE_BACKOFF) return true;
  return TAILQ_EMPTY(queue_of(exchange)) && loop->launched < MAX_ADMITTED;
}

void cdam_exchange_launch(cdam_exchange *exchange) {
  if (exchange->loop->performing) /* sent from a sink; libcurl takes nothing now */
    exchange->loop->late = true;
  else if (!has_turn(exchange) || !has_connection(exchange))
    cdam_exchange_wait(exchange);
  else
    run(exchange);
}

static void admit_from(struct cdam_exchange_list *queue) {
  cdam_exchange *exchange;
  while ((exchange = TAILQ_FIRST(queue)) && exchange->loop->launched < MAX_ADMITTED &&
         has_connection(exchange)) {
    TAILQ_REMOVE(queue, exchange, in_loop);
    TAILQ_INSERT_TAIL(&exchange->loop->live, exchange, in_loop);
    exchange->state = CDAM_EXCHANGE_HELD;
    exchange->due = cdam_now_ms() + exchange->timeout_ms;
    run(exchange);
  }
}

bool cdam_exchange_can_admit(const cdam_loop *loop) {
  const cdam_exchange *first = TAILQ_FIRST(&loop->waiting);
  const cdam_exchange *stream = TAILQ_FIRST(&loop->waiting_streams);
  return (first && has_connection(first)) || (stream && has_connection(stream));
}

void cdam_exchange_admit(cdam_loop *loop) {
  admit_from(&loop->waiting);
  admit_from(&loop->waiting_streams);
}

void cdam_exchange_pause(cdam_exchange *exchange) {
  exchange->state = CDAM_EXCHANGE_BACKOFF;
  exchange->again_at = cdam_now_ms() + CROWDED_WAIT_MS;
  cdam_exchange_schedule(exchange);
}

bool cdam_exchange_back_off(cdam_exchange *exchange, CURLcode result) {
  if (!cdam_exchange_was_crowded_out(exchange, result)) return false;
  cdam_exchange_pause(exchange);
  return true;
}

static void end_watch(cdam_exchange *exchange) {
  if (exchange->watch) cdam_poller_unwatch(exchange->loop, exchange->watch);
  exchange->watch = NULL;
}

void cdam_exchange_stop(cdam_exchange *exchange) {
  cdam_loop *loop = exchange->loop;
  if (exchange->state != CDAM_EXCHANGE_RUNNING) return;
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, loop->client->config.tls);
  end_watch(exchange);
  curl_multi_remove_handle(loop->multi, exchange->easy);
  cdam_sigpipe_release(&guard);
  exchange->state = CDAM_EXCHANGE_HELD;
  loop->running--;
  loop->running_streams -= exchange->upgrade;
}

/* ---- the end ---- */

void cdam_exchange_end(cdam_exchange *exchange, cdam_status status) {
  TAILQ_REMOVE(list_of(exchange), exchange, in_loop);
  exchange->status = status;
  exchange->state = CDAM_EXCHANGE_ENDED;
  TAILQ_INSERT_TAIL(&exchange->loop->ended, exchange, in_loop);
  cdam_timers_set(&exchange->loop->timers, exchange, 0);
}

int64_t cdam_exchange_due(const cdam_exchange *exchange) {
  int64_t deadline = exchange->op ? exchange->op->deadline : 0;
  if (exchange->state == CDAM_EXCHANGE_TIMER || !deadline) return exchange->due;
  return exchange->due && exchange->due < deadline ? exchange->due : deadline;
}

static int64_t next_time(const cdam_exchange *exchange) {
  int64_t due = cdam_exchange_due(exchange);
  if (exchange->state != CDAM_EXCHANGE_BACKOFF) return due;
  return due && due < exchange->again_at ? due : exchange->again_at;
}

void cdam_exchange_schedule(cdam_exchange *exchange) {
  cdam_timers_set(&exchange->loop->timers, exchange, next_time(exchange));
}

void cdam_exchange_drop(cdam_exchange *exchange) {
  cdam_loop *loop = exchange->loop;
  if (exchange->op) cdam_operation_forget(exchange);
  exchange->op = NULL;
  exchange->next = NULL;
  if (exchange == loop->ping) loop->ping = NULL;
  cdam_timers_set(&loop->timers, exchange, 0);
  end_watch(exchange);
  if (exchange->state == CDAM_EXCHANGE_RUNNING && loop->performing) {
    loop->orphans = true;
    return;
  }
  cdam_exchange_stop(exchange);
  TAILQ_REMOVE(list_of(exchange), exchange, in_loop);
  cdam_exchange_give(exchange);
}
