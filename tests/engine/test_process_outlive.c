/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that outlive their client: it is killed, and another one finds them. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_process_support.h"

/* In a child of its own, which the caller kills: what is written to `fd` is the key. */
static void be_a_client(const char *state_path, bool outlive, int fd) {
  cdam_client *client;
  cdam_state *state;
  cdam_session *session;
  cdam_process *process;
  const cdam_process_command command = {
      .argv = SH("trap 'echo usr1' USR1; i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); "
                 "done; while ! read x; do :; done; echo got $x; exit 8"),
      .input = true,
      .outlive = outlive,
      .retain = 65536};
  if (cdam_client_new(NULL, &client, NULL) != CDAM_OK ||
      cdam_state_load(state_path, NULL, &state, NULL) != CDAM_OK ||
      cdam_resume(client, state, NULL, &session, NULL) != CDAM_OK ||
      cdam_process_spawn(session, &command, &process, NULL) != CDAM_OK)
    _exit(1);
  const char *key = cdam_process_key(process);
  if (write(fd, key, strlen(key) + 1) < 0) _exit(2);
  for (;;)
    pause();
}

/* The key of a process whose client has been killed. */
static void spawn_and_die(fixture *this, bool outlive, char *key, size_t size) {
  char path[] = "/tmp/cofferdam-state-XXXXXX";
  int ends[2], status;
  cdam_error err;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  unlink(path);
  assert_ok(cdam_state_save(cdam_session_state(this->session), path, NULL, &err), &err);
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_a_client(path, outlive, ends[1]);
  }
  close(ends[1]);
  assert_true(child > 0);
  ssize_t length = read(ends[0], key, size);
  assert_true(length > 0);
  close(ends[0]);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  unlink(path);
}

static bool listed(fixture *this, const char *key, cdam_process_info *info) {
  cdam_process_list *list;
  cdam_error err;
  bool found = false;
  assert_ok(cdam_processes(this->session, &list, &err), &err);
  for (size_t i = 0; !found && i < cdam_process_list_count(list); i++)
    found = cdam_process_list_get(list, i, info) && strcmp(info->key, key) == 0;
  info->key = info->command = NULL;
  cdam_process_list_free(list);
  return found;
}

static cdam_process *attach(fixture *this, const char *key, cdam_process_attachment how) {
  cdam_process *process;
  cdam_error err = {0};
  assert_ok(cdam_process_attach(this->session, key, &how, &process, &err), &err);
  assert_string_equal(cdam_process_key(process), key);
  return process;
}

static void another_client_goes_on(void **state) {
  fixture *this = *state;
  char key[256];
  cdam_process_info info;
  cdam_error err;
  spawn_and_die(this, true, key, sizeof key);
  assert_true(listed(this, key, &info));
  assert_true(info.running && info.outlive);
  assert_int_equal(info.stdout_begin, 0);
  while (info.stdout_end < 790)
    assert_true(listed(this, key, &info));

  /* From an offset on, and what comes after it; the input and signals are there as well. */
  cdam_process *process =
      attach(this, key, (cdam_process_attachment){.stdout_offset = 782, .input = true});
  await_text(process, "line 99\n");
  assert_ok(cdam_process_signal(process, SIGUSR1, CDAM_TARGET_PROCESS, &err), &err);
  assert_ok(cdam_process_write(process, "it\n", 3, &err), &err);
  tale story = read_on(process);
  assert_non_null(strstr(cdam_buffer_text(&story.out), "got it\n"));
  assert_int_equal(story.exit.code, 8);
  assert_int_equal(story.exit.ended_by, CDAM_ENDED_ITSELF);
  forget_story(&story);
  cdam_process_free(process);

  /* After the end too, as often as one likes, until it is forgotten. */
  for (int i = 0; i < 2; i++) {
    process = attach(this, key, (cdam_process_attachment){0});
    story = read_on(process);
    assert_int_equal(strncmp(cdam_buffer_text(&story.out), "line 0\nline 1\n", 14), 0);
    assert_int_equal(story.lost, 0);
    assert_int_equal(story.exit.code, 8);
    forget_story(&story);
    cdam_process_free(process);
  }
  process = attach(this, key, (cdam_process_attachment){.no_output = true});
  story = read_on(process);
  assert_int_equal(story.outputs, 0);
  assert_int_equal(story.exit.code, 8);
  forget_story(&story);
  cdam_process_free(process);
  assert_true(listed(this, key, &info));
  assert_false(info.running);
  assert_int_equal(info.exit.code, 8);
  assert_ok(cdam_process_forget(this->session, key, &err), &err);
  assert_false(listed(this, key, &info));
}

static void without_outlive_it_ends(void **state) {
  fixture *this = *state;
  char key[256];
  cdam_process_info info;
  cdam_process *process;
  cdam_error err;
  spawn_and_die(this, false, key, sizeof key);
  int64_t until = cdam_now_ms() + 10000;
  while (listed(this, key, &info))
    if (cdam_now_ms() > until) fail_msg("it lives on");
  assert_int_equal(cdam_process_attach(this->session, key, NULL, &process, &err),
                   CDAM_ERR_NO_PROCESS);
}

static void what_is_no_longer_kept(void **state) {
  fixture *this = *state;
  char key[256];
  cdam_error err;
  cdam_process *process = spawn(this, (cdam_process_command){.argv = SH("head -c 300000 /dev/zero; "
                                                                        "echo; sleep 9101"),
                                                             .outlive = true,
                                                             .retain = 1000});
  snprintf(key, sizeof key, "%s", cdam_process_key(process));
  cdam_process_free(process);
  cdam_process_info info;
  do
    assert_true(listed(this, key, &info));
  while (info.stdout_end < 300001);
  assert_int_equal(info.stdout_begin, 300001 - 1000);
  process = attach(this, key, (cdam_process_attachment){.stdout_offset = 100});
  cdam_process_event event = next(process, 60000);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_int_equal(event.offset, 299001);
  assert_int_equal(event.lost, 299001 - 100);
  cdam_process_free(process);
  process = attach(this, key, (cdam_process_attachment){.from_now = true});
  assert_int_equal(next(process, 100).kind, CDAM_PROCESS_NOTHING);
  assert_ok(cdam_process_kill(process, 0, &err), &err);
  tale story = read_on(process);
  assert_int_equal(story.outputs, 0);
  assert_int_equal(story.exit.signal, SIGKILL);
  forget_story(&story);
  cdam_process_free(process);
  /* An offset that is not written yet. */
  assert_int_equal(cdam_process_attach(this->session, key,
                                       &(cdam_process_attachment){.stdout_offset = 300002},
                                       &process, &err),
                   CDAM_ERR_ARGUMENT);
  assert_ok(cdam_process_forget(this->session, key, &err), &err);
}

/* A paced reader holds the process back, and then loses nothing. */
static void a_paced_reader(void **state) {
  fixture *this = *state;
  cdam_process *starter =
      spawn(this, (cdam_process_command){.argv = SH("read x; head -c 5000000 /dev/zero"),
                                         .input = true,
                                         .discard_stderr = true,
                                         .outlive = true});
  cdam_process *reader = attach(this, cdam_process_key(starter),
                                (cdam_process_attachment){.paced = true, .input = true});
  cdam_process_free(starter);
  cdam_error err;
  assert_ok(cdam_process_write(reader, "\n", 1, &err), &err);
  tale story = read_on(reader);
  assert_int_equal(story.out.length, 5000000);
  assert_int_equal(story.lost, 0);
  forget_story(&story);
  cdam_process_free(reader);
}

/* The agent is started again with its sandbox: its processes are gone, and keys of theirs mean
 * nothing any more, though numbers may be the same. */
static void started_again(void **state) {
  fixture *this = *state;
  char key[256];
  cdam_error err;
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("sleep 9201"), .outlive = true});
  snprintf(key, sizeof key, "%s", cdam_process_key(process));
  docker("restart -t 0 %s", container_of(this));
  /* It ends with the sandbox, whether the agent can still tell or not. */
  cdam_process_event event = {0};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, 10000, &event, &err);
  assert_true(status == CDAM_OK || status == CDAM_ERR_AGENT || status == CDAM_ERR_EXITED);
  assert_int_not_equal(cdam_process_signal(process, SIGTERM, CDAM_TARGET_PROCESS, &err), CDAM_OK);
  cdam_process_free(process);
  assert_int_equal(cdam_process_attach(this->session, key, NULL, &process, &err),
                   CDAM_ERR_NO_PROCESS);
  assert_int_equal(cdam_process_forget(this->session, key, &err), CDAM_ERR_NO_PROCESS);
  process = spawn(this, (cdam_process_command){.argv = SH("echo again")});
  assert_string_not_equal(cdam_process_key(process), key);
  expect_story(process, "again\n", "", 0, 0);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_client_goes_on), cmocka_unit_test(without_outlive_it_ends),
      cmocka_unit_test(what_is_no_longer_kept), cmocka_unit_test(a_paced_reader),
      cmocka_unit_test(started_again),
  };
  return cmocka_run_group_tests(tests, make_sandbox, end_sandbox);
}
