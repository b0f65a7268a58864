/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/duplex_queue.h"

static char byte_at(uint64_t i) {
  return (char)(i % 251);
}

/* Takes out what is there, as much as `most` at a time, until so much is left. */
static void take_until(cdam_duplex_queue *queue, uint64_t *at, size_t most, size_t left) {
  const char *bytes;
  size_t length;
  while (queue->length > left && (length = cdam_duplex_queue_front(queue, &bytes))) {
    if (length > most) length = most;
    if (length > queue->length - left) length = queue->length - left;
    for (size_t i = 0; i < length; i++)
      if (bytes[i] != byte_at(*at + i)) fail_msg("wrong at %llu", (unsigned long long)(*at + i));
    cdam_duplex_queue_take(queue, length);
    *at += length;
  }
}

static void any_sizes(void **state) {
  (void)state;
  static char bytes[200000];
  cdam_duplex_queue queue = {0};
  uint64_t in = 0, out = 0;
  srand(1);
  for (int i = 0; i < 3000; i++) {
    size_t length = (size_t)rand() % (i % 3 ? 300 : sizeof bytes);
    for (size_t j = 0; j < length; j++)
      bytes[j] = byte_at(in + j);
    assert_true(cdam_duplex_queue_add(&queue, bytes, length));
    in += length;
    assert_int_equal(queue.length, in - out);
    take_until(&queue, &out, (size_t)rand() % 70000 + 1, (size_t)rand() % 100000);
  }
  take_until(&queue, &out, 10, 0);
  assert_int_equal(in, out);
  const char *none;
  assert_int_equal(cdam_duplex_queue_front(&queue, &none), 0);
  cdam_duplex_queue_clear(&queue);
}

/* What was offered stays where it is when more comes. */
static void bytes_stay_where_they_are(void **state) {
  (void)state;
  cdam_duplex_queue queue = {0};
  const char *before, *after;
  static char bytes[100000];
  assert_true(cdam_duplex_queue_add(&queue, "hello", 5));
  assert_int_equal(cdam_duplex_queue_front(&queue, &before), 5);
  for (int i = 0; i < 5; i++)
    assert_true(cdam_duplex_queue_add(&queue, bytes, sizeof bytes));
  assert_true(cdam_duplex_queue_front(&queue, &after) >= 5);
  assert_ptr_equal(before, after);
  assert_memory_equal(after, "hello", 5);
  cdam_duplex_queue_clear(&queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_sizes),
      cmocka_unit_test(bytes_stay_where_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
