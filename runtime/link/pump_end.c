/* SPDX-License-Identifier: Apache-2.0 */
#include "link/pump_end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that is writable takes as much without waiting. */
#define PIPE_PIECE 4096

#define END_OF(at, member) ((cdam_pump_end *)((char *)(at)-offsetof(cdam_pump_end, member)))

static void watched(cdam_socket_watch *watch, uint32_t events) {
  (void)events;
  cdam_pump_end *end = END_OF(watch, watch);
  cdam_loop_post(end->loop, &end->ready);
}

static void run_ready(cdam_posted *posted) {
  cdam_pump_end *end = END_OF(posted, ready);
  end->run(end);
}

static void loop_gone(cdam_posted *posted) {
  cdam_pump_end *end = END_OF(posted, loop_end);
  cdam_poller_unwatch(end->loop, &end->watch);
  end->loop = NULL;
}

static cdam_pump_end_kind kind_of(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))
    return CDAM_PUMP_FILE;
  return S_ISSOCK(status.st_mode) ? CDAM_PUMP_SOCKET : CDAM_PUMP_STREAM;
}

bool cdam_pump_end_open(cdam_pump_end *end, cdam_loop *loop, int fd,
                        void (*run)(struct cdam_pump_end *end)) {
  end->fd = -1;
  end->watch.ready = watched;
  end->ready.run = run_ready;
  end->loop_end.run = loop_gone;
  end->run = run;
  end->loop = loop;
  cdam_loop_on_end(loop, &end->loop_end);
  if (fd < 0) return true;
  end->kind = kind_of(fd);
  end->fd = end->watch.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return end->fd >= 0;
}

void cdam_pump_end_close(cdam_pump_end *end) {
  if (end->loop) {
    cdam_loop_unpost(end->loop, &end->ready);
    cdam_loop_forget_end(end->loop, &end->loop_end);
    cdam_poller_unwatch(end->loop, &end->watch);
  }
  if (end->fd >= 0) close(end->fd);
}

/* What epoll does not take (/dev/null, a directory) never waits. */
bool cdam_pump_end_wait(cdam_pump_end *end, uint32_t events) {
  if (!end->loop) return true;
  if (cdam_poller_watch(end->loop, &end->watch, events)) return true;
  if (errno != EPERM) return false;
  cdam_loop_post(end->loop, &end->ready);
  return true;
}

void cdam_pump_end_wait_no_more(cdam_pump_end *end) {
  if (end->loop && end->watch.events) cdam_poller_watch(end->loop, &end->watch, 0);
}

static bool is_ready(const cdam_pump_end *end, short events) {
  struct pollfd at = {.fd = end->fd, .events = events};
  return end->kind != CDAM_PUMP_STREAM || poll(&at, 1, 0) != 0;
}

ssize_t cdam_pump_end_read(const cdam_pump_end *end, void *bytes, size_t size) {
  errno = EAGAIN;
  if (end->kind == CDAM_PUMP_SOCKET) return recv(end->fd, bytes, size, MSG_DONTWAIT);
  if (!is_ready(end, POLLIN)) return -1;
  return read(end->fd, bytes, size);
}

ssize_t cdam_pump_end_write(const cdam_pump_end *end, const void *bytes, size_t length) {
  errno = EAGAIN;
  if (end->kind == CDAM_PUMP_SOCKET)
    return send(end->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (!is_ready(end, POLLOUT)) return -1;
  if (end->kind == CDAM_PUMP_STREAM && length > PIPE_PIECE) length = PIPE_PIECE;
  return write(end->fd, bytes, length);
}

bool cdam_pump_would_wait(void) {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}
