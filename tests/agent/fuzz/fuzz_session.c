/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a client's stream, after a good hello, against a whole server whose workspace is a
 * scratch directory (AGENT_FUZZ_DIR). Nothing may crash it, and it must be rid of the client when
 * the stream ends. No command is ever started: agent_spawn is ours, spawn.c is not linked. */
#include "peer.h"
#include "process.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

pid_t agent_spawn(const agent_command *command, void *stack) {
  (void)command;
  (void)stack;
  errno = EAGAIN;
  return -1;
}

static agent_server *server;
static char *no_environment[] = {NULL};

static void set_up(void) {
  const char *directory = getenv("AGENT_FUZZ_DIR");
  server = calloc(1, sizeof *server);
  if (!directory || !server || !agent_server_block_signals() ||
      !agent_server_open(server, no_environment, directory))
    abort();
  server->exit_with_clients = false;
}

/* Turns until nothing is left to do. */
static void turns(void) {
  struct epoll_event events[64];
  for (int quiet = 0; quiet < 2;) {
    int count = epoll_wait(server->loop.epoll, events, 64, 0);
    quiet = count > 0 || server->loop.first ? 0 : quiet + 1;
    for (int i = 0; i < count; i++) {
      agent_source *source = events[i].data.ptr;
      if (source->fd >= 0) source->ready(source, events[i].events);
    }
    for (int i = 0; i < 64 && server->loop.first; i++) {
      agent_task *task = server->loop.first;
      agent_loop_unqueue(&server->loop, task);
      task->run(task);
    }
    for (size_t i = 0; i < server->loop.grave_count; i++)
      free(server->loop.graves[i]);
    server->loop.grave_count = 0;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t hello[] = {11, 0, 0, 0, 0x12, 9, 8, 1, 16, 1, 24, 0x80, 0x80, 0x80, 1};
  int ends[2];
  if (!server) set_up();
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) abort();
  agent_peer *peer = agent_peer_new(server, ends[1], fcntl(ends[1], F_DUPFD_CLOEXEC, 4), -1);
  if (!peer) abort();
  if (write(ends[0], hello, sizeof hello) != (ssize_t)sizeof hello) abort();
  char sink[65536];
  for (size_t at = 0; at < size;) {
    ssize_t n = write(ends[0], data + at, size - at);
    if (n > 0) at += (size_t)n;
    turns();
    while (read(ends[0], sink, sizeof sink) > 0)
      continue;
    if (n <= 0) break;
  }
  turns();
  close(ends[0]);
  turns();
  if (server->client_count || server->guest_count) abort();
  return 0;
}
