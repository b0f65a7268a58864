/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a command under its keeper: a small process that is the reaper of all that descends from
 * the command (also what called setsid), and lives exactly as long as any of it does. So the tree
 * of a command is always known, and "the tree is gone" is the keeper's end. */
#ifndef COFFERDAM_AGENT_SPAWN_H
#define COFFERDAM_AGENT_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct agent_limit {
  int resource;
  struct rlimit value;
} agent_limit;

/* Everything is made ready before the fork. */
typedef struct agent_command {
  uint64_t id;
  char **argv;
  char **environment;
  const char *search;    /* PATH, for an argv[0] without a slash */
  const char *directory; /* NULL: / */
  bool set_user;
  uid_t uid;
  gid_t gid;
  gid_t *groups;
  size_t group_count;
  const agent_limit *limits;
  size_t limit_count;
  bool no_new_privileges;
  bool terminal;
  int fds[3];     /* all above 3, to become 0, 1 and 2 */
  int notes;      /* where the keeper writes agent_notes */
  int highest_fd; /* what there is to close, for kernels without close_range */
} agent_command;

enum { AGENT_NOTE_STARTED = 1, AGENT_NOTE_FAILED, AGENT_NOTE_EXITED };

/* Written whole (less than PIPE_BUF). */
typedef struct agent_note {
  uint64_t id;
  uint32_t kind;
  int32_t pid;    /* STARTED */
  int32_t step;   /* FAILED */
  int32_t error;  /* FAILED */
  int32_t status; /* EXITED, as from wait */
  uint32_t reserved;
  uint64_t user_us;
  uint64_t system_us;
  uint64_t max_rss_kib;
} agent_note;

enum { AGENT_STACK_BYTES = 16 * 1024 };

/* The keeper's pid, or -1 with errno. Command and stack are the keeper's: the command, and all that
 * it points to, until the first note; the stack until the keeper is reaped. */
pid_t agent_spawn(const agent_command *command, void *stack);

/* Stacks with a guard below. A few are kept for the next. */
typedef struct agent_stacks {
  void *spare[32];
  unsigned count;
} agent_stacks;

void *agent_stack_take(agent_stacks *stacks);
void agent_stack_give(agent_stacks *stacks, void *stack);

#endif
