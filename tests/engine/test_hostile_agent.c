/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes whose agent is another program (hostile_agent.c): floods, noise, silence, another
 * version. Every call fails, says so, in time and in bounded memory; and a good sandbox of the same
 * client goes on meanwhile. And good agents that are killed or frozen from outside.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fail.h"
#include "real_engine.h"

#include <cofferdam/file.h>
#include <cofferdam/loop.h>
#include <cofferdam/process.h>
#include <cofferdam/tree.h>

/* Silence is measured by it. */
#define TIMEOUT_MS 3000
#define LONGEST_MS 40000

static char directory[64];
static cdam_client *client;  /* of all sandboxes, once they are there; impatient */
static cdam_client *patient; /* makes and deletes them */
static cdam_client *hostile; /* makes those whose agent is another */

/* ---- a neighbour ---- */

static cdam_session *good;
static atomic_bool enough;
static atomic_long runs, failures;
static char why[512];

static void *neighbour(void *unused) {
  (void)unused;
  while (!atomic_load(&enough)) {
    cdam_exec_result *result;
    cdam_error err;
    const cdam_exec_command command = {.argv = (const char *const[]){"echo", "good", NULL}};
    if (cdam_exec(good, &command, &result, &err) != CDAM_OK) {
      snprintf(why, sizeof why, "%s", err.message);
      atomic_fetch_add(&failures, 1);
      break;
    }
    if (strcmp(cdam_exec_result_stdout(result, NULL), "good\n") != 0)
      atomic_fetch_add(&failures, 1);
    cdam_exec_result_free(result);
    atomic_fetch_add(&runs, 1);
    usleep(5000);
  }
  return NULL;
}

/* ---- the calls ---- */

/* Those that begin again and again end with it, when nothing else ends them. */
static atomic_bool over;

static bool goes_on(cdam_status status) {
  return status == CDAM_OK && !atomic_load(&over);
}

static cdam_status call_exec(cdam_session *session, cdam_error *err) {
  cdam_exec_result *result;
  const cdam_exec_command command = {
      .argv = (const char *const[]){"/bin/busybox", "sleep", "99", NULL}};
  cdam_status status = cdam_exec(session, &command, &result, err);
  cdam_exec_result_free(result);
  return status;
}

static cdam_status call_process(cdam_session *session, cdam_error *err) {
  cdam_process *process = NULL;
  cdam_process_event event = {0};
  const cdam_process_command command = {
      .argv = (const char *const[]){"/bin/busybox", "sleep", "99", NULL}, .input = true};
  cdam_status status = cdam_process_spawn(session, &command, &process, err);
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, -1, &event, err);
  cdam_process_exit exit;
  /* An agent that is told to stop can tell that its processes end. */
  if (status == CDAM_OK && cdam_process_exit_status(process, &exit) &&
      exit.ended_by == CDAM_ENDED_SHUTDOWN)
    status = cdam_fail(err, CDAM_ERR_EXITED, "the process was told to end");
  cdam_process_free(process);
  return status;
}

static cdam_status call_read(cdam_session *session, cdam_error *err) {
  char *bytes = NULL;
  size_t length;
  cdam_status status;
  do { /* a small file is read in no time by a good one */
    status = cdam_file_read(session, "f", 1 << 30, &bytes, &length, err);
    if (status == CDAM_OK) free(bytes);
  } while (goes_on(status));
  return status;
}

static cdam_status call_write(cdam_session *session, cdam_error *err) {
  static char bytes[8 << 20];
  const cdam_source source = {.bytes = bytes, .length = sizeof bytes};
  cdam_status status;
  do
    status = cdam_file_write(session, "f", &source, NULL, err);
  while (goes_on(status));
  return status;
}

static cdam_status call_upload(cdam_session *session, cdam_error *err) {
  char from[80]; /* not where a download writes meanwhile */
  const cdam_tree_options options = {.replace = true};
  cdam_status status;
  snprintf(from, sizeof from, "%s/up", directory);
  do
    status = cdam_tree_upload(session, from, "t", &options, NULL, err);
  while (goes_on(status));
  return status;
}

static cdam_status call_download(cdam_session *session, cdam_error *err) {
  char to[80];
  const cdam_tree_options options = {.replace = true};
  cdam_status status;
  snprintf(to, sizeof to, "%s/down", directory);
  do
    status = cdam_tree_download(session, "", to, &options, NULL, err);
  while (goes_on(status));
  return status;
}

static cdam_status call_list(cdam_session *session, cdam_error *err) {
  cdam_process_list *list;
  cdam_status status;
  do {
    status = cdam_processes(session, &list, err);
    cdam_process_list_free(list);
  } while (goes_on(status));
  return status;
}

static cdam_status call_watch(cdam_session *session, cdam_error *err) {
  cdam_file_watch *watch = NULL;
  cdam_file_event event;
  cdam_status status = cdam_file_watch_new(session, "", &watch, err);
  while (status == CDAM_OK)
    status = cdam_file_watch_next(watch, -1, &event, err);
  cdam_file_watch_free(watch);
  return status;
}

static const struct call {
  const char *name;
  cdam_status (*call)(cdam_session *session, cdam_error *err);
  bool repeats; /* many short ones */
} calls[] = {
    {"exec", call_exec, false},    {"process", call_process, false},
    {"read", call_read, true},     {"write", call_write, true},
    {"upload", call_upload, true}, {"download", call_download, true},
    {"list", call_list, true},     {"watch", call_watch, false},
};
#define CALLS (sizeof calls / sizeof *calls)

static long memory_kib(void) {
  char line[256];
  long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, "VmRSS:", 6)) kib = strtol(line + 6, NULL, 10);
  fclose(file);
  return kib;
}

static void expect(const char *what, const struct call *call, cdam_session *session,
                   const cdam_status *wanted) {
  cdam_error err = {0};
  int64_t before = cdam_now_ms();
  cdam_status status = call->call(session, &err);
  int64_t took = cdam_now_ms() - before;
  if (took > LONGEST_MS) fail_msg("%s: %s took %d ms", what, call->name, (int)took);
  for (; *wanted; wanted++)
    if (status == *wanted && err.code == status && err.message[0]) return;
  fail_msg("%s: %s: %s: %s", what, call->name, cdam_status_name(status), err.message);
}

static cdam_session *resume(const cdam_session *made) {
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_resume(client, cdam_session_state(made), NULL, &session, &err), &err);
  assert_true(cdam_session_has_agent(session));
  return session;
}

/* ---- another agent ---- */

static cdam_session *create_hostile(const char *what) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *made;
  cdam_error err;
  assert_ok(cdam_options_set_env(options, "HOSTILE", what, &err), &err);
  assert_ok(cdam_create(hostile, options, &made, &err), &err);
  cdam_options_free(options);
  cdam_session *session = resume(made);
  cdam_session_free(made);
  return session;
}

static void another_agent(void **state) {
  const char *what = *state;
  long before = memory_kib(), ran = atomic_load(&runs);
  bool waits = !strcmp(what, "silence") || !strcmp(what, "mute") || !strcmp(what, "errors") ||
               !strcmp(what, "close");
  cdam_session *session = create_hostile(what);
  for (size_t i = 0; i < (waits ? 2 : CALLS); i++)
    expect(what, &calls[i], session,
           (const cdam_status[]){CDAM_ERR_AGENT, CDAM_ERR_PROTOCOL, CDAM_ERR_NO_AGENT,
                                 CDAM_ERR_TIMEOUT, 0});
  if (memory_kib() > before + 32 * 1024) fail_msg("%s: %ld KiB more", what, memory_kib() - before);
  end_session(patient, session);
  if (atomic_load(&failures)) fail_msg("the neighbour: %s", why);
  assert_true(atomic_load(&runs) > ran);
}

/* The engine may say that it runs when it has just ended; the next call cannot be mistaken. */
static void one_that_ends_at_once(void **state) {
  (void)state;
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_options_set_env(options, "HOSTILE", "end", &err), &err);
  cdam_status status = cdam_create(hostile, options, &session, &err);
  cdam_options_free(options);
  if (status == CDAM_OK) {
    for (size_t i = 0; i < CALLS; i++)
      expect("end", &calls[i], session, (const cdam_status[]){CDAM_ERR_EXITED, 0});
    end_session(patient, session);
  } else {
    assert_int_equal(status, CDAM_ERR_EXITED);
  }
}

/* ---- a good one, from outside ---- */

/* Something happens to the container while every call is under way, each with its own session. */
typedef struct shot {
  pthread_t thread;
  const struct call *call;
  cdam_session *session;
  cdam_status status;
  cdam_error err;
  int64_t ended_ms;
} shot;

static void *fire(void *user) {
  shot *this = user;
  this->status = this->call->call(this->session, &this->err);
  this->ended_ms = cdam_now_ms();
  return NULL;
}

/* ---- and those who were not there when it happened ---- */

static cdam_status run_true(cdam_session *session, cdam_error *err) {
  cdam_exec_result *result;
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  cdam_status status = cdam_exec(session, &command, &result, err);
  cdam_exec_result_free(result);
  return status;
}

static cdam_status spawn_true(cdam_session *session, cdam_error *err) {
  cdam_process *process;
  const cdam_process_command command = {.argv = (const char *const[]){"true", NULL}};
  cdam_status status = cdam_process_spawn(session, &command, &process, err);
  if (status == CDAM_OK) status = cdam_process_wait(process, -1, NULL, err);
  cdam_process_free(process);
  return status;
}

static cdam_status look_for_file(cdam_session *session, cdam_error *err) {
  bool exists;
  return cdam_file_exists(session, "f", &exists, err);
}

typedef struct answer {
  bool came;
  cdam_status status;
  cdam_error err;
} answer;

static void note(void *user, cdam_status status, const cdam_error *err) {
  answer *this = user;
  *this = (answer){.came = true, .status = status, .err = *err};
}

static void exec_came(void *user, cdam_status status, cdam_exec_result *result,
                      const cdam_error *err) {
  note(user, status, err);
  cdam_exec_result_free(result);
}

static void process_came(void *user, cdam_status status, cdam_process *process,
                         const cdam_error *err) {
  note(user, status, err);
  cdam_process_free(process);
}

static cdam_status await(cdam_loop *loop, const answer *this, cdam_error *err) {
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  while (!this->came) {
    poll(&ready, 1, 1000);
    cdam_loop_dispatch(loop);
  }
  *err = this->err;
  return this->status;
}

static cdam_status run_true_in(cdam_loop *loop, cdam_session *session, cdam_error *err) {
  answer this = {0};
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  cdam_status status = cdam_exec_start(loop, session, &command, exec_came, &this, NULL, err);
  return status == CDAM_OK ? await(loop, &this, err) : status;
}

static cdam_status spawn_true_in(cdam_loop *loop, cdam_session *session, cdam_error *err) {
  answer this = {0};
  const cdam_process_command command = {.argv = (const char *const[]){"true", NULL}};
  cdam_status status =
      cdam_process_spawn_start(loop, session, &command, process_came, &this, NULL, err);
  return status == CDAM_OK ? await(loop, &this, err) : status;
}

static cdam_status make_directory_in(cdam_loop *loop, cdam_session *session, cdam_error *err) {
  answer this = {0};
  cdam_status status =
      cdam_file_make_directory_start(loop, session, "d", 0, true, note, &this, NULL, err);
  return status == CDAM_OK ? await(loop, &this, err) : status;
}

/* Each with a link of its own that ends while nobody looks; then the first call has to do. */
static const struct idler {
  const char *name;
  cdam_status (*call)(cdam_session *session, cdam_error *err);
  cdam_status (*in_loop)(cdam_loop *loop, cdam_session *session, cdam_error *err);
} idlers[] = {
    {"a command", run_true, NULL},
    {"a process", spawn_true, NULL},
    {"a file", look_for_file, NULL},
    {"a command in a loop", NULL, run_true_in},
    {"a process in a loop", NULL, spawn_true_in},
    {"a file in a loop", NULL, make_directory_in},
};
enum { IDLERS = sizeof idlers / sizeof *idlers };

typedef struct idle {
  cdam_session *session;
  cdam_loop *loop;
} idle;

static void call_idle(const char *when, size_t i, idle *this) {
  cdam_error err = {0};
  cdam_status status = idlers[i].call ? idlers[i].call(this->session, &err)
                                      : idlers[i].in_loop(this->loop, this->session, &err);
  if (status != CDAM_OK)
    fail_msg("%s: %s: %s: %s", when, idlers[i].name, cdam_status_name(status), err.message);
}

static void begin_idle(const cdam_session *made, idle all[IDLERS]) {
  cdam_error err;
  for (size_t i = 0; i < IDLERS; i++) {
    assert_ok(cdam_resume(patient, cdam_session_state(made), NULL, &all[i].session, &err), &err);
    assert_ok(cdam_loop_new(patient, &all[i].loop, &err), &err);
    call_idle("before", i, &all[i]);
  }
}

static void end_idle(const char *when, idle all[IDLERS]) {
  for (size_t i = 0; i < IDLERS; i++) {
    if (when) call_idle(when, i, &all[i]);
    cdam_loop_free(all[i].loop);
    cdam_session_free(all[i].session);
  }
}

static void under_way(const char *command, const cdam_status *wanted, const char *undo) {
  static shot shots[CALLS];
  bool runs_again = !strncmp(command, "restart", 7);
  idle others[IDLERS];
  cdam_session *session = create_with(patient, CDAM_NETWORK_MODE_NONE);
  const char *id = cdam_state_container_id(cdam_session_state(session));
  cdam_error err;
  const cdam_source source = {.bytes = "content", .length = 7};
  assert_ok(cdam_file_write(session, "f", &source, NULL, &err), &err);
  begin_idle(session, others);
  for (size_t i = 0; i < CALLS; i++) {
    shots[i] = (shot){.call = &calls[i]};
    shots[i].session = resume(session);
    assert_int_equal(pthread_create(&shots[i].thread, NULL, fire, &shots[i]), 0);
  }
  usleep(1200000);
  docker("%s %s", command, id);
  int64_t since = cdam_now_ms();
  atomic_store(&over, runs_again);
  for (size_t i = 0; i < CALLS; i++) {
    pthread_join(shots[i].thread, NULL);
    bool right = runs_again && calls[i].repeats && shots[i].status == CDAM_OK;
    for (const cdam_status *status = wanted; *status; status++)
      right = right || (shots[i].status == *status && shots[i].err.message[0]);
    if (!right)
      fail_msg("%s: %s: %s: %s", command, calls[i].name, cdam_status_name(shots[i].status),
               shots[i].err.message);
    if (shots[i].ended_ms > since + LONGEST_MS)
      fail_msg("%s: %s took %d ms", command, calls[i].name, (int)(shots[i].ended_ms - since));
    cdam_session_free(shots[i].session);
  }
  atomic_store(&over, false);
  if (undo) {
    try_docker("%s %s >/dev/null", undo, id);
    if (run_true(session, &err) != CDAM_OK) fail_msg("%s: then %s", command, err.message);
  }
  end_idle(undo ? command : NULL, others);
  try_docker("unpause %s >/dev/null 2>&1", id);
  end_session(patient, session);
  if (atomic_load(&failures)) fail_msg("the neighbour: %s", why);
}

#define OF(...) ((const cdam_status[]){__VA_ARGS__, 0})

static void killed(void **state) {
  (void)state;
  under_way("kill -s KILL", OF(CDAM_ERR_EXITED), "start");
}

static void frozen(void **state) {
  (void)state;
  under_way("kill -s STOP", OF(CDAM_ERR_AGENT, CDAM_ERR_TIMEOUT), "kill -s CONT");
}

static void paused(void **state) {
  (void)state;
  under_way("pause", OF(CDAM_ERR_PAUSED), "unpause");
}

/* It may run again before anybody has looked, and then what the engine said is told to those that
 * were under way; or nothing at all is noticed by those that were between two calls. What the agent
 * says while it ends counts too. */
static void restarted(void **state) {
  (void)state;
  under_way("restart -t 3", OF(CDAM_ERR_AGENT, CDAM_ERR_EXITED, CDAM_ERR_ENGINE), "inspect");
}

static void stopped(void **state) {
  (void)state;
  under_way("stop -t 3", OF(CDAM_ERR_EXITED, CDAM_ERR_AGENT), "start");
}

static void removed(void **state) {
  (void)state;
  under_way("rm -f", OF(CDAM_ERR_NOT_FOUND, CDAM_ERR_EXITED), NULL);
}

/* What changes nothing for what runs. */
static void renamed_and_updated(void **state) {
  (void)state;
  cdam_session *made = create_with(patient, CDAM_NETWORK_MODE_NONE), *session = resume(made),
               *again;
  const char *id = cdam_state_container_id(cdam_session_state(made));
  cdam_process *process;
  cdam_process_event event;
  cdam_error err;
  const cdam_process_command command = {.argv = (const char *const[]){"cat", NULL}, .input = true};
  assert_ok(cdam_process_spawn(session, &command, &process, &err), &err);
  for (int i = 0; i < 4; i++) {
    char line[300];
    if (i == 0) snprintf(line, sizeof line, "rename %s other-%.12s", id, id);
    if (i == 1) snprintf(line, sizeof line, "update --memory 64m --memory-swap 64m %s", id);
    if (i == 2) snprintf(line, sizeof line, "update --pids-limit 99 %s", id);
    if (i == 3) snprintf(line, sizeof line, "network disconnect none %s", id);
    docker("%s >/dev/null", line);
    assert_ok(cdam_process_write(process, "x", 1, &err), &err);
    assert_ok(cdam_process_next(process, 20000, &event, &err), &err);
    assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
    free(output_of(session, (const char *const[]){"true", NULL}));
  }
  cdam_process_free(process);
  /* Limits that nobody asked for are no drift, and less of a network than NONE there is not; it is
   * found by its id, whatever its name. */
  assert_ok(cdam_resume(client, cdam_session_state(made), NULL, &again, &err), &err);
  cdam_session_free(again);
  cdam_session_free(session);
  end_session(patient, made);
}

/* ---- in a loop ---- */

#define PLAYERS 12

typedef struct player {
  long ended;
  cdam_status status;
  cdam_error err;
} player;

static void exec_ended(void *user, cdam_status status, cdam_exec_result *result,
                       const cdam_error *err) {
  player *this = user;
  this->ended++;
  this->status = status;
  this->err = *err;
  cdam_exec_result_free(result);
}

static void done(void *user, cdam_status status, const cdam_error *err) {
  player *this = user;
  this->ended++;
  this->status = status;
  this->err = *err;
}

static ssize_t endless(void *user, void *buffer, size_t size) {
  (void)user;
  memset(buffer, 'x', size);
  return (ssize_t)size;
}

/* Commands and files of one sandbox that this happens to, and a command of another one. */
static void in_a_loop_with(const char *what, const cdam_status *wanted) {
  static player players[PLAYERS], other;
  cdam_session *made = create_with(patient, CDAM_NETWORK_MODE_NONE), *session = resume(made);
  const char *id = cdam_state_container_id(cdam_session_state(made));
  cdam_loop *loop;
  cdam_error err;
  const cdam_exec_command sleeps = {.argv = (const char *const[]){"sleep", "99", NULL}},
                          sleeps_less = {.argv = (const char *const[]){"sleep", "2", NULL}};
  const cdam_source source = {.read = endless};
  memset(players, 0, sizeof players);
  other = (player){0};
  assert_ok(cdam_loop_new(client, &loop, &err), &err);
  for (size_t i = 0; i < PLAYERS; i++) {
    char name[16];
    snprintf(name, sizeof name, "f%zu", i);
    if (i % 4)
      assert_ok(cdam_exec_start(loop, session, &sleeps, exec_ended, &players[i], NULL, &err), &err);
    else
      assert_ok(
          cdam_file_write_start(loop, session, name, &source, NULL, done, &players[i], NULL, &err),
          &err);
  }
  cdam_session *neighbours = resume(good);
  assert_ok(cdam_exec_start(loop, neighbours, &sleeps_less, exec_ended, &other, NULL, &err), &err);
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  int64_t begun = cdam_now_ms();
  bool hit = false;
  while (cdam_loop_dispatch(loop)) {
    poll(&ready, 1, 100);
    if (!hit && cdam_now_ms() > begun + 800) {
      docker("%s %s >/dev/null", what, id);
      hit = true;
      begun = cdam_now_ms();
    }
    if (cdam_now_ms() > begun + LONGEST_MS) fail_msg("%s: %zu hang", what, cdam_loop_pending(loop));
  }
  assert_true(hit);
  assert_int_equal(other.ended, 1);
  assert_ok(other.status, &other.err);
  for (size_t i = 0; i < PLAYERS; i++) {
    bool right = players[i].ended == 1 && players[i].err.message[0], found = false;
    for (const cdam_status *status = wanted; *status; status++)
      found = found || players[i].status == *status;
    if (!right || !found)
      fail_msg("%s: %zu ended %ld times: %s: %s", what, i, players[i].ended,
               cdam_status_name(players[i].status), players[i].err.message);
  }
  cdam_session_free(neighbours);
  cdam_loop_free(loop);
  cdam_session_free(session);
  try_docker("unpause %s >/dev/null 2>&1", id);
  end_session(patient, made);
}

static void in_a_loop(void **state) {
  (void)state;
  in_a_loop_with("kill -s KILL", OF(CDAM_ERR_EXITED));
  in_a_loop_with("pause", OF(CDAM_ERR_PAUSED));
  in_a_loop_with("kill -s STOP", OF(CDAM_ERR_AGENT, CDAM_ERR_TIMEOUT));
  in_a_loop_with("rm -f", OF(CDAM_ERR_NOT_FOUND, CDAM_ERR_EXITED));
}

/* ---- beginning and end ---- */

static cdam_client *client_with(const char *agents, unsigned timeout_ms) {
  cdam_client_config *config;
  cdam_client *made;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  if (agents) assert_ok(cdam_client_config_set_agent_directory(config, agents, &err), &err);
  cdam_client_config_set_agent(config, CDAM_AGENT_REQUIRED);
  cdam_client_config_set_timeout(config, timeout_ms);
  assert_ok(cdam_client_new(config, &made, &err), &err);
  cdam_client_config_free(config);
  return made;
}

static pthread_t thread;

static int begin(void **state) {
  (void)state;
  char command[512];
  const char *root = getenv("COFFERDAM_SOURCE_ROOT");
  assert_non_null(root);
  snprintf(directory, sizeof directory, "/tmp/cofferdam-hostile-XXXXXX");
  assert_non_null(mkdtemp(directory));
  snprintf(
      command, sizeof command,
      "cd %s && gcc -static -Os -s -o cofferdam-agent-amd64 %s/tests/engine/hostile_agent.c && "
      "cp cofferdam-agent-amd64 cofferdam-agent-arm64 && mkdir up && cp cofferdam-* up",
      directory, root);
  assert_int_equal(system(command), 0);
  patient = client_with(NULL, 60000);
  hostile = client_with(directory, 60000);
  client = client_with(NULL, TIMEOUT_MS);
  cdam_session *made = create_with(patient, CDAM_NETWORK_MODE_NONE);
  good = resume(made);
  cdam_session_free(made);
  return pthread_create(&thread, NULL, neighbour, NULL);
}

static int finish(void **state) {
  (void)state;
  char command[512], digest[80] = "";
  atomic_store(&enough, true);
  pthread_join(thread, NULL);
  print_message("# the neighbour ran %ld commands\n", atomic_load(&runs));
  end_session(patient, good);
  cdam_client_free(client);
  cdam_client_free(hostile);
  cdam_client_free(patient);
  snprintf(command, sizeof command, "sha256sum <%s/cofferdam-agent-amd64", directory);
  FILE *sum = popen(command, "r");
  if (!sum || !fgets(digest, 65, sum)) return -1;
  pclose(sum);
  try_docker("volume rm cofferdam-agent-%s cofferdam-agent-%s-ready >/dev/null 2>&1", digest,
             digest);
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

#define AS(what)                                                                                   \
  { what, another_agent, NULL, NULL, (void *)(uintptr_t)what }

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      AS("close"),
      AS("silence"),
      AS("mute"),
      AS("noise"),
      AS("huge"),
      AS("errors"),
      AS("version"),
      AS("flood"),
      AS("frames"),
      cmocka_unit_test(one_that_ends_at_once),
      cmocka_unit_test(killed),
      cmocka_unit_test(frozen),
      cmocka_unit_test(paused),
      cmocka_unit_test(restarted),
      cmocka_unit_test(stopped),
      cmocka_unit_test(removed),
      cmocka_unit_test(renamed_and_updated),
      cmocka_unit_test(in_a_loop),
  };
  return cmocka_run_group_tests(tests, begin, finish);
}
