/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_engine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "scripted_http.h"

typedef struct connection {
  struct connection *next;
  scripted_engine *engine;
  pthread_t thread;
  scripted_wire wire;
  unsigned number;
  bool waits; /* for a request */
  bool over;
} connection;

struct scripted_engine {
  const scripted_rule *rules;
  size_t rule_count;
  int *uses; /* of each rule */
  char endpoint[160];
  char directory[64]; /* made for the socket, or "" */
  int listener;
  int stop_fd;
  pthread_t acceptor;

  pthread_mutex_t lock; /* guards all below; recursive, for answers that call us */
  pthread_cond_t changed;
  bool stopping;
  connection *connections; /* newest first */
  unsigned connection_count;
  scripted_request **requests;
  size_t request_count;
  char **kept;
  size_t kept_count;
  char problem[512]; /* the first unexpected request */
};

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static bool matches(const scripted_request *request, const char *method, const char *path) {
  return (!method || strcmp(method, request->method) == 0) &&
         (!path || fnmatch(path, request->path, 0) == 0);
}

/* ---- one connection ---- */

static void record(scripted_engine *engine, scripted_request *request) {
  pthread_mutex_lock(&engine->lock);
  engine->requests =
      must(realloc(engine->requests, (engine->request_count + 1) * sizeof *engine->requests));
  engine->requests[engine->request_count++] = request;
  pthread_cond_broadcast(&engine->changed);
  pthread_mutex_unlock(&engine->lock);
}

static const scripted_rule *find_rule(scripted_engine *engine, const scripted_request *request) {
  const scripted_rule *found = NULL;
  pthread_mutex_lock(&engine->lock);
  for (size_t i = 0; i < engine->rule_count && !found; i++) {
    const scripted_rule *rule = &engine->rules[i];
    if (rule->times && engine->uses[i] >= rule->times) continue;
    if (!matches(request, rule->method, rule->path)) continue;
    engine->uses[i]++;
    found = rule;
  }
  pthread_mutex_unlock(&engine->lock);
  return found;
}

static void default_reply(scripted_engine *engine, const scripted_request *request,
                          scripted_reply *reply) {
  if (strcmp(request->path, "/_ping") == 0) {
    *reply = (scripted_reply){200, .headers = "Api-Version: 1.41\r\n", .body = "OK"};
    return;
  }
  *reply = (scripted_reply){599, .body = "{\"message\":\"no rule matches this request\"}"};
  pthread_mutex_lock(&engine->lock);
  if (!engine->problem[0])
    snprintf(engine->problem, sizeof engine->problem, "unexpected request: %s %s", request->method,
             request->path);
  fprintf(stderr, "# scripted engine: unexpected request: %s %s\n", request->method, request->path);
  pthread_mutex_unlock(&engine->lock);
}

/* False when the connection is over. */
static bool serve(connection *peer, scripted_request *request) {
  scripted_engine *engine = peer->engine;
  const scripted_rule *rule = find_rule(engine, request);
  bool whole = scripted_read_body(&peer->wire, request, rule ? rule->read_at_most : 0);
  record(engine, request);
  if (!whole) return false;
  if (rule && rule->talk) {
    rule->talk(rule->user, peer->wire.fd, request, cdam_buffer_text(&peer->wire.in),
               peer->wire.in.length);
    return false;
  }
  scripted_reply reply = rule ? rule->reply : (scripted_reply){0};
  if (!rule) default_reply(engine, request, &reply);
  if (rule && rule->answer) {
    pthread_mutex_lock(&engine->lock);
    rule->answer(rule->user, request, &reply);
    pthread_mutex_unlock(&engine->lock);
  }
  return scripted_write_reply(&peer->wire, request, &reply);
}

static void set_waits(connection *peer, bool waits) {
  pthread_mutex_lock(&peer->engine->lock);
  peer->waits = waits;
  pthread_cond_broadcast(&peer->engine->changed);
  pthread_mutex_unlock(&peer->engine->lock);
}

static void *run_connection(void *user) {
  connection *peer = user;
  scripted_engine *engine = peer->engine;
  scripted_request *request;
  do {
    set_waits(peer, true);
    request = scripted_read_head(&peer->wire);
    set_waits(peer, false);
    if (request) request->connection = peer->number;
  } while (request && serve(peer, request));
  pthread_mutex_lock(&engine->lock);
  close(peer->wire.fd);
  peer->over = true;
  pthread_cond_broadcast(&engine->changed);
  pthread_mutex_unlock(&engine->lock);
  return NULL;
}

static void *run_acceptor(void *user) {
  scripted_engine *engine = user;
  int fd;
  while ((fd = accept4(engine->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
    connection *made = must(calloc(1, sizeof *made));
    made->engine = engine;
    made->wire = (scripted_wire){.fd = fd, .stop_fd = engine->stop_fd};
    pthread_mutex_lock(&engine->lock);
    made->number = ++engine->connection_count;
    made->next = engine->connections;
    made->waits = true;
    engine->connections = made;
    if (pthread_create(&made->thread, NULL, run_connection, made) != 0) abort();
    pthread_mutex_unlock(&engine->lock);
  }
  return NULL;
}

/* ---- starting ---- */

static int listen_unix(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  assert_true(strlen(path) < sizeof address.sun_path);
  memcpy(address.sun_path, path, strlen(path));
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 64), 0);
  return fd;
}

static int listen_tcp(unsigned *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 64), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
  *port = ntohs(address.sin_port);
  return fd;
}

static scripted_engine *new_engine(const scripted_rule *rules, size_t count) {
  scripted_engine *engine = must(calloc(1, sizeof *engine));
  engine->rules = rules;
  engine->rule_count = count;
  engine->uses = must(calloc(count + 1, sizeof *engine->uses));
  engine->stop_fd = eventfd(0, EFD_CLOEXEC);
  assert_true(engine->stop_fd >= 0);
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&engine->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  pthread_cond_init(&engine->changed, NULL);
  return engine;
}

static scripted_engine *start(scripted_engine *engine, int listener) {
  engine->listener = listener;
  assert_int_equal(pthread_create(&engine->acceptor, NULL, run_acceptor, engine), 0);
  return engine;
}

scripted_engine *scripted_engine_start_at(const char *path, const scripted_rule *rules,
                                          size_t count) {
  scripted_engine *engine = new_engine(rules, count);
  snprintf(engine->endpoint, sizeof engine->endpoint, "unix://%s", path);
  return start(engine, listen_unix(path));
}

scripted_engine *scripted_engine_start(const scripted_rule *rules, size_t count) {
  scripted_engine *engine = new_engine(rules, count);
  snprintf(engine->directory, sizeof engine->directory, "/tmp/scripted-engine-XXXXXX");
  assert_non_null(mkdtemp(engine->directory));
  snprintf(engine->endpoint, sizeof engine->endpoint, "unix://%s/docker.sock", engine->directory);
  return start(engine, listen_unix(engine->endpoint + strlen("unix://")));
}

scripted_engine *scripted_engine_start_tcp(const scripted_rule *rules, size_t count) {
  scripted_engine *engine = new_engine(rules, count);
  unsigned port = 0;
  int listener = listen_tcp(&port);
  snprintf(engine->endpoint, sizeof engine->endpoint, "tcp://127.0.0.1:%u", port);
  return start(engine, listener);
}

const char *scripted_engine_endpoint(const scripted_engine *engine) {
  return engine->endpoint;
}

static cdam_client *client_of(const char *endpoint, unsigned timeout_ms) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error error = {0};
  assert_int_equal(cdam_client_config_new(&config, &error), CDAM_OK);
  assert_int_equal(cdam_client_config_set_tls(config, NULL, &error), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, endpoint, &error), CDAM_OK);
  cdam_client_config_allow_plain_tcp(config, true);
  cdam_client_config_set_timeout(config, timeout_ms);
  cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  assert_int_equal(cdam_client_new(config, &client, &error), CDAM_OK);
  cdam_client_config_free(config);
  return client;
}

cdam_client *scripted_engine_client(const scripted_engine *engine, unsigned timeout_ms) {
  return client_of(engine->endpoint, timeout_ms);
}

/* ---- looking ---- */

size_t scripted_engine_count(scripted_engine *engine, const char *method, const char *path) {
  size_t count = 0;
  pthread_mutex_lock(&engine->lock);
  for (size_t i = 0; i < engine->request_count; i++)
    count += matches(engine->requests[i], method, path);
  pthread_mutex_unlock(&engine->lock);
  return count;
}

const scripted_request *scripted_engine_request(scripted_engine *engine, const char *method,
                                                const char *path, size_t index) {
  const scripted_request *found = NULL;
  pthread_mutex_lock(&engine->lock);
  for (size_t i = 0; i < engine->request_count && !found; i++)
    if (matches(engine->requests[i], method, path) && index-- == 0) found = engine->requests[i];
  pthread_mutex_unlock(&engine->lock);
  assert_non_null(found);
  return found;
}

void scripted_engine_wait(scripted_engine *engine, const char *method, const char *path,
                          size_t count) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 5;
  int result = 0;
  pthread_mutex_lock(&engine->lock);
  while (result == 0 && scripted_engine_count(engine, method, path) < count)
    result = pthread_cond_timedwait(&engine->changed, &engine->lock, &limit);
  pthread_mutex_unlock(&engine->lock);
  assert_int_equal(result, 0);
}

unsigned scripted_engine_connections(scripted_engine *engine) {
  pthread_mutex_lock(&engine->lock);
  unsigned count = engine->connection_count;
  pthread_mutex_unlock(&engine->lock);
  return count;
}

unsigned scripted_engine_open_connections(scripted_engine *engine) {
  unsigned count = 0;
  pthread_mutex_lock(&engine->lock);
  for (connection *c = engine->connections; c; c = c->next)
    count += !c->over;
  pthread_mutex_unlock(&engine->lock);
  return count;
}

const char *scripted_engine_keep(scripted_engine *engine, const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) abort();
  va_end(args);
  pthread_mutex_lock(&engine->lock);
  engine->kept = must(realloc(engine->kept, (engine->kept_count + 1) * sizeof *engine->kept));
  engine->kept[engine->kept_count++] = text;
  pthread_mutex_unlock(&engine->lock);
  return text;
}

/* ---- ending ---- */

/* The client may have an answer before its connection's thread has got round to waiting
 * again. */
static bool comes_to_wait(connection *peer) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 1;
  int result = 0;
  while (result == 0 && !peer->waits && !peer->over)
    result = pthread_cond_timedwait(&peer->engine->changed, &peer->engine->lock, &limit);
  return peer->waits;
}

/* Ends connections, and returns when their threads have closed them. */
static void end_connections(scripted_engine *engine, bool only_waiting) {
  pthread_mutex_lock(&engine->lock);
  for (connection *c = engine->connections; c; c = c->next) {
    if (c->over || (only_waiting && !comes_to_wait(c))) continue;
    shutdown(c->wire.fd, SHUT_RDWR);
    while (!c->over)
      pthread_cond_wait(&engine->changed, &engine->lock);
  }
  pthread_mutex_unlock(&engine->lock);
}

void scripted_engine_drop(scripted_engine *engine) {
  end_connections(engine, true);
}

static void free_all(scripted_engine *engine) {
  for (connection *c = engine->connections, *next; c; c = next) {
    next = c->next;
    pthread_join(c->thread, NULL);
    cdam_buffer_clear(&c->wire.in);
    free(c);
  }
  for (size_t i = 0; i < engine->request_count; i++)
    scripted_request_free(engine->requests[i]);
  for (size_t i = 0; i < engine->kept_count; i++)
    free(engine->kept[i]);
  free(engine->requests);
  free(engine->kept);
  free(engine->uses);
  pthread_mutex_destroy(&engine->lock);
  pthread_cond_destroy(&engine->changed);
}

void scripted_engine_abandon(scripted_engine *engine) {
  if (!engine) return;
  eventfd_write(engine->stop_fd, 1);
  shutdown(engine->listener, SHUT_RDWR);
  pthread_join(engine->acceptor, NULL);
  end_connections(engine, false);
  free_all(engine);
  close(engine->listener);
  close(engine->stop_fd);
  if (strncmp(engine->endpoint, "unix://", 7) == 0) unlink(engine->endpoint + 7);
  if (engine->directory[0]) rmdir(engine->directory);
  free(engine);
}

void scripted_engine_stop(scripted_engine *engine) {
  char problem[sizeof engine->problem];
  memcpy(problem, engine->problem, sizeof problem);
  scripted_engine_abandon(engine);
  if (problem[0]) fail_msg("%s", problem);
}

/* ---- an endpoint that nobody may touch ---- */

struct untouchable_engine {
  int listener;
  char directory[64];
  char endpoint[128];
};

untouchable_engine *untouchable_start(void) {
  untouchable_engine *engine = must(calloc(1, sizeof *engine));
  snprintf(engine->directory, sizeof engine->directory, "/tmp/untouchable-XXXXXX");
  assert_non_null(mkdtemp(engine->directory));
  snprintf(engine->endpoint, sizeof engine->endpoint, "unix://%s/docker.sock", engine->directory);
  engine->listener = listen_unix(engine->endpoint + strlen("unix://"));
  return engine;
}

const char *untouchable_endpoint(const untouchable_engine *engine) {
  return engine->endpoint;
}

cdam_client *untouchable_client(const untouchable_engine *engine) {
  return client_of(engine->endpoint, 1000);
}

void untouchable_stop(untouchable_engine *engine) {
  fcntl(engine->listener, F_SETFL, O_NONBLOCK);
  int fd = accept4(engine->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  close(engine->listener);
  unlink(engine->endpoint + strlen("unix://"));
  rmdir(engine->directory);
  free(engine);
  if (fd >= 0) fail_msg("the engine was touched");
}
