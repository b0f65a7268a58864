/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that clients started: their records, how they end, and who looks on. */
#ifndef COFFERDAM_AGENT_PROCESS_H
#define COFFERDAM_AGENT_PROCESS_H

#include "input.h"
#include "output.h"
#include "server.h"
#include "spawn.h"

typedef struct agent_viewer agent_viewer;
typedef struct agent_killer agent_killer;

typedef enum {
  AGENT_STARTING,
  AGENT_RUNNING,
  AGENT_FAILED, /* never ran */
  AGENT_ENDED
} agent_process_state;

typedef enum {
  AGENT_KILL_NONE,
  AGENT_KILL_TERM, /* TERM is to be sent */
  AGENT_KILL_WAIT, /* TERM was sent */
  AGENT_KILL_KILL  /* KILL is sent until nothing is left */
} agent_kill_state;

struct agent_process {
  agent_server *server;
  agent_process *next;
  uint64_t id;
  agent_process_state state;
  pid_t keeper; /* 0: gone, and the tree with it */
  pid_t pid;    /* 0: not known, or adopted and gone */
  bool adopted; /* its keeper was killed; what it left is ours to reap */
  bool outlive;
  bool terminal;
  bool kill_rest;
  bool keep;       /* the record stays until it is forgotten or too old */
  bool forgotten;  /* nobody finds it any more, though its keeper has not ended yet */
  size_t retained; /* of the server's retain_bytes */
  agent_peer *owner;
  agent_output streams[2];
  agent_input input;
  int master; /* of the terminal, for its size; -1 */
  agent_viewer *viewers;
  agent_killer *killers;
  agent_kill_state kill;
  uint64_t kill_at; /* KILL follows TERM then; 0: no */
  uint64_t timeout_at;
  uint32_t grace_ms;
  int ended_by;
  agent_note exit;
  uint64_t started_us;
  uint64_t started_unix_ms;
  uint64_t elapsed_us;
  uint64_t memory_events; /* the counter at the start */
  bool out_of_memory;
  bool status_unknown;
  void *plan;    /* the keeper's until its first note; one block */
  void *stack;   /* the keeper's */
  uint8_t *argv; /* of each argument its length (2 bytes) and bytes */
  size_t argv_length;
};

/* The notes pipe and the record numbers. */
bool agent_processes_open(agent_server *server);

agent_process *agent_process_find(agent_server *server, uint64_t id);
void agent_process_add(agent_server *server, agent_process *process);
/* Frees the record when nothing needs it any more. Call after anything changed. */
void agent_process_settle(agent_process *process);

/* Ends the tree: TERM, KILL after the grace time. The first reason stays. */
void agent_process_kill(agent_process *process, int ended_by, uint32_t grace_ms);

/* Its keeper took the command's end along. */
void agent_process_vanished(agent_process *process);

/* Nothing of its tree is left. */
void agent_process_over(agent_process *process);

/* A child of ours was reaped: a keeper, or what was left to us. */
void agent_process_reaped(agent_server *server, pid_t pid, int status);

/* Timeouts that are due, and trees that are being killed. */
void agent_processes_tick(agent_server *server, uint64_t now);

/* The client is gone, and with it what should not outlive it. */
void agent_processes_client_gone(agent_server *server, agent_peer *peer);

/* Looks after the watched ends: which are read depends on the viewers. */
void agent_process_pump(agent_process *process);

#endif
