/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK on the given descriptor would be seen by everybody who shares it. */
static int open_again(int fd) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void cli_outlet_open(cli_outlet *outlet, int fd) {
  struct stat what;
  *outlet = (cli_outlet){.fd = fd, .kind = CLI_OUTLET_PLAIN};
  if (fstat(fd, &what) != 0) return;
  if (S_ISSOCK(what.st_mode)) outlet->kind = CLI_OUTLET_SOCKET;
  if (!S_ISFIFO(what.st_mode) && !isatty(fd)) return;
  int own = open_again(fd);
  outlet->kind = own >= 0 ? CLI_OUTLET_NONBLOCKING : CLI_OUTLET_PIECES;
  if (own >= 0) outlet->fd = own;
}

void cli_outlet_close(cli_outlet *outlet) {
  if (outlet->kind == CLI_OUTLET_NONBLOCKING) close(outlet->fd);
  free(outlet->waiting);
  *outlet = (cli_outlet){.fd = -1};
}

static ssize_t write_piece(const cli_outlet *outlet, const char *bytes, size_t length) {
  if (outlet->kind == CLI_OUTLET_SOCKET) return send(outlet->fd, bytes, length, MSG_DONTWAIT);
  if (outlet->kind != CLI_OUTLET_PIECES) return write(outlet->fd, bytes, length);
  struct pollfd ready = {.fd = outlet->fd, .events = POLLOUT};
  if (poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return write(outlet->fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
}

/* How much of it went; -1 with errno set when it failed for good. */
static ssize_t write_some(const cli_outlet *outlet, const char *bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t written = write_piece(outlet, bytes + done, length - done);
    if (written >= 0)
      done += (size_t)written;
    else if (errno == EAGAIN)
      break;
    else if (errno != EINTR)
      return -1;
  }
  return (ssize_t)done;
}

static bool keep(cli_outlet *outlet, const char *bytes, size_t length) {
  if (length > outlet->capacity) {
    char *grown = realloc(outlet->waiting, length);
    if (!grown) return false;
    outlet->waiting = grown;
    outlet->capacity = length;
  }
  if (length > 0) memcpy(outlet->waiting, bytes, length);
  outlet->begin = 0;
  outlet->end = length;
  return true;
}

bool cli_outlet_put(cli_outlet *outlet, const char *bytes, size_t length) {
  ssize_t done = write_some(outlet, bytes, length);
  return done >= 0 && keep(outlet, bytes + done, length - (size_t)done);
}

bool cli_outlet_flush(cli_outlet *outlet) {
  ssize_t done = write_some(outlet, outlet->waiting + outlet->begin, outlet->end - outlet->begin);
  if (done > 0) outlet->begin += (size_t)done;
  return done >= 0;
}

bool cli_outlet_waits(const cli_outlet *outlet) {
  return outlet->begin < outlet->end;
}
