/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_GUESTS = 64, RETRY_MS = 100 };

/* A connection that has yet to show that it is a relay. */
typedef struct guest {
  agent_server *server;
  agent_source source;
  int process; /* its directory in /proc: names this very process, whatever becomes of its number */
  pid_t pid;
} guest;

socklen_t agent_socket_address(struct sockaddr_un *address) {
  static const char name[] = "\0cofferdam-agent/1";
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  memcpy(address->sun_path, name, sizeof name - 1);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof name - 1);
}

/* Only the engine can put a process into the sandbox whose parent is outside, and that has no
 * parent to be seen from here: 0. */
static bool has_no_parent(int process) {
  char text[512];
  int fd = openat(process, "stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char *at = strrchr(text, ')');
  if (!at || strlen(at) < 6 || at[2] == 'Z' || at[2] == 'X') return false;
  return at[1] == ' ' && at[3] == ' ' && at[4] == '0' && at[5] == ' ';
}

/* Where its program can be looked at, it has to be ours. It cannot be when the program may only
 * be executed, which is how it should be installed. */
static bool may_be_our_program(int process) {
  struct stat theirs;
  struct stat ours;
  if (fstatat(process, "exe", &theirs, 0) != 0) return errno == EACCES || errno == EPERM;
  if (stat("/proc/self/exe", &ours) != 0) return true;
  return theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static void end_guest(guest *g) {
  agent_loop_close(&g->server->loop, &g->source);
  close(g->process);
  g->server->guest_count--;
  agent_loop_free(&g->server->loop, g);
}

/* The relay's two descriptors, from a message that the kernel says this process sent. */
static bool receive(guest *g, int fds[2]) {
  char magic[AGENT_RELAY_MAGIC_BYTES];
  union {
    char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(2 * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec iov = {.iov_base = magic, .iov_len = sizeof magic};
  struct msghdr message = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t n = recvmsg(g->source.fd, &message, MSG_CMSG_CLOEXEC);
  int count = 0;
  bool sender = false;
  if (n < 0) return false;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SCM_RIGHTS) {
      int received[2];
      size_t length = c->cmsg_len - CMSG_LEN(0);
      memcpy(received, CMSG_DATA(c), length < sizeof received ? length : sizeof received);
      for (size_t i = 0; i < length / sizeof(int) && i < 2; i++)
        fds[count++] = received[i];
    } else if (c->cmsg_type == SCM_CREDENTIALS) {
      struct ucred credentials;
      memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
      sender = credentials.pid == g->pid && credentials.uid == g->server->uid;
    }
  }
  bool good = sender && count == 2 && n == (ssize_t)sizeof magic &&
              !(message.msg_flags & MSG_CTRUNC) &&
              memcmp(magic, AGENT_RELAY_MAGIC, sizeof magic) == 0;
  for (int i = 0; !good && i < count; i++)
    close(fds[i]);
  return good;
}

/* The process that we looked at when it connected is alive, and so was all the time: the one that
 * sent the message, in answer to our byte, is it. */
static void guest_ready(agent_source *source, uint32_t events) {
  guest *g = AGENT_OWNER(source, guest, source);
  agent_server *server = g->server;
  int fds[2];
  (void)events;
  if (!receive(g, fds) || !has_no_parent(g->process)) {
    server->refused_peers++;
    end_guest(g);
    return;
  }
  int link = source->fd;
  agent_loop_forget(&server->loop, source);
  end_guest(g);
  for (int i = 0; i < 2; i++)
    fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
  agent_peer_new(server, fds[0], fds[1], link);
}

static bool admit(agent_server *server, int fd) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
  if (credentials.uid != server->uid || credentials.pid <= 0) return false;
  if (server->guest_count >= MAX_GUESTS) return false;
  char path[32];
  snprintf(path, sizeof path, "/proc/%d", (int)credentials.pid);
  int process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (process < 0) return false;
  int yes = 1;
  guest *g = NULL;
  if (has_no_parent(process) && may_be_our_program(process) &&
      setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0)
    g = calloc(1, sizeof *g);
  if (!g) {
    close(process);
    return false;
  }
  *g = (guest){.server = server,
               .source = {.ready = guest_ready, .fd = -1},
               .process = process,
               .pid = credentials.pid};
  if (agent_loop_watch(&server->loop, &g->source, fd, EPOLLIN) && write(fd, "?", 1) == 1) {
    server->guest_count++;
    return true;
  }
  agent_loop_forget(&server->loop, &g->source);
  close(process);
  free(g);
  return false;
}

static void listener_ready(agent_source *source, uint32_t events) {
  (void)events;
  agent_server *server = AGENT_OWNER(source, agent_server, listener);
  int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) return;
  if (fd < 0) { /* without descriptors it would be ready again and again; the timer resumes it */
    agent_loop_want(&server->loop, source, 0);
    agent_server_wake_at(server, agent_now_ms() + RETRY_MS);
    return;
  }
  if (admit(server, fd)) return;
  server->refused_peers++;
  close(fd);
}

bool agent_listener_open(agent_server *server) {
  struct sockaddr_un address;
  socklen_t length = agent_socket_address(&address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 64) != 0)
    return false;
  server->listener.ready = listener_ready;
  return agent_loop_watch(&server->loop, &server->listener, fd, EPOLLIN);
}
