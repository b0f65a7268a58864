/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by the engine's exec, with each allocation made to fail in turn. */
#include <string.h>

#include <cofferdam/process.h>

#include "../faults/exec_fixture.h"
#include "calls.h"
#include "exhaust.h"
#include "link/session_link.h"

typedef struct play {
  fixture *fixture;
  cdam_session session;
  cdam_process *process;
  size_t came;
  bool exited;
} play;

static cdam_status open_session(play *p, cdam_error *err) {
  p->session = (cdam_session){.state = &p->fixture->state};
  return open_client(p->fixture->engine, 0, &p->session.client, err);
}

static cdam_status run_process(void *context, cdam_error *err) {
  play *p = context;
  static const char *const env[] = {"A=B", NULL};
  const cdam_process_command command = {
      .argv = exec_argv, .env = env, .user = "1", .workdir = "/", .timeout_ms = 60000};
  cdam_status status = open_session(p, err);
  if (status == CDAM_OK) status = cdam_process_spawn(&p->session, &command, &p->process, err);
  if (status == CDAM_OK) status = read_on(p->process, 5000, &p->came, err);
  return status;
}

static const char *finish_process(void *context, cdam_status status, bool once) {
  play *p = context;
  const char *wrong = NULL;
  cdam_process_exit exit;
  (void)once;
  if (status == CDAM_OK && p->came != 10) wrong = "another output";
  if (status == CDAM_OK && (!cdam_process_exit_status(p->process, &exit) || exit.code != 7))
    wrong = "another end";
  cdam_process_free(p->process);
  cdam_session_drop_links(&p->session);
  cdam_client_free(p->session.client);
  fixture *kept = p->fixture;
  *p = (play){.fixture = kept};
  return wrong;
}

static void test_process(void **unused) {
  (void)unused;
  static const scripted_rule rules[] = {
      {.method = "POST", .path = CREATE, .reply = CREATED},
      {.path = "/exec/aaaa/start", .reply = {RAW(HELLO), .end = SCRIPTED_CLOSE}},
      {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("7")}},
      {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
  };
  play p = {.fixture = BEGIN(rules, 2000)};
  exhaust(&(exhaust_case){"a process by the engine", run_process, finish_process, &p, true, 7});
  end(p.fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_process)};
  return cmocka_run_group_tests_name("oom_process_engine", tests, NULL, NULL);
}
