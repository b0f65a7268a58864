/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on a real engine: starting, streams, input, signals, terminals, the list. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "test_process_support.h"

/* What a stream of any length may add to the program's size. The sanitizer keeps what is freed. */
#ifdef __SANITIZE_ADDRESS__
#define MOST_KIB (300 * 1024)
#else
#define MOST_KIB (8 * 1024)
#endif

/* ---- from the start to the end ---- */

static void streams_and_exit(void **state) {
  expect_story(spawn(*state, (cdam_process_command){.argv = SH("echo out; echo err >&2; exit 3")}),
               "out\n", "err\n", 3, 0);
  cdam_process *process = spawn(*state, (cdam_process_command){.argv = SH("kill -9 $$")});
  assert_true(cdam_process_pid(process) > 1);
  assert_non_null(strchr(cdam_process_key(process), ':'));
  expect_story(process, "", "", -1, 9);
}

static void everything_ends(void **state) {
  cdam_process *process = spawn(*state, (cdam_process_command){.argv = SH("echo x")});
  tale story = read_on(process);
  assert_int_equal(story.ends, 2);
  assert_int_equal(story.exits, 1);
  assert_int_equal(story.exit.ended_by, CDAM_ENDED_ITSELF);
  assert_true(story.exit.elapsed_us > 0);
  forget_story(&story);
  for (int i = 0; i < 3; i++)
    assert_int_equal(next(process, -1).kind, CDAM_PROCESS_CLOSED);
  cdam_error err;
  assert_int_equal(cdam_process_signal(process, SIGTERM, CDAM_TARGET_PROCESS, &err),
                   CDAM_ERR_NO_PROCESS);
  cdam_process_free(process);
}

static void expect_not_started(fixture *this, cdam_process_command command, int system_errno,
                               const char *member) {
  cdam_process *process;
  cdam_error err = {0};
  assert_int_equal(cdam_process_spawn(this->session, &command, &process, &err),
                   CDAM_ERR_NOT_STARTED);
  assert_null(process);
  assert_int_equal(err.system_errno, system_errno);
  if (strcmp(err.field, member) != 0) fail_msg("\"%s\" in \"%s\"", err.field, err.message);
}

static void what_does_not_start(void **state) {
  static const char *const missing[] = {"no-such-program", NULL};
  static const char *const directory[] = {"/bin", NULL};
  expect_not_started(*state, (cdam_process_command){.argv = missing}, ENOENT, "argv");
  expect_not_started(*state, (cdam_process_command){.argv = directory}, EACCES, "argv");
  expect_not_started(*state, (cdam_process_command){.argv = SH("true"), .workdir = "/no/such"},
                     ENOENT, "workdir");
  expect_not_started(*state, (cdam_process_command){.argv = SH("true"), .user = "nobody-such"}, 0,
                     "user");
  expect_not_started(*state,
                     (cdam_process_command){.argv = SH("true"),
                                            .limits = (cdam_process_limit[]){{7, 50, 1u << 31}},
                                            .limit_count = 1},
                     EPERM, "limits");
  /* And what does, and ends with the same codes. */
  expect_story(spawn(*state, (cdam_process_command){.argv = SH("exit 127")}), "", "", 127, 0);
  expect_story(spawn(*state, (cdam_process_command){.argv = SH("exit 126")}), "", "", 126, 0);
}

static void environment_user_and_directory(void **state) {
  static const char *const env[] = {"A=x=y z\n", "B=", NULL};
  expect_story(spawn(*state, (cdam_process_command){.argv = SH("echo \"$A|$B|${C-unset}\"; id -u; "
                                                               "id -g; pwd; ulimit -n"),
                                                    .env = env,
                                                    .user = "1234:5678",
                                                    .workdir = "/tmp",
                                                    .limits = (cdam_process_limit[]){{7, 50, 60}},
                                                    .limit_count = 1}),
               "x=y z\n||unset\n1234\n5678\n/tmp\n50\n", "", 0, 0);
  expect_story(spawn(*state, (cdam_process_command){.argv = (const char *const[]){"/bin/busybox",
                                                                                  "env", NULL},
                                                    .env = env,
                                                    .clear_env = true}),
               "A=x=y z\n\nB=\n", "", 0, 0);
  expect_story(spawn(*state, (cdam_process_command){.argv = SH("pwd")}), "/workspace\n", "", 0, 0);
}

static void joined_and_discarded(void **state) {
  cdam_process_command command = {.argv = SH("echo a; echo b >&2"), .join_stderr = true};
  expect_story(spawn(*state, command), "a\nb\n", "", 0, 0);
  command = (cdam_process_command){.argv = SH("echo a; echo b >&2"), .discard_stdout = true};
  expect_story(spawn(*state, command), "", "b\n", 0, 0);
  command.discard_stderr = true;
  expect_story(spawn(*state, command), "", "", 0, 0);
}

static void refuse(fixture *this, cdam_process_command command) {
  cdam_process *process;
  cdam_error err = {0};
  assert_int_equal(cdam_process_spawn(this->session, &command, &process, &err), CDAM_ERR_ARGUMENT);
  assert_null(process);
}

static void what_cannot_be_asked(void **state) {
  refuse(*state, (cdam_process_command){0});
  refuse(*state, (cdam_process_command){.argv = (const char *const[]){NULL}});
  refuse(*state, (cdam_process_command){.argv = (const char *const[]){"", NULL}});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .workdir = "tmp"});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .user = ""});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .timeout_ms = -1});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .rows = 10});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .retain = UINT32_MAX});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .terminal = true, .join_stderr = true});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .limit_count = 1});
  refuse(*state, (cdam_process_command){.argv = SH("true"), .reserved = {[22] = true}});
  static const char *const env[] = {"NOTHING", NULL};
  refuse(*state, (cdam_process_command){.argv = SH("true"), .env = env});
}

/* ---- time ---- */

static void waiting_takes_its_time(void **state) {
  cdam_process *process = spawn(*state, (cdam_process_command){.argv = SH("sleep 30")});
  for (int64_t ms = 0; ms <= 250; ms += 50) {
    int64_t took = INT64_MAX;
    /* On a busy machine any one of them may take longer. */
    for (int i = 0; i < 100 && took > (ms + 40) * 1000; i++) {
      int64_t before = cdam_now_us();
      assert_int_equal(next(process, ms).kind, CDAM_PROCESS_NOTHING);
      took = cdam_now_us() - before;
      if (took < ms * 1000) fail_msg("%lld us", (long long)took);
    }
    if (took > (ms + 40) * 1000) fail_msg("%lld us", (long long)took);
  }
  cdam_error err;
  assert_int_equal(cdam_process_wait(process, 50, NULL, &err), CDAM_ERR_TIMEOUT);
  assert_ok(cdam_process_kill(process, 0, &err), &err);
  cdam_process_exit exit;
  assert_ok(cdam_process_wait(process, -1, &exit, &err), &err);
  assert_int_equal(exit.signal, SIGKILL);
  assert_int_equal(exit.ended_by, CDAM_ENDED_KILL);
  cdam_process_free(process);
}

static void a_timeout_ends_the_tree(void **state) {
  cdam_process *process = spawn(
      *state, (cdam_process_command){.argv = SH("trap '' TERM; setsid sleep 8101 & sleep 8102"),
                                     .timeout_ms = 2000,
                                     .grace_ms = 100});
  tale story = read_on(process);
  assert_int_equal(story.exit.ended_by, CDAM_ENDED_TIMEOUT);
  assert_int_equal(story.exit.signal, SIGKILL);
  forget_story(&story);
  cdam_process_free(process);
  await_gone(*state, "810");
}

static void what_it_left_running(void **state) {
  static const char script[] = "(sleep 8201 >/dev/null 2>&1 &); echo x";
  cdam_error err;
  cdam_process *process = spawn(*state, (cdam_process_command){.argv = SH(script)});
  expect_story(process, "x\n", "", 0, 0);
  assert_true(runs(*state, "8201"));
  process =
      spawn(*state, (cdam_process_command){.argv = SH("(sleep 8202 >/dev/null 2>&1 &); echo x"),
                                           .kill_rest = true});
  expect_story(process, "x\n", "", 0, 0);
  await_gone(*state, "8202");
  /* One that holds the output open: the exit comes, and no end. */
  process = spawn(*state, (cdam_process_command){.argv = SH("sleep 8203 & echo y")});
  cdam_process_exit exit;
  assert_ok(cdam_process_wait(process, 10000, &exit, &err), &err);
  assert_int_equal(exit.code, 0);
  cdam_process_event event;
  while ((event = next(process, 100)).kind != CDAM_PROCESS_NOTHING)
    assert_true(event.kind == CDAM_PROCESS_OUTPUT || event.kind == CDAM_PROCESS_EXITED);
  assert_ok(cdam_process_kill(process, 0, &err), &err);
  await_gone(*state, "8203");
  while (next(process, 60000).kind != CDAM_PROCESS_CLOSED)
    ;
  cdam_process_free(process);
}

/* ---- giving it up ---- */

static void a_handle_given_up(void **state) {
  cdam_process_free(NULL);
  cdam_process_free(
      spawn(*state, (cdam_process_command){.argv = SH("setsid sleep 8301 & sleep 8302")}));
  await_gone(*state, "830");
  /* It takes its process with it although nothing else is done with the session. */
  fixture *this = *state;
  cdam_process_free(spawn(this, (cdam_process_command){.argv = SH("sleep 8303")}));
  int64_t until = cdam_now_ms() + 5000;
  while (strstr(docker("top %s", container_of(this)), "8303"))
    if (cdam_now_ms() > until) fail_msg("it still runs");
}

static void a_handle_that_outlives_its_session(void **state) {
  fixture *this = *state;
  cdam_session *second;
  cdam_error err;
  assert_ok(cdam_resume(this->client, cdam_session_state(this->session), NULL, &second, &err),
            &err);
  fixture other = {this->client, second};
  cdam_process *process =
      spawn(&other, (cdam_process_command){.argv = SH("read x; echo got $x"), .input = true});
  cdam_session_free(second);
  assert_ok(cdam_process_write(process, "it\n", 3, &err), &err);
  expect_story(process, "got it\n", "", 0, 0);
}

/* ---- input ---- */

static void input(void **state) {
  cdam_error err;
  cdam_process *process =
      spawn(*state, (cdam_process_command){.argv = SH("cat; echo end"), .input = true});
  assert_ok(cdam_process_write(process, "hello ", 6, &err), &err);
  await_text(process, "hello ");
  assert_ok(cdam_process_write(process, "", 0, &err), &err);
  assert_ok(cdam_process_write(process, "there\n", 6, &err), &err);
  assert_ok(cdam_process_end_input(process, &err), &err);
  assert_int_equal(cdam_process_write(process, "x", 1, &err), CDAM_ERR_ARGUMENT);
  expect_story(process, "there\nend\n", "", 0, 0);

  process = spawn(*state, (cdam_process_command){.argv = SH("cat; echo none")});
  assert_int_equal(cdam_process_write(process, "x", 1, &err), CDAM_ERR_ARGUMENT);
  expect_story(process, "none\n", "", 0, 0);
}

static void input_that_nobody_reads(void **state) {
  cdam_error err;
  static char zeros[4 << 20];
  cdam_process *process =
      spawn(*state, (cdam_process_command){.argv = SH("exec <&-; echo closed; sleep 1; exit 4"),
                                           .input = true});
  assert_ok(cdam_process_write(process, zeros, sizeof zeros, &err), &err);
  tale story = read_on(process);
  assert_string_equal(cdam_buffer_text(&story.out), "closed\n");
  assert_int_equal(story.broken, 1);
  assert_int_equal(story.exit.code, 4);
  forget_story(&story);
  cdam_process_free(process);
}

/* Through cat and back, writing what there is room for and reading what has come. */
static void there_and_back(void **state) {
  enum { TOTAL = 64 << 20, PIECE = 100000 };
  static char bytes[PIECE];
  for (size_t i = 0; i < PIECE; i++)
    bytes[i] = (char)(i * 7);
  struct rusage before, after;
  cdam_process *process = spawn(
      *state, (cdam_process_command){.argv = (const char *const[]){"cat", NULL}, .input = true});
  getrusage(RUSAGE_SELF, &before);
  size_t written = 0, read = 0;
  cdam_error err;
  for (;;) {
    if (written < TOTAL) {
      size_t taken, at = written % PIECE;
      size_t length = PIECE - at < TOTAL - written ? PIECE - at : TOTAL - written;
      assert_ok(cdam_process_write_some(process, bytes + at, length, &taken, &err), &err);
      written += taken;
      if (written == TOTAL) assert_ok(cdam_process_end_input(process, &err), &err);
      cdam_process_event event = next(process, taken == length ? 0 : 20000);
      if (event.kind == CDAM_PROCESS_OUTPUT) {
        for (size_t i = 0; i < event.length; i += 997)
          assert_int_equal(event.bytes[i], bytes[(read + i) % PIECE]);
        read += event.length;
      }
      continue;
    }
    cdam_process_event event = next(process, 20000);
    if (event.kind == CDAM_PROCESS_OUTPUT) read += event.length;
    if (event.kind == CDAM_PROCESS_CLOSED) break;
    assert_int_not_equal(event.kind, CDAM_PROCESS_NOTHING);
  }
  getrusage(RUSAGE_SELF, &after);
  assert_int_equal(read, TOTAL);
  assert_true(after.ru_maxrss - before.ru_maxrss < MOST_KIB);
  cdam_process_free(process);
}

/* What is not fetched holds the process back and costs little. */
static void an_idle_reader(void **state) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  cdam_process *process = spawn(*state, (cdam_process_command){.argv = SH("yes >&2 & yes")});
  for (int i = 0; i < 20; i++)
    free(output_of(((fixture *)*state)->session, SH("sleep 0.02")));
  getrusage(RUSAGE_SELF, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < MOST_KIB);
  assert_int_equal(next(process, 1000).kind, CDAM_PROCESS_OUTPUT);
  cdam_process_free(process);
}

/* ---- signals ---- */

static void signals(void **state) {
  cdam_error err;
  cdam_process *process =
      spawn(*state,
            (cdam_process_command){.argv = SH("trap 'echo usr1' USR1; trap 'echo int; exit 5' INT; "
                                              "echo ready; while :; do sleep 0.05; done")});
  await_text(process, "ready");
  assert_ok(cdam_process_signal(process, SIGUSR1, CDAM_TARGET_PROCESS, &err), &err);
  await_text(process, "usr1");
  assert_int_equal(cdam_process_signal(process, 0, CDAM_TARGET_PROCESS, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_process_signal(process, 65, CDAM_TARGET_PROCESS, &err), CDAM_ERR_ARGUMENT);
  assert_ok(cdam_process_signal(process, SIGINT, CDAM_TARGET_GROUP, &err), &err);
  expect_story(process, "int\n", "", 5, 0);

  process =
      spawn(*state, (cdam_process_command){.argv = SH("setsid sleep 8401 & sleep 8402; exit 6")});
  while (!runs(*state, "8401") || !runs(*state, "8402"))
    ;
  assert_ok(cdam_process_signal(process, SIGKILL, CDAM_TARGET_TREE, &err), &err);
  expect_story(process, "", "", -1, SIGKILL);
  await_gone(*state, "840");
}

/* ---- terminals ---- */

static void a_terminal(void **state) {
  cdam_error err;
  cdam_process *process = spawn(
      *state, (cdam_process_command){.argv = SH("stty size; tty; echo e >&2"), .terminal = true});
  tale story = read_on(process);
  assert_non_null(strstr(cdam_buffer_text(&story.out), "24 80\r\n/dev/pts/"));
  assert_non_null(strstr(cdam_buffer_text(&story.out), "e\r\n"));
  assert_int_equal(story.err.length, 0);
  assert_int_equal(story.ends, 1);
  forget_story(&story);
  cdam_process_free(process);

  process = spawn(
      *state, (cdam_process_command){.argv = SH("trap 'stty size' WINCH; stty size; cat; echo bye"),
                                     .terminal = true,
                                     .input = true,
                                     .rows = 50,
                                     .columns = 132});
  await_text(process, "50 132");
  assert_ok(cdam_process_write(process, "echoed\n", 7, &err), &err);
  await_text(process, "echoed\r\nechoed\r\n"); /* by the terminal and by cat */
  assert_int_equal(cdam_process_resize(process, 0, 5, &err), CDAM_ERR_ARGUMENT);
  assert_ok(cdam_process_resize(process, 33, 44, &err), &err);
  assert_ok(cdam_process_end_input(process, &err), &err);
  story = read_on(process);
  assert_non_null(strstr(cdam_buffer_text(&story.out), "33 44"));
  assert_non_null(strstr(cdam_buffer_text(&story.out), "bye"));
  forget_story(&story);
  cdam_process_free(process);

  process = spawn(*state, (cdam_process_command){.argv = SH("sleep 5")});
  assert_int_equal(cdam_process_resize(process, 33, 44, &err), CDAM_ERR_ARGUMENT);
  cdam_process_free(process);
}

/* Control characters do what they do on a terminal, and long lines arrive by themselves. */
static void a_terminal_that_interrupts(void **state) {
  cdam_error err;
  cdam_process *process = spawn(
      *state,
      (cdam_process_command){.argv = SH("echo go; sleep 600"), .terminal = true, .input = true});
  await_text(process, "go");
  assert_ok(cdam_process_write(process, "\x03", 1, &err), &err);
  tale story = read_on(process);
  assert_true(story.exit.signal == SIGINT || story.exit.code == 130);
  forget_story(&story);
  cdam_process_free(process);

  static const char script[] = "for i in 1 2 3 4; do head -c 100000 /dev/zero | tr '\\0' x; "
                               "echo; done";
  process = spawn(*state, (cdam_process_command){.argv = SH(script), .terminal = true});
  story = read_on(process);
  assert_int_equal(story.out.length, 4 * 100002);
  forget_story(&story);
  cdam_process_free(process);
}

/* ---- the list ---- */

static bool find(const cdam_process_list *list, const char *key, cdam_process_info *info) {
  for (size_t i = 0; i < cdam_process_list_count(list); i++)
    if (cdam_process_list_get(list, i, info) && strcmp(info->key, key) == 0) return true;
  return false;
}

static void the_list(void **state) {
  fixture *this = *state;
  cdam_error err;
  cdam_process_list *list;
  cdam_process_info info;
  assert_ok(cdam_processes(this->session, &list, &err), &err);
  assert_int_equal(cdam_process_list_count(list), 0);
  assert_false(cdam_process_list_get(list, 0, &info));
  cdam_process_list_free(list);

  cdam_process *process = spawn(
      this, (cdam_process_command){.argv = (const char *const[]){"/bin/busybox", "sh", "-c",
                                                                 "echo abc; exit 9", "a\tb", NULL},
                                   .outlive = true});
  char key[256];
  snprintf(key, sizeof key, "%s", cdam_process_key(process));
  expect_story(process, "abc\n", "", 9, 0);
  process = spawn(this, (cdam_process_command){.argv = SH("sleep 8501"), .terminal = true});
  assert_ok(cdam_processes(this->session, &list, &err), &err);
  assert_int_equal(cdam_process_list_count(list), 2);
  assert_true(find(list, key, &info));
  assert_false(info.running);
  assert_true(info.outlive);
  assert_int_equal(info.exit.code, 9);
  assert_int_equal(info.stdout_end, 4);
  assert_string_equal(info.command, "/bin/busybox sh -c echo abc; exit 9 a\\x09b");
  assert_true(find(list, cdam_process_key(process), &info));
  assert_true(info.running && info.tree_alive && info.terminal && !info.outlive);
  assert_int_equal(info.pid, cdam_process_pid(process));
  cdam_process_list_free(list);

  assert_int_equal(cdam_process_forget(this->session, cdam_process_key(process), &err),
                   CDAM_ERR_ARGUMENT);
  assert_ok(cdam_process_forget(this->session, key, &err), &err);
  assert_int_equal(cdam_process_forget(this->session, key, &err), CDAM_ERR_NO_PROCESS);
  cdam_process *gone;
  assert_int_equal(cdam_process_attach(this->session, key, NULL, &gone, &err), CDAM_ERR_NO_PROCESS);
  assert_null(gone);
  cdam_process_free(process);
}

static void keys_that_are_none(void **state) {
  static const char *const keys[] = {
      "",      ":",     "ab",    "ab:",   "ab:0",  "ab:01",
      "abc:1", "AB:1",  "ab:1 ", " ab:1", "ab:-1", "ab:+1",
      "ab:1:", "ab:1x", "xy:1",  "ab::1", ":1",    "ab:18446744073709551616"};
  fixture *this = *state;
  cdam_error err;
  cdam_process *process;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    assert_int_equal(cdam_process_attach(this->session, keys[i], NULL, &process, &err),
                     CDAM_ERR_ARGUMENT);
  assert_int_equal(
      cdam_process_attach(this->session, "ab:18446744073709551615", NULL, &process, &err),
      CDAM_ERR_NO_PROCESS);
  assert_int_equal(cdam_process_forget(this->session, "ab:1", &err), CDAM_ERR_NO_PROCESS);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list), /* before there is anything to list */
      cmocka_unit_test(streams_and_exit),
      cmocka_unit_test(everything_ends),
      cmocka_unit_test(what_does_not_start),
      cmocka_unit_test(environment_user_and_directory),
      cmocka_unit_test(joined_and_discarded),
      cmocka_unit_test(what_cannot_be_asked),
      cmocka_unit_test(waiting_takes_its_time),
      cmocka_unit_test(a_timeout_ends_the_tree),
      cmocka_unit_test(what_it_left_running),
      cmocka_unit_test(a_handle_given_up),
      cmocka_unit_test(a_handle_that_outlives_its_session),
      cmocka_unit_test(input),
      cmocka_unit_test(input_that_nobody_reads),
      cmocka_unit_test(there_and_back),
      cmocka_unit_test(an_idle_reader),
      cmocka_unit_test(signals),
      cmocka_unit_test(a_terminal),
      cmocka_unit_test(a_terminal_that_interrupts),
      cmocka_unit_test(keys_that_are_none),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
