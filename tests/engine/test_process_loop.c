/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in a program's own loop, and many of them at once. */
#include <poll.h>
#include <signal.h>

#include "test_process_support.h"

typedef struct setting {
  fixture *home;
  cdam_loop *loop;
  int64_t longest_us; /* of a turn */
} setting;

static setting begin(void **state) {
  setting this = {.home = *state};
  cdam_error err;
  assert_ok(cdam_loop_new(this.home->client, &this.loop, &err), &err);
  return this;
}

static void turn(setting *this) {
  struct pollfd ready = {.fd = cdam_loop_fd(this->loop), .events = POLLIN};
  if (poll(&ready, 1, 20000) == 0) fail_msg("nothing happens");
  int64_t before = cdam_now_us();
  cdam_loop_dispatch(this->loop);
  int64_t took = cdam_now_us() - before;
  if (took > this->longest_us) this->longest_us = took;
}

/* ---- one of many ---- */

typedef struct one {
  setting *setting;
  int number;
  cdam_process *process;
  tale story;
  size_t to_write, written;
  bool closed;
  cdam_status status;
  int *closed_count;
} one;

static const char pattern[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static void write_on(one *this) {
  cdam_error err;
  while (this->written < this->to_write) {
    size_t at = this->written % 36, taken;
    size_t length =
        36 - at < this->to_write - this->written ? 36 - at : this->to_write - this->written;
    cdam_status status = cdam_process_write_some(this->process, pattern + at, length, &taken, &err);
    assert_ok(status, &err);
    this->written += taken;
    if (taken < length) return;
    if (this->written == this->to_write)
      assert_ok(cdam_process_end_input(this->process, &err), &err);
  }
}

static void ready(void *user, cdam_process *process) {
  one *this = user;
  assert_ptr_equal(process, this->process);
  cdam_process_event event;
  for (;;) {
    event = next(process, 12345); /* it does not wait */
    if (event.kind == CDAM_PROCESS_NOTHING) break;
    if (!follow(&this->story, process, event)) {
      this->closed = true;
      ++*this->closed_count;
      cdam_process_free(process); /* here too */
      this->process = NULL;
      return;
    }
  }
  write_on(this);
}

static void spawned(void *user, cdam_status status, cdam_process *process, const cdam_error *err) {
  one *this = user;
  this->status = status;
  assert_ok(status, err);
  this->process = process;
  cdam_process_on_ready(process, ready, this);
  write_on(this);
}

static void sixty_four_at_once(void **state) {
  enum { COUNT = 64, BYTES = 360000 };
  setting this = begin(state);
  static one all[COUNT];
  int closed = 0;
  cdam_error err;
  for (int i = 0; i < COUNT; i++) {
    char script[64];
    snprintf(script, sizeof script, "cat; echo %d >&2; exit %d", i, i);
    const cdam_process_command command = {.argv = SH(script), .input = true};
    all[i] = (one){.setting = &this, .number = i, .to_write = BYTES, .closed_count = &closed};
    assert_ok(cdam_process_spawn_start(this.loop, this.home->session, &command, spawned, &all[i],
                                       NULL, &err),
              &err);
  }
  while (closed < COUNT)
    turn(&this);
  for (int i = 0; i < COUNT; i++) {
    char said[16];
    snprintf(said, sizeof said, "%d\n", i);
    assert_string_equal(cdam_buffer_text(&all[i].story.err), said);
    assert_int_equal(all[i].story.out.length, BYTES);
    for (size_t k = 0; k < BYTES; k += 35)
      assert_int_equal(all[i].story.out.data[k], pattern[k % 36]);
    assert_int_equal(all[i].story.exit.code, i);
    forget_story(&all[i].story);
  }
  printf("# the longest turn: %lld us\n", (long long)this.longest_us);
  cdam_loop_free(this.loop);
}

/* ---- a thousand ---- */

static void count_them(void *user, cdam_status status, cdam_process_list *list,
                       const cdam_error *err) {
  assert_ok(status, err);
  int running = 0;
  cdam_process_info info;
  for (size_t i = 0; i < cdam_process_list_count(list); i++)
    running += cdam_process_list_get(list, i, &info) && info.running;
  *(int *)user = running;
  cdam_process_list_free(list);
}

static void a_thousand(void **state) {
  enum { COUNT = 1000 };
  setting this = begin(state);
  static one all[COUNT];
  int closed = 0, running = -1;
  cdam_error err;
  const cdam_process_command command = {.argv = (const char *const[]){"sleep", "600", NULL},
                                        .discard_stdout = true,
                                        .discard_stderr = true};
  for (int i = 0; i < COUNT; i++) {
    all[i] = (one){.setting = &this, .number = i, .closed_count = &closed};
    assert_ok(cdam_process_spawn_start(this.loop, this.home->session, &command, spawned, &all[i],
                                       NULL, &err),
              &err);
  }
  while (cdam_loop_pending(this.loop))
    turn(&this);
  assert_ok(cdam_processes_start(this.loop, this.home->session, count_them, &running, NULL, &err),
            &err);
  while (running < 0)
    turn(&this);
  assert_int_equal(running, COUNT);
  for (int i = 0; i < COUNT; i++)
    assert_ok(cdam_process_kill(all[i].process, 0, &err), &err);
  while (closed < COUNT)
    turn(&this);
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(all[i].story.exit.signal, SIGKILL);
    assert_int_equal(all[i].story.exit.ended_by, CDAM_ENDED_KILL);
  }
  assert_int_equal(cdam_loop_pending(this.loop), 0);
  cdam_loop_free(this.loop);
  assert_false(runs(*state, "sleep 600"));
}

/* ---- commands ---- */

static void command_came(void *user, cdam_status status, cdam_exec_result *result,
                         const cdam_error *err) {
  assert_ok(status, err);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  cdam_exec_result_free(result);
  ++*(int *)user;
}

static void many_commands_at_once(void **state) {
  enum { COUNT = 1000 };
  setting this = begin(state);
  int count = 0;
  cdam_error err;
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  int64_t before = cdam_now_us();
  for (int i = 0; i < COUNT; i++)
    assert_ok(
        cdam_exec_start(this.loop, this.home->session, &command, command_came, &count, NULL, &err),
        &err);
  while (count < COUNT)
    turn(&this);
  printf("# %lld commands a second; the longest turn: %lld us\n",
         COUNT * 1000000LL / (long long)(cdam_now_us() - before), (long long)this.longest_us);
  cdam_loop_free(this.loop);
}

/* ---- cancelling ---- */

typedef struct outcome {
  int count;
  cdam_status status;
  cdam_process *process;
} outcome;

static void came(void *user, cdam_status status, cdam_process *process, const cdam_error *err) {
  outcome *this = user;
  (void)err;
  this->count++;
  this->status = status;
  this->process = process;
}

/* All that is there has to be fetched before one waits for more. */
static bool is_closed(cdam_process *process) {
  cdam_process_event event;
  do
    event = next(process, 0);
  while (event.kind != CDAM_PROCESS_NOTHING && event.kind != CDAM_PROCESS_CLOSED);
  return event.kind == CDAM_PROCESS_CLOSED;
}

/* At each moment: nothing remains, or the process is handed out. */
static void cancelled_spawns(void **state) {
  for (int outlive = 0; outlive < 2; outlive++) {
    for (int turns = 0; turns < 12; turns++) {
      setting this = begin(state);
      outcome end = {0};
      cdam_operation *operation;
      cdam_error err;
      const cdam_process_command command = {
          .argv = SH("trap '' TERM; setsid sleep 9301 & sleep 9302; sleep 9303"),
          .outlive = outlive,
          .grace_ms = 5000};
      assert_ok(cdam_process_spawn_start(this.loop, this.home->session, &command, came, &end,
                                         &operation, &err),
                &err);
      for (int i = 0; i < turns && !end.count; i++)
        turn(&this);
      if (!end.count) cdam_cancel(operation);
      while (!end.count)
        turn(&this);
      if (end.status == CDAM_OK) {
        assert_ok(cdam_process_kill(end.process, 0, &err), &err);
        while (!is_closed(end.process))
          turn(&this);
        cdam_process_free(end.process);
      } else {
        assert_int_equal(end.status, CDAM_ERR_CANCELLED);
        assert_null(end.process);
      }
      cdam_loop_free(this.loop);
      await_gone(*state, "930");
    }
  }
}

/* ---- a loop that goes ---- */

static void a_loop_that_goes(void **state) {
  setting this = begin(state);
  outcome end = {0}, late = {0};
  cdam_error err;
  const cdam_process_command command = {.argv = SH("echo x; sleep 9401"), .input = true};
  assert_ok(
      cdam_process_spawn_start(this.loop, this.home->session, &command, came, &end, NULL, &err),
      &err);
  while (!end.count)
    turn(&this);
  assert_int_equal(end.status, CDAM_OK);
  assert_ok(
      cdam_process_spawn_start(this.loop, this.home->session, &command, came, &late, NULL, &err),
      &err);
  cdam_loop_free(this.loop);
  assert_int_equal(late.count, 1);
  assert_int_equal(late.status, CDAM_ERR_CANCELLED);
  cdam_process_event event = {.kind = CDAM_PROCESS_OUTPUT};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_NOTHING)
    status = cdam_process_next(end.process, -1, &event, &err);
  assert_int_not_equal(status, CDAM_OK);
  size_t taken;
  assert_int_not_equal(cdam_process_write_some(end.process, "x", 1, &taken, &err), CDAM_OK);
  assert_int_not_equal(cdam_process_kill(end.process, 0, &err), CDAM_OK);
  cdam_process_free(end.process);
  await_gone(*state, "9401");
}

/* ---- handles that are freed in their callback ---- */

static void free_at_once(void *user, cdam_process *process) {
  cdam_process_free(process);
  ++*(int *)user;
}

static void spawned_to_be_freed(void *user, cdam_status status, cdam_process *process,
                                const cdam_error *err) {
  assert_ok(status, err);
  cdam_process_on_ready(process, free_at_once, user);
}

static void freed_in_callbacks(void **state) {
  setting this = begin(state);
  static const char *const scripts[] = {"echo x; sleep 9501",      "yes 9502",   "exit 1",
                                        "yes 9503 & yes 9504 >&2", "kill -9 $$", "sleep 0.1"};
  enum { COUNT = sizeof scripts / sizeof *scripts };
  int freed = 0;
  cdam_error err;
  for (int i = 0; i < 4 * COUNT; i++) {
    const cdam_process_command command = {.argv = SH(scripts[i % COUNT]), .terminal = i % 5 == 0};
    assert_ok(cdam_process_spawn_start(this.loop, this.home->session, &command, spawned_to_be_freed,
                                       &freed, NULL, &err),
              &err);
  }
  while (freed < 4 * COUNT)
    turn(&this);
  cdam_loop_free(this.loop);
  await_gone(*state, "950");
}

/* ---- the calls that do not fit ---- */

static void calls_of_a_loop(void **state) {
  setting this = begin(state);
  outcome end = {0};
  cdam_error err;
  const cdam_process_command command = {.argv = SH("read x; exit 3"), .input = true};
  assert_int_equal(
      cdam_process_spawn_start(NULL, this.home->session, &command, came, &end, NULL, &err),
      CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_process_spawn_start(this.loop, NULL, &command, came, &end, NULL, &err),
                   CDAM_ERR_ARGUMENT);
  assert_int_equal(
      cdam_process_spawn_start(this.loop, this.home->session, NULL, came, &end, NULL, &err),
      CDAM_ERR_ARGUMENT);
  assert_ok(
      cdam_process_spawn_start(this.loop, this.home->session, &command, came, &end, NULL, &err),
      &err);
  while (!end.count)
    turn(&this);
  assert_ok(end.status, &err);
  assert_int_equal(cdam_process_write(end.process, "x", 1, &err), CDAM_ERR_ARGUMENT);
  int64_t before = cdam_now_ms();
  assert_int_equal(cdam_process_wait(end.process, 60000, NULL, &err), CDAM_ERR_TIMEOUT);
  assert_true(cdam_now_ms() - before < 30000);
  size_t taken;
  assert_ok(cdam_process_write_some(end.process, "x\n", 2, &taken, &err), &err);
  assert_int_equal(taken, 2);
  cdam_process_exit exit;
  while (!cdam_process_exit_status(end.process, &exit))
    turn(&this);
  assert_ok(cdam_process_wait(end.process, 0, &exit, &err), &err);
  assert_int_equal(exit.code, 3);
  cdam_process_free(end.process);
  cdam_loop_free(this.loop);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sixty_four_at_once),    cmocka_unit_test(a_thousand),
      cmocka_unit_test(many_commands_at_once), cmocka_unit_test(cancelled_spawns),
      cmocka_unit_test(a_loop_that_goes),      cmocka_unit_test(freed_in_callbacks),
      cmocka_unit_test(calls_of_a_loop),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
