/* SPDX-License-Identifier: Apache-2.0 */
/* What one agent is: its loop, its clients, its processes. */
#ifndef COFFERDAM_AGENT_SERVER_H
#define COFFERDAM_AGENT_SERVER_H

#include "gather.h"
#include "loop.h"
#include "peer.h"
#include "spawn.h"

#include <sys/resource.h>
#include <sys/types.h>

#define AGENT_VERSION "0.1.0"

typedef struct agent_process agent_process;

enum { AGENT_PROCESS_BUCKETS = 256, AGENT_INSTANCE_BYTES = 16, AGENT_OWN_LIMITS = 3 };

struct agent_server {
  agent_loop loop;
  agent_arena arena;
  bool init; /* we are PID 1 */
  bool exit_with_clients;
  char **environment;    /* what the sandbox was started with */
  const char *workspace; /* absolute and resolved; "" when there is none */
  bool make_workspace;   /* before it is first used */
  bool follows_links;    /* openat2 is there */
  uint8_t *scratch;      /* AGENT_CHUNK bytes, for one piece of work */
  uint8_t instance[AGENT_INSTANCE_BYTES];
  pid_t self;
  uid_t uid;
  gid_t gid;
  int null_fd;

  agent_source listener;
  agent_peer *clients;
  unsigned client_count;
  unsigned guest_count; /* connected, not yet let in */
  uint64_t refused_peers;

  agent_source signals;
  agent_source timer;
  uint64_t timer_at;
  agent_gather gather;
  agent_source deadline;
  uint64_t deadline_unix;
  bool shutting_down;
  uint64_t shutdown_at;
  uint32_t stop_grace_ms;
  int exit_status;

  agent_stacks stacks;
  bool have_close_range;
  agent_source notes; /* from the keepers */
  int note_writer;
  agent_process *processes[AGENT_PROCESS_BUCKETS];
  uint64_t next_process;
  unsigned running;
  unsigned kept;
  uint64_t started_total;
  uint64_t reaped_total;
  uint64_t next_pass_at; /* when the trees being killed are looked at again; 0: none are */
  unsigned passes;
  size_t input_bytes;
  size_t retain_bytes;

  struct rlimit limits[AGENT_OWN_LIMITS]; /* as we were started with them */

  int memory_events; /* the cgroup's out-of-memory counter; -1 where there is none */
};

/* To be called first of all: PID 1 loses a signal that comes while it is not blocked, and a stop
 * that follows a start would wait for its whole grace. */
bool agent_server_block_signals(void);

/* Descriptors 0 to 3 become ours, the loop is open and hears signals. */
bool agent_server_open(agent_server *server, char **environment, const char *workspace);

/* Has somebody taken of our own limits since the start? */
bool agent_limits_lowered(const agent_server *server);

/* Wakes the server at that time (agent_now_ms) or earlier. */
void agent_server_wake_at(agent_server *server, uint64_t at_ms);

void agent_server_client_gone(agent_server *server, agent_peer *peer);

/* Ends everything: TERM now, KILL after the grace time, then the loop stops. */
void agent_server_shutdown(agent_server *server, uint32_t grace_ms, int exit_status);

#endif
