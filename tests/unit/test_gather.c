/* SPDX-License-Identifier: Apache-2.0 */
/* When the agent lets an output stream rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "gather.h"

typedef struct stream {
  agent_rest rest;
  int over;
} stream;

static agent_loop loop;
static agent_gather gather;

static void rested(agent_rest *rest) {
  AGENT_OWNER(rest, stream, rest)->over++;
  loop.stop = true;
}

static int begin(void **state) {
  (void)state;
  return agent_loop_open(&loop) && agent_gather_open(&gather, &loop) ? 0 : -1;
}

static int finish(void **state) {
  (void)state;
  agent_loop_close(&loop, &gather.timer);
  return close(loop.epoll);
}

static stream new_stream(void) {
  return (stream){.rest.over = rested};
}

/* The clock goes on meanwhile, so it may take more than the least. */
static unsigned reads_until_it_rests(stream *s, size_t bytes) {
  unsigned reads = 1;
  while (reads < 100000 && !agent_gather_read(&gather, &s->rest, bytes))
    reads++;
  return reads;
}

static void run_until_over(void) {
  loop.stop = false;
  agent_loop_run(&loop);
}

static void test_few_reads_do_not_rest(void **state) {
  (void)state;
  stream s = new_stream();
  for (int i = 0; i < 8; i++)
    assert_false(agent_gather_read(&gather, &s.rest, 100));
}

static void test_large_reads_do_not_rest(void **state) {
  (void)state;
  stream s = new_stream();
  for (int i = 0; i < 1000; i++)
    assert_false(agent_gather_read(&gather, &s.rest, 64 * 1024));
}

static void test_busy_rests_until_it_is_not(void **state) {
  (void)state;
  stream s = new_stream();
  assert_in_range(reads_until_it_rests(&s, 4096), 9, 99999);
  run_until_over();
  assert_int_equal(s.over, 1);
  assert_true(agent_gather_read(&gather, &s.rest, 64 * 1024)); /* more came meanwhile */
  run_until_over();
  assert_int_equal(s.over, 2);
  assert_false(agent_gather_read(&gather, &s.rest, 4096)); /* hardly anything came */
  assert_false(agent_gather_read(&gather, &s.rest, 4096));
}

static void test_several_rest_and_one_leaves(void **state) {
  (void)state;
  stream s[3];
  for (int i = 0; i < 3; i++) {
    s[i] = new_stream();
    assert_in_range(reads_until_it_rests(&s[i], 1), 9, 99999);
  }
  agent_gather_forget(&s[1].rest);
  agent_gather_forget(&s[1].rest);
  run_until_over();
  assert_int_equal(s[0].over, 1);
  assert_int_equal(s[1].over, 0);
  assert_int_equal(s[2].over, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_few_reads_do_not_rest, begin, finish),
      cmocka_unit_test_setup_teardown(test_large_reads_do_not_rest, begin, finish),
      cmocka_unit_test_setup_teardown(test_busy_rests_until_it_is_not, begin, finish),
      cmocka_unit_test_setup_teardown(test_several_rest_and_one_leaves, begin, finish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
