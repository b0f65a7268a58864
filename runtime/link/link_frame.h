/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the agent's protocol: a little-endian length and one protobuf message. What comes in is
 * checked before anything unpacks it, and unpacked into a bounded arena.
 */
#ifndef COFFERDAM_LINK_LINK_FRAME_H
#define COFFERDAM_LINK_LINK_FRAME_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

#include "link/link.h"

/* Of one message, without its length. */
#define CDAM_FRAME_MAX ((size_t)262144)

/* What unpacking one may take. */
#define CDAM_FRAME_ARENA ((size_t)2 * 1024 * 1024)

/* ---- from bytes to frames ---- */

/* {0} is one at the beginning of a stream. */
typedef struct cdam_frame_reader {
  uint8_t *data; /* of a frame that is not whole */
  size_t length;
  size_t room;
  bool taken; /* it was handed out */
} cdam_frame_reader;

typedef enum cdam_frame_result {
  CDAM_FRAME_MORE,  /* all was taken, and no frame is whole */
  CDAM_FRAME_WHOLE, /* *frame is one; there may be more in what is left */
  CDAM_FRAME_BAD,   /* CDAM_ERR_AGENT or CDAM_ERR_NO_MEMORY */
} cdam_frame_result;

/* A message's bytes. */
typedef struct cdam_frame {
  const uint8_t *bytes;
  size_t length;
} cdam_frame;

/* Takes the next frame from the front of *bytes. It lives until the next call, and no longer than
 * what *bytes pointed to. */
cdam_frame_result cdam_frame_next(cdam_frame_reader *reader, const uint8_t **bytes, size_t *length,
                                  cdam_frame *frame, cdam_error *failure);

/* Frees its memory, when no part of a frame is in it. */
void cdam_frame_reader_trim(cdam_frame_reader *reader);

/* The stream has ended. */
void cdam_frame_reader_clear(cdam_frame_reader *reader);

/* ---- from frames to messages ---- */

/* Where one message is unpacked to. */
typedef struct cdam_arena {
  struct cdam_arena_block *blocks;
  uint8_t *at; /* the room that is left in the block in use */
  size_t room;
  size_t total; /* given out */
  bool exhausted;
  alignas(16) uint8_t first[2048];
} cdam_arena;

/* Zeroed before its first use. */
typedef struct cdam_frame_decoder {
  cdam_from_agent message; /* these for messages that are read without protobuf-c */
  Cofferdam__Agent__V1__Data data;
  Cofferdam__Agent__V1__Output output;
  cdam_arena arena;
} cdam_frame_decoder;

/* The message of a frame. It may point into the frame, and lives until the next call. NULL with
 * CDAM_ERR_AGENT for what is no message of the protocol (a body that is not known included), or
 * CDAM_ERR_NO_MEMORY. */
const cdam_from_agent *cdam_frame_decode(cdam_frame_decoder *decoder, const cdam_frame *frame,
                                         cdam_error *failure);

/* The same by protobuf-c alone, whatever the message is: what the quick way is compared with. */
const cdam_from_agent *cdam_frame_unpack(cdam_frame_decoder *decoder, const cdam_frame *frame,
                                         cdam_error *failure);

void cdam_frame_decoder_clear(cdam_frame_decoder *decoder);

/* Is it one that credit is needed for? */
bool cdam_frame_is_charged(const cdam_from_agent *message);

/* ---- from messages to bytes ---- */

/* Room for what stands before a body. */
#define CDAM_FRAME_HEAD 32

/* The length and the channel of a message whose body has so many bytes; how many bytes that is. */
size_t cdam_frame_head(uint8_t head[CDAM_FRAME_HEAD], uint32_t channel, size_t body);

/* All of a Data message but the data, which follow. */
size_t cdam_frame_data_head(uint8_t head[CDAM_FRAME_HEAD], uint32_t channel, size_t length,
                            bool end);

#endif
