/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and commands by the agent, with each allocation made to fail in turn: an error like any
 * other, and nothing is lost. */
#include <fcntl.h>

#include <cofferdam/process.h>

#include "agent_play.h"
#include "base/fail.h"

#define SIZE 200000
#define STRIDE 7

static char content[SIZE];
static const char *const argv[] = {"cat", NULL};

typedef struct play {
  agent_play in;
  cdam_process *process;
  cdam_process_list *list;
  cdam_exec_result *result;
  int sink;     /* a pipe's end, or -1 */
  int sink_end; /* the other one */
  size_t came;
} play;

/* ---- an agent that does as it is told ---- */

static void say_end(agent *a, uint32_t channel, int stream, uint64_t offset) {
  MSG(Output) output = COFFERDAM__AGENT__V1__OUTPUT__INIT;
  output.stream = stream;
  output.offset = offset;
  output.end = true;
  SAY(a, channel, output, OUTPUT, &output);
}

static void say_all(agent *a, uint32_t channel) {
  for (size_t at = 0; at < SIZE; at += 50000) {
    MSG(Output) output = COFFERDAM__AGENT__V1__OUTPUT__INIT;
    output.stream = COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT;
    output.offset = at;
    output.data = binary(content + at, 50000);
    SAY(a, channel, output, OUTPUT, &output);
  }
  say_end(a, channel, COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT, SIZE);
  say_end(a, channel, COFFERDAM__AGENT__V1__STREAM__STREAM_ERROR, 0);
  MSG(Exited) exited = COFFERDAM__AGENT__V1__EXITED__INIT;
  exited.process_id = 5;
  exited.code = 7;
  exited.ended_by = COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_ITSELF;
  SAY(a, channel, exited, EXITED, &exited);
}

static void obey(agent *a, const MSG(ToAgent) * m) {
  const uint32_t c = m->channel;
  MSG(Started) started = COFFERDAM__AGENT__V1__STARTED__INIT;
  MSG(ProcessInfo) info = COFFERDAM__AGENT__V1__PROCESS_INFO__INIT;
  started.process_id = 5;
  started.pid = info.pid = 10;
  info.running = true;
  switch (m->body_case) {
  case TO(START):
    SAY(a, c, started, STARTED, &started);
    return;
  case TO(DATA):
    if (!a->ended) return;
    say_all(a, c);
    break;
  case TO(ATTACH):
    SAY(a, c, started, STARTED, &started);
    say_all(a, c);
    break;
  case TO(LIST_PROCESSES):
    for (info.process_id = 1; info.process_id < 40; info.process_id++)
      SAY(a, c, process_info, PROCESS_INFO, &info);
    break;
  case TO(CANCEL):
    return;
  default: /* signals and such */
    break;
  }
  say_done(a, c);
}

/* ---- the calls ---- */

static cdam_status run_process(void *context, cdam_error *err) {
  play *p = context;
  static const char *const env[] = {"A=B", NULL};
  const cdam_process_command command = {
      .argv = argv, .env = env, .user = "1", .workdir = "/", .input = true, .timeout_ms = 60000};
  cdam_status status = open_session(&p->in, err);
  if (status == CDAM_OK) status = cdam_processes(&p->in.session, &p->list, err);
  if (status == CDAM_OK) status = cdam_process_spawn(&p->in.session, &command, &p->process, err);
  if (status == CDAM_OK) status = cdam_process_signal(p->process, 10, CDAM_TARGET_GROUP, err);
  if (status == CDAM_OK) status = cdam_process_write(p->process, content, SIZE, err);
  if (status == CDAM_OK) status = cdam_process_end_input(p->process, err);
  if (status == CDAM_OK) status = read_on(p->process, 2000, &p->came, err);
  if (status == CDAM_OK) status = cdam_process_kill(p->process, 0, err);
  if (status != CDAM_OK) return status;
  cdam_process_free(p->process);
  status = cdam_process_attach(&p->in.session, "30313233343536373839616263646566:5", NULL,
                               &p->process, err);
  if (status == CDAM_OK) status = read_on(p->process, 2000, &p->came, err);
  if (status == CDAM_OK)
    status = cdam_process_forget(&p->in.session, "30313233343536373839616263646566:5", err);
  return status;
}

static cdam_status run_command(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = content, .length = SIZE};
  const cdam_exec_command command = {.argv = argv, .input = &source, .timeout_ms = 3000};
  cdam_status status = open_session(&p->in, err);
  if (status == CDAM_OK) status = cdam_exec(&p->in.session, &command, &p->result, err);
  return status;
}

/* ---- in a loop ---- */

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  play *p = user;
  note(&p->in, status, err);
  p->result = result;
}

static void listed(void *user, cdam_status status, cdam_process_list *list, const cdam_error *err) {
  note(&((play *)user)->in, status, err);
  ((play *)user)->list = list;
}

/* What was written is taken out of the pipe again. */
static void empty_pipe(play *p) {
  static char bytes[65536];
  ssize_t n;
  while ((n = read(p->sink_end, bytes, sizeof bytes)) > 0)
    p->came += (size_t)n;
}

static cdam_status run_loop(void *context, cdam_error *err) {
  play *p = context;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cdam_fail(err, CDAM_ERR_NO_MEMORY, "no pipe");
  p->sink_end = ends[0];
  p->sink = ends[1];
  fcntl(p->sink_end, F_SETFL, O_NONBLOCK);
  const cdam_source source = {.bytes = content, .length = SIZE};
  const cdam_sink sink = {.to_fd = true, .fd = p->sink};
  const cdam_exec_command command = {.argv = argv, .input = &source, .stdout_sink = &sink};
  cdam_status status = open_loop(&p->in, err);
  if (status == CDAM_OK)
    status = cdam_exec_start(p->in.loop, &p->in.session, &command, ended, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_processes_start(p->in.loop, &p->in.session, listed, p, NULL, err);
  if (!p->in.loop) return status;
  struct pollfd ready = {.fd = cdam_loop_fd(p->in.loop), .events = POLLIN};
  while (cdam_loop_dispatch(p->in.loop)) {
    empty_pipe(p);
    poll(&ready, 1, 2000);
  }
  empty_pipe(p);
  return outcome_of(&p->in, status, err);
}

/* ---- what came out ---- */

static void close_play(play *p) {
  cdam_process_free(p->process);
  cdam_process_list_free(p->list);
  cdam_exec_result_free(p->result);
  close_session(&p->in);
  if (p->sink >= 0) close(p->sink);
  if (p->sink_end >= 0) close(p->sink_end);
  *p = (play){.in.fixture = p->in.fixture, .sink = -1, .sink_end = -1};
}

static const char *finish_process(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  cdam_process_exit exit = {0};
  if (status == CDAM_OK && cdam_process_list_count(p->list) != 39) wrong = "another list";
  if (status == CDAM_OK && p->came != 2 * SIZE) wrong = "another output";
  if (status == CDAM_OK && (!cdam_process_exit_status(p->process, &exit) || exit.code != 7))
    wrong = "another end";
  close_play(p);
  return wrong;
}

static const char *finish_command(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  size_t length = 0;
  const char *bytes = cdam_exec_result_stdout(p->result, &length), *wrong = NULL;
  if (status == CDAM_OK && (length != SIZE || memcmp(bytes, content, SIZE) != 0))
    wrong = "another output";
  if (status == CDAM_OK && cdam_exec_result_exit_code(p->result) != 7) wrong = "another end";
  close_play(p);
  return wrong;
}

static const char *finish_loop(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK && p->came != SIZE) wrong = "another output";
  if (status == CDAM_OK && cdam_exec_result_exit_code(p->result) != 7) wrong = "another end";
  if (status == CDAM_OK && cdam_process_list_count(p->list) != 39) wrong = "another list";
  close_play(p);
  return wrong;
}

static void exhaust_it(const char *name, cdam_status (*run)(void *, cdam_error *),
                       const char *(*end_it)(void *, cdam_status, bool)) {
  for (size_t i = 0; i < SIZE; i++)
    content[i] = (char)(i * 7 + (i >> 9));
  play p = {.in.fixture = begin(obey, 5000), .sink = -1, .sink_end = -1};
  exhaust(&(exhaust_case){name, run, end_it, &p, true, STRIDE});
  end(p.in.fixture);
}

static void test_process(void **unused) {
  (void)unused;
  exhaust_it("a process", run_process, finish_process);
}

static void test_command(void **unused) {
  (void)unused;
  exhaust_it("a command", run_command, finish_command);
}

static void test_loop(void **unused) {
  (void)unused;
  exhaust_it("a command and a list in a loop", run_loop, finish_loop);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_process),
      cmocka_unit_test(test_command),
      cmocka_unit_test(test_loop),
  };
  return cmocka_run_group_tests_name("oom_process", tests, NULL, NULL);
}
