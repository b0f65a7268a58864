/* SPDX-License-Identifier: Apache-2.0 */
#include "link/link_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { PREFIX = 4, LEAST_ROOM = 4096, BLOCK = 16 * 1024, WIRE_VARINT = 0, WIRE_LENGTH = 2 };

/* ---- from bytes to frames ---- */

static size_t read_prefix(const uint8_t *at) {
  return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

static bool check_length(size_t length, cdam_error *failure) {
  if (length > 0 && length <= CDAM_FRAME_MAX) return true;
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent broke the protocol: a frame of %zu bytes", length);
  return false;
}

static bool make_room(cdam_frame_reader *reader, size_t needed) {
  if (needed <= reader->room) return true;
  size_t room = LEAST_ROOM;
  while (room < needed)
    room *= 2;
  if (room > PREFIX + CDAM_FRAME_MAX) room = PREFIX + CDAM_FRAME_MAX;
  uint8_t *data = realloc(reader->data, room);
  if (!data) return false;
  reader->data = data;
  reader->room = room;
  return true;
}

/* Moves bytes from the input until so many are kept. */
static bool fill(cdam_frame_reader *reader, size_t wanted, const uint8_t **bytes, size_t *length) {
  size_t piece = wanted - reader->length;
  if (piece > *length) piece = *length;
  if (piece) memcpy(reader->data + reader->length, *bytes, piece);
  reader->length += piece;
  *bytes += piece;
  *length -= piece;
  return reader->length == wanted;
}

static cdam_frame_result next_kept(cdam_frame_reader *reader, const uint8_t **bytes, size_t *length,
                                   cdam_frame *frame, cdam_error *failure) {
  if (!make_room(reader, LEAST_ROOM)) goto no_memory;
  if (reader->length < PREFIX && !fill(reader, PREFIX, bytes, length)) return CDAM_FRAME_MORE;
  size_t size = read_prefix(reader->data);
  if (!check_length(size, failure)) return CDAM_FRAME_BAD;
  if (!make_room(reader, PREFIX + size)) goto no_memory;
  if (!fill(reader, PREFIX + size, bytes, length)) return CDAM_FRAME_MORE;
  *frame = (cdam_frame){reader->data + PREFIX, size};
  reader->taken = true;
  return CDAM_FRAME_WHOLE;

no_memory:
  cdam_fail_memory(failure);
  return CDAM_FRAME_BAD;
}

cdam_frame_result cdam_frame_next(cdam_frame_reader *reader, const uint8_t **bytes, size_t *length,
                                  cdam_frame *frame, cdam_error *failure) {
  if (reader->taken) {
    reader->taken = false;
    reader->length = 0;
  }
  if (*length == 0) return CDAM_FRAME_MORE;
  if (reader->length == 0 && *length >= PREFIX) {
    size_t size = read_prefix(*bytes);
    if (!check_length(size, failure)) return CDAM_FRAME_BAD;
    if (size <= *length - PREFIX) {
      *frame = (cdam_frame){*bytes + PREFIX, size};
      *bytes += PREFIX + size;
      *length -= PREFIX + size;
      return CDAM_FRAME_WHOLE;
    }
  }
  return next_kept(reader, bytes, length, frame, failure);
}

void cdam_frame_reader_trim(cdam_frame_reader *reader) {
  if (reader->length == 0 || reader->taken) cdam_frame_reader_clear(reader);
}

void cdam_frame_reader_clear(cdam_frame_reader *reader) {
  free(reader->data);
  *reader = (cdam_frame_reader){0};
}

/* ---- the arena ---- */

typedef struct cdam_arena_block {
  struct cdam_arena_block *next;
  alignas(16) uint8_t bytes[];
} cdam_arena_block;

static void arena_clear(cdam_arena *arena) {
  while (arena->blocks) {
    cdam_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
  arena->at = arena->first;
  arena->room = sizeof arena->first;
  arena->total = 0;
  arena->exhausted = false;
}

static bool arena_grow(cdam_arena *arena, size_t size) {
  size_t room = size > BLOCK ? size : BLOCK;
  cdam_arena_block *block = malloc(sizeof *block + room);
  if (!block) return false;
  block->next = arena->blocks;
  arena->blocks = block;
  arena->at = block->bytes;
  arena->room = room;
  return true;
}

static void *arena_alloc(void *user, size_t size) {
  cdam_arena *arena = user;
  if (size > CDAM_FRAME_ARENA) return NULL;
  size = (size + 15) & ~(size_t)15;
  if (size > CDAM_FRAME_ARENA - arena->total) return NULL;
  if (size > arena->room && !arena_grow(arena, size)) {
    arena->exhausted = true;
    return NULL;
  }
  void *memory = arena->at;
  arena->at += size;
  arena->room -= size;
  arena->total += size;
  return memory;
}

static void arena_free(void *user, void *memory) {
  (void)user;
  (void)memory;
}

/* ---- from frames to messages ---- */

/* A varint of at most ten bytes that fits 64 bits, or false. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    if (shift == 63 && byte > 1) return false;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

typedef struct envelope {
  uint32_t channel;
  uint32_t kind; /* the body's field number */
  const uint8_t *body;
  size_t length;
} envelope;

static const char *read_channel(const uint8_t **at, const uint8_t *end, bool *seen, envelope *out) {
  uint64_t value;
  if (*seen) return "two channel numbers";
  *seen = true;
  if (!read_varint(at, end, &value) || value > UINT32_MAX) return "a bad channel number";
  out->channel = (uint32_t)value;
  return NULL;
}

/* protobuf-c takes the last of duplicate fields, passes over what it does not know and narrows
 * numbers: an envelope has at most one channel and one body, and ends where the frame ends. */
static const char *read_envelope(const cdam_frame *frame, envelope *out) {
  const uint8_t *at = frame->bytes, *end = at + frame->length;
  bool seen = false;
  *out = (envelope){0};
  while (at < end) {
    uint64_t tag, value;
    const char *wrong = NULL;
    if (!read_varint(&at, end, &tag)) return "a cut field tag";
    if (tag == (1 << 3 | WIRE_VARINT)) {
      wrong = read_channel(&at, end, &seen, out);
      if (wrong) return wrong;
      continue;
    }
    if ((tag & 7) != WIRE_LENGTH || tag >> 3 <= 1 || tag >> 3 >= 1 << 29)
      return "a field of an unexpected kind";
    if (out->body) return "two bodies in a message";
    if (!read_varint(&at, end, &value) || value > (uint64_t)(end - at)) return "a cut body";
    out->kind = (uint32_t)(tag >> 3);
    out->body = at;
    out->length = (size_t)value;
    at += value;
  }
  return out->body ? NULL : "a message without a body";
}

static const cdam_from_agent *broken(const char *why, cdam_error *failure) {
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent broke the protocol: %s", why);
  return NULL;
}

static const cdam_from_agent *unpack(cdam_arena *arena, const cdam_frame *frame,
                                     cdam_error *failure) {
  arena_clear(arena);
  ProtobufCAllocator allocator = {arena_alloc, arena_free, arena};
  const cdam_from_agent *message =
      cofferdam__agent__v1__from_agent__unpack(&allocator, frame->length, frame->bytes);
  if (!message && arena->exhausted) cdam_fail_memory(failure);
  if (!message && !arena->exhausted) broken("a malformed or too intricate message", failure);
  if (message && message->body_case == COFFERDAM__AGENT__V1__FROM_AGENT__BODY__NOT_SET)
    return broken("a message of an unknown kind", failure);
  return message;
}

/* The fields of Data and Output, each at most once, in any order. False for anything else, which
 * is then protobuf-c's to judge. */
typedef struct pieces {
  uint64_t numbers[6]; /* by field number */
  ProtobufCBinaryData data;
  unsigned seen;
} pieces;

static bool read_pieces(const envelope *from, unsigned data_field, unsigned last, pieces *out) {
  const uint8_t *at = from->body, *end = at + from->length;
  *out = (pieces){0};
  while (at < end) {
    unsigned field = *at >> 3, type = *at & 7;
    if (*at++ >= 0x80 || field == 0 || field > last || (out->seen & 1u << field)) return false;
    out->seen |= 1u << field;
    if (type != (field == data_field ? WIRE_LENGTH : WIRE_VARINT)) return false;
    if (!read_varint(&at, end, &out->numbers[field])) return false;
    if (field != data_field) continue;
    size_t length = (size_t)out->numbers[field];
    if (out->numbers[field] > (uint64_t)(end - at)) return false;
    if (length) out->data = (ProtobufCBinaryData){length, (uint8_t *)(uintptr_t)at};
    at += length;
  }
  return true;
}

static const cdam_from_agent *read_data(cdam_frame_decoder *decoder, const envelope *from) {
  pieces p;
  if (!read_pieces(from, 1, 2, &p)) return NULL;
  Cofferdam__Agent__V1__Data *data = &decoder->data;
  cofferdam__agent__v1__data__init(data);
  data->data = p.data;
  data->end = p.numbers[2] != 0;
  decoder->message.body_case = COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA;
  decoder->message.data = data;
  return &decoder->message;
}

static const cdam_from_agent *read_output(cdam_frame_decoder *decoder, const envelope *from) {
  pieces p;
  if (!read_pieces(from, 3, 5, &p) || p.numbers[1] > INT32_MAX) return NULL;
  Cofferdam__Agent__V1__Output *output = &decoder->output;
  cofferdam__agent__v1__output__init(output);
  output->stream = (Cofferdam__Agent__V1__Stream)p.numbers[1];
  output->offset = p.numbers[2];
  output->data = p.data;
  output->lost = p.numbers[4];
  output->end = p.numbers[5] != 0;
  decoder->message.body_case = COFFERDAM__AGENT__V1__FROM_AGENT__BODY_OUTPUT;
  decoder->message.output = output;
  return &decoder->message;
}

/* The messages that carry bulk are read here, without a copy. */
const cdam_from_agent *cdam_frame_decode(cdam_frame_decoder *decoder, const cdam_frame *frame,
                                         cdam_error *failure) {
  envelope outer;
  const char *wrong = read_envelope(frame, &outer);
  if (wrong) return broken(wrong, failure);
  const cdam_from_agent *message = NULL;
  cofferdam__agent__v1__from_agent__init(&decoder->message);
  decoder->message.channel = outer.channel;
  if (outer.kind == COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA)
    message = read_data(decoder, &outer);
  else if (outer.kind == COFFERDAM__AGENT__V1__FROM_AGENT__BODY_OUTPUT)
    message = read_output(decoder, &outer);
  return message ? message : unpack(&decoder->arena, frame, failure);
}

const cdam_from_agent *cdam_frame_unpack(cdam_frame_decoder *decoder, const cdam_frame *frame,
                                         cdam_error *failure) {
  envelope outer;
  const char *wrong = read_envelope(frame, &outer);
  return wrong ? broken(wrong, failure) : unpack(&decoder->arena, frame, failure);
}

void cdam_frame_decoder_clear(cdam_frame_decoder *decoder) {
  arena_clear(&decoder->arena);
}

bool cdam_frame_is_charged(const cdam_from_agent *message) {
  switch (message->body_case) {
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA:
    return message->data->data.len > 0;
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_OUTPUT:
    return message->output->data.len > 0;
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY:
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_PROCESS_INFO:
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_WATCH_EVENT:
    return true;
  default:
    return false;
  }
}

/* ---- from messages to bytes ---- */

static uint8_t *put_varint(uint8_t *at, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *at++ = (uint8_t)(value | 0x80);
  *at++ = (uint8_t)value;
  return at;
}

static size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7)
    size++;
  return size;
}

size_t cdam_frame_head(uint8_t head[CDAM_FRAME_HEAD], uint32_t channel, size_t body) {
  uint8_t *at = head + PREFIX;
  if (channel) {
    *at++ = 1 << 3 | WIRE_VARINT;
    at = put_varint(at, channel);
  }
  size_t length = (size_t)(at - head) - PREFIX + body;
  for (unsigned i = 0; i < PREFIX; i++)
    head[i] = (uint8_t)(length >> (8 * i));
  return (size_t)(at - head);
}

size_t cdam_frame_data_head(uint8_t head[CDAM_FRAME_HEAD], uint32_t channel, size_t length,
                            bool end) {
  size_t inner = (length ? 1 + varint_size(length) + length : 0) + (end ? 2 : 0);
  uint8_t *at = head + cdam_frame_head(head, channel, 1 + varint_size(inner) + inner);
  *at++ = COFFERDAM__AGENT__V1__TO_AGENT__BODY_DATA << 3 | WIRE_LENGTH;
  at = put_varint(at, inner);
  if (end) {
    *at++ = 2 << 3 | WIRE_VARINT;
    *at++ = 1;
  }
  if (length) {
    *at++ = 1 << 3 | WIRE_LENGTH;
    at = put_varint(at, length);
  }
  return (size_t)(at - head);
}
