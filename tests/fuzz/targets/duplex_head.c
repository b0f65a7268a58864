/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a request that wants a stream, cut anywhere. The first byte is how many cuts there
 * are (at most 15); as many bytes say where; the rest is what the engine sends.
 *
 * In pieces it comes out as in one, nothing behind a stream's head is touched, and all is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/duplex_head.h"
#include "fuzz.h"

#define MAX_TAKEN (64 * 1024 + 1)

typedef struct outcome {
  cdam_duplex_head head;
  cdam_head_verdict verdict;
  cdam_error error;
  size_t used;
} outcome;

static void feed(outcome *out, const uint8_t *bytes, size_t length) {
  if (out->verdict != CDAM_HEAD_MORE) return;
  size_t used;
  char *copy = fuzz_copy(bytes, length);
  out->verdict = cdam_duplex_head_feed(&out->head, copy, length, &used, &out->error);
  free(copy);
  FUZZ_CHECK(used <= length);
  FUZZ_CHECK(out->verdict != CDAM_HEAD_MORE || used == length);
  out->used += used;
}

static void check(const outcome *out, const uint8_t *bytes, size_t length) {
  const cdam_duplex_head *head = &out->head;
  FUZZ_CHECK(head->taken <= MAX_TAKEN && head->body.length <= 1024 * 1024);
  FUZZ_CHECK(out->used <= length);
  if (out->verdict == CDAM_HEAD_STREAM) {
    FUZZ_CHECK(head->http == 101 || head->http == 200);
    FUZZ_CHECK(head->body.length == 0 && out->used >= 16);
    FUZZ_CHECK(memcmp(bytes + out->used - 4, "\r\n\r\n", 4) == 0);
  }
  if (out->verdict == CDAM_HEAD_ANSWER) FUZZ_CHECK(head->http >= 201 && head->http <= 599);
  if (out->verdict == CDAM_HEAD_BAD) FUZZ_CHECK(out->error.code == CDAM_ERR_PROTOCOL);
}

static void check_same(const outcome *a, const outcome *b) {
  FUZZ_CHECK(a->verdict == b->verdict);
  FUZZ_CHECK(a->verdict != CDAM_HEAD_STREAM || a->used == b->used);
  FUZZ_CHECK(strcmp(a->error.message, b->error.message) == 0);
  if (a->verdict == CDAM_HEAD_BAD) return;
  FUZZ_CHECK(a->head.http == b->head.http);
  FUZZ_CHECK(cdam_duplex_head_may_end(&a->head) == cdam_duplex_head_may_end(&b->head));
  FUZZ_CHECK(a->head.body.length == b->head.body.length);
  FUZZ_CHECK(!a->head.body.length ||
             memcmp(a->head.body.data, b->head.body.data, a->head.body.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  size_t cuts = data[0] & 15;
  if (size < 1 + cuts) return 0;
  const uint8_t *steps = data + 1, *bytes = data + 1 + cuts;
  size_t length = size - 1 - cuts, at = 0;
  outcome whole = {0}, pieces = {0};
  feed(&whole, bytes, length);
  for (size_t i = 0; i < cuts; i++) {
    size_t step = steps[i] < length - at ? steps[i] : length - at;
    feed(&pieces, bytes + at, step);
    at += step;
  }
  feed(&pieces, bytes + at, length - at);
  check(&whole, bytes, length);
  check_same(&whole, &pieces);
  cdam_duplex_head_clear(&whole.head);
  cdam_duplex_head_clear(&pieces.head);
  return 0;
}
