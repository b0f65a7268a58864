/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine is killed with SIGKILL in the middle of everything at once, and started again. One
 * client; a thread for each operation does it over and over until it fails. Then: no call hangs,
 * the error is clear, no container is left that nobody knows of, and every state resumes.
 *
 * COFFERDAM_CHAOS_SECONDS is how long to go on (25), COFFERDAM_CHAOS_SEED repeats the moments of an
 * earlier run, COFFERDAM_CHAOS_REVIVALS has one sandbox survive so many more engines. Run by
 * own_engine.sh.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "own_engine.h"
#include "real_engine.h"

#include <cofferdam/file.h>
#include <cofferdam/process.h>
#include <cofferdam/reap.h>
#include <cofferdam/tree.h>

#define TIMEOUT_MS 10000
/* A call may wait for an answer, and then clean up. */
#define LONGEST_MS 60000
#define BIG (64u << 20)

typedef struct actor actor;
typedef cdam_status (*act)(actor *this, cdam_error *err);

struct actor {
  const char *name;
  act act;
  bool homeless; /* it makes its sandboxes itself */
  pthread_t thread;
  char label[64];
  char directory[96];
  cdam_session *session;
  cdam_state *state; /* of the last sandbox that it was given, as a program would have saved it */
  cdam_status status;
  cdam_error err;
  int64_t took_ms; /* the last call */
  long done;       /* calls that succeeded */
  char key[80];
};

static cdam_client *client;
static char scratch[64];
static char *big;
static atomic_bool restarted;
static unsigned seed;

/* ---- what is done ---- */

static cdam_options *options_for(const actor *this) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_label(options, "chaos", this->label, &err), &err);
  return options;
}

static void keep_state(actor *this, const cdam_session *session) {
  cdam_error err;
  cdam_state_free(this->state);
  this->state = NULL;
  if (session) assert_ok(cdam_state_copy(cdam_session_state(session), &this->state, &err), &err);
}

static cdam_status make(actor *this, cdam_client *by, const cdam_options *options,
                        cdam_error *err) {
  cdam_session *session = NULL;
  keep_state(this, NULL);
  cdam_status status = cdam_create(by, options, &session, err);
  if (status == CDAM_OK) keep_state(this, session);
  cdam_session_free(session);
  return status;
}

static cdam_status create_and_delete(actor *this, cdam_error *err) {
  cdam_options *options = options_for(this);
  cdam_status status = make(this, client, options, err);
  cdam_options_free(options);
  return status == CDAM_OK ? cdam_delete(client, this->state, err) : status;
}

static cdam_status reattach(actor *this, cdam_error *err) {
  cdam_session *again;
  cdam_status status = cdam_resume(client, this->state, NULL, &again, err);
  if (status != CDAM_OK) return status;
  cdam_session_free(this->session);
  this->session = again;
  keep_state(this, again);
  return CDAM_OK;
}

static cdam_status stop_and_resume(actor *this, cdam_error *err) {
  cdam_status status = cdam_session_stop(this->session, 2000, err);
  return status == CDAM_OK ? reattach(this, err) : status;
}

static cdam_status recreate(actor *this, cdam_error *err) {
  cdam_status status = cdam_delete(client, this->state, err);
  return status == CDAM_OK ? reattach(this, err) : status;
}

static cdam_status exec_shortly(actor *this, cdam_error *err) {
  cdam_exec_result *result;
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  cdam_status status = cdam_exec(this->session, &command, &result, err);
  cdam_exec_result_free(result);
  return status;
}

static cdam_status exec_for_long(actor *this, cdam_error *err) {
  cdam_exec_result *result;
  const cdam_exec_command command = {
      .argv = (const char *const[]){"sh", "-c", "while echo x; do sleep 0.05; done", NULL}};
  cdam_status status = cdam_exec(this->session, &command, &result, err);
  /* The agent may be told to stop before its client is gone. */
  if (status == CDAM_OK) {
    status = CDAM_ERR_EXITED;
    snprintf(err->message, sizeof err->message, "signal %d", cdam_exec_result_signal(result));
  }
  cdam_exec_result_free(result);
  return status;
}

static cdam_status outliving_process(actor *this, cdam_error *err) {
  cdam_process *process;
  cdam_process_event event = {0};
  const cdam_process_command command = {
      .argv = (const char *const[]){"sh", "-c", "while echo x; do sleep 0.05; done", NULL},
      .outlive = true};
  cdam_status status = cdam_process_spawn(this->session, &command, &process, err);
  if (status != CDAM_OK) return status;
  snprintf(this->key, sizeof this->key, "%s", cdam_process_key(process));
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, -1, &event, err);
  cdam_process_free(process);
  if (status == CDAM_OK) {
    status = CDAM_ERR_EXITED;
    snprintf(err->message, sizeof err->message, "told to stop");
  }
  return status;
}

static cdam_status write_big(actor *this, cdam_error *err) {
  const cdam_source source = {.bytes = big, .length = BIG};
  return cdam_file_write(this->session, "big", &source, NULL, err);
}

static cdam_status read_big(actor *this, cdam_error *err) {
  const cdam_sink nowhere = {0};
  return cdam_file_read_to(this->session, "big", 0, 0, &nowhere, err);
}

static cdam_status upload(actor *this, cdam_error *err) {
  char from[128];
  const cdam_tree_options replace = {.replace = true};
  snprintf(from, sizeof from, "%s/tree", scratch);
  return cdam_tree_upload(this->session, from, "tree", &replace, NULL, err);
}

static cdam_status download(actor *this, cdam_error *err) {
  const cdam_tree_options replace = {.replace = true};
  return cdam_tree_download(this->session, "tree", this->directory, &replace, NULL, err);
}

static cdam_status list_all(actor *this, cdam_error *err) {
  cdam_sandbox_list *list;
  (void)this;
  cdam_status status = cdam_list(client, &list, err);
  if (status == CDAM_OK) cdam_list_free(list);
  return status;
}

/* Reaps in the future, where only its own sandboxes' deadlines have passed. */
static cdam_status create_and_reap(actor *this, cdam_error *err) {
  cdam_options *options = options_for(this);
  cdam_reap_report *report;
  int64_t deadline = (int64_t)time(NULL) + 3600;
  cdam_options_set_deadline(options, (uint64_t)deadline);
  cdam_status status = make(this, client, options, err);
  cdam_options_free(options);
  const cdam_reap_flags flags = {.now = deadline + 10};
  if (status == CDAM_OK) status = cdam_reap(client, &flags, &report, err);
  if (status == CDAM_OK) cdam_reap_report_free(report);
  return status;
}

/* Each time an agent that the engine has not seen yet, and so a volume to be filled. */
static cdam_status fill_volumes(actor *this, cdam_error *err) {
  char command[512];
  cdam_client_config *config;
  cdam_client *other;
  snprintf(command, sizeof command,
           "mkdir -p %s && cp -f %s/cofferdam-agent-* %s && chmod u+w %s/* && "
           "for f in %s/*; do head -c 16 /dev/urandom >>$f; done",
           this->directory, getenv("COFFERDAM_AGENT_DIR"), this->directory, this->directory,
           this->directory);
  assert_int_equal(system(command), 0);
  assert_ok(cdam_client_config_new(&config, err), err);
  assert_ok(cdam_client_config_set_agent_directory(config, this->directory, err), err);
  cdam_client_config_set_agent(config, CDAM_AGENT_REQUIRED);
  cdam_client_config_set_timeout(config, TIMEOUT_MS);
  assert_ok(cdam_client_new(config, &other, err), err);
  cdam_client_config_free(config);
  cdam_options *options = options_for(this);
  cdam_status status = make(this, other, options, err);
  cdam_options_free(options);
  if (status == CDAM_OK) status = cdam_delete(other, this->state, err);
  cdam_client_free(other);
  return status;
}

/* The last one's sandboxes have agents whose programs are gone by the next time. */
static actor actors[] = {
    {.name = "create and delete", .act = create_and_delete, .homeless = true},
    {.name = "create and reap", .act = create_and_reap, .homeless = true},
    {.name = "fill a volume", .act = fill_volumes, .homeless = true},
    {.name = "resume", .act = reattach},
    {.name = "stop and resume", .act = stop_and_resume},
    {.name = "delete and recreate", .act = recreate},
    {.name = "exec, shortly", .act = exec_shortly},
    {.name = "exec, for long", .act = exec_for_long},
    {.name = "a process that outlives", .act = outliving_process},
    {.name = "write 64 MiB", .act = write_big},
    {.name = "read 64 MiB", .act = read_big},
    {.name = "upload a tree", .act = upload},
    {.name = "download a tree", .act = download},
    {.name = "list", .act = list_all, .homeless = true},
};
#define ACTORS (sizeof actors / sizeof *actors)

/* ---- how it ends ---- */

static void *play(void *user) {
  actor *this = user;
  do {
    this->err = (cdam_error){0};
    int64_t before = cdam_now_ms();
    this->status = this->act(this, &this->err);
    this->took_ms = cdam_now_ms() - before;
    if (this->status == CDAM_OK) this->done++;
  } while (this->status == CDAM_OK && !atomic_load(&restarted));
  return NULL;
}

/* What an engine that dies may look like, and nothing else: above all not like a sandbox that is
 * gone, or that somebody has changed. */
static void check_error(const actor *this) {
  static const cdam_status clear[] = {CDAM_OK,           CDAM_ERR_CONNECT, CDAM_ERR_PROTOCOL,
                                      CDAM_ERR_TIMEOUT,  CDAM_ERR_ENGINE,  CDAM_ERR_EXITED,
                                      CDAM_ERR_NO_AGENT, CDAM_ERR_AGENT};
  for (size_t i = 0; i < sizeof clear / sizeof *clear; i++)
    if (this->status == clear[i] && (this->status == CDAM_OK || this->err.message[0])) return;
  fail_msg("%s: %s: %s", this->name, cdam_status_name(this->status), this->err.message);
}

static void join(actor *this) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += LONGEST_MS / 1000;
  if (pthread_timedjoin_np(this->thread, NULL, &until) != 0) fail_msg("%s hangs", this->name);
  print_message("# %-24s %4ld done; %s after %d ms: %s\n", this->name, this->done,
                cdam_status_name(this->status), (int)this->took_ms, this->err.message);
  check_error(this);
}

/* No container but the one whose state is known. */
static void check_orphans(const actor *this) {
  char found[4096];
  snprintf(found, sizeof found, "%s",
           docker("ps -aq --no-trunc --filter label=chaos=%s", this->label));
  char *rest = NULL;
  for (const char *id = strtok_r(found, "\n", &rest); id; id = strtok_r(NULL, "\n", &rest))
    if (!this->state || strcmp(cdam_state_container_id(this->state), id) != 0)
      fail_msg(
          "%s left container %s: %s", this->name, id,
          docker("inspect -f '{{.State.Status}} {{.Created}} {{json .Config.Labels}}' %s", id));
}

static void delete_known(actor *this) {
  cdam_error err;
  if (!this->state) return;
  assert_ok(cdam_delete(client, this->state, &err), &err);
  assert_string_equal(docker("ps -aq --filter label=chaos=%s", this->label), "");
}

/* What was being started or deleted may be broken on the engine (Docker 20.10 has then forgotten a
 * task that it has: "already exists"), which a resume says, and not more. */
static void check_state(actor *this) {
  cdam_error err;
  cdam_status status = reattach(this, &err);
  if (status == CDAM_ERR_ENGINE) {
    print_message("# %s: %s\n", this->name, err.message);
    assert_ok(cdam_delete(client, this->state, &err), &err);
    status = reattach(this, &err);
  }
  assert_ok(status, &err);
  char *said = output_of(this->session, (const char *const[]){"echo", "well again", NULL});
  assert_string_equal(said, "well again\n");
  free(said);
  assert_string_equal(docker("ps -aq --no-trunc --filter label=chaos=%s", this->label),
                      cdam_state_container_id(this->state));
}

/* The whole file, old or new; and nothing beside it. */
static void check_files(actor *this) {
  cdam_error err;
  cdam_file_list *list;
  assert_ok(cdam_file_list_directory(this->session, "", &list, &err), &err);
  for (size_t i = 0; i < cdam_file_list_count(list); i++) {
    const cdam_file_info *info = cdam_file_list_get(list, i);
    if (strncmp(info->name, ".cofferdam-", 11) == 0)
      fail_msg("%s left %s, %d bytes", this->name, info->name, (int)info->size);
    if (strcmp(info->name, "big") == 0) assert_int_equal(info->size, BIG);
  }
  cdam_file_list_free(list);
}

static void check_process(actor *this) {
  cdam_process *process;
  cdam_error err = {0};
  if (!this->key[0]) return;
  assert_int_equal(cdam_process_attach(this->session, this->key, NULL, &process, &err),
                   CDAM_ERR_NO_PROCESS);
  assert_true(err.message[0]);
}

static void check(actor *this) {
  check_orphans(this);
  assert_string_equal(docker("ps -a --filter name=-fill --format '{{.Names}} {{.Status}}'"), "");
  if (this->homeless) {
    delete_known(this);
    return;
  }
  check_state(this);
  check_files(this);
  check_process(this);
}

/* ---- rounds ---- */

static void settle(actor *this) {
  cdam_error err;
  if (this->homeless) return;
  cdam_options *options = options_for(this);
  assert_ok(make(this, client, options, &err), &err);
  assert_ok(reattach(this, &err), &err);
  cdam_options_free(options);
  if (this->act == read_big) assert_ok(write_big(this, &err), &err);
  if (this->act == download) assert_ok(upload(this, &err), &err);
}

static void one_round(unsigned *random) {
  unsigned wait_ms = 50 + (unsigned)rand_r(random) % 2000, down_ms = (unsigned)rand_r(random) % 800;
  atomic_store(&restarted, false);
  for (size_t i = 0; i < ACTORS; i++)
    assert_int_equal(pthread_create(&actors[i].thread, NULL, play, &actors[i]), 0);
  usleep(wait_ms * 1000);
  print_message("# killed after %u ms, started %u ms later\n", wait_ms, down_ms);
  engine_control("kill");
  usleep(down_ms * 1000);
  engine_control("start");
  atomic_store(&restarted, true);
  for (size_t i = 0; i < ACTORS; i++)
    join(&actors[i]);
  for (size_t i = 0; i < ACTORS; i++)
    check(&actors[i]);
}

static void killed_in_the_middle_of_everything(void **state) {
  (void)state;
  const char *text = getenv("COFFERDAM_CHAOS_SECONDS");
  int64_t until = cdam_now_ms() + 1000 * (text ? strtol(text, NULL, 10) : 25);
  unsigned random = seed, rounds = 0;
  for (size_t i = 0; i < ACTORS; i++)
    settle(&actors[i]);
  do {
    one_round(&random);
    rounds++;
  } while (rounds < 3 || cdam_now_ms() < until);
  print_message("# the engine was killed %u times\n", rounds);
  for (size_t i = 0; i < ACTORS; i++)
    delete_known(&actors[i]);
  assert_string_equal(docker("ps -aq --filter label=chaos"), "");
}

/* ---- an engine that leaves containers alone ---- */

static uint64_t read_some(cdam_process *process) {
  cdam_process_event event;
  cdam_error err;
  assert_ok(cdam_process_next(process, 20000, &event, &err), &err);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  return event.offset + event.length;
}

/* With --live-restore the process does not notice, and is read on from where its reader was. */
static void processes_outlive_the_engine(void **state) {
  (void)state;
  cdam_process *process;
  cdam_process_event event = {0};
  cdam_error err;
  cdam_session *session = create_with(client, CDAM_NETWORK_MODE_NONE), *again;
  const cdam_process_command command = {
      .argv = (const char *const[]){"sh", "-c", "while echo x; do sleep 0.05; done", NULL},
      .outlive = true};
  char key[80];
  assert_ok(cdam_process_spawn(session, &command, &process, &err), &err);
  snprintf(key, sizeof key, "%s", cdam_process_key(process));
  uint64_t offset = read_some(process);
  engine_control("kill");
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK) {
    status = cdam_process_next(process, 20000, &event, &err);
    if (status == CDAM_OK) assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  }
  assert_int_equal(status, CDAM_ERR_CONNECT);
  cdam_process_free(process);
  engine_control("start --live-restore");
  /* The session that was there all the time, and one that was resumed. */
  char *said = output_of(session, (const char *const[]){"echo", "well", NULL});
  assert_string_equal(said, "well\n");
  free(said);
  const char *more = getenv("COFFERDAM_CHAOS_REVIVALS");
  for (long i = more ? strtol(more, NULL, 10) : 0; i > 0; i--) {
    engine_control("kill");
    engine_control("start --live-restore");
    free(output_of(session, (const char *const[]){"true", NULL}));
  }
  assert_ok(cdam_resume(client, cdam_session_state(session), NULL, &again, &err), &err);
  assert_false(cdam_session_was_recreated(again));
  const cdam_process_attachment from = {.stdout_offset = offset};
  assert_ok(cdam_process_attach(again, key, &from, &process, &err), &err);
  assert_ok(cdam_process_next(process, 20000, &event, &err), &err);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_int_equal(event.offset, offset);
  assert_int_equal(event.lost, 0);
  assert_ok(cdam_process_kill(process, 1000, &err), &err);
  cdam_process_free(process);
  cdam_session_free(again);
  end_session(client, session);
}

/* ---- beginning and end ---- */

static int begin(void **state) {
  (void)state;
  cdam_client_config *config;
  cdam_error err;
  char command[512];
  const char *text = getenv("COFFERDAM_CHAOS_SEED");
  seed = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)time(NULL);
  print_message("# COFFERDAM_CHAOS_SEED=%u\n", seed);
  big = malloc(BIG);
  snprintf(scratch, sizeof scratch, "/tmp/cofferdam-chaos-XXXXXX");
  if (!big || !mkdtemp(scratch)) return -1;
  memset(big, 'x', BIG);
  snprintf(
      command, sizeof command,
      "cd %s && for d in 1 2 3 4 5 6 7 8 9; do mkdir -p tree/$d && for f in 1 2 3 4 5 6 7 8 9; "
      "do head -c 100000 /dev/zero >tree/$d/$f; done; done",
      scratch);
  if (system(command) != 0) return -1;
  for (size_t i = 0; i < ACTORS; i++) {
    snprintf(actors[i].label, sizeof actors[i].label, "%zu", i);
    snprintf(actors[i].directory, sizeof actors[i].directory, "%s/%zu", scratch, i);
  }
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_timeout(config, TIMEOUT_MS);
  cdam_client_config_set_agent(config, CDAM_AGENT_REQUIRED);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return 0;
}

static int finish(void **state) {
  (void)state;
  char command[128];
  for (size_t i = 0; i < ACTORS; i++) {
    cdam_session_free(actors[i].session);
    cdam_state_free(actors[i].state);
  }
  cdam_client_free(client);
  free(big);
  snprintf(command, sizeof command, "rm -rf %s", scratch);
  return system(command);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killed_in_the_middle_of_everything),
      cmocka_unit_test(processes_outlive_the_engine),
  };
  return cmocka_run_group_tests(tests, begin, finish);
}
