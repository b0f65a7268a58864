/* SPDX-License-Identifier: Apache-2.0 */
#include "init.h"

#include "listener.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET 2
#endif

enum { EXIT_DEADLINE = 124, EXIT_TROUBLE = 70 };

typedef struct init_options {
  const char *workspace;
  uint64_t deadline;
  uint64_t stop_grace_ms;
  bool stdio;
} init_options;

static bool parse_number(const char *text, uint64_t limit, uint64_t *value) {
  char *end;
  errno = 0;
  if (*text < '0' || *text > '9') return false;
  *value = strtoull(text, &end, 10);
  return !*end && !errno && *value <= limit;
}

static bool parse(int argc, char **argv, init_options *options) {
  static const struct option known[] = {{"workspace", required_argument, NULL, 'w'},
                                        {"deadline", required_argument, NULL, 'd'},
                                        {"stop-grace-ms", required_argument, NULL, 'g'},
                                        {"stdio", no_argument, NULL, 's'},
                                        {0}};
  int option;
  while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
    switch (option) {
    case 'w':
      options->workspace = optarg;
      if (*optarg != '/') return false;
      break;
    case 'd':
      if (!parse_number(optarg, INT64_MAX, &options->deadline)) return false;
      break;
    case 'g':
      if (!parse_number(optarg, 600000, &options->stop_grace_ms)) return false;
      break;
    case 's':
      options->stdio = true;
      break;
    default:
      return false;
    }
  }
  return optind == argc;
}

static int trouble(const char *what) {
  fprintf(stderr, "cofferdam-agent: %s: %s\n", what, strerror(errno));
  return EXIT_TROUBLE;
}

/* Links in it are followed now, while nothing hostile runs, and never again. A missing one is made,
 * to see that it can be, and is gone again until it is needed: other programs take one that is
 * there for one that was filled. */
static const char *open_workspace(const char *path, bool *make) {
  bool made = mkdir(path, 0755) == 0;
  char *resolved = realpath(path, NULL);
  struct stat info;
  if (resolved && stat(resolved, &info) == 0 && S_ISDIR(info.st_mode)) {
    *make = made && rmdir(resolved) == 0;
    return resolved;
  }
  free(resolved);
  return "";
}

static void deadline_ready(agent_source *source, uint32_t events) {
  (void)events;
  agent_server *server = AGENT_OWNER(source, agent_server, deadline);
  uint64_t expirations;
  if (read(source->fd, &expirations, sizeof expirations) < 0) return;
  server->shutting_down = false;
  agent_server_shutdown(server, 0, EXIT_DEADLINE);
}

/* On the wall clock, so that it moves with it. */
static bool open_deadline(agent_server *server, uint64_t deadline) {
  if (!deadline) return true;
  server->deadline_unix = deadline;
  server->deadline.ready = deadline_ready;
  int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  struct itimerspec when = {.it_value = {.tv_sec = (time_t)deadline}};
  return fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) == 0 &&
         agent_loop_watch(&server->loop, &server->deadline, fd, EPOLLIN);
}

/* Our own standard input and output become a client's stream, out of the children's way. */
static bool take_stdio(int fds[2]) {
  for (int i = 0; i < 2; i++) {
    fds[i] = fcntl(i, F_DUPFD_CLOEXEC, 4);
    if (fds[i] < 0) return false;
    fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
    close(i);
  }
  return true;
}

int agent_init(int argc, char **argv, char **environment, bool init) {
  init_options options = {.workspace = "/workspace", .stop_grace_ms = 2000, .stdio = !init};
  if (!parse(argc, argv, &options)) return -1;
  if (init && getpid() != 1) {
    fputs("cofferdam-agent: init must be PID 1\n", stderr);
    return EXIT_TROUBLE;
  }
  if (!agent_server_block_signals()) return trouble("signals");
  umask(022);
  bool make_workspace = false;
  const char *workspace = open_workspace(options.workspace, &make_workspace);
  if (chdir("/") != 0) return trouble("chdir");
  int fds[2];
  if (options.stdio && !take_stdio(fds)) return trouble("standard input and output");
  agent_server *server = malloc(sizeof *server);
  if (!server || !agent_server_open(server, environment, workspace)) return trouble("start");
  server->make_workspace = make_workspace;
  server->init = init;
  server->exit_with_clients = !init;
  server->stop_grace_ms = (uint32_t)options.stop_grace_ms;
  if (!init) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (!open_deadline(server, options.deadline)) return trouble("deadline");
  if (init && !agent_listener_open(server)) return trouble("socket");
  if (options.stdio && !agent_peer_new(server, fds[0], fds[1], -1) && !init)
    return trouble("standard input and output");
  agent_loop_run(&server->loop);
  while (server->clients) /* what they were writing is abandoned, and leaves nothing */
    agent_peer_close(server->clients);
  return server->exit_status;
}
