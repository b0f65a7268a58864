/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a command, cut anywhere. The first byte is how many cuts there are (at most 15) and
 * what is kept; as many bytes as there are cuts say where; the rest is the stream.
 *
 * In pieces it comes out as in one; and as a reader that has the whole before it says.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/exec_stream.h"
#include "fuzz.h"

typedef struct outcome {
  bool ok;
  cdam_error error;
  cdam_exec_stream stream;
} outcome;

static void feed(outcome *out, const uint8_t *bytes, size_t length) {
  if (!out->ok) return;
  char *copy = fuzz_copy(bytes, length);
  out->ok = cdam_exec_stream_feed(&out->stream, copy, length, &out->error);
  free(copy);
}

static void finish(outcome *out) {
  if (out->ok) out->ok = cdam_exec_stream_end(&out->stream, &out->error);
}

static void check_same_output(const cdam_exec_output *a, const cdam_exec_output *b) {
  FUZZ_CHECK(a->total == b->total);
  FUZZ_CHECK(a->kept.length == b->kept.length);
  FUZZ_CHECK(a->kept.length == 0 || memcmp(a->kept.data, b->kept.data, a->kept.length) == 0);
}

static void check_same(const outcome *a, const outcome *b) {
  FUZZ_CHECK(a->ok == b->ok);
  FUZZ_CHECK(a->ok || a->error.code == b->error.code);
  FUZZ_CHECK(a->ok || strcmp(a->error.message, b->error.message) == 0);
  check_same_output(&a->stream.out, &b->stream.out);
  check_same_output(&a->stream.err, &b->stream.err);
}

/* Counts and compares with what was kept. */
static void expect_output(const cdam_exec_output *output, size_t cap, uint64_t *total,
                          const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length && *total + i < cap; i++)
    FUZZ_CHECK((uint8_t)output->kept.data[*total + i] == bytes[i]);
  *total += length;
}

/* Reads the frames with the whole stream at hand. */
static void check_against_model(const outcome *out, const uint8_t *bytes, size_t length) {
  size_t at = 0;
  uint64_t totals[2] = {0, 0};
  cdam_status expected = CDAM_OK;
  while (!expected && at < length) {
    const uint8_t *h = bytes + at;
    size_t left = length - at;
    if (left < 8) {
      expected = CDAM_ERR_PROTOCOL;
      break;
    }
    uint64_t payload =
        ((uint64_t)h[4] << 24) + ((uint64_t)h[5] << 16) + ((uint64_t)h[6] << 8) + h[7];
    bool whole = payload <= left - 8;
    size_t there = whole ? (size_t)payload : left - 8;
    if (h[0] > 3 || h[1] || h[2] || h[3])
      expected = CDAM_ERR_PROTOCOL;
    else if (h[0] == 3)
      expected = whole ? CDAM_ERR_ENGINE : CDAM_ERR_PROTOCOL;
    else
      expect_output(h[0] == 2 ? &out->stream.err : &out->stream.out, out->stream.cap,
                    &totals[h[0] == 2], h + 8, there);
    if (!expected && !whole) expected = CDAM_ERR_PROTOCOL;
    at += 8 + there;
  }
  FUZZ_CHECK(out->ok == (expected == CDAM_OK));
  FUZZ_CHECK(out->ok || out->error.code == expected);
  FUZZ_CHECK(out->stream.out.total == totals[0] && out->stream.err.total == totals[1]);
  FUZZ_CHECK(out->stream.out.kept.length <= out->stream.cap);
  FUZZ_CHECK(out->stream.err.kept.length <= out->stream.cap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t cuts = data[0] & 15, cap = (size_t)(data[0] >> 4) * 3;
  if (size < 1 + cuts) return 0;
  const uint8_t *steps = data + 1, *bytes = data + 1 + cuts;
  size_t length = size - 1 - cuts;

  outcome whole = {.ok = true, .stream.cap = cap}, pieces = whole;
  feed(&whole, bytes, length);
  finish(&whole);
  size_t at = 0;
  for (size_t i = 0; i < cuts; i++) {
    size_t step = steps[i] < length - at ? steps[i] : length - at;
    feed(&pieces, bytes + at, step);
    at += step;
  }
  feed(&pieces, bytes + at, length - at);
  finish(&pieces);

  check_same(&whole, &pieces);
  check_against_model(&whole, bytes, length);
  cdam_exec_stream_clear(&whole.stream);
  cdam_exec_stream_clear(&pieces.stream);
  return 0;
}
