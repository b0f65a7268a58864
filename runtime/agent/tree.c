/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct member {
  pid_t pid;
  pid_t parent;
  agent_process *process; /* whose tree it is in */
  bool known;
  bool zombie;
} member;

typedef struct census {
  member *members;
  size_t count;
  size_t room;
} census;

/* Whose main thread has ended and others live on looks like a zombie, and is none. */
static bool has_threads(const char *state) {
  enum { STATE_FIELD = 3, THREADS_FIELD = 20 };
  for (int field = STATE_FIELD; state && field < THREADS_FIELD; field++)
    state = strchr(state + 1, ' ');
  return state && strtol(state, NULL, 10) > 1;
}

/* "PID (name) S PPID …": the name may hold anything, so from its last bracket on. */
static bool read_member(int proc, const char *name, member *m) {
  char path[32];
  size_t length = strnlen(name, 16);
  memcpy(path, name, length);
  memcpy(path + length, "/stat", 6);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char *at = strrchr(text, ')');
  if (!at || strlen(at) < 4) return false;
  *m = (member){.pid = (pid_t)strtol(name, NULL, 10),
                .parent = (pid_t)strtol(at + 4, NULL, 10),
                .zombie = (at[2] == 'Z' || at[2] == 'X') && !has_threads(at + 2)};
  return true;
}

static int by_pid(const void *left, const void *right) {
  pid_t a = ((const member *)left)->pid;
  pid_t b = ((const member *)right)->pid;
  return a < b ? -1 : a > b;
}

static bool take(census *all, const member *m) {
  if (all->count == all->room) {
    size_t room = all->room ? all->room * 2 : 128;
    member *members = realloc(all->members, room * sizeof *members);
    if (!members) return false;
    all->members = members;
    all->room = room;
  }
  all->members[all->count++] = *m;
  return true;
}

/* False: they are not all there. */
static bool read_all(census *all) {
  bool complete = true;
  DIR *dir = opendir("/proc");
  if (!dir) return false;
  struct dirent *entry;
  while ((entry = readdir(dir)) != NULL) {
    member m;
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    errno = 0;
    if (!read_member(dirfd(dir), entry->d_name, &m))
      complete = complete && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
    else if (!take(all, &m))
      complete = false;
  }
  closedir(dir);
  qsort(all->members, all->count, sizeof *all->members, by_pid);
  return complete;
}

static member *find(census *all, pid_t pid) {
  member key = {.pid = pid};
  if (!all->count) return NULL;
  return bsearch(&key, all->members, all->count, sizeof key, by_pid);
}

/* Keepers and what was left to us are the roots. What a killed keeper left, and then escaped by
 * forking twice, nobody can tell apart: it all counts as the adopted command's. */
static void mark_roots(agent_server *server, census *all) {
  agent_process *suspect = NULL;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next) {
      if (!p->keeper) continue;
      if (p->adopted) suspect = p;
      member *root = find(all, p->adopted ? p->pid : p->keeper);
      if (!root || root->parent != server->self) continue;
      root->known = true;
      root->process = p;
    }
  for (size_t i = 0; suspect && i < all->count; i++) {
    member *m = &all->members[i];
    if (m->known || m->parent != server->self) continue;
    m->known = true;
    m->process = suspect;
  }
}

static agent_process *resolve(census *all, member *m) {
  member *path = m;
  agent_process *process = NULL;
  for (size_t depth = 0; path && depth <= all->count; depth++) {
    if (path->known) {
      process = path->process;
      break;
    }
    path = find(all, path->parent);
  }
  for (path = m; path && !path->known; path = find(all, path->parent)) {
    path->known = true;
    path->process = process;
  }
  return process;
}

static bool take_census(agent_server *server, census *all) {
  *all = (census){0};
  bool complete = read_all(all);
  mark_roots(server, all);
  for (size_t i = 0; i < all->count; i++)
    resolve(all, &all->members[i]);
  return complete;
}

static bool is_keeper(const member *m) {
  return !m->process->adopted && m->pid == m->process->keeper;
}

static bool send_due(const member *m) {
  if (m->process->kill == AGENT_KILL_TERM) {
    kill(m->pid, SIGTERM);
    kill(m->pid, SIGCONT); /* a stopped one could not act on it */
  }
  return m->process->kill == AGENT_KILL_KILL && kill(m->pid, SIGKILL) == 0;
}

/* Who has our user can take our limits away, and with them the sight of what is to be ended: then
 * all goes. */
static void end_unseen(const agent_server *server) {
  if (!server->init || !agent_limits_lowered(server)) return;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next) {
      if (p->kill != AGENT_KILL_KILL) continue;
      kill(-1, SIGKILL);
      return;
    }
}

/* Keepers go on, whoever stopped them: they reap, and tell. True: something lives that has lost its
 * keeper. */
static bool end_members(const census *all, size_t *killed) {
  bool orphans = false;
  for (size_t i = 0; i < all->count; i++) {
    const member *m = &all->members[i];
    if (!m->process || m->zombie || m->process->kill == AGENT_KILL_NONE) continue;
    if (m->process->adopted) orphans = true;
    if (is_keeper(m))
      kill(m->pid, SIGCONT);
    else if (send_due(m))
      ++*killed;
  }
  return orphans;
}

static bool is_our_child(const agent_server *server, census *all, pid_t pid) {
  const member *m = find(all, pid);
  return m && m->parent == server->self;
}

bool agent_tree_pass(agent_server *server, size_t *killed) {
  census all;
  *killed = 0;
  bool complete = take_census(server, &all);
  if (!complete) end_unseen(server);
  bool orphans = end_members(&all, killed) || !complete;
  bool again = false;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i], *next; p; p = next) {
      next = p->next;
      if (p->kill == AGENT_KILL_TERM) p->kill = AGENT_KILL_WAIT;
      if (p->kill == AGENT_KILL_KILL) again = true;
      if (!p->adopted || !p->keeper || orphans) continue;
      if (p->pid && !is_our_child(server, &all, p->pid)) agent_process_vanished(p);
      if (!p->pid) agent_process_over(p);
    }
  free(all.members);
  return again;
}

bool agent_tree_signal(agent_process *process, int signal) {
  census all;
  if (!take_census(process->server, &all) && !all.count) {
    errno = ENOMEM;
    return false;
  }
  bool any = false;
  int error = ESRCH;
  for (size_t i = 0; i < all.count; i++) {
    const member *m = &all.members[i];
    if (m->process != process || m->zombie || is_keeper(m)) continue;
    if (kill(m->pid, signal) == 0)
      any = true;
    else
      error = errno;
  }
  free(all.members);
  errno = error;
  return any;
}
