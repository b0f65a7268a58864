/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on a real engine, by the sandbox's agent and by the engine's own exec. */
#include "exec_support.h"

/* ---- what comes back ---- */

static void both_streams(void **state) {
  expect(*state, (cdam_exec_command){.argv = SH("echo out; echo err >&2; printf more")}, 0,
         "out\nmore", "err\n");
  expect(*state, (cdam_exec_command){.argv = SH("true")}, 0, "", "");
  /* There is nothing on stdin, not even a terminal. */
  expect(*state, (cdam_exec_command){.argv = SH("cat; test -t 0 || echo none")}, 0, "none\n", "");
}

static void every_byte(void **state) {
  static const char script[] = "i=0; while [ $i -lt 256 ]; do printf \\\\$(printf %03o $i); "
                               "i=$((i+1)); done >/tmp/0; cd /tmp; "
                               "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat 0 0 >1; mv 1 0; done; "
                               "cat 0; cat 0 >&2";
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH(script), .output_cap = 4 << 20});
  size_t out_length, err_length;
  const unsigned char *out = (const void *)cdam_exec_result_stdout(result, &out_length);
  const unsigned char *err = (const void *)cdam_exec_result_stderr(result, &err_length);
  assert_int_equal(out_length, 1 << 20);
  assert_int_equal(err_length, 1 << 20);
  for (size_t i = 0; i < out_length; i++) {
    if (out[i] != i % 256 || err[i] != i % 256) fail_msg("byte %zu is wrong", i);
  }
  assert_int_equal(out[out_length], 0);
  cdam_exec_result_free(result);
}

static void exit_codes(void **state) {
  static const int codes[] = {0, 1, 7, 125, 126, 127, 128, 137, 255};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    char script[32];
    snprintf(script, sizeof script, "exit %d", codes[i]);
    expect(*state, (cdam_exec_command){.argv = SH(script)}, codes[i], "", "");
  }
  expect(*state, (cdam_exec_command){.argv = SH("kill -9 $$")}, 137, "", "");
  expect(*state, (cdam_exec_command){.argv = SH("kill -TERM $$")}, 143, "", "");
  /* The end of the output is not the end of the command. */
  expect(*state, (cdam_exec_command){.argv = SH("echo x; exec >&- 2>&-; sleep 2; exit 5")}, 5,
         "x\n", "");
}

static void expect_not_started(fixture *this, cdam_exec_command command, const char *words) {
  cdam_exec_result *result = run(this, command);
  assert_true(cdam_exec_result_not_started(result));
  assert_in_range(cdam_exec_result_exit_code(result), 126, 127);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "");
  const char *err = cdam_exec_result_stderr(result, NULL);
  if (!strstr(err, words)) fail_msg("%s", err);
  cdam_exec_result_free(result);
}

static void programs_that_do_not_start(void **state) {
  static const char *const missing[] = {"/no/such/program", NULL};
  static const char *const directory[] = {"/bin", NULL};
  expect_not_started(*state, (cdam_exec_command){.argv = missing}, "/no/such/program");
  expect_not_started(*state, (cdam_exec_command){.argv = directory}, "/bin");
  expect_not_started(*state, (cdam_exec_command){.argv = SH("true"), .workdir = "/no/such/place"},
                     "/no/such/place");
  expect_not_started(*state, (cdam_exec_command){.argv = SH("true"), .user = "nosuchuser"},
                     "nosuchuser");
}

static void env_user_and_directory(void **state) {
  static const char *const env[] = {"A=1", "B=x=y z\n", "C=", NULL};
  expect(*state,
         (cdam_exec_command){.argv = SH("echo \"$A|$B|${C-unset}|${D-unset}\"; id -u; id -g; pwd"),
                             .env = env,
                             .user = "1234:5678",
                             .workdir = "/tmp"},
         0, "1|x=y z\n||unset\n1234\n5678\n/tmp\n", "");
}

static void the_cap(void **state) {
  cdam_exec_result *result = run(
      *state, (cdam_exec_command){.argv = SH("head -c 3000000 /dev/zero; printf abc >&2; echo end"),
                                  .output_cap = 1000});
  size_t length;
  cdam_exec_result_stdout(result, &length);
  assert_int_equal(length, 1000);
  assert_int_equal(cdam_exec_result_stdout_total(result), 3000004);
  cdam_exec_result_stderr(result, &length);
  assert_int_equal(length, 3);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  cdam_exec_result_free(result);
}

static void the_last_bytes(void **state) {
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH("head -c 300000 /dev/zero; echo end; "
                                                 "head -c 300000 /dev/zero >&2; echo no >&2"),
                                      .output_cap = 4,
                                      .flags = CDAM_EXEC_KEEP_TAIL});
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "end\n");
  assert_string_equal(cdam_exec_result_stderr(result, NULL) + 1, "no\n");
  assert_true(cdam_exec_result_stdout_truncated(result));
  assert_int_equal(cdam_exec_result_stdout_total(result), 300004);
  cdam_exec_result_free(result);
}

/* ---- input and sinks ---- */

static void both_ways(void **state) {
  pattern in = {.limit = 16 << 20}, out = {0};
  cdam_source source = {.read = give, .user = &in};
  cdam_sink sink = {.write = take, .user = &out};
  cdam_exec_result *result =
      run(*state, (cdam_exec_command){.argv = SH("cat; echo done >&2; exit 3"),
                                      .input = &source,
                                      .stdout_sink = &sink});
  assert_int_equal(out.total, in.limit);
  assert_int_equal(out.wrong, 0);
  assert_int_equal(cdam_exec_result_exit_code(result), 3);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "");
  assert_int_equal(cdam_exec_result_stdout_total(result), in.limit);
  assert_false(cdam_exec_result_stdout_truncated(result));
  assert_string_equal(cdam_exec_result_stderr(result, NULL), "done\n");
  cdam_exec_result_free(result);

  /* Kept, up to the cap; and a file that is both. */
  in = (pattern){.limit = 3000000};
  result = run(*state, (cdam_exec_command){.argv = SH("cat"), .input = &source, .output_cap = 10});
  assert_int_equal(cdam_exec_result_stdout_total(result), in.limit);
  assert_memory_equal(cdam_exec_result_stdout(result, NULL),
                      ((const unsigned char[]){0, 31, 62, 93, 124}), 5);
  cdam_exec_result_free(result);
  FILE *file = tmpfile();
  assert_non_null(file);
  sink = (cdam_sink){.to_fd = true, .fd = fileno(file)};
  source = (cdam_source){.bytes = "to and fro", .length = 10};
  result =
      run(*state, (cdam_exec_command){.argv = SH("cat"), .input = &source, .stdout_sink = &sink});
  assert_int_equal(cdam_exec_result_stdout_total(result), 10);
  cdam_exec_result_free(result);
  rewind(file);
  source = (cdam_source){.from_fd = true, .fd = fileno(file)};
  expect(*state, (cdam_exec_command){.argv = SH("cat >&2"), .input = &source}, 0, "", "to and fro");
  fclose(file);
}

/* A command that has no outputs any more still has its input. */
static void input_alone(void **state) {
  pattern in = {.limit = 3000000};
  cdam_source source = {.read = give, .user = &in};
  expect(*state,
         (cdam_exec_command){.argv = SH("exec >/dev/null 2>&1; sleep 0.5; cat >/tmp/input; exit 9"),
                             .input = &source},
         9, "", "");
  expect(*state, (cdam_exec_command){.argv = SH("wc -c </tmp/input")}, 0, "3000000\n", "");
}

/* Its reason is on stderr, whatever ends there are. */
static void ends_of_what_does_not_start(void **state) {
  static const char *const missing[] = {"/no/such/program", NULL};
  cdam_source source = {.bytes = "x", .length = 1};
  cdam_sink sink = {0};
  for (int i = 0; i < 2; i++)
    expect_not_started(*state,
                       (cdam_exec_command){.argv = missing,
                                           .input = &source,
                                           .stdout_sink = i ? &sink : NULL,
                                           .stderr_sink = &sink},
                       "/no/such/program");
}

/* Slower than the watch over silent outputs: a pipe that is full for seconds. */
static void *read_late(void *user) {
  int fd = *(int *)user;
  static char bytes[65536];
  size_t total = 0;
  usleep(5500 * 1000);
  for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
    total += (size_t)n;
  return (void *)total;
}

static void a_reader_that_is_late(void **state) {
  int ends[2];
  pthread_t thread;
  void *total;
  assert_int_equal(pipe(ends), 0);
  cdam_sink sink = {.to_fd = true, .fd = ends[1]};
  pthread_create(&thread, NULL, read_late, &ends[0]);
  cdam_exec_result *result = run(
      *state, (cdam_exec_command){.argv = SH("head -c 400000 /dev/zero"), .stdout_sink = &sink});
  close(ends[1]);
  pthread_join(thread, &total);
  close(ends[0]);
  assert_int_equal((size_t)total, 400000);
  assert_int_equal(cdam_exec_result_stdout_total(result), 400000);
  cdam_exec_result_free(result);
}

static void ends_that_fail(void **state) {
  pattern out = {.limit = 100000};
  cdam_sink sink = {.write = take, .user = &out};
  cdam_source source = {.from_fd = true, .fd = open("/tmp", O_RDONLY)};
  cdam_exec_command commands[] = {
      {.argv = SH("yes 8201"), .stdout_sink = &sink},
      {.argv = SH("yes 8202 >&2"), .stderr_sink = &sink},
      {.argv = SH("sleep 8203"), .input = &source},
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    cdam_exec_result *result;
    cdam_error err = {0};
    cdam_status status = cdam_exec(((fixture *)*state)->session, &commands[i], &result, &err);
    assert_int_equal(status, err.code);
    if (err.code != CDAM_ERR_IO || strstr(err.message, "running")) fail_msg("%s", err.message);
    assert_null(result);
    assert_false(runs(*state, "820"));
  }
  close(source.fd);
}

static void background_children(void **state) {
  int64_t before = cdam_now_ms();
  expect(*state, (cdam_exec_command){.argv = SH("sleep 60 & echo started")}, 0, "started\n", "");
  assert_true(cdam_now_ms() - before < 50000);
}

static void many_commands(void **state) {
  for (int i = 0; i < 30; i++) {
    char script[64], out[16];
    snprintf(script, sizeof script, "echo %d; exit %d", i * 7, i);
    snprintf(out, sizeof out, "%d\n", i * 7);
    expect(*state, (cdam_exec_command){.argv = SH(script)}, i, out, "");
  }
}

/* ---- time ---- */

/* No deadline is none, however short the client's timeout for other things is. */
static void a_silent_command(void **state) {
  fixture *this = *state;
  cdam_session *session;
  cdam_error err;
  cdam_client *client = client_with(
      cdam_session_has_agent(this->session) ? CDAM_AGENT_REQUIRED : CDAM_AGENT_OFF, 1000);
  assert_ok(cdam_resume(client, cdam_session_state(this->session), NULL, &session, &err), &err);
  expect(&(fixture){client, session}, (cdam_exec_command){.argv = SH("sleep 5; echo ok")}, 0,
         "ok\n", "");
  cdam_session_free(session);
  cdam_client_free(client);
}

static cdam_exec_result *run_out_of_time(fixture *this, cdam_exec_command command) {
  int64_t before = cdam_now_ms();
  cdam_exec_result *result = run(this, command);
  int64_t took = cdam_now_ms() - before;
  assert_true(took >= command.timeout_ms && took < command.timeout_ms + 40000);
  assert_true(cdam_exec_result_timed_out(result));
  assert_int_equal(cdam_exec_result_exit_code(result), -1);
  return result;
}

static void the_deadline_kills_the_tree(void **state) {
  fixture *this = *state;
  static const char *const users[] = {NULL, "1000"};
  expect(this,
         (cdam_exec_command){
             .argv = SH("echo kept >/tmp/kept; setsid sleep 7001 >/dev/null 2>&1 </dev/null &")},
         0, "", "");
  for (size_t i = 0; i < 2; i++) {
    static const char script[] = "trap '' TERM; echo first; sleep 7002 & setsid sleep 7003 & "
                                 "(setsid sh -c 'sleep 7004; true' &); "
                                 "env -i setsid /bin/busybox sleep 7005 & "
                                 "while :; do sleep 1; done";
    cdam_exec_result *result = run_out_of_time(
        this, (cdam_exec_command){.argv = SH(script), .timeout_ms = 2500, .user = users[i]});
    assert_false(cdam_exec_result_still_running(result));
    assert_string_equal(cdam_exec_result_stdout(result, NULL), "first\n");
    cdam_exec_result_free(result);
    assert_false(runs(this, "7002"));
    assert_false(runs(this, "7003"));
    assert_false(runs(this, "7004"));
    assert_false(runs(this, "7005"));
  }
  assert_true(runs(this, "7001"));
  expect(this, (cdam_exec_command){.argv = SH("cat /tmp/kept")}, 0, "kept\n", "");
}

static void endless_output(void **state) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  cdam_exec_result *result = run_out_of_time(
      *state, (cdam_exec_command){.argv = SH("yes"), .timeout_ms = 2500, .output_cap = 4096});
  getrusage(RUSAGE_SELF, &after);
  assert_false(cdam_exec_result_still_running(result));
  size_t length;
  cdam_exec_result_stdout(result, &length);
  assert_int_equal(length, 4096);
  assert_true(cdam_exec_result_stdout_total(result) > 1000000);
  assert_true(after.ru_maxrss - before.ru_maxrss < 32 * 1024); /* KiB */
  cdam_exec_result_free(result);
  assert_false(runs(*state, "yes"));
}

static void children_faster_than_the_killer(void **state) {
  cdam_exec_result *result =
      run_out_of_time(*state, (cdam_exec_command){.argv = SH("while :; do (setsid sleep 7006 &); "
                                                             "sleep 0.01; done"),
                                                  .timeout_ms = 700});
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);
  assert_false(runs(*state, "7006"));
}

static void shells_that_are_missing(void **state) {
  fixture *this = *state;
  expect(this,
         (cdam_exec_command){
             .argv = SH("mkdir /tmp/x; cp /bin/busybox /tmp/x/; rm -f /bin/sh; cd /tmp; "
                        "x/busybox ln -s x/busybox sleep")},
         0, "", "");
  static const char *const sleep[] = {"/tmp/sleep", "7007", NULL};
  cdam_exec_result *result =
      run_out_of_time(this, (cdam_exec_command){.argv = sleep, .timeout_ms = 300});
  assert_false(cdam_exec_result_still_running(result));
  cdam_exec_result_free(result);

  static const char *const remove[] = {"/tmp/x/busybox", "rm", "/bin/busybox", NULL};
  expect(this, (cdam_exec_command){.argv = remove}, 0, "", "");
  result = run_out_of_time(this, (cdam_exec_command){.argv = sleep, .timeout_ms = 300});
  assert_int_equal(cdam_exec_result_still_running(result), !cdam_session_has_agent(this->session));
  cdam_exec_result_free(result);
}

/* ---- the sandbox ---- */

/* Does something to the container in two seconds. */
static void later(fixture *this, const char *verb) {
  char command[160];
  snprintf(command, sizeof command, "(sleep 2; docker %s %s) >/dev/null 2>&1 &", verb,
           container_of(this));
  assert_int_equal(system(command), 0);
}

static void a_paused_sandbox(void **state) {
  fixture *this = *state;
  docker("pause %s", container_of(this));
  expect_failure(this, (cdam_exec_command){.argv = SH("true")}, CDAM_ERR_PAUSED);
  docker("unpause %s", container_of(this));
  expect(this, (cdam_exec_command){.argv = SH("echo on")}, 0, "on\n", "");

  /* Paused while the command runs: it waits, and cannot be killed. */
  later(this, "pause");
  cdam_exec_result *result = run_out_of_time(
      this, (cdam_exec_command){.argv = SH("echo a; sleep 20; echo b"), .timeout_ms = 8000});
  assert_true(cdam_exec_result_still_running(result));
  assert_string_equal(cdam_exec_result_stdout(result, NULL), "a\n");
  cdam_exec_result_free(result);
  docker("unpause %s", container_of(this));
}

/* The engine kills the command with the sandbox, and tells that, or that it is gone already. */
static void expect_killed(fixture *this, cdam_status code) {
  cdam_exec_result *result;
  cdam_error err = {0};
  cdam_status status =
      cdam_exec(this->session, &(cdam_exec_command){.argv = SH("echo a; sleep 60")}, &result, &err);
  if (status == CDAM_OK)
    assert_int_equal(cdam_exec_result_exit_code(result), 137);
  else if (status != code && status != CDAM_ERR_EXITED)
    fail_msg("%s: %s", cdam_status_name(status), err.message);
  cdam_exec_result_free(result);
}

static void a_sandbox_that_stops(void **state) {
  fixture *this = *state;
  later(this, "kill");
  expect_killed(this, CDAM_ERR_EXITED);
  docker("wait %s", container_of(this));
  expect_failure(this, (cdam_exec_command){.argv = SH("true")}, CDAM_ERR_EXITED);
  docker("start %s", container_of(this));
  later(this, "rm -f");
  expect_killed(this, CDAM_ERR_NOT_FOUND);
  while (containers_of(cdam_state_session_id(cdam_session_state(this->session))) > 0)
    usleep(50000);
  expect_failure(this, (cdam_exec_command){.argv = SH("true")}, CDAM_ERR_NOT_FOUND);
}

/* ---- several at once ---- */

typedef struct worker {
  pthread_t thread;
  fixture use;
  int number;
  int wrong;
} worker;

static void *work(void *user) {
  worker *this = user;
  for (int i = 0; i < 10; i++) {
    char script[64], out[32];
    snprintf(script, sizeof script, "echo %d-%d; exit %d", this->number, i, this->number);
    int length = snprintf(out, sizeof out, "%d-%d\n", this->number, i);
    cdam_exec_result *result;
    cdam_status status =
        cdam_exec(this->use.session, &(cdam_exec_command){.argv = SH(script)}, &result, NULL);
    if (status != CDAM_OK || cdam_exec_result_exit_code(result) != this->number ||
        cdam_exec_result_stdout_total(result) != (uint64_t)length ||
        strcmp(cdam_exec_result_stdout(result, NULL), out) != 0)
      this->wrong++;
    cdam_exec_result_free(result);
  }
  return NULL;
}

/* Two sandboxes, and two sessions on one of them; one client. */
static void at_once(void **state) {
  fixture *this = *state;
  cdam_error err;
  worker workers[3] = {{.use = *this, .number = 1}, {.use = *this, .number = 2}, {.number = 3}};
  assert_ok(cdam_resume(this->client, cdam_session_state(this->session), NULL,
                        &workers[1].use.session, &err),
            &err);
  workers[2].use.session = create_with(this->client, CDAM_NETWORK_MODE_NONE);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (int i = 0; i < 3; i++)
    pthread_join(workers[i].thread, NULL);
  cdam_session_free(workers[1].use.session);
  end_session(this->client, workers[2].use.session);
  for (int i = 0; i < 3; i++)
    assert_int_equal(workers[i].wrong, 0);
}

int main(void) {
  require_engine();
#define TEST(name) {#name " by the agent", name, make_sandbox, end_sandbox, NULL}, BY_ENGINE(name)
  const struct CMUnitTest tests[] = {
      TEST(both_streams),
      TEST(every_byte),
      TEST(exit_codes),
      TEST(programs_that_do_not_start),
      TEST(env_user_and_directory),
      TEST(the_cap),
      TEST(the_last_bytes),
      TEST(both_ways),
      TEST(input_alone),
      TEST(ends_of_what_does_not_start),
      TEST(a_reader_that_is_late),
      TEST(ends_that_fail),
      TEST(background_children),
      TEST(many_commands),
      TEST(a_silent_command),
      TEST(the_deadline_kills_the_tree),
      TEST(endless_output),
      TEST(children_faster_than_the_killer),
      TEST(shells_that_are_missing),
      TEST(a_paused_sandbox),
      TEST(a_sandbox_that_stops),
      TEST(at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
