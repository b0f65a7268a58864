/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Enough for the largest frame of ordinary shape: a frame of 256 KiB that is nothing but tiny
 * fields is refused. Pages that were never needed cost nothing. */
enum { ARENA_BYTES = 2 * 1024 * 1024, ARENA_KEEP = 64 * 1024 };

bool agent_arena_open(agent_arena *arena) {
  void *bytes = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *arena = (agent_arena){.bytes = bytes == MAP_FAILED ? NULL : bytes};
  return arena->bytes;
}

static void *arena_alloc(void *data, size_t size) {
  agent_arena *a = data;
  if (size > ARENA_BYTES - 16 || a->used > ARENA_BYTES - 16 - size) return NULL;
  void *memory = a->bytes + a->used;
  a->used += (size + 15) & ~(size_t)15;
  return memory;
}

static void arena_free(void *data, void *memory) {
  (void)data;
  (void)memory;
}

static void arena_reset(agent_arena *a) {
  if (a->used > ARENA_KEEP) madvise(a->bytes + ARENA_KEEP, ARENA_BYTES - ARENA_KEEP, MADV_DONTNEED);
  a->used = 0;
}

/* Room for `length` more bytes at data + end; false when out of memory. */
static bool reserve(agent_queue *queue, size_t length) {
  if (queue->begin == queue->end) queue->begin = queue->end = 0;
  if (length <= queue->room - queue->end) return true;
  size_t waiting = queue->end - queue->begin;
  if (length <= queue->room - waiting) {
    memmove(queue->data, queue->data + queue->begin, waiting);
  } else {
    size_t room = queue->room ? queue->room : 4096;
    while (room < waiting + length)
      room *= 2;
    uint8_t *data = malloc(room);
    if (!data) return false;
    if (waiting) memcpy(data, queue->data + queue->begin, waiting);
    free(queue->data);
    queue->data = data;
    queue->room = room;
  }
  queue->begin = 0;
  queue->end = waiting;
  return true;
}

void agent_queue_take(agent_queue *queue, size_t length) {
  queue->begin += length;
  if (queue->begin != queue->end) return;
  queue->begin = queue->end = 0;
  if (queue->room > 2 * AGENT_MAX_FRAME) agent_queue_clear(queue);
}

void agent_queue_clear(agent_queue *queue) {
  free(queue->data);
  *queue = (agent_queue){0};
}

/* A varint of at most ten bytes that fits 64 bits, or false. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    if (shift == 63 && byte > 1) return false;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

typedef struct envelope {
  uint32_t channel;
  uint32_t kind; /* the body's field number */
  const uint8_t *body;
  size_t length;
} envelope;

/* protobuf-c takes cut messages, and of duplicate fields the last: an envelope here has one body,
 * at most one channel, and ends where it says. */
static const char *read_envelope(const uint8_t *at, size_t length, envelope *out) {
  const uint8_t *end = at + length;
  bool channel = false;
  *out = (envelope){0};
  while (at < end) {
    uint64_t tag;
    uint64_t value;
    if (!read_varint(&at, end, &tag)) return "a cut field tag";
    if (tag == 8) {
      if (channel) return "two channel numbers";
      channel = true;
      if (!read_varint(&at, end, &value) || value > UINT32_MAX) return "a bad channel number";
      out->channel = (uint32_t)value;
    } else if ((tag & 7) == 2 && tag >> 3 != 0 && tag >> 3 < 1u << 29) {
      if (out->body) return "more than one body";
      if (!read_varint(&at, end, &value) || value > (uint64_t)(end - at)) return "a cut body";
      *out = (envelope){out->channel, (uint32_t)(tag >> 3), at, (size_t)value};
      at += value;
    } else {
      return "a field of an unexpected kind";
    }
  }
  return out->body ? NULL : "no body";
}

/* Data as every client writes them; of a field that comes twice the last counts, as everywhere.
 * False for anything else, which is protobuf-c's to judge. */
static bool read_data(const envelope *from, MSG(Data) * data) {
  const uint8_t *at = from->body;
  const uint8_t *end = at + from->length;
  *data = (MSG(Data))MSG_INIT(DATA);
  while (at < end) {
    uint8_t tag = *at++;
    uint64_t value;
    bool is_end = tag == (2 << 3 | 0);
    if (!is_end && tag != (1 << 3 | 2)) return false;
    if (!read_varint(&at, end, &value)) return false;
    if (is_end) {
      data->end = value != 0;
    } else {
      if (value > (uint64_t)(end - at)) return false;
      data->data = (ProtobufCBinaryData){(size_t)value, (uint8_t *)at};
      at += value;
    }
  }
  return true;
}

MSG(ToAgent) *
    agent_frame_read(agent_arena *arena, const uint8_t *bytes, size_t length, const char **reason) {
  envelope outer;
  *reason = read_envelope(bytes, length, &outer);
  if (*reason) return NULL;
  if (outer.kind == TO(DATA) && read_data(&outer, &arena->data)) {
    arena->message = (MSG(ToAgent))MSG_INIT(TO_AGENT);
    arena->message.channel = outer.channel;
    arena->message.body_case = TO(DATA);
    arena->message.data = &arena->data;
    return &arena->message;
  }
  arena_reset(arena);
  ProtobufCAllocator allocator = {arena_alloc, arena_free, arena};
  MSG(ToAgent) *message = cofferdam__agent__v1__to_agent__unpack(&allocator, length, bytes);
  if (!message) *reason = "a malformed or too intricate message";
  return message;
}

size_t agent_frame_write(agent_queue *queue, const MSG(FromAgent) * message) {
  size_t length = cofferdam__agent__v1__from_agent__get_packed_size(message);
  if (!reserve(queue, length + 4)) return 0;
  uint8_t *at = queue->data + queue->end;
  for (unsigned i = 0; i < 4; i++)
    at[i] = (uint8_t)(length >> (8 * i));
  cofferdam__agent__v1__from_agent__pack(message, at + 4);
  queue->end += length + 4;
  return length;
}
