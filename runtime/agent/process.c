/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include "memory_events.h"
#include "tree.h"
#include "viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define BY(NAME) COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_##NAME

agent_process *agent_process_find(agent_server *server, uint64_t id) {
  agent_process *process = server->processes[id % AGENT_PROCESS_BUCKETS];
  while (process && process->id != id)
    process = process->next;
  return process;
}

void agent_process_add(agent_server *server, agent_process *process) {
  agent_process **bucket = &server->processes[process->id % AGENT_PROCESS_BUCKETS];
  process->next = *bucket;
  *bucket = process;
  server->running++;
}

void agent_process_pump(agent_process *process) {
  for (int i = 0; i < 2; i++) {
    agent_output *output = &process->streams[i];
    if (!output->open) continue;
    bool wanted = !output->rest.place && agent_viewer_room(process, i) > 0;
    /* Edge-triggered while paused: the writer's end is then told once, not for ever. */
    agent_loop_want(&process->server->loop, &output->source, wanted ? EPOLLIN : EPOLLET);
  }
}

static void free_process(agent_process *process) {
  agent_server *server = process->server;
  agent_loop *loop = &server->loop;
  for (int i = 0; i < 2; i++)
    agent_output_close(loop, &process->streams[i]);
  server->retain_bytes -= process->retained;
  agent_input_close(server, &process->input);
  if (process->master >= 0) close(process->master);
  free(process->argv);
  agent_loop_free(loop, process);
}

static void release(agent_process *process) {
  agent_server *server = process->server;
  agent_process **at = &server->processes[process->id % AGENT_PROCESS_BUCKETS];
  while (*at != process)
    at = &(*at)->next;
  *at = process->next;
  free_process(process);
}

/* Nothing of it runs: what is still open was held by nobody that we know. */
static bool is_over(const agent_process *process) {
  return process->state >= AGENT_FAILED && process->keeper == 0;
}

static void drop_oldest_kept(agent_server *server) {
  agent_process *oldest = NULL;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next)
      if (p->keep && is_over(p) && !p->viewers && (!oldest || p->id < oldest->id)) oldest = p;
  if (!oldest) return;
  server->kept--;
  release(oldest);
}

void agent_process_settle(agent_process *process) {
  if (!is_over(process) || process->viewers || process->killers) return;
  if (process->keep) return;
  release(process);
}

void agent_process_over(agent_process *process) {
  agent_server *server = process->server;
  agent_stack_give(&server->stacks, process->stack);
  process->stack = NULL;
  free(process->plan); /* it was killed before it could say anything */
  process->plan = NULL;
  process->keeper = 0;
  process->kill = AGENT_KILL_NONE;
  server->running--;
  agent_killers_done(process);
  agent_viewer_wake_all(process);
  agent_process_settle(process);
  if (process->keep && ++server->kept > AGENT_MAX_KEPT) drop_oldest_kept(server);
}

static void ended(agent_process *process, const agent_note *note) {
  if (process->state > AGENT_RUNNING) return;
  process->exit = *note;
  process->state = AGENT_ENDED;
  process->elapsed_us = agent_now_us() - process->started_us;
  process->timeout_at = 0;
  bool by_kill = WIFSIGNALED(note->status) && WTERMSIG(note->status) == SIGKILL;
  bool suspicious = by_kill || (WIFEXITED(note->status) && WEXITSTATUS(note->status) != 0);
  if (suspicious && (!process->ended_by || !by_kill))
    process->out_of_memory = agent_memory_events(process->server) > process->memory_events;
  if (process->kill_rest && !process->ended_by)
    agent_process_kill(process, BY(ITSELF), process->grace_ms);
  agent_viewer_wake_all(process);
}

static void drop_plan(agent_process *process) {
  free(process->plan);
  process->plan = NULL;
}

static void take_note(agent_server *server, const agent_note *note) {
  agent_process *process = agent_process_find(server, note->id);
  if (process) drop_plan(process);
  if (!process || process->state >= AGENT_FAILED) return;
  if (note->kind == AGENT_NOTE_STARTED) {
    process->pid = note->pid;
    if (process->state == AGENT_STARTING) process->state = AGENT_RUNNING;
    agent_viewer_wake_all(process);
  } else if (note->kind == AGENT_NOTE_FAILED) {
    process->exit = *note;
    process->state = AGENT_FAILED;
    process->keep = false;
    agent_viewer_wake_all(process);
  } else {
    ended(process, note);
  }
}

static void take_notes(agent_server *server) {
  agent_note notes[32];
  for (;;) {
    ssize_t n = read(server->notes.fd, notes, sizeof notes);
    if (n <= 0) return;
    for (size_t i = 0; i < (size_t)n / sizeof *notes; i++)
      take_note(server, &notes[i]);
  }
}

static void notes_ready(agent_source *source, uint32_t events) {
  (void)events;
  take_notes(AGENT_OWNER(source, agent_server, notes));
}

bool agent_processes_open(agent_server *server) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  server->note_writer = ends[1];
  server->notes.ready = notes_ready;
  return agent_loop_watch(&server->loop, &server->notes, ends[0], EPOLLIN);
}

void agent_process_vanished(agent_process *process) {
  agent_note note = {.status = SIGKILL};
  process->pid = 0;
  if (process->state > AGENT_RUNNING) return;
  process->status_unknown = true;
  ended(process, &note);
}

/* Something inside killed the keeper: the command is not to be trusted any more, and everything
 * of it that we can still find goes. What it forked may be no command yet, and still use the plan
 * and the stack: they are kept until it is over. */
static void keeper_lost(agent_process *process) {
  process->adopted = true;
  if (process->state != AGENT_RUNNING) agent_process_vanished(process);
  agent_process_kill(process, BY(ITSELF), 0);
}

static agent_process *find_keeper(agent_server *server, pid_t pid, bool *adopted) {
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next) {
      *adopted = p->adopted && p->pid == pid;
      if (p->keeper && (*adopted || (!p->adopted && p->keeper == pid))) return p;
    }
  return NULL;
}

void agent_process_reaped(agent_server *server, pid_t pid, int status) {
  take_notes(server); /* its last words come before its end */
  bool adopted;
  agent_process *process = find_keeper(server, pid, &adopted);
  if (!process) {
    server->reaped_total++;
    return;
  }
  if (adopted) { /* over when nothing is left of its tree, see agent_tree_pass */
    agent_note note = {.status = status};
    process->pid = 0;
    ended(process, &note);
  } else if (WIFSIGNALED(status)) {
    keeper_lost(process);
  } else {
    if (process->state <= AGENT_RUNNING) { /* killed before it could say anything */
      process->status_unknown = true;
      agent_note note = {.status = status};
      ended(process, &note);
    }
    agent_process_over(process);
  }
}

void agent_process_kill(agent_process *process, int ended_by, uint32_t grace_ms) {
  if (!process->keeper) return;
  agent_server *server = process->server;
  uint64_t now = agent_now_ms();
  if (!process->ended_by && process->state <= AGENT_RUNNING) process->ended_by = ended_by;
  if (grace_ms == 0) {
    process->kill = AGENT_KILL_KILL;
    process->kill_at = 0;
  } else if (process->kill == AGENT_KILL_NONE) {
    process->kill = AGENT_KILL_TERM;
    process->kill_at = now + grace_ms;
  } else if (process->kill != AGENT_KILL_KILL && process->kill_at > now + grace_ms) {
    process->kill_at = now + grace_ms; /* the sooner of two */
  }
  server->passes = 0;
  server->next_pass_at = now;
  agent_server_wake_at(server, now);
  if (process->kill_at) agent_server_wake_at(server, process->kill_at);
}

void agent_processes_client_gone(agent_server *server, agent_peer *peer) {
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next) {
      if (p->owner != peer) continue;
      p->owner = NULL;
      if (!p->outlive && p->state <= AGENT_RUNNING)
        agent_process_kill(p, BY(CLIENT_GONE), p->grace_ms);
    }
}

static void due(agent_process *process, uint64_t now) {
  agent_server *server = process->server;
  if (process->timeout_at && process->timeout_at <= now) {
    process->timeout_at = 0;
    agent_process_kill(process, BY(TIMEOUT), process->grace_ms);
  }
  if (process->kill_at && process->kill_at <= now) {
    process->kill_at = 0;
    process->kill = AGENT_KILL_KILL;
    server->passes = 0;
    server->next_pass_at = now;
  }
  if (process->timeout_at) agent_server_wake_at(server, process->timeout_at);
  if (process->kill_at) agent_server_wake_at(server, process->kill_at);
}

/* Again at once while there was something to kill, for what forks meanwhile must not get ahead;
 * but no busy loop over what cannot die. */
static void pass(agent_server *server, uint64_t now) {
  size_t killed;
  server->next_pass_at = 0;
  if (!agent_tree_pass(server, &killed)) return;
  server->passes++;
  uint64_t wait = killed && server->passes < 1000 ? 1 : server->passes < 7 ? 2 : 64;
  server->next_pass_at = now + wait;
  agent_server_wake_at(server, server->next_pass_at);
}

void agent_processes_tick(agent_server *server, uint64_t now) {
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next)
      due(p, now);
  if (!server->next_pass_at) return;
  if (server->next_pass_at <= now)
    pass(server, now);
  else
    agent_server_wake_at(server, server->next_pass_at);
}
