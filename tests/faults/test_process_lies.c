/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and commands, and an agent that lies: whatever makes no sense breaks the link, with an
 * error that says so, and nothing else. */
#include "process_agent.h"

/* ---- lies about a process that was started ---- */

#define LYING(name, lies)                                                                          \
  SCRIPT(name) {                                                                                   \
    ONLY(START);                                                                                   \
    uint32_t c = m->channel;                                                                       \
    lies;                                                                                          \
  }

#define GOOD say_started(a, c, 5, 10)

LYING(no_id, say_started(a, c, 0, 10))
LYING(huge_pid, say_started(a, c, 5, 1u << 31))
LYING(started_twice, (GOOD, GOOD))
LYING(output_first, say_output(a, c, STREAM(OUTPUT), 0, "x", false))
LYING(exited_first, say_exited(a, c, exited_of(5)))
LYING(done_first, say_done(a, c))
LYING(done_without_exit, (GOOD, say_ends(a, c), say_done(a, c)))
LYING(done_without_ends, (GOOD, say_exited(a, c, exited_of(5)), say_done(a, c)))
LYING(done_with_one_end, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "", true),
                          say_exited(a, c, exited_of(5)), say_done(a, c)))
LYING(no_stream, (GOOD, say_output(a, c, 0, 0, "x", false)))
LYING(third_stream, (GOOD, say_output(a, c, 3, 0, "x", false)))
LYING(negative_stream, (GOOD, say_output(a, c, -1, 0, "x", false)))
LYING(gap, (GOOD, say_output(a, c, STREAM(OUTPUT), 1, "x", false)))
LYING(backwards, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "xyz", false),
                  say_output(a, c, STREAM(OUTPUT), 2, "z", false)))
LYING(mixed_offsets, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "xyz", false),
                      say_output(a, c, STREAM(ERROR), 3, "z", false)))
LYING(wrong_loss, (GOOD, say_lost(a, c, STREAM(OUTPUT), 5, 4, "x", false)))
LYING(endless_loss, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "x", false),
                     say_lost(a, c, STREAM(OUTPUT), 0, UINT64_MAX, "x", false)))
LYING(endless_offset, (GOOD, say_lost(a, c, STREAM(OUTPUT), UINT64_MAX, UINT64_MAX, "xy", false)))
LYING(after_end, (GOOD, say_output(a, c, STREAM(ERROR), 0, "x", true),
                  say_output(a, c, STREAM(ERROR), 1, "y", false)))
LYING(end_twice, (GOOD, say_output(a, c, STREAM(ERROR), 0, "", true),
                  say_output(a, c, STREAM(ERROR), 0, "", true)))
LYING(nothing_at_all, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "", false)))
LYING(exited_twice, (GOOD, say_exited(a, c, exited_of(5)), say_exited(a, c, exited_of(5))))
LYING(exit_of_another, (GOOD, say_exited(a, c, exited_of(6))))
LYING(broken_input, (GOOD, say_broken(a, c)))
LYING(data_of_files, (GOOD, say_data(a, c, "x", 1, false)))
LYING(entry_of_files, (GOOD, say_entry(a, c, entry_of(TYPE(FILE)))))
LYING(event_of_files, (GOOD, say_event(a, c, KIND(READY), "", 0)))
LYING(process_info,
      (GOOD, say_info(a, c, (MSG(ProcessInfo))COFFERDAM__AGENT__V1__PROCESS_INFO__INIT)))

#define ODD_EXIT(name, pid, change)                                                                \
  SCRIPT(name) {                                                                                   \
    ONLY(START);                                                                                   \
    MSG(Exited) exited = exited_of(5);                                                             \
    change;                                                                                        \
    say_started(a, m->channel, 5, pid);                                                            \
    say_exited(a, m->channel, exited);                                                             \
  }

ODD_EXIT(large_code, 10, exited.code = 256)
ODD_EXIT(large_signal, 10, exited.signal = 65)
ODD_EXIT(code_and_signal, 10, (exited.code = 1, exited.signal = 9))
ODD_EXIT(ended_by_nothing, 10, exited.ended_by = 0)
ODD_EXIT(ended_by_unknown, 10, exited.ended_by = 6)
ODD_EXIT(ended_by_negative, 10, exited.ended_by = -1)
ODD_EXIT(never_ran, 0, (void)0)

typedef struct lie {
  const char *name;
  agent_script script;
  const char *message; /* of the error */
} lie;

#define LIE(name, message)                                                                         \
  { #name, name, message }

static const lie lies_of_start[] = {
    LIE(no_id, "without a number"),
    LIE(huge_pid, "without a number"),
    LIE(started_twice, "started twice"),
    LIE(output_first, "was not started"),
    LIE(exited_first, "an end that cannot be"),
    LIE(done_first, "has not ended"),
    LIE(done_without_exit, "has not ended"),
    LIE(done_without_ends, "has not ended"),
    LIE(done_with_one_end, "has not ended"),
    LIE(no_stream, "unknown stream"),
    LIE(third_stream, "unknown stream"),
    LIE(negative_stream, "unknown stream"),
    LIE(gap, "a wrong offset"),
    LIE(backwards, "a wrong offset"),
    LIE(mixed_offsets, "a wrong offset"),
    LIE(wrong_loss, "a wrong offset"),
    LIE(endless_loss, "lost output"),
    LIE(endless_offset, "an impossible offset"),
    LIE(after_end, "after its end"),
    LIE(end_twice, "after its end"),
    LIE(nothing_at_all, "without a byte"),
    LIE(exited_twice, "an end that cannot be"),
    LIE(exit_of_another, "another process"),
    LIE(broken_input, "input that cannot break"),
    LIE(data_of_files, "none of a process"),
    LIE(entry_of_files, "none of a process"),
    LIE(event_of_files, "none of a process"),
    LIE(process_info, "none of a process"),
    LIE(large_code, "an exit status that is none"),
    LIE(large_signal, "an exit status that is none"),
    LIE(code_and_signal, "a code and a signal"),
    LIE(ended_by_nothing, "ended by nothing"),
    LIE(ended_by_unknown, "ended by nothing"),
    LIE(ended_by_negative, "ended by nothing"),
    LIE(never_ran, "never ran"),
};

static void expect_lie(const lie *told, cdam_status status, const cdam_error *err) {
  if (status != CDAM_ERR_AGENT || !strstr(err->message, told->message))
    fail_msg("%s: %s: %s", told->name, cdam_status_name(status), err->message);
}

static void handles(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies_of_start / sizeof *lies_of_start; i++) {
    fixture *this = begin(lies_of_start[i].script, 5000);
    cdam_process *process;
    cdam_error err = {0};
    const cdam_process_command command = {.argv = argv};
    cdam_status status = cdam_process_spawn(&this->session, &command, &process, &err);
    if (status == CDAM_OK) status = to_the_end(process, &err);
    expect_lie(&lies_of_start[i], status, &err);
    if (process) {
      /* And so it stays. */
      cdam_process_event event;
      assert_int_equal(cdam_process_next(process, 0, &event, &err), CDAM_ERR_AGENT);
      assert_int_equal(cdam_process_kill(process, 0, &err), CDAM_ERR_AGENT);
    }
    cdam_process_free(process);
    end(this);
  }
}

static void commands(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies_of_start / sizeof *lies_of_start; i++) {
    fixture *this = begin(lies_of_start[i].script, 5000);
    cdam_exec_result *result;
    cdam_error err = {0};
    cdam_status status =
        cdam_exec(&this->session, &(cdam_exec_command){.argv = argv}, &result, &err);
    expect_lie(&lies_of_start[i], status, &err);
    assert_null(result);
    /* At its deadline too; whether it runs nobody knows then. */
    this->agent.script = lies_of_start[i].script;
    status = cdam_exec(&this->session, &(cdam_exec_command){.argv = argv, .timeout_ms = 4000},
                       &result, &err);
    expect_lie(&lies_of_start[i], status, &err);
    end(this);
  }
}

/* Outputs that were not asked for. */
LYING(only_output, (GOOD, say_output(a, c, STREAM(OUTPUT), 0, "x", false)))
LYING(only_error, (GOOD, say_output(a, c, STREAM(ERROR), 0, "x", false)))

static void unwanted_outputs(void **state) {
  (void)state;
  static const struct {
    agent_script script;
    cdam_process_command command;
  } cases[] = {
      {only_output, {.argv = argv, .discard_stdout = true}},
      {only_error, {.argv = argv, .discard_stderr = true}},
      {only_error, {.argv = argv, .join_stderr = true}},
      {only_error, {.argv = argv, .terminal = true}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture *this = begin(cases[i].script, 5000);
    cdam_process *process;
    cdam_error err = {0};
    cdam_status status = cdam_process_spawn(&this->session, &cases[i].command, &process, &err);
    if (status == CDAM_OK) status = to_the_end(process, &err);
    expect_lie(&(lie){.name = "unwanted", .message = "nobody asked for"}, status, &err);
    cdam_process_free(process);
    end(this);
  }
}

LYING(broken_twice, (say_broken(a, c), GOOD, say_broken(a, c)))

static void input_that_breaks_twice(void **state) {
  (void)state;
  fixture *this = begin(broken_twice, 5000);
  cdam_process *process;
  cdam_error err = {0};
  const cdam_process_command command = {.argv = argv, .input = true};
  cdam_status status = cdam_process_spawn(&this->session, &command, &process, &err);
  if (status == CDAM_OK) status = to_the_end(process, &err);
  expect_lie(&(lie){.name = "twice", .message = "cannot break"}, status, &err);
  cdam_process_free(process);
  end(this);
}

/* ---- attaching ---- */

static unsigned attaches, forgets;

SCRIPT(attached) {
  if (m->body_case == TO(GET_STATUS)) say_done(a, m->channel);
  if (m->body_case == TO(FORGET)) forgets++;
  ONLY(ATTACH);
  attaches++;
  uint32_t c = m->channel;
  if (m->attach->process_id == 7) {
    say_started(a, c, 8, 10);
    return;
  }
  say_started(a, c, m->attach->process_id, 10);
  uint64_t offset = m->attach->output_offset;
  if (m->attach->from_now) {
    say_output(a, c, STREAM(OUTPUT), 1000, "now", false);
    say_output(a, c, STREAM(OUTPUT), 1003, "on", true);
  } else if (offset == 99) {
    say_output(a, c, STREAM(OUTPUT), 98, "x", false);
  } else {
    say_lost(a, c, STREAM(OUTPUT), offset + 5, 5, "rest", true);
  }
  say_exited(a, c, exited_of(m->attach->process_id));
  say_done(a, c);
}

static cdam_status attach(fixture *this, const char *key, const cdam_process_attachment *how,
                          cdam_process **process, cdam_error *err) {
  *err = (cdam_error){0};
  return cdam_process_attach(&this->session, key, how, process, err);
}

static void attaching(void **state) {
  (void)state;
  fixture *this = begin(attached, 5000);
  cdam_process *process;
  cdam_error err;
  cdam_process_event event;
  /* Nothing of another agent's process is asked, and its number is not sent. */
  attaches = forgets = 0;
  assert_int_equal(attach(this, "ab:5", NULL, &process, &err), CDAM_ERR_NO_PROCESS);
  assert_int_equal(attach(this, INSTANCE "00:5", NULL, &process, &err), CDAM_ERR_NO_PROCESS);
  assert_int_equal(cdam_process_forget(&this->session, "ab:5", &err), CDAM_ERR_NO_PROCESS);
  assert_int_equal(attaches + forgets, 0);

  cdam_process_attachment how = {.stdout_offset = 20};
  assert_int_equal(attach(this, INSTANCE ":5", &how, &process, &err), CDAM_OK);
  assert_string_equal(cdam_process_key(process), INSTANCE ":5");
  assert_int_equal(cdam_process_next(process, 5000, &event, &err), CDAM_OK);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_int_equal(event.offset, 25);
  assert_int_equal(event.lost, 5);
  assert_int_equal(to_the_end(process, &err), CDAM_OK);
  cdam_process_free(process);

  how = (cdam_process_attachment){.from_now = true};
  assert_int_equal(attach(this, INSTANCE ":5", &how, &process, &err), CDAM_OK);
  /* Both pieces, in one event or in two, as they happen to arrive. */
  size_t length = 0;
  while (length < 5) {
    assert_int_equal(cdam_process_next(process, 5000, &event, &err), CDAM_OK);
    assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
    assert_int_equal(event.offset, 1000 + length);
    length += event.length;
  }
  assert_int_equal(length, 5);
  assert_int_equal(to_the_end(process, &err), CDAM_OK);
  cdam_process_free(process);

  how = (cdam_process_attachment){.stdout_offset = 99};
  assert_int_equal(attach(this, INSTANCE ":5", &how, &process, &err), CDAM_OK);
  expect_lie(&(lie){.name = "early", .message = "a wrong offset"}, to_the_end(process, &err), &err);
  cdam_process_free(process);
  expect_lie(&(lie){.name = "other", .message = "another process"},
             attach(this, INSTANCE ":7", NULL, &process, &err), &err);
  how = (cdam_process_attachment){.no_output = true};
  assert_int_equal(attach(this, INSTANCE ":5", &how, &process, &err), CDAM_OK);
  expect_lie(&(lie){.name = "unwanted", .message = "nobody asked"}, to_the_end(process, &err),
             &err);
  cdam_process_free(process);
  end(this);
}

/* ---- the list ---- */

static MSG(ProcessInfo) info_of(uint64_t id) {
  MSG(ProcessInfo) info = COFFERDAM__AGENT__V1__PROCESS_INFO__INIT;
  info.process_id = id;
  info.pid = 10;
  info.running = true;
  return info;
}

#define LISTING(name, change)                                                                      \
  SCRIPT(name) {                                                                                   \
    ONLY(LIST_PROCESSES);                                                                          \
    MSG(ProcessInfo) info = info_of(5);                                                            \
    MSG(Exited) exited = exited_of(5);                                                             \
    (void)exited;                                                                                  \
    change;                                                                                        \
    say_info(a, m->channel, info);                                                                 \
    say_done(a, m->channel);                                                                       \
  }

LISTING(info_without_id, info.process_id = 0)
LISTING(info_twice, say_info(a, m->channel, info))
LISTING(info_unordered, say_info(a, m->channel, info_of(6)))
LISTING(info_huge_pid, info.pid = 1u << 31)
LISTING(info_late, info.started_unix_ms = UINT64_MAX)
LISTING(info_turned, (info.output_begin = 5, info.output_end = 4))
LISTING(info_turned_error, (info.error_begin = 5, info.error_end = 4))
LISTING(info_running_ended, info.exited = &exited)
LISTING(info_no_end, info.running = false)
LISTING(info_other_end, (info.running = false, exited.process_id = 6, info.exited = &exited))
LISTING(info_odd_end, (info.running = false, exited.code = 999, info.exited = &exited))
LISTING(info_output, say_output(a, m->channel, STREAM(OUTPUT), 0, "x", false))

SCRIPT(endless_list) {
  ONLY(LIST_PROCESSES);
  for (uint64_t id = 1; id < 20000; id++)
    say_info(a, m->channel, info_of(id));
}

static void listing(void **state) {
  (void)state;
  static const lie lies[] = {
      LIE(info_without_id, "not in their order"),
      LIE(info_twice, "not in their order"),
      LIE(info_unordered, "not in their order"),
      LIE(info_huge_pid, "cannot be"),
      LIE(info_late, "cannot be"),
      LIE(info_turned, "cannot be"),
      LIE(info_turned_error, "cannot be"),
      LIE(info_running_ended, "running process that ended"),
      LIE(info_no_end, "ended without an end"),
      LIE(info_other_end, "ended without an end"),
      LIE(info_odd_end, "an exit status that is none"),
      LIE(info_output, "none of a list"),
      LIE(endless_list, "more processes than there can be"),
  };
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    fixture *this = begin(lies[i].script, 5000);
    cdam_process_list *list;
    cdam_error err = {0};
    expect_lie(&lies[i], cdam_processes(&this->session, &list, &err), &err);
    assert_null(list);
    end(this);
  }
}

/* ---- errors that are none of processes, and the rest ---- */

static int error_code;

SCRIPT(refusing) {
  if (m->body_case == TO(GET_STATUS)) {
    say_done(a, m->channel);
    return;
  }
  if (m->body_case == TO(CREDIT) || m->body_case == TO(CANCEL)) return;
  say_error(a, m->channel, error_code, 2);
}

/* Whatever code it gives, a call ends with an error, never with success. */
static void odd_errors(void **state) {
  (void)state;
  fixture *this = begin(refusing, 5000);
  for (error_code = 1; error_code < 20; error_code++) {
    cdam_process *process = NULL;
    cdam_process_list *list;
    cdam_exec_result *result;
    cdam_error err;
    const cdam_process_command command = {.argv = argv};
    assert_int_not_equal(cdam_process_spawn(&this->session, &command, &process, &err), CDAM_OK);
    assert_null(process);
    assert_int_not_equal(cdam_process_attach(&this->session, INSTANCE ":1", NULL, &process, &err),
                         CDAM_OK);
    assert_int_not_equal(cdam_processes(&this->session, &list, &err), CDAM_OK);
    assert_null(list);
    assert_int_not_equal(cdam_process_forget(&this->session, INSTANCE ":1", &err), CDAM_OK);
    cdam_status status =
        cdam_exec(&this->session, &(cdam_exec_command){.argv = argv}, &result, &err);
    assert_true(status != CDAM_OK || cdam_exec_result_not_started(result));
    cdam_exec_result_free(result);
  }
  end(this);
}

SCRIPT(honest) {
  if (m->body_case == TO(START)) say_all(a, m->channel, 5);
}

/* That an honest one is believed shows that the rest is refused for what it says. */
static void an_honest_agent(void **state) {
  (void)state;
  fixture *this = begin(honest, 5000);
  cdam_process *process;
  cdam_exec_result *result;
  cdam_error err = {0};
  const cdam_process_command command = {.argv = argv};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cdam_process_spawn(&this->session, &command, &process, &err), CDAM_OK);
    assert_int_equal(to_the_end(process, &err), CDAM_OK);
    cdam_process_free(process);
    assert_int_equal(cdam_exec(&this->session, &(cdam_exec_command){.argv = argv}, &result, &err),
                     CDAM_OK);
    cdam_exec_result_free(result);
  }
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_honest_agent),
      cmocka_unit_test(handles),
      cmocka_unit_test(commands),
      cmocka_unit_test(unwanted_outputs),
      cmocka_unit_test(input_that_breaks_twice),
      cmocka_unit_test(attaching),
      cmocka_unit_test(listing),
      cmocka_unit_test(odd_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
