/* SPDX-License-Identifier: Apache-2.0 */
/* A link that ends while nobody looks: the next call makes another one before it sends anything.
 * And what was sent once is not sent again. */
#include "loop_support.h"
#include "process_agent.h"

static unsigned requests; /* that came, on all links */

/* One that is asked for "sleep" runs on. */
SCRIPT(honest) {
  if (m->body_case == TO(CANCEL)) return;
  requests++;
  if (m->body_case == TO(MAKE_DIRECTORY) || m->body_case == TO(LIST_PROCESSES))
    say_done(a, m->channel);
  ONLY(START);
  if (m->start->argv[0].len == 5)
    say_started(a, m->channel, 9, 10);
  else
    say_all(a, m->channel, 5);
}

/* ---- the calls ---- */

static const cdam_exec_command exec_command = {.argv = argv};
static const cdam_process_command process_command = {.argv = argv};

static cdam_status run_exec(fixture *this, cdam_error *err) {
  cdam_exec_result *result;
  cdam_status status = cdam_exec(&this->session, &exec_command, &result, err);
  cdam_exec_result_free(result);
  return status;
}

static cdam_status run_spawn(fixture *this, cdam_error *err) {
  cdam_process *process;
  cdam_status status = cdam_process_spawn(&this->session, &process_command, &process, err);
  if (status == CDAM_OK) status = to_the_end(process, err);
  cdam_process_free(process);
  return status;
}

static cdam_status run_file(fixture *this, cdam_error *err) {
  return cdam_file_make_directory(&this->session, "d", 0, false, err);
}

static cdam_status run_list(fixture *this, cdam_error *err) {
  cdam_process_list *list;
  cdam_status status = cdam_processes(&this->session, &list, err);
  cdam_process_list_free(list);
  return status;
}

static void note_process(void *user, cdam_status status, cdam_process *process,
                         const cdam_error *err) {
  note_outcome(user, status, err);
  cdam_process_free(process);
}

static cdam_process *kept;

static void keep_process(void *user, cdam_status status, cdam_process *process,
                         const cdam_error *err) {
  note_outcome(user, status, err);
  kept = process;
}

static void note_processes(void *user, cdam_status status, cdam_process_list *list,
                           const cdam_error *err) {
  note_outcome(user, status, err);
  cdam_process_list_free(list);
}

static cdam_status start_exec(fixture *this, cdam_loop *loop, outcome *o, cdam_error *err) {
  return cdam_exec_start(loop, &this->session, &exec_command, note_exec, o, NULL, err);
}

static cdam_status start_spawn(fixture *this, cdam_loop *loop, outcome *o, cdam_error *err) {
  return cdam_process_spawn_start(loop, &this->session, &process_command, note_process, o, NULL,
                                  err);
}

static cdam_status start_file(fixture *this, cdam_loop *loop, outcome *o, cdam_error *err) {
  return cdam_file_make_directory_start(loop, &this->session, "d", 0, false, note_done, o, NULL,
                                        err);
}

static cdam_status start_list(fixture *this, cdam_loop *loop, outcome *o, cdam_error *err) {
  return cdam_processes_start(loop, &this->session, note_processes, o, NULL, err);
}

static const struct call {
  const char *name;
  cdam_status (*run)(fixture *this, cdam_error *err);
  cdam_status (*start)(fixture *this, cdam_loop *loop, outcome *o, cdam_error *err);
} calls[] = {
    {"exec", run_exec, start_exec},
    {"spawn", run_spawn, start_spawn},
    {"file", run_file, start_file},
    {"list", run_list, start_list},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* A blocking one, or in a loop. */
static cdam_status one(fixture *this, const struct call *call, cdam_loop *loop, cdam_error *err) {
  if (!loop) return call->run(this, err);
  outcome o = {0};
  cdam_status status = call->start(this, loop, &o, err);
  if (status != CDAM_OK) return status;
  drive(loop);
  assert_int_equal(o.calls, 1);
  *err = o.error;
  status = o.status;
  outcome_clear(&o);
  return status;
}

static void expect_one(fixture *this, const char *when, const struct call *call, cdam_loop *loop,
                       cdam_status expected, const char *words) {
  cdam_error err = {0};
  cdam_status status = one(this, call, loop, &err);
  if (status != expected || !strstr(err.message, words))
    fail_msg("%s: %s%s: %s: %s", when, call->name, loop ? " in a loop" : "",
             cdam_status_name(status), err.message);
}

/* ---- how a link ends ---- */

static void hang_up(fixture *this) {
  assert_int_equal(shutdown(this->agent.fd, SHUT_RDWR), 0);
}

/* The last words wait to be read before the end. */
static void farewell(fixture *this) {
  say_error(&this->agent, 0, CODE(SHUTTING_DOWN), 0);
  hang_up(this);
}

/* So late that the link itself has something to do. */
static void sleep_and_hang_up(fixture *this) {
  usleep(1100 * 1000);
  hang_up(this);
}

static const struct end {
  const char *name;
  void (*end)(fixture *this);
} ends[] = {{"hung up", hang_up}, {"farewell", farewell}, {"later", sleep_and_hang_up}};

enum { ENDS = sizeof ends / sizeof *ends };

static fixture *begin_with(agent_script script, bool in_loop, cdam_loop **loop) {
  fixture *this = begin(script, 3000);
  requests = 0;
  *loop = in_loop ? loop_of(this->session.client) : NULL;
  return this;
}

static void end_with(fixture *this, cdam_loop *loop) {
  cdam_loop_free(loop);
  end(this);
}

static size_t links(fixture *this) {
  return scripted_engine_count(this->engine, "POST", "/exec/aaaa/start");
}

static void it_is_noticed_in_time(void **state) {
  cdam_loop *loop;
  fixture *this = begin_with(honest, *state != NULL, &loop);
  for (size_t i = 0; i < CALLS; i++) {
    expect_one(this, "at first", &calls[i], loop, CDAM_OK, "");
    for (size_t j = 0; j < ENDS; j++) {
      ends[j].end(this);
      expect_one(this, ends[j].name, &calls[i], loop, CDAM_OK, "");
    }
  }
  assert_int_equal(requests, CALLS * (1 + ENDS));
  assert_int_equal(links(this), 1 + CALLS * ENDS);
  end_with(this, loop);
}

/* A process holds the link, and hears of its end when it is looked at. */
static void beside_a_process(void **state) {
  cdam_loop *loop;
  fixture *this = begin_with(honest, *state != NULL, &loop);
  for (size_t i = 0; i < CALLS; i++) {
    cdam_process *process;
    cdam_error err = {0};
    outcome o = {0};
    const cdam_process_command sleeps = {.argv = (const char *const[]){"sleep", NULL}};
    if (!loop) {
      assert_int_equal(cdam_process_spawn(&this->session, &sleeps, &process, &err), CDAM_OK);
    } else {
      assert_int_equal(
          cdam_process_spawn_start(loop, &this->session, &sleeps, keep_process, &o, NULL, &err),
          CDAM_OK);
      drive(loop);
      assert_int_equal(o.status, CDAM_OK);
      process = kept;
    }
    hang_up(this);
    expect_one(this, "beside", &calls[i], loop, CDAM_OK, "");
    cdam_process_event event = {0};
    cdam_status status = CDAM_OK;
    for (int64_t limit = cdam_now_ms() + 20000; status == CDAM_OK && cdam_now_ms() < limit;) {
      if (loop) cdam_loop_dispatch(loop);
      status = cdam_process_next(process, 100, &event, &err);
    }
    assert_int_equal(status, CDAM_ERR_AGENT);
    cdam_process_free(process);
  }
  assert_int_equal(requests, 2 * CALLS);
  assert_int_equal(links(this), 1 + CALLS);
  end_with(this, loop);
}

/* It may have been done. */
SCRIPT(ends_when_asked) {
  (void)m;
  requests++;
  shutdown(a->fd, SHUT_RDWR);
}

static void what_was_sent_is_not_sent_again(void **state) {
  cdam_loop *loop;
  fixture *this = begin_with(ends_when_asked, *state != NULL, &loop);
  for (size_t i = 0; i < CALLS; i++)
    expect_one(this, "sent", &calls[i], loop, CDAM_ERR_AGENT, "agent has ended");
  assert_int_equal(requests, CALLS);
  assert_int_equal(links(this), CALLS);
  end_with(this, loop);
}

/* The new link finds what any first one finds. */
static void of_a_sandbox_that_was_stopped(void **state) {
  cdam_loop *loop;
  fixture *this = begin_with(honest, *state != NULL, &loop);
  for (size_t i = 0; i < CALLS; i++) {
    this->rules[0].reply = (scripted_reply){201, .body = "{\"Id\":\"aaaa\"}"};
    expect_one(this, "at first", &calls[i], loop, CDAM_OK, "");
    hang_up(this);
    this->rules[0].reply = (scripted_reply){409, .body = "{\"message\":\"is not running\"}"};
    this->rules[2].reply.body = "{\"State\":{\"Running\":false,\"Paused\":false}}";
    expect_one(this, "stopped", &calls[i], loop, CDAM_ERR_EXITED, "the sandbox is not running");
  }
  assert_int_equal(requests, CALLS);
  end_with(this, loop);
}

#define BOTH(test)                                                                                 \
  {#test, test, NULL, NULL, NULL}, {                                                               \
#test " in a loop", test, NULL, NULL, (void *)1                                                \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(it_is_noticed_in_time),
      BOTH(beside_a_process),
      BOTH(what_was_sent_is_not_sent_again),
      BOTH(of_a_sandbox_that_was_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
