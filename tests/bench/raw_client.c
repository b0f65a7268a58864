/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http_client.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int kept = -1;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int dial(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  return fd;
}

static void send_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
    if (sent <= 0) die("send");
    bytes += sent;
    length -= (size_t)sent;
  }
}

/* One buffer for the whole answer; large enough for what these benchmarks ask. */
static char answer[1 << 20];

static size_t read_more(int fd, size_t used) {
  ssize_t got = recv(fd, answer + used, sizeof answer - 1 - used, 0);
  if (got < 0) die("recv");
  answer[used + (size_t)got] = '\0';
  return (size_t)got;
}

/* Decodes chunks in place; true when the last one is there. */
static bool unchunk(char *at, char *body, size_t size) {
  size_t used = 0;
  for (;;) {
    char *line = strstr(at, "\r\n");
    if (!line) return false;
    size_t length = strtoul(at, NULL, 16);
    if (strlen(line) < length + 4) return false;
    if (!length) break;
    if (used + length < size) {
      memcpy(body + used, line + 2, length);
      used += length;
    }
    at = line + 2 + length + 2;
  }
  body[used] = '\0';
  return true;
}

static int read_answer(int fd, bool upgrade, char *body, size_t size) {
  size_t used = 0;
  char *head_end = NULL;
  body[0] = '\0';
  for (;;) {
    size_t got = read_more(fd, used);
    used += got;
    if (!head_end) head_end = strstr(answer, "\r\n\r\n");
    if (head_end && upgrade && got == 0) break;
    if (!got) {
      fprintf(stderr, "the connection ended\n");
      exit(1);
    }
    if (!head_end || upgrade) continue;
    char *length = strcasestr(answer, "\r\nContent-Length: ");
    char *start = head_end + 4;
    if (length && length < head_end) {
      size_t wanted = strtoul(length + 18, NULL, 10);
      if (used - (size_t)(start - answer) < wanted) continue;
      snprintf(body, size, "%.*s", (int)wanted, start);
      break;
    }
    if (strcasestr(answer, "\r\nTransfer-Encoding: chunked")) {
      if (unchunk(start, body, size)) break;
      continue;
    }
    break; /* 204 */
  }
  return (int)strtol(answer + 9, NULL, 10);
}

static int call(const char *method, const char *path, const char *request, bool upgrade, char *body,
                size_t size) {
  char head[1024];
  size_t length = request ? strlen(request) : 0;
  int fd = upgrade ? dial() : kept >= 0 ? kept : (kept = dial());
  int head_length =
      snprintf(head, sizeof head,
               "%s /v1.41%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n",
               method, path, upgrade ? "Connection: Upgrade\r\nUpgrade: tcp\r\n" : "", length);
  send_all(fd, head, (size_t)head_length);
  send_all(fd, request, length);
  int status = read_answer(fd, upgrade, body, size);
  if (upgrade) close(fd);
  return status;
}

http_client make_http_client(const char *socket_path) {
  snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
  return (http_client){call};
}
