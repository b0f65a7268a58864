/* SPDX-License-Identifier: Apache-2.0 */
/* The standard input of a process: written at once where possible, else kept in order. */
#ifndef COFFERDAM_AGENT_INPUT_H
#define COFFERDAM_AGENT_INPUT_H

#include "peer.h"

typedef struct agent_input_piece agent_input_piece;

typedef struct agent_input {
  agent_source source; /* fd -1: closed */
  agent_input_piece *first;
  agent_input_piece *last;
  bool open;
  bool ending; /* to be closed when all is written */
  bool terminal;
  bool filled; /* once; its pipe is large since then */
} agent_input;

typedef enum { AGENT_INPUT_OK, AGENT_INPUT_BROKEN, AGENT_INPUT_FULL } agent_input_result;

/* The channel gets its credit back as its bytes are written. */
agent_input_result agent_input_put(agent_server *server, agent_input *input, agent_channel *channel,
                                   const uint8_t *data, size_t length, bool end);
/* The descriptor is writable. */
agent_input_result agent_input_flush(agent_server *server, agent_input *input);
/* No credit for this channel any more: it is going. */
void agent_input_forget(agent_input *input, const agent_channel *channel);
void agent_input_close(agent_server *server, agent_input *input);

#endif
