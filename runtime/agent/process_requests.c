/* SPDX-License-Identifier: Apache-2.0 */
#include "process_requests.h"

#include "memory_events.h"
#include "pty.h"
#include "tree.h"
#include "viewer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { MAX_SHOWN_ARGV = 512 };

/* A Kill that waits for its tree's end. */
struct agent_killer {
  agent_channel channel;
  agent_process *process;
  agent_killer *next;
};

static agent_process *find_or_fail(agent_peer *peer, uint32_t number, uint64_t id) {
  agent_process *process = agent_process_find(peer->server, id);
  if (process && !process->forgotten) return process;
  agent_reply_fail(peer, number, ERR(NO_PROCESS), "no such process");
  return NULL;
}

static void killer_release(agent_channel *channel) {
  agent_killer *killer = (agent_killer *)channel;
  agent_killer **at = &killer->process->killers;
  while (*at && *at != killer)
    at = &(*at)->next;
  if (*at) *at = killer->next;
}

static const agent_channel_class killer_class = {.release = killer_release};

void agent_killers_done(agent_process *process) {
  while (process->killers)
    agent_channel_done(&process->killers->channel, NULL);
}

static void kill_process(agent_peer *peer, uint32_t number, const MSG(Kill) * request) {
  agent_process *process = find_or_fail(peer, number, request->process_id);
  if (!process) return;
  if (!process->keeper) {
    agent_reply_done(peer, number, NULL);
    return;
  }
  agent_killer *killer = agent_channel_open(peer, number, sizeof *killer, &killer_class);
  if (!killer) return;
  killer->process = process;
  killer->next = process->killers;
  process->killers = killer;
  agent_process_kill(process, COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_KILL, request->grace_ms);
}

static bool send_signal(agent_process *process, const MSG(Signal) * request) {
  int number = (int)request->signal;
  if (request->target == COFFERDAM__AGENT__V1__TARGET__TARGET_TREE)
    return agent_tree_signal(process, number);
  /* After the end its number may be another's. */
  errno = ESRCH;
  if (process->state != AGENT_RUNNING || process->pid <= 1) return false;
  bool group = request->target == COFFERDAM__AGENT__V1__TARGET__TARGET_GROUP;
  return kill(group ? -process->pid : process->pid, number) == 0;
}

static void signal_process(agent_peer *peer, uint32_t number, const MSG(Signal) * request) {
  agent_process *process = find_or_fail(peer, number, request->process_id);
  if (!process) return;
  if (request->signal == 0 || request->signal > 64 ||
      request->target < COFFERDAM__AGENT__V1__TARGET__TARGET_PROCESS ||
      request->target > COFFERDAM__AGENT__V1__TARGET__TARGET_TREE)
    agent_reply_fail(peer, number, ERR(INVALID), "bad signal or target");
  else if (send_signal(process, request))
    agent_reply_done(peer, number, NULL);
  else
    agent_reply_system(peer, number, STEP(UNSPECIFIED), errno);
}

static void resize(agent_peer *peer, uint32_t number, const MSG(Resize) * request) {
  agent_process *process = find_or_fail(peer, number, request->process_id);
  if (!process) return;
  if (process->master < 0 || !request->size)
    agent_reply_fail(peer, number, ERR(INVALID), "not a terminal, or no size");
  else if (agent_pty_resize(process->master, request->size->rows, request->size->columns))
    agent_reply_done(peer, number, NULL);
  else
    agent_reply_system(peer, number, STEP(TERMINAL), errno);
}

static void attach(agent_peer *peer, uint32_t number, const MSG(Attach) * request) {
  agent_process *process = find_or_fail(peer, number, request->process_id);
  if (!process) return;
  uint64_t offsets[2] = {request->output_offset, request->error_offset};
  for (int i = 0; i < 2; i++)
    if (!request->from_now && offsets[i] > process->streams[i].end) {
      agent_reply_fail(peer, number, ERR(INVALID), "an offset that is not written yet");
      return;
    }
  agent_viewer *viewer = agent_viewer_open(peer, number, process);
  if (!viewer) return;
  viewer->paced = request->paced;
  viewer->input = request->input;
  for (int i = 0; i < 2; i++) {
    agent_output *stream = &process->streams[i];
    viewer->streams[i] = request->output && (stream->open || stream->end > 0);
    viewer->position[i] = request->from_now ? stream->end : offsets[i];
  }
  agent_channel_wake(&viewer->channel);
  if (request->input && !process->input.open) agent_viewer_input_broken(process);
}

static size_t split_argv(const agent_process *process, ProtobufCBinaryData *out) {
  size_t count = 0;
  for (size_t at = 0; at + 2 <= process->argv_length && count < MAX_SHOWN_ARGV; count++) {
    size_t length = (size_t)process->argv[at] | (size_t)process->argv[at + 1] << 8;
    out[count] = (ProtobufCBinaryData){length, process->argv + at + 2};
    at += 2 + length;
  }
  return count;
}

static void send_info(agent_channel *channel, const agent_process *process) {
  ProtobufCBinaryData argv[MAX_SHOWN_ARGV];
  MSG(ProcessInfo) info = MSG_INIT(PROCESS_INFO);
  MSG(Exited) exited = MSG_INIT(EXITED);
  info.process_id = process->id;
  info.pid = (uint32_t)process->pid;
  info.n_argv = split_argv(process, argv);
  info.argv = argv;
  info.outlive = process->outlive;
  info.terminal = process->terminal;
  info.input_open = process->input.open;
  info.mine = process->owner == channel->peer;
  info.running = process->state <= AGENT_RUNNING;
  info.tree_alive = process->keeper != 0;
  info.started_unix_ms = process->started_unix_ms;
  info.output_begin = process->streams[0].begin;
  info.output_end = process->streams[0].end;
  info.error_begin = process->streams[1].begin;
  info.error_end = process->streams[1].end;
  if (!info.running) {
    agent_fill_exited(process, &exited);
    info.exited = &exited;
  }
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(PROCESS_INFO);
  message.process_info = &info;
  agent_channel_send(channel, &message, true);
}

/* A walk over the records by number: new ones may come and old ones go on the way. */
typedef struct listing {
  agent_channel channel;
  uint64_t last; /* the highest that was sent */
  uint64_t end;
} listing;

static agent_process *next_record(agent_server *server, uint64_t after, uint64_t end) {
  agent_process *best = NULL;
  for (unsigned i = 0; i < AGENT_PROCESS_BUCKETS; i++)
    for (agent_process *p = server->processes[i]; p; p = p->next)
      if (p->id > after && p->id <= end && p->state != AGENT_FAILED && !p->forgotten &&
          (!best || p->id < best->id))
        best = p;
  return best;
}

static void run_listing(agent_channel *channel) {
  listing *list = (listing *)channel;
  while (agent_channel_ready(channel)) {
    agent_process *process = next_record(channel->peer->server, list->last, list->end);
    if (!process) {
      agent_channel_done(channel, NULL);
      return;
    }
    list->last = process->id;
    send_info(channel, process);
  }
}

static void listing_release(agent_channel *channel) {
  (void)channel;
}

static const agent_channel_class listing_class = {.run = run_listing, .release = listing_release};

static void list_processes(agent_peer *peer, uint32_t number) {
  listing *list = agent_channel_open(peer, number, sizeof *list, &listing_class);
  if (!list) return;
  list->end = peer->server->next_process;
  agent_channel_wake(&list->channel);
}

static void forget(agent_peer *peer, uint32_t number, const MSG(Forget) * request) {
  agent_process *process = find_or_fail(peer, number, request->process_id);
  if (!process) return;
  if (process->state <= AGENT_RUNNING) {
    agent_reply_fail(peer, number, ERR(INVALID), "the process runs");
    return;
  }
  if (process->keep && process->keeper == 0) peer->server->kept--;
  process->keep = false;
  process->forgotten = true;
  agent_process_settle(process);
  agent_reply_done(peer, number, NULL);
}

static void get_status(agent_peer *peer, uint32_t number) {
  agent_server *server = peer->server;
  MSG(Status) status = MSG_INIT(STATUS);
  status.clients = server->client_count;
  status.channels = peer->channel_count;
  status.running = server->running;
  status.kept = server->kept;
  status.started_total = server->started_total;
  status.reaped_total = server->reaped_total;
  status.refused_peers = server->refused_peers;
  status.buffered = server->input_bytes + server->retain_bytes;
  status.deadline_unix = server->deadline_unix;
  status.out_of_memory_kills = agent_memory_events(server);
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.channel = number;
  message.body_case = FROM(STATUS);
  message.status = &status;
  agent_peer_send(peer, &message);
  agent_reply_done(peer, number, NULL);
}

bool agent_process_request(agent_peer *peer, const MSG(ToAgent) * message) {
  uint32_t number = message->channel;
  switch (message->body_case) {
  case TO(START):
    agent_start(peer, number, message->start);
    return true;
  case TO(ATTACH):
    attach(peer, number, message->attach);
    return true;
  case TO(SIGNAL):
    signal_process(peer, number, message->signal);
    return true;
  case TO(KILL):
    kill_process(peer, number, message->kill);
    return true;
  case TO(RESIZE):
    resize(peer, number, message->resize);
    return true;
  case TO(LIST_PROCESSES):
    list_processes(peer, number);
    return true;
  case TO(FORGET):
    forget(peer, number, message->forget);
    return true;
  case TO(GET_STATUS):
    get_status(peer, number);
    return true;
  case TO(SHUTDOWN):
    agent_reply_done(peer, number, NULL);
    agent_server_shutdown(peer->server, message->shutdown->grace_ms, 0);
    return true;
  default:
    return false;
  }
}
