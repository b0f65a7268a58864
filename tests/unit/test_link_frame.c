/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the agent's protocol: cut anywhere, malformed in every way, and made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/link_frame.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME

/* ---- from bytes to frames ---- */

static const char stream[] = "\1\0\0\0a"
                             "\4\0\0\0bcde"
                             "\2\0\0\0\0\xff";
static const struct {
  const char *bytes;
  size_t length;
} frames[] = {{"a", 1}, {"bcde", 4}, {"\0\xff", 2}};

/* Feeds bytes from a copy of exact size, and checks the frames that come. */
static void feed(cdam_frame_reader *reader, const char *bytes, size_t length, size_t *count) {
  uint8_t *copy = malloc(length ? length : 1);
  const uint8_t *at = copy;
  cdam_frame frame;
  cdam_error failure = {0};
  memcpy(copy, bytes, length);
  while (cdam_frame_next(reader, &at, &length, &frame, &failure) == CDAM_FRAME_WHOLE) {
    assert_true(*count < 3);
    assert_int_equal(frame.length, frames[*count].length);
    assert_memory_equal(frame.bytes, frames[*count].bytes, frame.length);
    ++*count;
  }
  assert_int_equal(length, 0);
  assert_int_equal(failure.code, CDAM_OK);
  free(copy);
}

static void any_split(void **state) {
  (void)state;
  size_t length = sizeof stream - 1;
  for (size_t a = 0; a <= length; a++) {
    for (size_t b = a; b <= length; b++) {
      cdam_frame_reader reader = {0};
      size_t count = 0;
      feed(&reader, stream, a, &count);
      feed(&reader, stream + a, b - a, &count);
      cdam_frame_reader_trim(&reader);
      feed(&reader, stream + b, length - b, &count);
      assert_int_equal(count, 3);
      cdam_frame_reader_trim(&reader);
      assert_null(reader.data);
    }
  }
}

static void byte_at_a_time(void **state) {
  (void)state;
  cdam_frame_reader reader = {0};
  size_t count = 0;
  for (size_t i = 0; i < sizeof stream - 1; i++)
    feed(&reader, stream + i, 1, &count);
  assert_int_equal(count, 3);
  cdam_frame_reader_clear(&reader);
}

static void refuse_length(const char *prefix) {
  for (size_t piece = 1; piece <= 4; piece++) {
    cdam_frame_reader reader = {0};
    cdam_frame_result result = CDAM_FRAME_MORE;
    cdam_error failure = {0};
    for (size_t i = 0; i < 4 && result == CDAM_FRAME_MORE; i += piece) {
      const uint8_t *at = (const uint8_t *)prefix + i;
      size_t length = 4 - i < piece ? 4 - i : piece;
      cdam_frame frame;
      result = cdam_frame_next(&reader, &at, &length, &frame, &failure);
    }
    assert_int_equal(result, CDAM_FRAME_BAD);
    assert_int_equal(failure.code, CDAM_ERR_AGENT);
    assert_non_null(strstr(failure.message, "a frame of"));
    assert_true(reader.room <= 4096);
    cdam_frame_reader_clear(&reader);
  }
}

static void lengths(void **state) {
  (void)state;
  refuse_length("\0\0\0\0");
  refuse_length("\1\0\4\0"); /* 262,145 */
  refuse_length("\xff\xff\xff\xff");
  refuse_length("HTTP");

  uint8_t *largest = calloc(1, 4 + CDAM_FRAME_MAX);
  largest[2] = 4;
  largest[4 + CDAM_FRAME_MAX - 1] = 7;
  for (size_t cut = 0; cut < 4 + CDAM_FRAME_MAX; cut = cut ? cut * 5 : 1) {
    cdam_frame_reader reader = {0};
    cdam_frame frame;
    cdam_error failure;
    const uint8_t *at = largest;
    size_t length = cut;
    assert_int_equal(cdam_frame_next(&reader, &at, &length, &frame, &failure), CDAM_FRAME_MORE);
    length = 4 + CDAM_FRAME_MAX - cut;
    assert_int_equal(cdam_frame_next(&reader, &at, &length, &frame, &failure), CDAM_FRAME_WHOLE);
    assert_int_equal(frame.length, CDAM_FRAME_MAX);
    assert_int_equal(frame.bytes[frame.length - 1], 7);
    cdam_frame_reader_clear(&reader);
  }
  free(largest);
}

/* ---- from frames to messages ---- */

static void refuse(const uint8_t *bytes, size_t length, const char *words) {
  cdam_frame_decoder decoder = {0};
  cdam_error failure = {0};
  uint8_t *copy = malloc(length ? length : 1);
  memcpy(copy, bytes, length);
  const cdam_frame frame = {copy, length};
  assert_null(cdam_frame_decode(&decoder, &frame, &failure));
  assert_int_equal(failure.code, CDAM_ERR_AGENT);
  if (!strstr(failure.message, words)) fail_msg("%s", failure.message);
  assert_null(cdam_frame_unpack(&decoder, &frame, &failure));
  cdam_frame_decoder_clear(&decoder);
  free(copy);
}

static void envelopes(void **state) {
  (void)state;
  refuse(BYTES("\x08\x01"), "without a body");
  refuse(BYTES("\x08\x01\x08\x01\x2a\x00"), "two channel numbers");
  refuse(BYTES("\x2a\x00\x2a\x00"), "two bodies");
  refuse(BYTES("\x2a\x00\x32\x00"), "two bodies");
  refuse(BYTES("\x08"), "a bad channel number");
  refuse(BYTES("\x08\x80\x80\x80\x80\x10\x2a\x00"), "a bad channel number"); /* 2^32 */
  refuse(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x2a\x00"), "a bad channel number");
  refuse(BYTES("\x80"), "a cut field tag");
  refuse(BYTES("\x2a\x01"), "a cut body");
  refuse(BYTES("\x2a\x80"), "a cut body");
  refuse(BYTES("\x2a\xff\xff\xff\xff\x0f"), "a cut body");
  refuse(BYTES("\x2a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "a cut body");
  refuse(BYTES("\x28\x01"), "an unexpected kind"); /* a varint as a body */
  refuse(BYTES("\x2d\1\1\1\1"), "an unexpected kind");
  refuse(BYTES("\x29\1\1\1\1\1\1\1\1"), "an unexpected kind");
  refuse(BYTES("\x2b\x2c"), "an unexpected kind"); /* a group */
  refuse(BYTES("\x02\x00"), "an unexpected kind"); /* field 0 */
  refuse(BYTES("\x0a\x00"), "an unexpected kind"); /* a channel that is a text */
  refuse(BYTES("\x9a\x06\x00"), "an unknown kind");
  refuse(BYTES("\x08\x01\x2a\x02\x0a\x05"), "malformed"); /* inside of Data */
  refuse(BYTES("\x08\x01\x5a\x01\x1a"), "malformed");     /* inside of Output */
}

/* A process with so many empty arguments; the length of the message. */
static size_t make_intricate(uint8_t *bytes, size_t arguments) {
  size_t inner = 2 * arguments;
  bytes[0] = 14 << 3 | 2;
  bytes[1] = (uint8_t)(inner | 0x80);
  bytes[2] = (uint8_t)(inner >> 7 | 0x80);
  bytes[3] = (uint8_t)(inner >> 14);
  memset(bytes + 4, 0, inner);
  for (size_t i = 0; i < arguments; i++)
    bytes[4 + 2 * i] = 3 << 3 | 2;
  return 4 + inner;
}

static void too_intricate(void **state) {
  (void)state;
  static uint8_t bytes[CDAM_FRAME_MAX];
  refuse(bytes, make_intricate(bytes, CDAM_FRAME_MAX / 2 - 2), "too intricate");
  refuse(bytes, make_intricate(bytes, 60000), "too intricate");

  cdam_frame_decoder decoder = {0};
  cdam_error failure;
  const cdam_frame frame = {bytes, make_intricate(bytes, 30000)};
  const cdam_from_agent *message = cdam_frame_decode(&decoder, &frame, &failure);
  assert_non_null(message);
  assert_int_equal(message->process_info->n_argv, 30000);
  cdam_frame_decoder_clear(&decoder);
}

/* The quick way and protobuf-c. */
static void same_both_ways(const uint8_t *bytes, size_t length) {
  cdam_frame_decoder quick = {0}, slow = {0};
  cdam_error failure;
  const cdam_frame frame = {bytes, length};
  const cdam_from_agent *a = cdam_frame_decode(&quick, &frame, &failure);
  const cdam_from_agent *b = cdam_frame_unpack(&slow, &frame, &failure);
  assert_non_null(a);
  assert_non_null(b);
  uint8_t packed[2][64];
  size_t size = cofferdam__agent__v1__from_agent__get_packed_size(a);
  assert_int_equal(size, cofferdam__agent__v1__from_agent__get_packed_size(b));
  assert_true(size <= sizeof packed[0]);
  cofferdam__agent__v1__from_agent__pack(a, packed[0]);
  cofferdam__agent__v1__from_agent__pack(b, packed[1]);
  assert_memory_equal(packed[0], packed[1], size);
  cdam_frame_decoder_clear(&quick);
  cdam_frame_decoder_clear(&slow);
}

static void quick_messages(void **state) {
  (void)state;
  same_both_ways(BYTES("\x2a\x00"));
  same_both_ways(BYTES("\x08\x05\x2a\x00"));
  same_both_ways(BYTES("\x2a\x00\x08\x05"));
  same_both_ways(BYTES("\x08\x01\x2a\x05\x0a\x03xyz"));
  same_both_ways(BYTES("\x08\x01\x2a\x04\x10\x01\x0a\x00"));
  same_both_ways(BYTES("\x08\x01\x2a\x07\x0a\x01x\x0a\x02yz")); /* twice: the last counts */
  same_both_ways(BYTES("\x08\x01\x2a\x05\x0a\x01x\x0a\x00"));
  same_both_ways(BYTES("\x08\x01\x2a\x05\x0a\x01x\x18\x07")); /* an unknown field */
  same_both_ways(BYTES("\x08\x01\x2a\x02\x10\x02"));          /* a true that is not 1 */
  same_both_ways(BYTES("\x08\x01\x5a\x00"));
  same_both_ways(BYTES("\x08\x01\x5a\x0f\x08\x02\x10\x80\x80\x01\x1a\x03xyz\x20\x07\x28\x01"));
  same_both_ways(BYTES("\x08\x01\x5a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  same_both_ways(BYTES("\x08\xff\xff\xff\xff\x0f\x5a\x03\xa8\x06\x01"));
}

static void check_charge(const uint8_t *bytes, size_t length, bool charged) {
  cdam_frame_decoder decoder = {0};
  cdam_error failure;
  const cdam_frame frame = {bytes, length};
  const cdam_from_agent *message = cdam_frame_decode(&decoder, &frame, &failure);
  assert_non_null(message);
  assert_int_equal(cdam_frame_is_charged(message), charged);
  cdam_frame_decoder_clear(&decoder);
}

static void charges(void **state) {
  (void)state;
  check_charge(BYTES("\x2a\x02\x10\x01"), false); /* Data, the end */
  check_charge(BYTES("\x2a\x03\x0a\x01x"), true);
  check_charge(BYTES("\x5a\x02\x28\x01"), false); /* Output, the end */
  check_charge(BYTES("\x5a\x03\x1a\x01x"), true);
  check_charge(BYTES("\x72\x00"), true);      /* ProcessInfo */
  check_charge(BYTES("\xa2\x01\x00"), true);  /* Entry */
  check_charge(BYTES("\xaa\x01\x00"), true);  /* WatchEvent */
  check_charge(BYTES("\x32\x00"), false);     /* Done */
  check_charge(BYTES("\xf2\x01\x00"), false); /* Status */
}

static void no_copy_of_data(void **state) {
  (void)state;
  cdam_frame_decoder decoder = {0};
  cdam_error failure;
  const uint8_t bytes[] = "\x08\x02\x5a\x07\x08\x01\x1a\x03xyz";
  const cdam_frame frame = {bytes, sizeof bytes - 1};
  const cdam_from_agent *message = cdam_frame_decode(&decoder, &frame, &failure);
  assert_int_equal(message->body_case, FROM(OUTPUT));
  assert_int_equal(message->channel, 2);
  assert_ptr_equal(message->output->data.data, bytes + 8);
  assert_int_equal(message->output->data.len, 3);
  assert_true(cdam_frame_is_charged(message));
  cdam_frame_decoder_clear(&decoder);
}

/* ---- from messages to bytes ---- */

static void check_data(uint32_t channel, size_t length, bool end) {
  uint8_t *bytes = malloc(CDAM_FRAME_HEAD + length);
  size_t head = cdam_frame_data_head(bytes, channel, length, end);
  assert_true(head <= CDAM_FRAME_HEAD);
  memset(bytes + head, 'x', length);
  size_t size = head - 4 + length;
  assert_int_equal(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24, size);
  cdam_to_agent *message = cofferdam__agent__v1__to_agent__unpack(NULL, size, bytes + 4);
  assert_non_null(message);
  assert_int_equal(message->channel, channel);
  assert_int_equal(message->body_case, COFFERDAM__AGENT__V1__TO_AGENT__BODY_DATA);
  assert_int_equal(message->data->data.len, length);
  assert_int_equal(message->data->end, end);
  assert_int_equal(cofferdam__agent__v1__to_agent__get_packed_size(message), size);
  cofferdam__agent__v1__to_agent__free_unpacked(message, NULL);
  free(bytes);
}

static void data_heads(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 123, 124, 127, 128, 16377, 16383, 16384, CDAM_LINK_PIECE};
  static const uint32_t channels[] = {1, 127, 128, 4096, UINT32_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t j = 0; j < sizeof channels / sizeof *channels; j++) {
      check_data(channels[j], sizes[i], false);
      check_data(channels[j], sizes[i], true);
    }
}

static void heads(void **state) {
  (void)state;
  uint8_t head[CDAM_FRAME_HEAD];
  assert_int_equal(cdam_frame_head(head, 0, 300), 4);
  assert_memory_equal(head, "\x2c\1\0\0", 4);
  assert_int_equal(cdam_frame_head(head, 300, 5), 7);
  assert_memory_equal(head, "\x8\0\0\0\x8\xac\2", 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_split),     cmocka_unit_test(byte_at_a_time),
      cmocka_unit_test(lengths),       cmocka_unit_test(envelopes),
      cmocka_unit_test(too_intricate), cmocka_unit_test(quick_messages),
      cmocka_unit_test(charges),       cmocka_unit_test(no_copy_of_data),
      cmocka_unit_test(data_heads),    cmocka_unit_test(heads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
