/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include "message.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOTES_FD = 3, KERNEL_SIGSET_BYTES = 8 };

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Nothing from here to agent_spawn may call into the C library, but for functions that only look
 * at memory: it runs beside the agent, in the same memory (see keep). */

static void write_note(const agent_note *note) {
  while (RAW(SYS_write, NOTES_FD, note, sizeof *note, 0) == -EINTR)
    continue;
}

static void close_others(const agent_command *command) {
  if (RAW(SYS_close_range, NOTES_FD + 1, ~0u, 0, 0) == 0) return;
  for (int fd = NOTES_FD + 1; fd <= command->highest_fd; fd++)
    RAW(SYS_close, fd, 0, 0, 0);
}

static long exec_path(const agent_command *command, const char *path) {
  return RAW(SYS_execve, path, command->argv, command->environment, 0);
}

/* Returns only with an error. */
static int exec_search(const agent_command *command) {
  const char *name = command->argv[0];
  if (strchr(name, '/')) return (int)-exec_path(command, name);
  size_t name_length = strlen(name);
  int error = ENOENT;
  char path[4096];
  for (const char *at = command->search; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
    size_t length = strcspn(at, ":");
    if (length == 0 || length + name_length + 2 > sizeof path) continue;
    memcpy(path, at, length);
    path[length] = '/';
    memcpy(path + length + 1, name, name_length + 1);
    long failed = exec_path(command, path);
    if (failed == -EACCES)
      error = EACCES; /* it may still be found further on */
    else if (failed != -ENOENT && failed != -ENOTDIR)
      return (int)-failed;
  }
  return error;
}

static int set_user(const agent_command *command, int *error) {
  *error = (int)-RAW(SYS_setgroups, command->group_count, command->groups, 0, 0);
  if (!*error) *error = (int)-RAW(SYS_setresgid, command->gid, command->gid, command->gid, 0);
  if (*error) return STEP(GROUPS);
  *error = (int)-RAW(SYS_setresuid, command->uid, command->uid, command->uid, 0);
  return *error ? STEP(USER) : 0;
}

/* The step that failed; does not return when nothing does. */
static int become_command(const agent_command *command, int *error) {
  static const uint64_t none = 0;
  RAW(SYS_setsid, 0, 0, 0, 0);
  if (command->terminal && (*error = (int)-RAW(SYS_ioctl, 0, TIOCSCTTY, 0, 0)) != 0)
    return STEP(TERMINAL);
  for (size_t i = 0; i < command->limit_count; i++) {
    const agent_limit *limit = &command->limits[i];
    const uint64_t value[2] = {limit->value.rlim_cur, limit->value.rlim_max};
    *error = (int)-RAW(SYS_prlimit64, 0, limit->resource, value, 0);
    if (*error) return STEP(LIMITS);
  }
  if (command->set_user) {
    int step = set_user(command, error);
    if (step) return step;
  }
  if (command->no_new_privileges &&
      (*error = (int)-agent_raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) != 0)
    return STEP(USER);
  *error = (int)-RAW(SYS_chdir, command->directory ? command->directory : "/", 0, 0, 0);
  if (*error) return STEP(DIRECTORY);
  RAW(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, KERNEL_SIGSET_BYTES);
  *error = exec_search(command);
  return STEP(EXEC);
}

static _Noreturn void leave(int status) {
  for (;;)
    RAW(SYS_exit_group, status, 0, 0, 0);
}

__attribute__((noinline)) static _Noreturn void run_command(const agent_command *command) {
  agent_note failed = {.id = command->id, .kind = AGENT_NOTE_FAILED};
  failed.step = become_command(command, &failed.error);
  write_note(&failed);
  leave(127);
}

static uint64_t microseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void reap_all(uint64_t id, pid_t pid) {
  for (;;) {
    int status;
    struct rusage usage;
    long ended = RAW(SYS_wait4, -1, &status, 0, &usage);
    if (ended == -EINTR) continue;
    if (ended < 0) return;
    if (ended != pid) continue;
    agent_note note = {.id = id,
                       .kind = AGENT_NOTE_EXITED,
                       .status = status,
                       .user_us = microseconds(usage.ru_utime),
                       .system_us = microseconds(usage.ru_stime),
                       .max_rss_kib = (uint64_t)usage.ru_maxrss};
    write_note(&note);
  }
}

/* The keeper. It shares the agent's memory (a copy would cost more than all the rest of a start),
 * but has its own descriptors and signals, and no part in the agent's heap. `command` is valid
 * until the first note has been written. */
static int keep(void *argument) {
  const agent_command *command = argument;
  static const uint64_t all = ~(uint64_t)0;
  uint64_t id = command->id;
  RAW(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, KERNEL_SIGSET_BYTES);
  for (int i = 0; i < 3; i++)
    RAW(SYS_dup3, command->fds[i], i, 0, 0);
  RAW(SYS_dup3, command->notes, NOTES_FD, O_CLOEXEC, 0);
  close_others(command);
  agent_raw(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  agent_note note = {.id = id, .kind = AGENT_NOTE_STARTED};
  /* As vfork: we stand still until the command runs, or cannot. */
  long pid = agent_raw(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) run_command(command);
  /* Changing the user may have made all of this memory's processes fit to be looked into. */
  agent_raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (pid < 0) {
    note.kind = AGENT_NOTE_FAILED;
    note.step = STEP(FORK);
    note.error = (int)-pid;
  }
  note.pid = (int32_t)pid;
  write_note(&note);
  for (int i = 0; i < 3; i++)
    RAW(SYS_close, i, 0, 0, 0);
  if (pid > 0) reap_all(id, (pid_t)pid);
  leave(0);
}

pid_t agent_spawn(const agent_command *command, void *stack) {
#ifndef AGENT_NO_SHARED_MEMORY
  pid_t keeper =
      clone(keep, (char *)stack + AGENT_STACK_BYTES, CLONE_VM | SIGCHLD, (void *)command);
  if (keeper >= 0 || errno != EINVAL) return keeper; /* an emulator may not know this one */
#endif
  (void)stack;
  pid_t copy = _Fork();
  if (copy == 0) keep((void *)command);
  return copy;
}
