/* SPDX-License-Identifier: Apache-2.0 */
/* Processes without the agent, when something happens to their sandbox; and over TLS. */
#include "plain_process.h"

/* ---- the sandbox ---- */

static void expect_lost(cdam_process *process) {
  cdam_error err = {0};
  cdam_process_exit exit;
  cdam_status status = to_the_end(process, &err);
  bool ended = status == CDAM_OK && cdam_process_exit_status(process, &exit);
  if (ended) assert_int_equal(exit.code, 137);
  if (!ended && status != CDAM_ERR_EXITED && status != CDAM_ERR_NOT_FOUND)
    fail_msg("%s: %s", cdam_status_name(status), err.message);
  cdam_process_free(process);
}

static void removed_and_killed(void **state) {
  (void)state;
  for (int kills = 0; kills < 2; kills++) {
    fixture this = make_plain(NULL, NULL);
    cdam_process *process = running(&this, 0), *other = running(&this, 0);
    docker(kills ? "kill %s" : "rm -f %s", container_of(&this));
    expect_lost(process);
    cdam_error err = {0};
    cdam_process *late;
    const cdam_process_command command = {.argv = SH("true")};
    assert_int_equal(cdam_process_spawn(this.session, &command, &late, &err),
                     kills ? CDAM_ERR_EXITED : CDAM_ERR_NOT_FOUND);
    cdam_process_free(other); /* whose end nobody has fetched */
    end_plain(&this);
  }
}

static void paused(void **state) {
  (void)state;
  fixture this = make_plain(NULL, NULL);
  cdam_process *process = running(&this, 0), *timed = running(&this, 500), *late;
  cdam_error err = {0};
  docker("pause %s", container_of(&this));
  const cdam_process_command command = {.argv = SH("true")};
  assert_int_equal(cdam_process_spawn(this.session, &command, &late, &err), CDAM_ERR_PAUSED);
  assert_int_equal(cdam_process_signal(process, 15, CDAM_TARGET_PROCESS, &err), CDAM_ERR_PAUSED);
  assert_int_equal(cdam_process_kill(process, 0, &err), CDAM_ERR_PAUSED);
  /* Its time is over, and it cannot be ended. */
  assert_int_equal(to_the_end(timed, &err), CDAM_ERR_PAUSED);
  docker("unpause %s", container_of(&this));
  assert_ok(cdam_process_write(process, "on\n", 3, &err), &err);
  await_text(process, "on\n");
  cdam_process_free(process);
  cdam_process_free(timed);
  end_plain(&this);
}

/* ---- over TLS ---- */

static void over_tls(void **state) {
  (void)state;
  const char *endpoint = getenv("COFFERDAM_TEST_TLS_HOST"),
             *certs = getenv("COFFERDAM_TEST_TLS_CERTS");
  if (!endpoint || !certs) skip();
  fixture this = make_plain(endpoint, certs);
  cdam_error err = {0};
  cdam_process *process =
      spawn(&this, (cdam_process_command){.argv = SH("cat; echo err >&2; exit 7"), .input = true});
  assert_ok(cdam_process_write(process, "some input", 10, &err), &err);
  assert_ok(cdam_process_end_input(process, &err), &err);
  expect_story(process, "some input", "err\n", 7, 0);

  process = spawn(&this, (cdam_process_command){.argv = SH("read x; stty size; read x; stty size"),
                                                .terminal = true,
                                                .input = true,
                                                .rows = 33,
                                                .columns = 99});
  assert_ok(cdam_process_write(process, "x\r", 2, &err), &err);
  await_text(process, "33 99\r\n");
  assert_ok(cdam_process_resize(process, 44, 111, &err), &err);
  assert_ok(cdam_process_write(process, "x\r", 2, &err), &err);
  await_text(process, "44 111\r\n");
  cdam_process_free(process);

  process = spawn(&this, (cdam_process_command){.argv = SH("sleep 3301"), .timeout_ms = 300});
  cdam_process_exit exit;
  assert_ok(cdam_process_wait(process, -1, &exit, &err), &err);
  assert_int_equal(exit.ended_by, CDAM_ENDED_TIMEOUT);
  cdam_process_free(process);
  cdam_process_free(spawn(&this, (cdam_process_command){.argv = SH("sleep 3302")}));
  assert_false(runs(&this, "sleep 330"));
  end_plain(&this);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(removed_and_killed),
      cmocka_unit_test(paused),
      cmocka_unit_test(over_tls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
