/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include "message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTES_FD = 3 };

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void write_note(agent_note *note) {
  while (write(NOTES_FD, note, sizeof *note) < 0 && errno == EINTR)
    continue;
}

static void close_others(void) {
  if (syscall(SYS_close_range, NOTES_FD + 1, ~0u, 0) == 0) return;
  DIR *dir = opendir("/proc/self/fd");
  if (!dir) return;
  struct dirent *entry;
  while ((entry = readdir(dir)) != NULL) {
    long fd = strtol(entry->d_name, NULL, 10);
    if (fd > NOTES_FD && fd != dirfd(dir)) close((int)fd);
  }
  closedir(dir);
}

static void exec_search(const agent_command *command) {
  const char *name = command->argv[0];
  if (strchr(name, '/')) {
    execve(name, command->argv, command->environment);
    return;
  }
  size_t name_length = strlen(name);
  int error = ENOENT;
  char path[4096];
  for (const char *at = command->search; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
    size_t length = strcspn(at, ":");
    if (length == 0 || length + name_length + 2 > sizeof path) continue;
    memcpy(path, at, length);
    path[length] = '/';
    memcpy(path + length + 1, name, name_length + 1);
    execve(path, command->argv, command->environment);
    if (errno == EACCES)
      error = EACCES; /* it may still be found further on */
    else if (errno != ENOENT && errno != ENOTDIR)
      return;
  }
  errno = error;
}

/* The step that failed, with errno; does not return when nothing does. */
static int become_command(const agent_command *command) {
  sigset_t none;
  sigemptyset(&none);
  setsid();
  if (command->terminal && ioctl(0, TIOCSCTTY, 0) != 0) return STEP(TERMINAL);
  for (size_t i = 0; i < command->limit_count; i++)
    if (setrlimit(command->limits[i].resource, &command->limits[i].value) != 0) return STEP(LIMITS);
  if (command->set_user) {
    /* By system call: the C library's wrappers would signal threads. */
    if (syscall(SYS_setgroups, command->group_count, command->groups) != 0) return STEP(GROUPS);
    if (syscall(SYS_setresgid, command->gid, command->gid, command->gid) != 0) return STEP(GROUPS);
    if (syscall(SYS_setresuid, command->uid, command->uid, command->uid) != 0) return STEP(USER);
  }
  if (command->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return STEP(USER);
  if (chdir(command->directory ? command->directory : "/") != 0) return STEP(DIRECTORY);
  sigprocmask(SIG_SETMASK, &none, NULL);
  exec_search(command);
  return STEP(EXEC);
}

static uint64_t microseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void reap_all(const agent_command *command, pid_t pid) {
  for (;;) {
    int status;
    struct rusage usage;
    pid_t ended = wait4(-1, &status, 0, &usage);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return;
    if (ended != pid) continue;
    agent_note note = {.id = command->id,
                       .kind = AGENT_NOTE_EXITED,
                       .status = status,
                       .user_us = microseconds(usage.ru_utime),
                       .system_us = microseconds(usage.ru_stime),
                       .max_rss_kib = (uint64_t)usage.ru_maxrss};
    write_note(&note);
  }
}

static _Noreturn void keep(const agent_command *command) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < 3; i++)
    dup2(command->fds[i], i);
  dup3(command->notes, NOTES_FD, O_CLOEXEC);
  close_others();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  agent_note note = {.id = command->id, .kind = AGENT_NOTE_STARTED};
  pid_t pid = vfork();
  if (pid == 0) {
    int step = become_command(command);
    agent_note failed = {
        .id = command->id, .kind = AGENT_NOTE_FAILED, .step = step, .error = errno};
    write_note(&failed);
    _exit(127);
  }
  if (pid < 0) {
    note.kind = AGENT_NOTE_FAILED;
    note.step = STEP(FORK);
    note.error = errno;
  }
  note.pid = pid;
  write_note(&note);
  for (int i = 0; i < 3; i++)
    close(i);
  if (pid > 0) reap_all(command, pid);
  _exit(0);
}

pid_t agent_spawn(const agent_command *command) {
  pid_t keeper = _Fork();
  if (keeper == 0) keep(command);
  return keeper;
}
