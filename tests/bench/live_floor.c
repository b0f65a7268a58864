/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's own exec and archive calls by hand, over a unix socket: the least that a client
 * without an agent can do. With BENCH_BY_EXEC in the environment files go by exec as well: that is
 * the stream which the agent has, too. */
#include "live.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct sandbox {
  char id[65];
};

/* What a thread needs: a connection that it keeps, and the last answer. */
typedef struct caller {
  int kept;
  size_t used;
  char answer[1 << 17];
} caller;

static caller main_caller = {.kept = -1};
static char zeros[1 << 17];

static int dial(void) {
  const char *endpoint = getenv("DOCKER_HOST");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!endpoint || strncmp(endpoint, "unix://", 7) != 0) die("DOCKER_HOST", "not a unix socket");
  snprintf(address.sun_path, sizeof address.sun_path, "%s", endpoint + 7);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
    die("connect", endpoint);
  return fd;
}

static void send_all(int fd, const void *bytes, size_t length) {
  for (const char *at = bytes; length;) {
    ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
    if (sent <= 0) die("send", "failed");
    at += sent;
    length -= (size_t)sent;
  }
}

static size_t receive(int fd, void *bytes, size_t size) {
  ssize_t got = recv(fd, bytes, size, 0);
  if (got < 0) die("recv", "failed");
  return (size_t)got;
}

static void send_head(int fd, const char *method, const char *path, const char *more,
                      long long length) {
  char head[768];
  int size = snprintf(head, sizeof head,
                      "%s /v1.41%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %lld\r\n\r\n",
                      method, path, more, length);
  send_all(fd, head, (size_t)size);
}

/* Reads to the end of the head; what follows it stands at the returned place. */
static char *read_head(caller *self, int fd) {
  char *end = NULL;
  for (self->used = 0; !end;) {
    size_t got = receive(fd, self->answer + self->used, sizeof self->answer - 1 - self->used);
    if (!got) die("engine", "the connection ended");
    self->used += got;
    self->answer[self->used] = '\0';
    end = strstr(self->answer, "\r\n\r\n");
  }
  if (self->answer[9] > '3') die("engine", self->answer);
  return end + 4;
}

/* Reads an answer of known length, or in chunks, of which the last ends what was read. */
static void read_answer(caller *self, int fd) {
  char *body = read_head(self, fd);
  char *length = strcasestr(self->answer, "\r\nContent-Length: ");
  bool chunked = strcasestr(self->answer, "\r\nTransfer-Encoding: chunked") != NULL;
  size_t wanted = length && length < body ? strtoul(length + 18, NULL, 10) : 0;
  for (;;) {
    const char *end = self->answer + self->used;
    if (chunked ? self->used > 5 && !memcmp(end - 5, "0\r\n\r\n", 5)
                : (size_t)(end - body) >= wanted)
      return;
    size_t got = receive(fd, self->answer + self->used, sizeof self->answer - 1 - self->used);
    if (!got) die("engine", "the connection ended");
    self->used += got;
    self->answer[self->used] = '\0';
  }
}

static void call(caller *self, const char *method, const char *path, const char *request) {
  if (self->kept < 0) self->kept = dial();
  send_head(self->kept, method, path, "Content-Type: application/json\r\n",
            (long long)strlen(request));
  send_all(self->kept, request, strlen(request));
  read_answer(self, self->kept);
}

static void copy_id(const caller *self, char id[65]) {
  const char *at = strstr(self->answer, "\"Id\":\"");
  if (!at) die("no Id", self->answer);
  snprintf(id, 65, "%.64s", at + 6);
}

/* ---- commands ---- */

static void make_exec(caller *self, const sandbox *box, const char *const *argv, bool input,
                      char id[65]) {
  char path[128], request[1024];
  int used = snprintf(request, sizeof request,
                      "{\"AttachStdin\":%s,\"AttachStdout\":true,\"AttachStderr\":true,\"Cmd\":[",
                      input ? "true" : "false");
  for (; *argv; argv++)
    used += snprintf(request + used, sizeof request - (size_t)used, "\"%s\"%s", *argv,
                     argv[1] ? "," : "]}");
  snprintf(path, sizeof path, "/containers/%s/exec", box->id);
  call(self, "POST", path, request);
  copy_id(self, id);
}

/* Starts an exec; returns its stream, and of what came with the head how much. */
static int start_exec(caller *self, const char *id, size_t *early) {
  static const char request[] = "{\"Detach\":false,\"Tty\":false}";
  char path[128];
  snprintf(path, sizeof path, "/exec/%s/start", id);
  int fd = dial();
  send_head(fd, "POST", path,
            "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\n",
            sizeof request - 1);
  send_all(fd, request, sizeof request - 1);
  char *rest = read_head(self, fd);
  *early = (size_t)(self->answer + self->used - rest);
  return fd;
}

static void check_exec(caller *self, const char *id) {
  char path[128];
  snprintf(path, sizeof path, "/exec/%s/json", id);
  call(self, "GET", path, "");
  if (!strstr(self->answer, "\"ExitCode\":0")) die("exec", self->answer);
}

/* Runs a command with so many bytes of input; returns how many bytes its stream had. */
static size_t run(caller *self, const sandbox *box, const char *const *argv, long input) {
  char id[65];
  size_t total, got;
  make_exec(self, box, argv, input > 0, id);
  int fd = start_exec(self, id, &total);
  for (long left = input; left > 0; left -= (long)sizeof zeros)
    send_all(fd, zeros, sizeof zeros);
  if (input) shutdown(fd, SHUT_WR);
  while ((got = receive(fd, self->answer, sizeof self->answer)))
    total += got;
  close(fd);
  check_exec(self, id);
  return total;
}

void live_run(sandbox *box, const char *const *argv) {
  run(&main_caller, box, argv, 0);
}

void live_stdout(sandbox *box) {
  char size[24];
  snprintf(size, sizeof size, "%ld", LIVE_BULK);
  if (run(&main_caller, box, (const char *const[]){"head", "-c", size, "/dev/zero", NULL}, 0) <
      LIVE_BULK)
    die("stdout", "short");
}

void live_stdin(sandbox *box) {
  run(&main_caller, box, (const char *const[]){"sh", "-c", "cat >/dev/null", NULL}, LIVE_BULK);
}

static void *run_true(void *box) {
  caller *self = calloc(1, sizeof *self);
  if (!self) die("calloc", "no memory");
  self->kept = -1;
  run(self, box, (const char *const[]){"true", NULL}, 0);
  close(self->kept);
  free(self);
  return NULL;
}

void live_at_once(sandbox **boxes, size_t box_count, size_t count) {
  pthread_t threads[128];
  for (size_t i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, run_true, boxes[i % box_count])) die("thread", "none");
  for (size_t i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

void live_list(sandbox *box) {
  if (run(&main_caller, box, (const char *const[]){"ls", "-la", "/workspace/many", NULL}, 0) <
      LIVE_ENTRIES)
    die("list", "short");
}

/* ---- files: the engine's archive ---- */

static void tar_head(char head[512], long size) {
  memset(head, 0, 512);
  snprintf(head, 100, "file");
  snprintf(head + 100, 8, "0000644");
  snprintf(head + 108, 8, "0000000");
  snprintf(head + 116, 8, "0000000");
  snprintf(head + 124, 12, "%011lo", size);
  snprintf(head + 136, 12, "00000000000");
  memcpy(head + 148, "        0", 9);
  memcpy(head + 257, "ustar\00000", 8);
  unsigned sum = 0;
  for (int i = 0; i < 512; i++)
    sum += (unsigned char)head[i];
  snprintf(head + 148, 8, "%06o", sum);
  head[155] = ' ';
}

static bool by_exec(void) {
  return getenv("BENCH_BY_EXEC") != NULL;
}

static void write_by_archive(sandbox *box, long size) {
  char path[128], head[512];
  if (main_caller.kept < 0) main_caller.kept = dial();
  snprintf(path, sizeof path, "/containers/%s/archive?path=/workspace", box->id);
  send_head(main_caller.kept, "PUT", path, "Content-Type: application/x-tar\r\n", size + 1536);
  tar_head(head, size);
  send_all(main_caller.kept, head, sizeof head);
  for (long left = size + 1024; left > 0; left -= (long)sizeof zeros)
    send_all(main_caller.kept, zeros, left < (long)sizeof zeros ? (size_t)left : sizeof zeros);
  read_answer(&main_caller, main_caller.kept);
}

/* On a connection of its own, so that the end of the answer is the end of the stream. */
static long read_by_archive(sandbox *box) {
  char path[128];
  int fd = dial();
  snprintf(path, sizeof path, "/containers/%s/archive?path=/workspace/file", box->id);
  send_head(fd, "GET", path, "Connection: close\r\n", 0);
  char *rest = read_head(&main_caller, fd);
  long total = main_caller.answer + main_caller.used - rest;
  size_t got;
  while ((got = receive(fd, main_caller.answer, sizeof main_caller.answer)))
    total += (long)got;
  close(fd);
  return total;
}

void live_write(sandbox *box, long size) {
  if (by_exec())
    run(&main_caller, box, (const char *const[]){"dd", "of=/workspace/file", "bs=64k", NULL}, size);
  else
    write_by_archive(box, size);
}

void live_read(sandbox *box, long size) {
  const char *const dd[] = {"dd", "if=/workspace/file", "bs=64k", NULL};
  long total = by_exec() ? (long)run(&main_caller, box, dd, 0) : read_by_archive(box);
  if (total < size) die("read", "short");
}

/* ---- the sandbox ---- */

sandbox *live_create(const char *image) {
  char path[128], request[512];
  sandbox *box = calloc(1, sizeof *box);
  if (!box) die("calloc", "no memory");
  snprintf(
      request, sizeof request,
      "{\"Cmd\":[\"-f\",\"/dev/null\"],\"Entrypoint\":[\"tail\"],\"HostConfig\":{\"Init\":true,"
      "\"NetworkMode\":\"none\"},\"Image\":\"%s\"}",
      image);
  call(&main_caller, "POST", "/containers/create", request);
  copy_id(&main_caller, box->id);
  snprintf(path, sizeof path, "/containers/%s/start", box->id);
  call(&main_caller, "POST", path, "");
  return box;
}

void live_delete(sandbox *box) {
  char path[128];
  snprintf(path, sizeof path, "/containers/%s?force=1", box->id);
  call(&main_caller, "DELETE", path, "");
  free(box);
}
