/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in a sandbox without the agent: by the engine's exec. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "test_process_support.h"

static int make_plain_sandbox(void **state) {
  static fixture this;
  cdam_error err = {0};
  cdam_client_config *config;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  assert_ok(cdam_client_new(config, &this.client, &err), &err);
  cdam_client_config_free(config);
  this.session = create_with(this.client, CDAM_NETWORK_MODE_NONE);
  assert_false(cdam_session_has_agent(this.session));
  *state = &this;
  return 0;
}

/* ---- output and exit ---- */

static void output_of_both_streams(void **state) {
  fixture *this = *state;
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("echo out; echo err >&2; exit 7")});
  assert_string_equal(cdam_process_key(process), "");
  assert_int_equal(cdam_process_pid(process), 0);
  expect_story(process, "out\n", "err\n", 7, 0);
}

static void output_as_it_comes(void **state) {
  fixture *this = *state;
  cdam_process *process = spawn(
      this, (cdam_process_command){.argv = SH("echo one; read x; echo $x; read x"), .input = true});
  cdam_error err = {0};
  cdam_process_exit exit;
  await_text(process, "one\n");
  assert_false(cdam_process_exit_status(process, &exit));
  assert_ok(cdam_process_write(process, "two\n", 4, &err), &err);
  await_text(process, "two\n");
  assert_ok(cdam_process_end_input(process, &err), &err);
  assert_int_equal(cdam_process_write(process, "x", 1, &err), CDAM_ERR_ARGUMENT);
  assert_ok(cdam_process_wait(process, 10000, &exit, &err), &err);
  assert_int_equal(exit.code, 1);
  assert_int_equal(exit.ended_by, CDAM_ENDED_ITSELF);
  assert_int_equal(cdam_process_signal(process, 15, CDAM_TARGET_PROCESS, &err),
                   CDAM_ERR_NO_PROCESS);
  cdam_process_free(process);
}

static void environment_user_and_directory(void **state) {
  fixture *this = *state;
  const char *const env[] = {"A=b c", NULL};
  expect_story(spawn(this, (cdam_process_command){.argv = SH("echo $A; pwd; id -u; cat"),
                                                  .env = env,
                                                  .user = "65534",
                                                  .workdir = "/tmp"}),
               "b c\n/tmp\n65534\n", "", 0, 0);
}

static void joined_and_discarded(void **state) {
  fixture *this = *state;
  const char *script = "echo out; sleep 0.2; echo err >&2";
  expect_story(spawn(this, (cdam_process_command){.argv = SH(script), .join_stderr = true}),
               "out\nerr\n", "", 0, 0);
  expect_story(spawn(this, (cdam_process_command){.argv = SH(script), .discard_stdout = true}), "",
               "err\n", 0, 0);
  expect_story(spawn(this, (cdam_process_command){.argv = SH(script), .discard_stderr = true}),
               "out\n", "", 0, 0);
}

static void a_signal_is_a_code(void **state) {
  fixture *this = *state;
  expect_story(spawn(this, (cdam_process_command){.argv = SH("kill -9 $$")}), "", "", 137, 0);
}

/* Eight megabytes to and fro: neither side can keep them all. */
static void much_through_cat(void **state) {
  fixture *this = *state;
  enum { SIZE = 8 * 1024 * 1024 };
  char *bytes = malloc(SIZE);
  assert_non_null(bytes);
  for (size_t i = 0; i < SIZE; i++)
    bytes[i] = (char)(i * 2654435761u >> 13);
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = (const char *const[]){"/bin/busybox", "cat", NULL},
                                         .input = true});
  cdam_error err = {0};
  tale story = {0};
  size_t written = 0;
  for (bool open = true; open;) {
    size_t taken = 0;
    if (written < SIZE)
      assert_ok(cdam_process_write_some(process, bytes + written, SIZE - written, &taken, &err),
                &err);
    written += taken;
    if (taken && written == SIZE) assert_ok(cdam_process_end_input(process, &err), &err);
    open = follow(&story, process, next(process, 20000));
  }
  assert_int_equal(story.out.length, SIZE);
  assert_memory_equal(story.out.data, bytes, SIZE);
  assert_int_equal(story.exit.code, 0);
  forget_story(&story);
  cdam_process_free(process);
  free(bytes);
}

/* What is not fetched holds the process back. */
static void unread_output_is_bounded(void **state) {
  fixture *this = *state;
  cdam_process *process =
      spawn(this, (cdam_process_command){
                      .argv = SH("dd if=/dev/zero bs=65536 count=512 2>/dev/null; echo >&2")});
  cdam_error err = {0};
  cdam_process *other = spawn(this, (cdam_process_command){.argv = SH("sleep 1")});
  cdam_process_exit exit;
  assert_ok(cdam_process_wait(other, 20000, &exit, &err), &err); /* turns the loop of both */
  cdam_process_free(other);
  assert_false(cdam_process_exit_status(process, NULL));
  tale story = read_on(process);
  assert_int_equal(story.out.length, 512 * 65536);
  forget_story(&story);
  cdam_process_free(process);
}

static void a_child_that_stays(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process_exit exit;
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("sleep 3217 & exit 4")});
  assert_ok(cdam_process_wait(process, 20000, &exit, &err), &err);
  assert_int_equal(exit.code, 4);
  assert_true(runs(this, "sleep 3217"));
  assert_ok(cdam_process_kill(process, 0, &err), &err);
  assert_false(runs(this, "sleep 3217"));
  tale story = read_on(process);
  forget_story(&story);
  cdam_process_free(process);
}

/* ---- not started ---- */

static void not_started(void **state) {
  fixture *this = *state;
  const struct {
    cdam_process_command command;
    int number;
    const char *member;
  } cases[] = {
      {{.argv = (const char *const[]){"/no/such", NULL}}, ENOENT, "argv"},
      {{.argv = (const char *const[]){"no-such", NULL}, .terminal = true}, ENOENT, "argv"},
      {{.argv = (const char *const[]){"/etc/passwd", NULL}}, EACCES, "argv"},
      /* The command's own words mean nothing. */
      {{.argv = (const char *const[]){"chdir to: permission denied", NULL}}, ENOENT, "argv"},
      {{.argv = SH("true"), .user = "nobody-such"}, 0, "user"},
      {{.argv = SH("true"), .user = "0:exec: \"not found"}, 0, "user"},
      {{.argv = SH("true"), .workdir = "/etc/passwd"}, ENOTDIR, "workdir"},
      {{.argv = SH("true"), .workdir = "/no/exec: \"permission denied"}, ENOENT, "workdir"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cdam_error err = {0};
    cdam_process *process;
    cdam_status status = cdam_process_spawn(this->session, &cases[i].command, &process, &err);
    if (status != CDAM_ERR_NOT_STARTED || process)
      fail_msg("%zu: %s: %s", i, cdam_status_name(status), err.message);
    if (err.system_errno != cases[i].number || strcmp(err.field, cases[i].member) != 0)
      fail_msg("%zu: \"%s\", %d: %s", i, err.field, err.system_errno, err.message);
  }
  /* One that says the same by itself did start. */
  expect_story(spawn(this, (cdam_process_command){.argv = SH("exit 127")}), "", "", 127, 0);
}

static void refused_members(void **state) {
  fixture *this = *state;
  const cdam_process_limit limit = {.resource = 7, .soft = 64, .hard = 64};
  const struct {
    const char *name;
    cdam_process_command command;
  } cases[] = {
      {"limits", {.argv = SH("true"), .limits = &limit, .limit_count = 1}},
      {"outlive", {.argv = SH("true"), .outlive = true}},
      {"retain", {.argv = SH("true"), .retain = 4096}},
      {"no_new_privileges", {.argv = SH("true"), .no_new_privileges = true}},
      {"kill_rest", {.argv = SH("true"), .kill_rest = true}},
      {"clear_env", {.argv = SH("true"), .clear_env = true}},
      {"argv", {.argv = SH("\xff")}},
      {"user", {.argv = SH("true"), .user = "\xff"}},
  };
  cdam_error err;
  cdam_process *process;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(cdam_process_spawn(this->session, &cases[i].command, &process, &err),
                     CDAM_ERR_NO_AGENT);
    assert_non_null(strstr(err.message, cases[i].name));
    assert_string_equal(err.field, cases[i].name);
    assert_null(process);
  }
  const char *const env[] = {"COFFERDAM_EXEC_ID=x", NULL};
  cdam_process_command command = {.argv = SH("true"), .env = env};
  assert_int_equal(cdam_process_spawn(this->session, &command, &process, &err), CDAM_ERR_ARGUMENT);
  cdam_process_list *list;
  assert_int_equal(cdam_processes(this->session, &list, &err), CDAM_ERR_NO_AGENT);
  assert_int_equal(cdam_process_attach(this->session, "ab:1", NULL, &process, &err),
                   CDAM_ERR_NO_AGENT);
  assert_int_equal(cdam_process_forget(this->session, "ab:1", &err), CDAM_ERR_NO_AGENT);
}

/* ---- the end by force ---- */

static void timed_out(void **state) {
  fixture *this = *state;
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("trap '' TERM; sleep 3218; sleep 3218"),
                                         .timeout_ms = 3000,
                                         .grace_ms = 200});
  tale story = read_on(process);
  assert_int_equal(story.exit.ended_by, CDAM_ENDED_TIMEOUT);
  assert_int_equal(story.exit.code, 137);
  forget_story(&story);
  cdam_process_free(process);
  assert_false(runs(this, "sleep 3218"));
}

/* It is not yet marked when its time is over. */
static void timed_out_at_once(void **state) {
  fixture *this = *state;
  for (int i = 0; i < 5; i++) {
    cdam_process *process =
        spawn(this, (cdam_process_command){.argv = SH("exec sleep 3227"), .timeout_ms = 1 + i * 3});
    tale story = read_on(process);
    assert_int_equal(story.exit.ended_by, CDAM_ENDED_TIMEOUT);
    forget_story(&story);
    cdam_process_free(process);
  }
  assert_false(runs(this, "sleep 3227"));
}

static void killed(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("sleep 3219 & sleep 3219 & wait")});
  assert_ok(cdam_process_kill(process, 30000, &err), &err);
  assert_false(runs(this, "sleep 3219"));
  tale story = read_on(process);
  assert_int_equal(story.exit.ended_by, CDAM_ENDED_KILL);
  assert_int_equal(story.exit.code, 143);
  forget_story(&story);
  assert_ok(cdam_process_kill(process, 0, &err), &err); /* once more does no harm */
  cdam_process_free(process);
}

static void signals(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process *process = spawn(
      this, (cdam_process_command){
                .argv = SH("trap 'echo usr1' USR1; (trap 'echo child' USR1; echo up; while :; do "
                           "sleep 0.1; done) & while :; do sleep 0.1; done")});
  await_text(process, "up\n");
  assert_ok(cdam_process_signal(process, 10, CDAM_TARGET_PROCESS, &err), &err);
  cdam_process_event event = next(process, 60000);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_int_equal(event.length, 5);
  assert_memory_equal(event.bytes, "usr1\n", 5);
  assert_int_equal(next(process, 500).kind, CDAM_PROCESS_NOTHING);
  assert_ok(cdam_process_signal(process, 9, CDAM_TARGET_GROUP, &err), &err);
  tale story = read_on(process);
  assert_int_equal(story.exit.code, 137);
  forget_story(&story);
  assert_int_equal(cdam_process_signal(process, 9, CDAM_TARGET_TREE, &err), CDAM_ERR_NO_PROCESS);
  cdam_process_free(process);
}

static void freed(void **state) {
  fixture *this = *state;
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("sleep 3220; true")});
  assert_true(runs(this, "sleep 3220"));
  cdam_process_free(process);
  assert_false(runs(this, "sleep 3220"));
}

/* ---- terminals ---- */

static void terminal(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process *process = spawn(
      this,
      (cdam_process_command){.argv = SH("sleep 0.5; stty size; read x; stty size; tty >&2; cat"),
                             .terminal = true,
                             .input = true,
                             .rows = 33,
                             .columns = 99});
  await_text(process, "33 99\r\n");
  assert_ok(cdam_process_resize(process, 44, 111, &err), &err);
  assert_ok(cdam_process_write(process, "\r", 1, &err), &err);
  await_text(process, "44 111\r\n/dev/pts/");
  assert_ok(cdam_process_end_input(process, &err), &err);
  tale story = read_on(process);
  assert_int_equal(story.exit.code, 0);
  assert_int_equal(story.ends, 1);
  forget_story(&story);
  cdam_process_free(process);
}

/* ---- trouble ---- */

/* Nothing else can send signals, and that is said. */
static void without_a_shell(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("exec sleep 3228")});
  cdam_process *timed =
      spawn(this, (cdam_process_command){.argv = SH("exec sleep 3229"), .timeout_ms = 6000});
  docker("exec %s /bin/busybox mv /bin/busybox /bin/busybox2", container_of(this));
  assert_int_equal(cdam_process_signal(process, 15, CDAM_TARGET_TREE, &err), CDAM_ERR_NO_AGENT);
  assert_int_equal(cdam_process_kill(process, 0, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "no shell"));
  cdam_process_event event;
  assert_int_equal(cdam_process_next(timed, 60000, &event, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "timed out"));
  docker("exec %s /bin/busybox2 mv /bin/busybox2 /bin/busybox", container_of(this));
  cdam_process_free(process);
  cdam_process_free(timed);
  assert_false(runs(this, "sleep 322"));
}

static void stopped_in_the_middle(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("echo up; sleep 3221")});
  await_text(process, "up\n");
  docker("kill %s", container_of(this));
  cdam_process_exit exit = {0};
  cdam_status status = cdam_process_wait(process, 20000, &exit, &err);
  if (status == CDAM_OK)
    assert_int_equal(exit.code, 137);
  else
    assert_int_equal(status, CDAM_ERR_EXITED);
  cdam_process_free(process);
  docker("wait %s", container_of(this));
  cdam_process_command command = {.argv = SH("true")};
  assert_int_equal(cdam_process_spawn(this->session, &command, &process, &err), CDAM_ERR_EXITED);
  docker("start %s", container_of(this));
  docker("pause %s", container_of(this));
  assert_int_equal(cdam_process_spawn(this->session, &command, &process, &err), CDAM_ERR_PAUSED);
  docker("unpause %s", container_of(this));
}

/* ---- in a loop ---- */

typedef struct looped {
  cdam_process *process;
  cdam_status status;
  int done, closed;
  bool free_when_ready;
  tale story;
} looped;

static void ready(void *user, cdam_process *process) {
  looped *this = user;
  cdam_error err = {0};
  if (this->free_when_ready) {
    this->process = NULL;
    cdam_process_free(process);
    return;
  }
  for (;;) {
    cdam_process_event event;
    assert_ok(cdam_process_next(process, -1, &event, &err), &err);
    if (event.kind == CDAM_PROCESS_NOTHING) return;
    if (!follow(&this->story, process, event)) {
      this->closed = 1;
      return;
    }
  }
}

static void spawned(void *user, cdam_status status, cdam_process *process, const cdam_error *err) {
  looped *this = user;
  (void)err;
  this->done++;
  this->status = status;
  this->process = process;
  cdam_process_on_ready(process, ready, this);
}

static void turn(cdam_loop *loop) {
  struct pollfd fd = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  assert_true(poll(&fd, 1, 20000) > 0);
  cdam_loop_dispatch(loop);
}

static cdam_loop *loop_with(fixture *this, looped *in, const char *script,
                            cdam_operation **operation) {
  cdam_loop *loop;
  cdam_error err = {0};
  cdam_process_command command = {.argv = SH(script), .input = true};
  assert_ok(cdam_loop_new(this->client, &loop, &err), &err);
  assert_ok(cdam_process_spawn_start(loop, this->session, &command, spawned, in, operation, &err),
            &err);
  return loop;
}

static void in_a_loop(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  looped in = {0};
  cdam_loop *loop = loop_with(this, &in, "read x; echo got $x", NULL);
  while (!in.done)
    turn(loop);
  assert_int_equal(in.status, CDAM_OK);
  size_t taken;
  assert_ok(cdam_process_write_some(in.process, "it\n", 3, &taken, &err), &err);
  assert_int_equal(taken, 3);
  while (!in.closed)
    turn(loop);
  assert_string_equal(cdam_buffer_text(&in.story.out), "got it\n");
  assert_int_equal(in.story.exit.code, 0);
  forget_story(&in.story);
  cdam_process_free(in.process);
  cdam_loop_free(loop);
}

static void killed_in_a_loop(void **state) {
  fixture *this = *state;
  cdam_error err = {0};
  looped in = {0};
  cdam_loop *loop = loop_with(this, &in, "sleep 3222", NULL);
  while (!in.done)
    turn(loop);
  assert_ok(cdam_process_kill(in.process, 0, &err), &err);
  while (!in.closed)
    turn(loop);
  assert_int_equal(in.story.exit.ended_by, CDAM_ENDED_KILL);
  while (cdam_loop_pending(loop))
    turn(loop);
  cdam_process_free(in.process);
  cdam_loop_free(loop);
}

/* However the handle is lost, nothing stays behind. */
static void freed_in_a_loop(void **state) {
  fixture *this = *state;
  looped in = {.free_when_ready = true};
  cdam_loop *loop = loop_with(this, &in, "echo; sleep 3223", NULL);
  while (!in.done || in.process)
    turn(loop);
  while (cdam_loop_pending(loop))
    turn(loop);
  assert_false(runs(this, "sleep 3223"));
  cdam_loop_free(loop);

  in = (looped){0};
  loop = loop_with(this, &in, "sleep 3224", NULL);
  while (!in.done)
    turn(loop);
  cdam_loop_free(loop);
  assert_false(runs(this, "sleep 3224"));
  cdam_error err = {0};
  cdam_process_event event;
  assert_int_equal(cdam_process_next(in.process, -1, &event, &err), CDAM_ERR_CANCELLED);
  cdam_process_free(in.process);

  in = (looped){0};
  loop = loop_with(this, &in, "sleep 3225", NULL);
  while (!in.done)
    turn(loop);
  cdam_process_free(in.process);
  cdam_loop_free(loop);
  assert_false(runs(this, "sleep 3225"));
}

/* After each number of turns. */
static void cancelled(void **state) {
  fixture *this = *state;
  for (int turns = 0; turns < 12; turns++) {
    looped in = {0};
    cdam_operation *operation;
    cdam_loop *loop = loop_with(this, &in, "sleep 3226", &operation);
    for (int i = 0; i < turns && !in.done; i++)
      turn(loop);
    if (!in.done) cdam_cancel(operation);
    while (!in.done || cdam_loop_pending(loop))
      turn(loop);
    assert_int_equal(in.status, in.process ? CDAM_OK : CDAM_ERR_CANCELLED);
    cdam_process_free(in.process);
    cdam_loop_free(loop);
  }
  assert_false(runs(this, "sleep 3226"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_of_both_streams),
      cmocka_unit_test(output_as_it_comes),
      cmocka_unit_test(environment_user_and_directory),
      cmocka_unit_test(joined_and_discarded),
      cmocka_unit_test(a_signal_is_a_code),
      cmocka_unit_test(much_through_cat),
      cmocka_unit_test(unread_output_is_bounded),
      cmocka_unit_test(a_child_that_stays),
      cmocka_unit_test(not_started),
      cmocka_unit_test(refused_members),
      cmocka_unit_test(timed_out),
      cmocka_unit_test(timed_out_at_once),
      cmocka_unit_test(killed),
      cmocka_unit_test(signals),
      cmocka_unit_test(freed),
      cmocka_unit_test(terminal),
      cmocka_unit_test(in_a_loop),
      cmocka_unit_test(killed_in_a_loop),
      cmocka_unit_test(freed_in_a_loop),
      cmocka_unit_test(cancelled),
      cmocka_unit_test(without_a_shell),
      cmocka_unit_test(stopped_in_the_middle),
  };
  require_engine();
  return cmocka_run_group_tests(tests, make_plain_sandbox, end_sandbox);
}
