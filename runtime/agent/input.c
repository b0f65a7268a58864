/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include "pipe.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { FRAME_OVERHEAD = 64 }; /* a channel is charged for frames, so it gets them back */

struct agent_input_piece {
  agent_input_piece *next;
  agent_channel *channel;
  size_t charged;
  size_t length;
  size_t written;
  uint8_t data[];
};

static void drop_pieces(agent_server *server, agent_input *input) {
  while (input->first) {
    agent_input_piece *piece = input->first;
    input->first = piece->next;
    server->input_bytes -= piece->length;
    free(piece);
  }
  input->last = NULL;
}

void agent_input_close(agent_server *server, agent_input *input) {
  drop_pieces(server, input);
  agent_loop_close(&server->loop, &input->source);
  input->open = false;
}

void agent_input_forget(agent_input *input, const agent_channel *channel) {
  for (agent_input_piece *piece = input->first; piece; piece = piece->next)
    if (piece->channel == channel) piece->channel = NULL;
}

/* Bytes written, or -1 when nobody reads any more. */
static ssize_t write_some(agent_input *input, const uint8_t *data, size_t length) {
  size_t total = 0;
  while (total < length) {
    ssize_t n = write(input->source.fd, data + total, length - total);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      bool again = !input->filled && agent_pipe_make_large(input->source.fd);
      input->filled = true;
      if (again) continue;
      break;
    }
    if (n <= 0) return -1;
    total += (size_t)n;
  }
  return (ssize_t)total;
}

/* On a terminal the end is a character. */
static agent_input_result finish(agent_server *server, agent_input *input) {
  if (input->terminal) {
    write_some(input, (const uint8_t *)"\x04", 1);
    input->ending = false;
    return AGENT_INPUT_OK;
  }
  agent_input_close(server, input);
  return AGENT_INPUT_OK;
}

agent_input_result agent_input_flush(agent_server *server, agent_input *input) {
  while (input->first) {
    agent_input_piece *piece = input->first;
    ssize_t n = write_some(input, piece->data + piece->written, piece->length - piece->written);
    if (n < 0) {
      agent_input_close(server, input);
      return AGENT_INPUT_BROKEN;
    }
    piece->written += (size_t)n;
    if (piece->written < piece->length) return AGENT_INPUT_OK;
    input->first = piece->next;
    if (!input->first) input->last = NULL;
    server->input_bytes -= piece->length;
    if (piece->channel) agent_channel_consumed(piece->channel, piece->charged, !input->first);
    free(piece);
  }
  agent_loop_want(&server->loop, &input->source, 0);
  return input->ending ? finish(server, input) : AGENT_INPUT_OK;
}

static bool keep(agent_server *server, agent_input *input, agent_channel *channel,
                 const uint8_t *data, size_t length, size_t charged) {
  if (server->input_bytes + length > AGENT_MAX_INPUT_ALL) return false;
  agent_input_piece *piece = malloc(sizeof *piece + length);
  if (!piece) return false;
  *piece = (agent_input_piece){.channel = channel, .length = length, .charged = charged};
  memcpy(piece->data, data, length);
  if (input->last)
    input->last->next = piece;
  else
    input->first = piece;
  input->last = piece;
  server->input_bytes += length;
  agent_loop_want(&server->loop, &input->source, EPOLLOUT);
  return true;
}

agent_input_result agent_input_put(agent_server *server, agent_input *input, agent_channel *channel,
                                   const uint8_t *data, size_t length, bool end) {
  if (!input->open || input->ending) return AGENT_INPUT_BROKEN;
  size_t done = 0;
  if (length && !input->first) {
    ssize_t n = write_some(input, data, length);
    if (n < 0) {
      agent_input_close(server, input);
      return AGENT_INPUT_BROKEN;
    }
    done = (size_t)n;
  }
  if (done == length)
    agent_channel_consumed(channel, length + FRAME_OVERHEAD, false);
  else if (!keep(server, input, channel, data + done, length - done, length + FRAME_OVERHEAD))
    return AGENT_INPUT_FULL;
  if (!end) return AGENT_INPUT_OK;
  input->ending = true;
  return input->first ? AGENT_INPUT_OK : finish(server, input);
}
