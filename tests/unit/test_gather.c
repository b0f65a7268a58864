/* SPDX-License-Identifier: Apache-2.0 */
/* When the agent lets an output stream rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gather.h"

typedef struct stream {
  agent_rest rest;
  agent_loop *loop;
  int over;
} stream;

static void rested(agent_rest *rest) {
  stream *s = AGENT_OWNER(rest, stream, rest);
  s->over++;
  s->loop->stop = true;
}

static void open_gather(agent_loop *loop, agent_gather *gather) {
  assert_true(agent_loop_open(loop));
  assert_true(agent_gather_open(gather, loop));
}

static stream new_stream(agent_loop *loop) {
  return (stream){.rest.over = rested, .loop = loop};
}

/* The clock goes on meanwhile, so it may take more than the least. */
static unsigned reads_until_it_rests(agent_gather *gather, stream *s, size_t bytes) {
  unsigned reads = 1;
  while (reads < 100000 && !agent_gather_read(gather, &s->rest, bytes))
    reads++;
  return reads;
}

static void run_until_over(agent_loop *loop) {
  loop->stop = false;
  agent_loop_run(loop);
}

static void test_few_reads_do_not_rest(void **state) {
  (void)state;
  agent_loop loop;
  agent_gather gather;
  open_gather(&loop, &gather);
  stream s = new_stream(&loop);
  for (int i = 0; i < 8; i++)
    assert_false(agent_gather_read(&gather, &s.rest, 100));
}

static void test_large_reads_do_not_rest(void **state) {
  (void)state;
  agent_loop loop;
  agent_gather gather;
  open_gather(&loop, &gather);
  stream s = new_stream(&loop);
  for (int i = 0; i < 1000; i++)
    assert_false(agent_gather_read(&gather, &s.rest, 64 * 1024));
}

static void test_busy_rests_until_it_is_not(void **state) {
  (void)state;
  agent_loop loop;
  agent_gather gather;
  open_gather(&loop, &gather);
  stream s = new_stream(&loop);
  assert_in_range(reads_until_it_rests(&gather, &s, 4096), 9, 99999);
  run_until_over(&loop);
  assert_int_equal(s.over, 1);
  assert_true(agent_gather_read(&gather, &s.rest, 64 * 1024)); /* more came meanwhile */
  run_until_over(&loop);
  assert_int_equal(s.over, 2);
  assert_false(agent_gather_read(&gather, &s.rest, 4096)); /* hardly anything came */
  assert_false(agent_gather_read(&gather, &s.rest, 4096));
}

static void test_several_rest_and_one_leaves(void **state) {
  (void)state;
  agent_loop loop;
  agent_gather gather;
  open_gather(&loop, &gather);
  stream s[3];
  for (int i = 0; i < 3; i++) {
    s[i] = new_stream(&loop);
    assert_in_range(reads_until_it_rests(&gather, &s[i], 1), 9, 99999);
  }
  agent_gather_forget(&s[1].rest);
  agent_gather_forget(&s[1].rest);
  run_until_over(&loop);
  assert_int_equal(s[0].over, 1);
  assert_int_equal(s[1].over, 0);
  assert_int_equal(s[2].over, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_reads_do_not_rest),
      cmocka_unit_test(test_large_reads_do_not_rest),
      cmocka_unit_test(test_busy_rests_until_it_is_not),
      cmocka_unit_test(test_several_rest_and_one_leaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
