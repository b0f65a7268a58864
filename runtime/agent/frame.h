/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: a little-endian length and one protobuf message. Reading is strict before it unpacks,
 * and unpacks into a fixed arena, so that no message can make the agent allocate. */
#ifndef COFFERDAM_AGENT_FRAME_H
#define COFFERDAM_AGENT_FRAME_H

#include "message.h"

#include <stdbool.h>

/* Bytes waiting to be written. */
typedef struct agent_queue {
  uint8_t *data;
  size_t begin;
  size_t end;
  size_t room;
} agent_queue;

void agent_queue_take(agent_queue *queue, size_t length);
void agent_queue_clear(agent_queue *queue);

/* Where messages are unpacked to. Data are not copied: they stay in the frame. */
typedef struct agent_arena {
  uint8_t *bytes;
  size_t used;
  MSG(ToAgent) message;
  MSG(Data) data;
} agent_arena;

bool agent_arena_open(agent_arena *arena);

/* The message in these bytes, or NULL with a reason. Valid until the next call, as long as the
 * bytes are. */
MSG(ToAgent) *
    agent_frame_read(agent_arena *arena, const uint8_t *bytes, size_t length, const char **reason);

/* Appends a frame; its length without the prefix, or 0 when out of memory. */
size_t agent_frame_write(agent_queue *queue, const MSG(FromAgent) * message);

#endif
