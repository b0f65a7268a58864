/* SPDX-License-Identifier: Apache-2.0 */
/* Processes without the agent, whose engine is killed under them. Run by own_engine.sh. */
#include "own_engine.h"
#include "plain_process.h"

static void the_engine_is_killed(void **state) {
  (void)state;
  fixture this = make_plain(NULL, NULL);
  cdam_process *process = running(&this, 0), *other = running(&this, 0),
               *timed = running(&this, 300);
  cdam_error err = {0};
  engine_control("kill");
  cdam_process *all[] = {process, timed};
  for (size_t i = 0; i < 2; i++) {
    cdam_status status = to_the_end(all[i], &err);
    /* As the stream ended: in the middle, or between two frames. */
    bool fits = status == CDAM_ERR_EXEC ? strstr(err.message, "exit status unknown: ") != NULL
                                        : status == CDAM_ERR_PROTOCOL || status == CDAM_ERR_CONNECT;
    if (!fits) fail_msg("%zu: %s: %s", i, cdam_status_name(status), err.message);
  }
  cdam_process *late;
  const cdam_process_command command = {.argv = SH("true")};
  assert_int_equal(cdam_process_spawn(this.session, &command, &late, &err), CDAM_ERR_CONNECT);
  cdam_process_free(process);
  cdam_process_free(timed);
  engine_control("start --live-restore");
  cdam_process_free(other); /* and what it was a handle of is ended, now that this can be done */
  expect_story(spawn(&this, (cdam_process_command){.argv = SH("echo well")}), "well\n", "", 0, 0);
  end_plain(&this);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_engine_is_killed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
