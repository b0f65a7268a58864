/* SPDX-License-Identifier: Apache-2.0 */
/* A connected client and its channels. A channel is one operation: it is opened by a request and
 * closed by Done. What an operation does is behind agent_channel_class. */
#ifndef COFFERDAM_AGENT_PEER_H
#define COFFERDAM_AGENT_PEER_H

#include "frame.h"
#include "loop.h"
#include "pipe.h"

typedef struct agent_server agent_server;
typedef struct agent_peer agent_peer;
typedef struct agent_channel agent_channel;

typedef struct agent_channel_class {
  void (*data)(agent_channel *channel, const MSG(Data) * data);    /* NULL: not expected */
  void (*entry)(agent_channel *channel, const MSG(Entry) * entry); /* NULL: not expected */
  /* There is credit and room: produce a piece. Called once for each agent_channel_wake. */
  void (*run)(agent_channel *channel);
  /* The client's Cancel. NULL: Done with CANCELLED. */
  void (*cancel)(agent_channel *channel);
  /* The channel is going, its client perhaps gone: let go of everything but the memory. */
  void (*release)(agent_channel *channel);
} agent_channel_class;

/* First member of every operation's own structure, which is from malloc. */
struct agent_channel {
  const agent_channel_class *class;
  agent_peer *peer;
  agent_channel *next;
  agent_task task;
  int64_t credit;  /* what we may still send */
  int64_t granted; /* what the client may still send */
  uint32_t number;
  uint32_t returned; /* consumed, not yet told to the client */
  bool blocked;      /* wants to run, but has no credit or room */
  bool done;
};

enum { AGENT_PEER_BUCKETS = 64 };

struct agent_peer {
  agent_server *server;
  agent_peer *next;
  agent_source input;
  agent_source output;
  agent_pipe input_pipe; /* what these two are, as a rule */
  agent_pipe output_pipe;
  agent_source link; /* the relay's socket; its end is the relay's end. fd -1 for stdio */
  agent_queue queue; /* to the client */
  agent_task flush;
  agent_task parse;
  uint8_t *in;
  size_t in_begin;
  size_t in_end;
  size_t in_room;
  agent_channel *channels[AGENT_PEER_BUCKETS];
  unsigned channel_count;
  unsigned blocked_count;
  uint32_t initial_credit;
  uint64_t heard_at; /* agent_now_ms() of its last bytes */
  bool greeted;
  bool closing; /* an error was told: flush it and go */
  bool gone;
};

/* Takes over the descriptors, also when it fails. */
agent_peer *agent_peer_new(agent_server *server, int input, int output, int link);
void agent_peer_close(agent_peer *peer);

/* Gives back what bulk needed. `now` is agent_now_ms(). */
void agent_peers_tick(agent_server *server, uint64_t now);

/* An error that ends the connection. */
void agent_peer_fail(agent_peer *peer, int code, const char *message);

/* Queues a message. Out of memory closes the connection: nothing is left out silently. */
size_t agent_peer_send(agent_peer *peer, MSG(FromAgent) * message);

/* Puts the channel into its peer; `size` bytes, zeroed, beginning with agent_channel. NULL: the
 * client has been told that there is no memory. */
void *agent_channel_open(agent_peer *peer, uint32_t number, size_t size,
                         const agent_channel_class *class);
/* May it send flow-controlled messages now? If not it will be run again when it may. */
bool agent_channel_ready(agent_channel *channel);
/* Sends a message and charges its length when `charged`. */
void agent_channel_send(agent_channel *channel, MSG(FromAgent) * message, bool charged);
/* Runs it in the next turn. */
void agent_channel_wake(agent_channel *channel);
/* The client's bytes were consumed: it may send that many more. */
void agent_channel_consumed(agent_channel *channel, size_t bytes, bool now);
/* Ends the channel without a word: its client is gone. */
void agent_channel_drop(agent_channel *channel);
/* Done, and the channel is gone. */
void agent_channel_done(agent_channel *channel, const MSG(Error) * error);
void agent_channel_done_skipped(agent_channel *channel, uint64_t skipped);
void agent_channel_fail(agent_channel *channel, int code, const char *message);
void agent_channel_fail_system(agent_channel *channel, int step, int system_errno);

/* Fills an error for a failed system call; EXDEV and ELOOP of a confined path become OUTSIDE. */
void agent_error_system(MSG(Error) * error, int step, int system_errno);

/* Answers for requests that never became a channel. */
void agent_reply_done(agent_peer *peer, uint32_t number, const MSG(Error) * error);
void agent_reply_fail(agent_peer *peer, uint32_t number, int code, const char *message);
void agent_reply_system(agent_peer *peer, uint32_t number, int step, int system_errno);

#endif
