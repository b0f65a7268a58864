/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in what talks to an engine. Each run has a client of its own. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "../faults/agent_fixture.h"
#include "exhaust.h"

/* With everything failing, an engine run can only end early: not each place is tried. */
#define STRIDE 7

typedef struct play {
  model_engine *model;
  scripted_engine *engine;
  cdam_options *options;
  cdam_state *state;
  const char *agents;  /* the directory of the agent, for sandboxes that get it */
  cdam_client *client; /* of this run */
  cdam_session *session;
  cdam_exec_result *result;
  cdam_sandbox_list *list;
  cdam_reap_report *reaped;
  size_t given, taken; /* by a source and a sink */
  cdam_status status;  /* in the callback */
  cdam_error error;
} play;

static cdam_status open_client(play *p, cdam_error *err) {
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status = cdam_client_config_set_endpoint(config, scripted_engine_endpoint(p->engine), err);
  if (status == CDAM_OK) {
    cdam_client_config_set_timeout(config, 300);
    cdam_client_config_set_agent(config, p->agents ? CDAM_AGENT_AUTO : CDAM_AGENT_OFF);
    if (p->agents) status = cdam_client_config_set_agent_directory(config, p->agents, err);
  }
  if (status == CDAM_OK) {
    status = cdam_client_new(config, &p->client, err);
  }
  cdam_client_config_free(config);
  return status;
}

static void close_play(play *p) {
  cdam_exec_result_free(p->result);
  cdam_list_free(p->list);
  cdam_reap_report_free(p->reaped);
  cdam_session_free(p->session);
  cdam_client_free(p->client);
  p->result = NULL;
  p->list = NULL;
  p->reaped = NULL;
  p->session = NULL;
  p->client = NULL;
}

static cdam_status run_ping(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_client_ping(p->client, NULL, err) : status;
}

static cdam_status run_create(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_create(p->client, p->options, &p->session, err) : status;
}

static cdam_status run_resume(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_resume(p->client, p->state, NULL, &p->session, err) : status;
}

static cdam_status run_delete(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_delete(p->client, p->state, err) : status;
}

static cdam_status run_list(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_list(p->client, &p->list, err) : status;
}

static cdam_status run_exec(void *context, cdam_error *err) {
  static const char *const argv[] = {"echo", "hello", NULL};
  static const char *const env[] = {"A=1", NULL};
  play *p = context;
  cdam_exec_command command = {.argv = argv, .env = env, .workdir = "/", .timeout_ms = 500};
  cdam_status status = open_client(p, err);
  if (status == CDAM_OK) status = cdam_resume(p->client, p->state, NULL, &p->session, err);
  if (status == CDAM_OK) status = cdam_exec(p->session, &command, &p->result, err);
  return status;
}

static int64_t give(void *user, void *buffer, size_t size) {
  play *p = user;
  size_t length = size < 100000 - p->given ? size : 100000 - p->given;
  memset(buffer, 'i', length);
  p->given += length;
  return (int64_t)length;
}

static bool take(void *user, const void *bytes, size_t length) {
  play *p = user;
  (void)bytes;
  p->taken += length;
  return true;
}

static cdam_status run_exec_ends(void *context, cdam_error *err) {
  static const char *const argv[] = {"echo", "hello", NULL};
  play *p = context;
  cdam_source source = {.read = give, .user = p};
  cdam_sink sink = {.write = take, .user = p};
  cdam_exec_command command = {
      .argv = argv, .timeout_ms = 500, .input = &source, .stdout_sink = &sink};
  cdam_status status = open_client(p, err);
  if (status == CDAM_OK) status = cdam_resume(p->client, p->state, NULL, &p->session, err);
  if (status == CDAM_OK) status = cdam_exec(p->session, &command, &p->result, err);
  return status;
}

static void loop_created(void *user, cdam_status status, cdam_session *session,
                         const cdam_error *err) {
  play *p = user;
  p->status = status;
  p->session = session;
  p->error = *err;
}

static cdam_status run_loop(void *context, cdam_error *err) {
  play *p = context;
  cdam_loop *loop = NULL;
  cdam_status status = open_client(p, err);
  if (status == CDAM_OK) status = cdam_loop_new(p->client, &loop, err);
  if (status == CDAM_OK) status = cdam_create_start(loop, p->options, loop_created, p, NULL, err);
  if (status == CDAM_OK) {
    struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
    while (cdam_loop_dispatch(loop))
      poll(&ready, 1, 5000);
    status = p->status;
    *err = p->error;
  }
  cdam_loop_free(loop);
  return status;
}

static const char *finish_ping(void *context, cdam_status status, bool once) {
  (void)status;
  (void)once;
  close_play(context);
  return NULL;
}

/* Each run begins on an engine without a container. */
static const char *finish_made(void *context, cdam_status status, bool once) {
  play *p = context;
  const char *wrong = NULL;
  bool there = model_has_container(p->model);
  if (status == CDAM_OK && !p->session) wrong = "success without a session";
  if (status == CDAM_OK && !there) wrong = "success without a container";
  if (status != CDAM_OK && p->session) wrong = "a failure with a session";
  if (status != CDAM_OK && once && there) wrong = "a container was left behind";
  if (status == CDAM_OK && there &&
      strcmp(cdam_state_container_id(cdam_session_state(p->session)), p->model->id) != 0)
    wrong = "a session of another container";
  close_play(p);
  p->model->id[0] = '\0';
  return wrong;
}

/* Each run begins on an engine without the agent's volume. */
static const char *finish_agent(void *context, cdam_status status, bool once) {
  play *p = context;
  model_volumes *volumes = &p->model->volumes;
  const char *wrong = NULL;
  if (status == CDAM_OK && !cdam_session_has_agent(p->session)) wrong = "it goes without the agent";
  if (once && volumes->helper) wrong = "a helper was left behind";
  const char *other = finish_made(context, status, once);
  free(volumes->tar);
  *volumes = (model_volumes){.clock = volumes->clock + 1000};
  return wrong ? wrong : other;
}

/* Each run begins with the state's container there, and a resume leaves it alone. */
static const char *finish_reattach(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (!model_has_container(p->model)) wrong = "the container is gone";
  if (p->model->made != 1) wrong = "a second container was made";
  if (status == CDAM_OK && cdam_session_was_recreated(p->session)) wrong = "it was recreated";
  close_play(p);
  return wrong;
}

static const char *finish_delete(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK && model_has_container(p->model)) wrong = "it was not deleted";
  close_play(p);
  if (!model_has_container(p->model))
    snprintf(p->model->id, sizeof p->model->id, "%s", cdam_state_container_id(p->state));
  return wrong;
}

static const char *finish_list(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK && cdam_list_count(p->list) != 2) wrong = "a list that is not whole";
  close_play(p);
  return wrong;
}

static const char *finish_exec(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK) {
    size_t length;
    const char *text = cdam_exec_result_stdout(p->result, &length);
    if (cdam_exec_result_exit_code(p->result) != 3) wrong = "another exit code";
    if (length != 6 || memcmp(text, "hello\n", 6) != 0) wrong = "output that is not whole";
  }
  close_play(p);
  return wrong;
}

static const char *finish_exec_ends(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK && cdam_exec_result_exit_code(p->result) != 3) wrong = "another exit code";
  if (status == CDAM_OK && p->taken != 6) wrong = "output that is not whole";
  p->given = p->taken = 0;
  close_play(p);
  return wrong;
}

static void test_ping(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  play p = {.model = model, .engine = model->engine};
  exhaust(&(exhaust_case){"ping", run_ping, finish_ping, &p, true, 1});
  model_stop(model);
}

static void test_create(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  play p = {.model = model, .engine = model->engine};
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  exhaust(&(exhaust_case){"create", run_create, finish_made, &p, true, STRIDE});
  cdam_options_free(p.options);
  model_stop(model);
}

static void test_agent(void **unused) {
  (void)unused;
  void *made;
  agent_setup(&made);
  agent_fixture *agent = made;
  play p = {.model = agent->model, .engine = agent->model->engine, .agents = agent->directory};
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  exhaust(&(exhaust_case){"agent", run_create, finish_agent, &p, true, STRIDE});
  cdam_options_free(p.options);
  agent_teardown(&made);
}

static void test_loop(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  play p = {.model = model, .engine = model->engine};
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  exhaust(&(exhaust_case){"loop", run_loop, finish_made, &p, true, STRIDE});
  cdam_options_free(p.options);
  model_stop(model);
}

static void test_recreate(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  play p = {.model = model, .engine = model->engine};
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  p.state = model_create_state(model, p.options);
  model->id[0] = '\0';
  exhaust(&(exhaust_case){"recreate", run_resume, finish_made, &p, true, STRIDE});
  cdam_state_free(p.state);
  cdam_options_free(p.options);
  model_stop(model);
}

static void with_container(const char *name, cdam_status (*run)(void *, cdam_error *),
                           const char *(*finish)(void *, cdam_status, bool)) {
  model_engine *model = model_start();
  play p = {.model = model, .engine = model->engine};
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  p.state = model_create_state(model, p.options);
  exhaust(&(exhaust_case){name, run, finish, &p, true, STRIDE});
  cdam_state_free(p.state);
  cdam_options_free(p.options);
  model_stop(model);
}

static void test_reattach(void **unused) {
  (void)unused;
  with_container("reattach", run_resume, finish_reattach);
}

static void test_delete(void **unused) {
  (void)unused;
  with_container("delete", run_delete, finish_delete);
}

static cdam_status run_reap(void *context, cdam_error *err) {
  play *p = context;
  cdam_reap_flags flags = {.now = 1000};
  cdam_status status = open_client(p, err);
  return status == CDAM_OK ? cdam_reap(p->client, &flags, &p->reaped, err) : status;
}

static const char *finish_reap(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK && (cdam_reap_count(p->reaped) != 2 || !cdam_reap_failure(p->reaped, 1)))
    wrong = "a report that is not whole";
  close_play(p);
  return wrong;
}

static void test_reap(void **unused) {
  (void)unused;
#define ENTRY(digit)                                                                               \
  "{\"Id\":\"111111111111111111111111111111111111111111111111111111111111111" digit "\","          \
  "\"Names\":[\"/cofferdam-01234567-89ab-4def-8123-456789abcde" digit "\"],\"Labels\":{"           \
  "\"io.cofferdam.deadline\":\"" digit "\",\"io.cofferdam.session-id\":"                           \
  "\"01234567-89ab-4def-8123-456789abcde" digit "\"}}"
  static const scripted_rule rules[] = {
      {.path = "/containers/json*", .reply = {200, .body = "[" ENTRY("1") "," ENTRY("2") "]"}},
      {.method = "DELETE", .path = "/containers/*1[?]*", .reply = {.status = 204}},
      {.method = "DELETE", .path = "*", .reply = {500, .body = "{\"message\":\"no\"}"}}};
#undef ENTRY
  play p = {.engine = scripted_engine_start(rules, 3)};
  exhaust(&(exhaust_case){"reap", run_reap, finish_reap, &p, true, STRIDE});
  scripted_engine_stop(p.engine);
}

static void test_list(void **unused) {
  (void)unused;
  static const scripted_rule rules[] = {
      {.method = "GET",
       .path = "/containers/json*",
       .reply = {200,
                 .body =
                     "[{\"Id\":"
                     "\"1111111111111111111111111111111111111111111111111111111111111111\","
                     "\"Image\":\"a\",\"State\":\"running\",\"Created\":1,\"Labels\":"
                     "{\"io.cofferdam.session-id\":\"01234567-89ab-4def-8123-456789abcdef\"}},"
                     "{\"Id\":"
                     "\"2222222222222222222222222222222222222222222222222222222222222222\","
                     "\"Image\":\"b\",\"State\":\"exited\",\"Created\":2,\"Labels\":"
                     "{\"io.cofferdam.session-id\":\"01234567-89ab-4def-8123-456789abcdee\"}}]"}},
  };
  play p = {.engine = scripted_engine_start(rules, 1)};
  exhaust(&(exhaust_case){"list", run_list, finish_list, &p, true, STRIDE});
  scripted_engine_stop(p.engine);
}

static const char *inspect_of(play *p) {
  json_t *networks = json_pack("{s:{s:s}}", "none", "IPAddress", "");
  json_t *inspect = json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}}, s:{s:s, s:b}, s:{s:o}}", "Id",
                              cdam_state_container_id(p->state), "Image", MODEL_IMAGE_ID, "State",
                              "Status", "running", "Config", "Labels", "io.cofferdam.session-id",
                              cdam_state_session_id(p->state), "HostConfig", "NetworkMode", "none",
                              "Privileged", 0, "NetworkSettings", "Networks", networks);
  char *text = json_dumps(inspect, 0);
  json_decref(inspect);
  return text;
}

static void test_exec(void **unused) {
  (void)unused;
  static const char stream[] = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
                               "Content-Type: application/vnd.docker.raw-stream\r\n\r\n"
                               "\1\0\0\0\0\0\0\6hello\n";
  play p = {0};
  model_engine *model = model_start();
  p.options = model_options(CDAM_NETWORK_MODE_NONE);
  p.state = model_create_state(model, p.options);
  model_stop(model);
  const char *inspect = inspect_of(&p);
  const scripted_rule rules[] = {
      {.method = "GET", .path = "/containers/*/json", .reply = {200, .body = inspect}},
      {.method = "GET", .path = "/info", .reply = {200, .body = "{\"ID\":\"ENGINE:ONE\"}"}},
      {.method = "POST",
       .path = "/containers/*/exec",
       .reply = {201, .body = "{\"Id\":"
                              "\"3333333333333333333333333333333333333333333333333333333333333333"
                              "\"}"}},
      {.method = "POST",
       .path = "/exec/*/start",
       .reply = {.raw = stream, .raw_length = sizeof stream - 1, .end = SCRIPTED_CLOSE}},
      {.method = "GET",
       .path = "/exec/*/json",
       .reply = {200, .body = "{\"Running\":false,\"ExitCode\":3,\"Pid\":17}"}},
  };
  p.engine = scripted_engine_start(rules, sizeof rules / sizeof *rules);
  exhaust(&(exhaust_case){"exec", run_exec, finish_exec, &p, true, STRIDE});
  exhaust(&(exhaust_case){"exec with ends", run_exec_ends, finish_exec_ends, &p, true, STRIDE});
  scripted_engine_stop(p.engine);
  free((char *)inspect);
  cdam_state_free(p.state);
  cdam_options_free(p.options);
}

/* Names a test to run that one only: they wait more than they work, so run them at once. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ping),     cmocka_unit_test(test_create),
      cmocka_unit_test(test_recreate), cmocka_unit_test(test_reattach),
      cmocka_unit_test(test_delete),   cmocka_unit_test(test_list),
      cmocka_unit_test(test_delete),   cmocka_unit_test(test_reap),
      cmocka_unit_test(test_exec),     cmocka_unit_test(test_loop),
      cmocka_unit_test(test_agent),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("oom_engine", tests, NULL, NULL);
}
