/* SPDX-License-Identifier: Apache-2.0 */
#include "relay.h"

#include "listener.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NO_AGENT = 3, EXIT_REFUSED = 4, TRIES = 200 };

static int complain(const char *text, int status) {
  size_t length = strlen(text);
  if (write(2, text, length) < 0) return status;
  return status;
}

/* The sandbox may be so young that its agent does not listen yet. */
static int connect_agent(void) {
  struct sockaddr_un address;
  socklen_t length = agent_socket_address(&address);
  for (int i = 0; i < TRIES; i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, length) == 0) return fd;
    close(fd);
    if (errno != ECONNREFUSED && errno != EAGAIN) return -1;
    struct timespec wait = {.tv_nsec = 10000000};
    nanosleep(&wait, NULL);
  }
  return -1;
}

/* Somebody else could have taken the name: the agent is PID 1. */
static bool is_agent(int fd) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 &&
         credentials.pid == 1 && credentials.uid == getuid();
}

static bool hand_over(int fd) {
  int fds[2] = {0, 1};
  union {
    char bytes[CMSG_SPACE(sizeof fds)];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  char magic[AGENT_RELAY_MAGIC_BYTES];
  memcpy(magic, AGENT_RELAY_MAGIC, sizeof magic);
  struct iovec iov = {.iov_base = magic, .iov_len = sizeof magic};
  struct msghdr message = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  memcpy(CMSG_DATA(header), fds, sizeof fds);
  return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof magic;
}

static ssize_t read_again(int fd, char *byte) {
  ssize_t n;
  do
    n = read(fd, byte, 1);
  while (n < 0 && errno == EINTR);
  return n;
}

int agent_relay(void) {
  char byte;
  int fd = connect_agent();
  if (fd < 0) return complain("cofferdam-agent relay: no agent\n", EXIT_NO_AGENT);
  if (!is_agent(fd)) return complain("cofferdam-agent relay: not the agent\n", EXIT_REFUSED);
  if (read_again(fd, &byte) != 1 || !hand_over(fd))
    return complain("cofferdam-agent relay: refused\n", EXIT_REFUSED);
  /* The agent has them now; without ours, their ends are its to make. */
  close(0);
  close(1);
  while (read_again(fd, &byte) > 0)
    continue;
  return 0;
}
