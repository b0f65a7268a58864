/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile program in the sandbox may try against the agent. Prints what it got. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_connect(int hand_over) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  static const char name[] = "\0cofferdam-agent/1";
  memcpy(address.sun_path, name, sizeof name - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t length = offsetof(struct sockaddr_un, sun_path) + sizeof name - 1;
  if (connect(fd, (struct sockaddr *)&address, length) != 0) {
    printf("connect: %s\n", strerror(errno));
    return 1;
  }
  struct timeval wait = {.tv_sec = 2};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  char byte;
  if (hand_over) {
    int pipes[2][2];
    if (pipe(pipes[0]) || pipe(pipes[1])) return 1;
    int fds[2] = {pipes[0][0], pipes[1][1]};
    char control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec iov = {"cofferdam-relay1", 16};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    sendmsg(fd, &message, MSG_NOSIGNAL);
  }
  ssize_t n = read(fd, &byte, 1);
  printf("%s\n", n == 1 ? "LET IN" : "refused");
  return 0;
}

static int spawn_connect(int flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    usleep(100000);
    printf("parent %d: ", getppid());
    try_connect(1);
    fflush(stdout);
    _exit(0);
  }
  if (pid < 0) printf("clone: %s\n", strerror(errno));
  sleep(1);
  return 0;
}

static void try_process(pid_t pid) {
  char path[64];
  static const char *files[] = {"mem", "environ", "maps", "fd/0", "fd/1", "cwd/x", "exe", "auxv"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", pid, files[i]);
    int fd = open(path, i == 0 || i == 3 ? O_RDWR : O_RDONLY);
    if (fd >= 0) printf("OPENED %s\n", path);
    if (fd >= 0) close(fd);
  }
  if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) {
    printf("TRACED %d\n", pid);
    ptrace(PTRACE_DETACH, pid, 0, 0);
  }
  if (ptrace(PTRACE_ATTACH, pid, 0, 0) == 0) printf("ATTACHED %d\n", pid);
}

/* Every process that runs the agent's program: PID 1, relays, keepers. */
static int try_all(void) {
  int count = 0;
  for (pid_t pid = 1; pid < 5000; pid++) {
    char path[64];
    char text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (!fgets(text, sizeof text, file)) text[0] = '\0';
    fclose(file);
    if (!strstr(text, "cofferdam-agent")) continue;
    count++;
    try_process(pid);
  }
  printf("tried %d\n", count);
  return 0;
}

/* Looks for a relay that is about to start, to be in it before it can protect itself. */
static int race(int seconds) {
  int caught = 0;
  int tries = 0;
  time_t end = time(NULL) + seconds;
  for (pid_t pid = 2; time(NULL) < end; pid++) {
    if (pid > 4000) pid = 2;
    if (kill(pid, 0) != 0) continue;
    char path[64];
    char text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0) continue;
    if (read(fd, text, sizeof text - 1) < 0) text[0] = '\0';
    close(fd);
    if (!strstr(text, "cofferdam-agent")) continue;
    tries++;
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) caught++;
  }
  printf("caught %d of %d\n", caught, tries > 0);
  return 0;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "connect") == 0) return try_connect(0);
  if (strcmp(what, "hand-over") == 0) return try_connect(1);
  if (strcmp(what, "hidden") == 0) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return try_connect(1);
  }
  if (strcmp(what, "child") == 0) return spawn_connect(0);
  if (strcmp(what, "sibling") == 0) return spawn_connect(CLONE_PARENT);
  if (strcmp(what, "new-pid-namespace") == 0) return spawn_connect(CLONE_NEWUSER | CLONE_NEWPID);
  if (strcmp(what, "look") == 0) return try_all();
  if (strcmp(what, "race") == 0) return race(6);
  if (strcmp(what, "flood") == 0) {
    for (int i = 0; i < 2000; i++) {
      struct sockaddr_un address = {.sun_family = AF_UNIX};
      memcpy(address.sun_path, "\0cofferdam-agent/1", 18);
      int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
      if (fd < 0) break;
      if (connect(fd, (struct sockaddr *)&address, 20) != 0) continue;
    }
    puts("flooded");
    return 0;
  }
  if (strcmp(what, "kill-keeper") == 0) {
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        setsid();
        sleep(371);
      }
      _exit(0);
    }
    sleep(1);
    printf("kill: %d\n", kill(getppid(), SIGKILL));
    sleep(371);
  }
  if (strcmp(what, "starve") == 0 || strcmp(what, "starve-memory") == 0) {
    /* The agent gets no descriptor any more, or no memory; then all that it could be ended by is
     * left behind. */
    unsigned long long none[2] = {3, 3};
    int resource = strcmp(what, "starve") == 0 ? RLIMIT_NOFILE : RLIMIT_AS;
    printf("%ld\n", syscall(SYS_prlimit64, 1, resource, none, NULL));
    fflush(stdout);
    if (fork() == 0) {
      setsid();
      if (fork() == 0) sleep(372);
      _exit(0);
    }
    sleep(372);
  }
  if (strcmp(what, "kill-init") == 0) {
    printf("%d", kill(1, SIGKILL));
    printf("%d", kill(1, SIGSTOP));
    printf("%d", kill(1, SIGTERM));
    printf("%d\n", kill(1, SIGINT));
    return 0;
  }
  return 2;
}
