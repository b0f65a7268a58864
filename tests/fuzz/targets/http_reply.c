/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine sends back, through libcurl and all that stands on it. A server in this program
 * answers with the input and closes the connection. The first byte says which call is made,
 * and in pieces of what size the answer comes (0: at once):
 *
 *   0  the API version is settled (/_ping)
 *   1  sandboxes are listed; the ping before is a good one
 *   2  a stream is upgraded, and its frames are taken apart
 *
 * No call hangs, and an outcome is CDAM_OK or an error that says something.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/exec_stream.h"
#include "engine/operation.h"
#include "fuzz.h"

static const char good_ping[] =
    "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";

/* ---- the server: one connection after the other ---- */

static struct {
  pthread_mutex_t lock;
  int listener;
  char directory[32], endpoint[80];
  const uint8_t *reply;
  size_t length, piece;
  bool to_ping;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reads a request, whose body is at most "{}". */
static bool read_request(int fd, char *text, size_t size) {
  size_t length = 0;
  text[0] = '\0';
  while (length + 1 < size) {
    ssize_t got = recv(fd, text + length, size - 1 - length, 0);
    if (got <= 0) return false;
    length += (size_t)got;
    text[length] = '\0';
    const char *end = strstr(text, "\r\n\r\n");
    if (end && (strncmp(text, "POST", 4) != 0 || strcmp(end, "\r\n\r\n{}") == 0)) return true;
  }
  return false;
}

static void send_reply(int fd, const void *bytes, size_t length, size_t piece) {
  const char *at = bytes;
  while (length) {
    size_t part = piece && piece < length ? piece : length;
    ssize_t sent = send(fd, at, part, MSG_NOSIGNAL);
    if (sent <= 0) return;
    at += sent;
    length -= (size_t)sent;
  }
}

static void *serve(void *unused) {
  char request[4096];
  (void)unused;
  for (;;) {
    int fd = accept(server.listener, NULL, NULL);
    if (fd < 0) abort();
    pthread_mutex_lock(&server.lock);
    if (read_request(fd, request, sizeof request)) {
      bool is_ping = strncmp(request, "GET /_ping", 10) == 0;
      if (is_ping && !server.to_ping)
        send_reply(fd, good_ping, sizeof good_ping - 1, 0);
      else
        send_reply(fd, server.reply, server.length, server.piece);
    }
    close(fd);
    pthread_mutex_unlock(&server.lock);
  }
  return NULL;
}

static void remove_directory(void) {
  unlink(server.endpoint + strlen("unix://"));
  rmdir(server.directory);
}

static void start_server(void) {
  if (server.listener) return;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(server.directory, "/tmp/fuzz-reply-XXXXXX", sizeof server.directory - 1);
  FUZZ_CHECK(mkdtemp(server.directory) != NULL);
  snprintf(address.sun_path, sizeof address.sun_path, "%s/s", server.directory);
  snprintf(server.endpoint, sizeof server.endpoint, "unix://%s/s", server.directory);
  server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  FUZZ_CHECK(bind(server.listener, (struct sockaddr *)&address, sizeof address) == 0);
  FUZZ_CHECK(listen(server.listener, 16) == 0);
  atexit(remove_directory);
  pthread_t thread;
  FUZZ_CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
  pthread_detach(thread);
}

static cdam_client *make_client(void) {
  cdam_client_config *config;
  cdam_client *client;
  FUZZ_CHECK(cdam_client_config_new(&config, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_client_config_set_endpoint(config, server.endpoint, NULL) == CDAM_OK);
  cdam_client_config_set_timeout(config, 20000);
  FUZZ_CHECK(cdam_client_new(config, &client, NULL) == CDAM_OK);
  cdam_client_config_free(config);
  return client;
}

/* ---- the calls ---- */

static void check_error(cdam_status status, const cdam_error *err) {
  FUZZ_CHECK(err->code == status);
  FUZZ_CHECK(status == CDAM_OK || err->message[0]);
  FUZZ_CHECK(status != CDAM_ERR_TIMEOUT && status != CDAM_ERR_NO_MEMORY);
}

static void ping(cdam_client *client) {
  const char *version = NULL;
  cdam_error err = {0};
  cdam_status status = cdam_client_ping(client, &version, &err);
  check_error(status, &err);
  if (status != CDAM_OK) return;
  char *end;
  FUZZ_CHECK(strncmp(version, "1.", 2) == 0);
  unsigned long minor = strtoul(version + 2, &end, 10);
  FUZZ_CHECK(*end == '\0' && minor >= 40 && minor <= 52);
}

static void list(cdam_client *client) {
  cdam_sandbox_list *sandboxes;
  cdam_error err = {0};
  cdam_status status = cdam_list(client, &sandboxes, &err);
  check_error(status, &err);
  FUZZ_CHECK((status == CDAM_OK) == (sandboxes != NULL));
  for (size_t i = 0; i < cdam_list_count(sandboxes); i++) {
    const char *id = cdam_list_container_id(sandboxes, i);
    FUZZ_CHECK(strlen(cdam_list_session_id(sandboxes, i)) == 36);
    FUZZ_CHECK(strlen(id) == 64 && strspn(id, "0123456789abcdef") == 64);
    FUZZ_CHECK(cdam_list_image(sandboxes, i) && cdam_list_status(sandboxes, i));
    (void)cdam_list_created(sandboxes, i);
  }
  cdam_list_free(sandboxes);
}

typedef struct streaming {
  cdam_operation op;
  cdam_exec_stream stream;
} streaming;

static bool sink(void *user, const char *bytes, size_t length, cdam_error *failure) {
  return cdam_exec_stream_feed(&((streaming *)user)->stream, bytes, length, failure);
}

static void streamed(cdam_operation *op, const cdam_reply *reply) {
  FUZZ_CHECK(reply->status != CDAM_OK || reply->http >= 101);
  cdam_operation_finish(op, reply->status, reply->error);
}

static void stream(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_operation_send(op,
                      &(cdam_request){.method = "POST",
                                      .path = "/exec/e/start",
                                      .body = "{}",
                                      .upgrade = true,
                                      .stream = true,
                                      .sink = sink,
                                      .sink_user = op},
                      streamed);
}

static void upgrade(cdam_client *client) {
  streaming this = {.stream.cap = 64};
  cdam_error err = {0};
  check_error(cdam_operation_run(&this.op, client, stream, &err), &err);
  FUZZ_CHECK(this.stream.out.kept.length <= 64 && this.stream.err.kept.length <= 64);
  cdam_exec_stream_clear(&this.stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const calls[])(cdam_client * client) = {ping, list, upgrade};
  if (size == 0) return 0;
  start_server();
  unsigned which = data[0] % 3;
  pthread_mutex_lock(&server.lock);
  server.reply = data + 1;
  server.length = size - 1;
  server.piece = data[0] / 3;
  server.to_ping = which == 0;
  pthread_mutex_unlock(&server.lock);
  cdam_client *client = make_client();
  calls[which](client);
  cdam_client_free(client);
  pthread_mutex_lock(&server.lock); /* until the server has let go of the input */
  server.length = 0;
  pthread_mutex_unlock(&server.lock);
  return 0;
}
