/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "memory_events.h"
#include "path.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { OWN_DESCRIPTORS = 4, PATIENCE_MS = 3000 };

void agent_server_wake_at(agent_server *server, uint64_t at_ms) {
  if (server->timer_at && server->timer_at <= at_ms) return;
  server->timer_at = at_ms ? at_ms : 1;
  struct itimerspec when = {.it_value = {.tv_sec = (time_t)(server->timer_at / 1000),
                                         .tv_nsec = (long)(server->timer_at % 1000) * 1000000}};
  timerfd_settime(server->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Those without which we see nothing. */
static const int own_limits[AGENT_OWN_LIMITS] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA};

bool agent_limits_lowered(const agent_server *server) {
  struct rlimit now;
  for (int i = 0; i < AGENT_OWN_LIMITS; i++)
    if (getrlimit(own_limits[i], &now) == 0 && now.rlim_cur < server->limits[i].rlim_cur)
      return true;
  return false;
}

/* Is anything left that could still end in peace? */
static bool anything_runs(const agent_server *server) {
  return server->running > 0;
}

/* PID 1 takes everything with it; anybody else has to see it gone first. */
static void shutdown_tick(agent_server *server, uint64_t now) {
  if (!server->shutting_down) return;
  uint64_t end = server->shutdown_at + (server->init ? 0 : PATIENCE_MS);
  if (anything_runs(server) && now < end) {
    agent_server_wake_at(server, end);
    return;
  }
  if (server->init) kill(-1, SIGKILL);
  server->loop.stop = true;
}

static void timer_ready(agent_source *source, uint32_t events) {
  (void)events;
  agent_server *server = AGENT_OWNER(source, agent_server, timer);
  uint64_t expirations;
  if (read(source->fd, &expirations, sizeof expirations) < 0) return;
  uint64_t now = agent_now_ms();
  server->timer_at = 0;
  agent_loop_want(&server->loop, &server->listener, EPOLLIN);
  agent_processes_tick(server, now);
  agent_peers_tick(server, now);
  shutdown_tick(server, now);
}

void agent_server_shutdown(agent_server *server, uint32_t grace_ms, int exit_status) {
  if (!server->shutting_down) server->exit_status = exit_status;
  uint64_t now = agent_now_ms();
  uint64_t at = now + grace_ms;
  if (!server->shutting_down || at < server->shutdown_at) server->shutdown_at = at;
  server->shutting_down = true;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next)
      agent_process_kill(p, COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_SHUTDOWN, grace_ms);
  agent_server_wake_at(server, now);
}

void agent_server_client_gone(agent_server *server, agent_peer *peer) {
  agent_processes_client_gone(server, peer);
  if (server->exit_with_clients && server->client_count == 0)
    agent_server_shutdown(server, 0, server->exit_status);
}

static void reap(agent_server *server) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) break;
    agent_process_reaped(server, pid, status);
  }
  if (server->shutting_down) agent_server_wake_at(server, agent_now_ms());
}

/* 0 is who is not inside, where the kernel says who it was; with sigqueue the sender says it. */
static bool from_outside(const struct signalfd_siginfo *info) {
  return info->ssi_pid == 0 && (info->ssi_code == SI_USER || info->ssi_code == SI_KERNEL);
}

static void signals_ready(agent_source *source, uint32_t events) {
  (void)events;
  agent_server *server = AGENT_OWNER(source, agent_server, signals);
  struct signalfd_siginfo info;
  while (read(source->fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD)
      reap(server);
    else if (!server->init || from_outside(&info))
      agent_server_shutdown(server, server->shutting_down ? 0 : server->stop_grace_ms, 0);
  }
}

/* 0 to 2 are for the children's set-up, 3 for their keeper's notes: nothing of ours is there. */
static bool take_low_descriptors(agent_server *server) {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
  } while (fd < OWN_DESCRIPTORS);
  server->null_fd = fd;
  return true;
}

static void fill_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGPIPE); /* blocked, so a write to a closed pipe is just an error */
  sigaddset(set, SIGCHLD);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGHUP);
  sigaddset(set, SIGQUIT);
}

bool agent_server_block_signals(void) {
  sigset_t set;
  fill_signals(&set);
  return sigprocmask(SIG_SETMASK, &set, NULL) == 0;
}

static bool open_signals(agent_server *server) {
  sigset_t set;
  fill_signals(&set);
  sigdelset(&set, SIGPIPE);
  sigdelset(&set, SIGHUP);
  for (int number = 1; number < 65; number++)
    signal(number, SIG_DFL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  server->signals.ready = signals_ready;
  return fd >= 0 && agent_loop_watch(&server->loop, &server->signals, fd, EPOLLIN);
}

static bool open_timer(agent_server *server) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  server->timer.ready = timer_ready;
  return fd >= 0 && agent_loop_watch(&server->loop, &server->timer, fd, EPOLLIN);
}

bool agent_server_open(agent_server *server, char **environment, const char *workspace) {
  *server = (agent_server){.environment = environment,
                           .workspace = workspace,
                           .self = getpid(),
                           .uid = getuid(),
                           .gid = getgid(),
                           .stop_grace_ms = 2000};
  server->listener.fd = server->deadline.fd = -1;
  for (int i = 0; i < AGENT_OWN_LIMITS; i++)
    getrlimit(own_limits[i], &server->limits[i]);
  if (getrandom(server->instance, sizeof server->instance, 0) != (ssize_t)sizeof server->instance)
    return false;
  if (!take_low_descriptors(server) || !agent_loop_open(&server->loop)) return false;
  if (!agent_arena_open(&server->arena)) return false;
  server->scratch = malloc(AGENT_CHUNK);
  if (!server->scratch) return false;
  server->have_close_range = syscall(SYS_close_range, ~0u, ~0u, 0) == 0;
  server->follows_links = agent_path_have_openat2();
  server->memory_events = agent_memory_events_open();
  return open_signals(server) && open_timer(server) &&
         agent_gather_open(&server->gather, &server->loop) && agent_processes_open(server);
}
