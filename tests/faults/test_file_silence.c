/* SPDX-License-Identifier: Apache-2.0 */
/* Files, and an agent that is silent, slow or sparing: what ends, and what may take its time. */
#include "file_calls.h"

SCRIPT(silence) {
  (void)a;
  (void)m;
}

static void test_no_answer(void **state) {
  (void)state;
  fixture *this = begin(silence, 300);
  cdam_error err;
  int64_t before = cdam_now_ms();
  assert_int_equal(call_read(this, &err), CDAM_ERR_AGENT);
  assert_string_equal(err.message,
                      "cannot read \"f\": the sandbox's agent did not answer within 300 ms");
  assert_in_range(cdam_now_ms() - before, 290, 30000);
  this->rules[2].reply.body = "{\"State\":{\"Running\":true,\"Paused\":true}}";
  assert_int_equal(call_make_directory(this, &err), CDAM_ERR_PAUSED);
  this->rules[2].reply.body = "{\"State\":{\"Running\":false,\"Paused\":false}}";
  assert_int_equal(call_large_write(this, &err), CDAM_ERR_EXITED);
  this->rules[2].reply = (scripted_reply){404, .body = "{\"message\":\"No such container\"}"};
  assert_int_equal(call_list(this, &err), CDAM_ERR_NOT_FOUND);
  end(this);
}

/* The agent is long silent while it removes a tree. */
SCRIPT(slow_remove) {
  if (m->body_case != TO(REMOVE)) return;
  usleep(900000);
  say_done(a, m->channel);
}

static void test_a_large_tree(void **state) {
  (void)state;
  fixture *this = begin(slow_remove, 300);
  cdam_error err;
  assert_int_equal(call_remove(this, &err), CDAM_OK);
  assert_int_equal(cdam_file_remove(&this->session, "d", false, false, &err), CDAM_ERR_AGENT);
  end(this);
}

/* Files go by the engine's exec then (test_file_engine.c); a watch does not. */
static void test_no_agent(void **state) {
  (void)state;
  fixture *this = begin(silence, 300);
  this->session.has_agent = false;
  cdam_error err;
  assert_int_equal(call_watch(this, &err), CDAM_ERR_NO_AGENT);
  if (!strstr(err.message, "cannot watch \"d\": the sandbox has no agent"))
    fail_msg("%s", err.message);
  assert_int_equal(scripted_engine_count(this->engine, NULL, "*"), 0);
  end(this);
}

/* A byte now and then is enough. */
SCRIPT(slow) {
  if (m->body_case != TO(READ_FILE)) return;
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
  for (int i = 0; i < 10; i++) {
    usleep(120000);
    say_data(a, m->channel, "x", 1, i == 9);
  }
  say_done(a, m->channel);
}

static void test_progress(void **state) {
  (void)state;
  fixture *this = begin(slow, 1000);
  cdam_error err;
  size_t got = 0;
  const cdam_sink sink = {.write = ignore, .user = &got};
  assert_int_equal(cdam_file_read_to(&this->session, "f", 0, 0, &sink, &err), CDAM_OK);
  assert_int_equal(got, 10);
  end(this);
}

SCRIPT(take_it) {
  if (m->body_case != TO(DATA)) return;
  say_credit(a, m->channel, (uint32_t)m->data->data.len + 16);
  if (!a->ended) return;
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
  say_done(a, m->channel);
}

static int64_t give_late(void *user, void *buffer, size_t size) {
  int *left = user;
  (void)size;
  if (--*left < 0) return 0;
  memset(buffer, 'x', 100);
  return 100;
}

/* What the program itself does not give has no deadline. */
static void test_a_slow_program(void **state) {
  (void)state;
  fixture *this = begin(take_it, 700);
  cdam_error err;
  int ends[2], times = 3;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    usleep(900000);
    _exit(write(ends[1], "late", 4) == 4 ? 0 : 1);
  }
  close(ends[1]);
  cdam_source source = {.from_fd = true, .fd = ends[0]};
  assert_int_equal(cdam_file_write(&this->session, "f", &source, NULL, &err), CDAM_OK);
  assert_int_equal(this->agent.taken, 4);
  close(ends[0]);
  source = (cdam_source){.read = give_late, .user = &times};
  assert_int_equal(cdam_file_write(&this->session, "f", &source, NULL, &err), CDAM_OK);
  assert_int_equal(this->agent.taken, 300);
  end(this);
}

/* Hardly more credit than was used still brings all of it over. */
SCRIPT(miser) {
  if (m->body_case != TO(DATA)) return;
  if (!a->ended) {
    say_credit(a, m->channel, (uint32_t)m->data->data.len);
    say_credit(a, m->channel, 14);
    return;
  }
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
  say_done(a, m->channel);
}

static void test_little_credit(void **state) {
  (void)state;
  fixture *this = begin(miser, 5000);
  this->agent.credit = 1;
  cdam_error err;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(call_write(this, &err), CDAM_OK);
    assert_int_equal(this->agent.taken, 1 << 19);
  }
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_answer),      cmocka_unit_test(test_a_large_tree),
      cmocka_unit_test(test_no_agent),       cmocka_unit_test(test_progress),
      cmocka_unit_test(test_a_slow_program), cmocka_unit_test(test_little_credit),
  };
  return cmocka_run_group_tests_name("file_silence", tests, NULL, NULL);
}
