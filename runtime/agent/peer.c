/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include "dispatch.h"
#include "hello.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* How much of a client's stream is dealt with before the others have their turn. */
enum { FRAMES_A_TURN = 256, READ_A_TURN = 256 * 1024 };

/* Who sends as much as this at once is likely to go on. */
enum { BULK_READ = 32 * 1024 };

static size_t queued(const agent_peer *peer) {
  return peer->queue.end - peer->queue.begin;
}

static void wake_blocked(agent_peer *peer) {
  if (!peer->blocked_count) return;
  for (unsigned i = 0; i < AGENT_PEER_BUCKETS; i++)
    for (agent_channel *c = peer->channels[i]; c; c = c->next)
      if (c->blocked && c->credit > 0) agent_channel_wake(c);
}

enum { SILENT_MS = 300000 };

static void want_input(agent_peer *peer) {
  bool wanted = !peer->closing && !peer->parse.queued && queued(peer) < AGENT_QUEUE_PAUSE;
  agent_loop_want(&peer->server->loop, &peer->input, wanted ? EPOLLIN : 0);
}

static void flush(agent_peer *peer) {
  while (queued(peer)) {
    ssize_t n = write(peer->output.fd, peer->queue.data + peer->queue.begin, queued(peer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && agent_pipe_enlarge(peer->server, &peer->output_pipe)) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      agent_peer_close(peer);
      return;
    }
    agent_queue_take(&peer->queue, (size_t)n);
  }
  if (peer->closing && !queued(peer)) {
    agent_peer_close(peer);
    return;
  }
  agent_loop_want(&peer->server->loop, &peer->output, queued(peer) ? EPOLLOUT : 0);
  if (queued(peer) < AGENT_QUEUE_HIGH) wake_blocked(peer);
  if (queued(peer) >= AGENT_QUEUE_PAUSE) return;
  /* Frames that were read before the pause wait in memory, where no event will tell of them. */
  if (peer->in_begin < peer->in_end) agent_loop_queue(&peer->server->loop, &peer->parse);
  want_input(peer);
}

static void flush_task(agent_task *task) {
  flush(AGENT_OWNER(task, agent_peer, flush));
}

static void output_ready(agent_source *source, uint32_t events) {
  agent_peer *peer = AGENT_OWNER(source, agent_peer, output);
  if (events & (EPOLLERR | EPOLLHUP))
    agent_peer_close(peer);
  else
    flush(peer);
}

static void link_ready(agent_source *source, uint32_t events) {
  (void)events;
  agent_peer_close(AGENT_OWNER(source, agent_peer, link));
}

static uint32_t read_length(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Takes one whole frame from the input. False: there is none, or no more are to be taken. */
static bool take_frame(agent_peer *peer) {
  size_t have = peer->in_end - peer->in_begin;
  if (peer->closing || peer->gone || have < 4) return false;
  uint32_t length = read_length(peer->in + peer->in_begin);
  if (length == 0 || length > AGENT_MAX_FRAME) {
    agent_peer_fail(peer, ERR(PROTOCOL), length ? "frame too long" : "empty frame");
    return false;
  }
  if (have - 4 < length) return false;
  const char *reason;
  MSG(ToAgent) *message =
      agent_frame_read(&peer->server->arena, peer->in + peer->in_begin + 4, length, &reason);
  peer->in_begin += 4 + (size_t)length;
  if (!message) {
    agent_peer_fail(peer, ERR(PROTOCOL), reason);
    return false;
  }
  if (peer->greeted)
    agent_dispatch(peer, message, length);
  else
    agent_hello(peer, message);
  return true;
}

static void parse(agent_peer *peer) {
  unsigned frames = 0;
  while (frames < FRAMES_A_TURN && queued(peer) < AGENT_QUEUE_PAUSE && take_frame(peer))
    frames++;
  if (peer->gone) return;
  if (peer->in_begin == peer->in_end) peer->in_begin = peer->in_end = 0;
  if (frames == FRAMES_A_TURN) agent_loop_queue(&peer->server->loop, &peer->parse);
  want_input(peer);
}

static void parse_task(agent_task *task) {
  parse(AGENT_OWNER(task, agent_peer, parse));
}

/* Room for a whole frame, at its size as soon as that is known. */
static bool make_room(agent_peer *peer) {
  size_t have = peer->in_end - peer->in_begin;
  size_t need = 16 * 1024;
  if (have >= 4) {
    size_t frame = 4 + (size_t)read_length(peer->in + peer->in_begin);
    if (frame > need && frame <= 4 + AGENT_MAX_FRAME) need = frame;
  }
  if (have >= need) need = have + 4096; /* whole frames that wait for their turn */
  if (peer->in_room - peer->in_end >= need - have && peer->in_room >= need) return true;
  if (peer->in_begin && peer->in_room >= need) {
    memmove(peer->in, peer->in + peer->in_begin, have);
  } else {
    uint8_t *in = malloc(need);
    if (!in) return false;
    if (have) memcpy(in, peer->in + peer->in_begin, have);
    free(peer->in);
    peer->in = in;
    peer->in_room = need;
  }
  peer->in_begin = 0;
  peer->in_end = have;
  return true;
}

static void input_ready(agent_source *source, uint32_t events) {
  agent_peer *peer = AGENT_OWNER(source, agent_peer, input);
  if (!(source->events & EPOLLIN) && (events & (EPOLLHUP | EPOLLERR))) {
    agent_peer_close(peer); /* it left while we were not reading */
    return;
  }
  for (size_t total = 0; total < READ_A_TURN;) {
    if (!make_room(peer)) {
      agent_peer_close(peer);
      return;
    }
    size_t room = peer->in_room - peer->in_end;
    ssize_t n = read(source->fd, peer->in + peer->in_end, room);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      agent_peer_close(peer);
      return;
    }
    peer->in_end += (size_t)n;
    total += (size_t)n;
    if (total >= BULK_READ) agent_pipe_enlarge(peer->server, &peer->input_pipe);
    peer->heard_at = agent_now_ms();
    parse(peer);
    if (peer->gone || peer->closing || !(source->events & EPOLLIN) || (size_t)n < room) return;
  }
}

/* An engine that was killed leaves relays whose client is gone, and nothing tells that. So the
 * longest idle one gives way: it has nothing open, and if it lives it can connect again; or one
 * that has, and should have pinged long ago. */
static bool let_one_go(agent_server *server) {
  if (server->client_count < AGENT_MAX_CLIENTS) return true;
  agent_peer *idle = NULL, *silent = NULL;
  for (agent_peer *p = server->clients; p; p = p->next) {
    if (!silent || p->heard_at < silent->heard_at) silent = p;
    if (p->channel_count == 0 && (!idle || p->heard_at < idle->heard_at)) idle = p;
  }
  if (!idle && agent_now_ms() - silent->heard_at < SILENT_MS) return false;
  agent_peer_close(idle ? idle : silent);
  return true;
}

agent_peer *agent_peer_new(agent_server *server, int input, int output, int link) {
  agent_peer *peer = calloc(1, sizeof *peer);
  bool ok = peer && let_one_go(server);
  if (ok) {
    peer->server = server;
    peer->heard_at = agent_now_ms();
    peer->input = (agent_source){.ready = input_ready, .fd = -1};
    peer->output = (agent_source){.ready = output_ready, .fd = -1};
    peer->link = (agent_source){.ready = link_ready, .fd = -1};
    peer->flush.run = flush_task;
    peer->parse.run = parse_task;
    peer->input_pipe.fd = input;
    peer->output_pipe.fd = output;
    ok = agent_loop_watch(&server->loop, &peer->input, input, EPOLLIN) &&
         agent_loop_watch(&server->loop, &peer->output, output, 0) &&
         (link < 0 || agent_loop_watch(&server->loop, &peer->link, link, EPOLLIN | EPOLLRDHUP));
  }
  if (!ok) {
    if (peer) {
      agent_loop_forget(&server->loop, &peer->input);
      agent_loop_forget(&server->loop, &peer->output);
    }
    free(peer);
    close(input);
    close(output);
    if (link >= 0) close(link);
    return NULL;
  }
  peer->next = server->clients;
  server->clients = peer;
  server->client_count++;
  return peer;
}

void agent_peer_close(agent_peer *peer) {
  if (peer->gone) return;
  peer->gone = true;
  agent_server *server = peer->server;
  for (unsigned i = 0; i < AGENT_PEER_BUCKETS; i++)
    while (peer->channels[i])
      agent_channel_drop(peer->channels[i]);
  agent_loop_close(&server->loop, &peer->input);
  agent_loop_close(&server->loop, &peer->output);
  agent_loop_close(&server->loop, &peer->link);
  agent_loop_unqueue(&server->loop, &peer->flush);
  agent_loop_unqueue(&server->loop, &peer->parse);
  agent_peer **at = &server->clients;
  while (*at != peer)
    at = &(*at)->next;
  *at = peer->next;
  server->client_count--;
  agent_server_client_gone(server, peer);
  agent_queue_clear(&peer->queue);
  free(peer->in);
  peer->in = NULL;
  agent_loop_free(&server->loop, peer);
}

void agent_peers_tick(agent_server *server, uint64_t now) {
  for (agent_peer *peer = server->clients; peer; peer = peer->next) {
    agent_pipe_tick(server, &peer->input_pipe, now);
    agent_pipe_tick(server, &peer->output_pipe, now);
  }
}

void agent_peer_fail(agent_peer *peer, int code, const char *message) {
  if (peer->closing || peer->gone) return;
  agent_reply_fail(peer, 0, code, message);
  if (peer->gone) return;
  peer->closing = true;
  agent_loop_want(&peer->server->loop, &peer->input, 0);
}

size_t agent_peer_send(agent_peer *peer, MSG(FromAgent) * message) {
  if (peer->gone || peer->closing) return 0;
  size_t length = agent_frame_write(&peer->queue, message);
  if (length == 0) peer->closing = true; /* out of memory: what was queued before still goes out */
  agent_loop_queue(&peer->server->loop, &peer->flush);
  return length;
}
