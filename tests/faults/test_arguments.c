/* SPDX-License-Identifier: Apache-2.0 */
/* Each argument of each call that must be there is missing once: the call names it, and the engine
 * hears of nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_engine.h"

static model_engine *model;
static cdam_session *s;
static cdam_loop *l;
static cdam_error e;

static int setup(void **unused) {
  (void)unused;
  model = model_start();
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_create(model->client, options, &s, NULL), CDAM_OK);
  assert_int_equal(cdam_loop_new(model->client, &l, NULL), CDAM_OK);
  cdam_options_free(options);
  return 0;
}

static int teardown(void **unused) {
  (void)unused;
  cdam_session_free(s);
  cdam_loop_free(l);
  model_stop(model);
  return 0;
}

static int wrong;

/* The words are those of the message, or some of them. */
static void expect(cdam_status status, const char *call, const char *words) {
  if (status != CDAM_ERR_ARGUMENT || !strstr(e.message, words)) {
    print_error("%s: %s: %s\n", call, cdam_status_name(status), e.message);
    wrong++;
  }
  memset(&e, 0, sizeof e);
}

/* After each test: all that was wrong has been told. */
static int none_wrong(void **unused) {
  (void)unused;
  int count = wrong;
  wrong = 0;
  return count;
}

#define REFUSED(call, words) expect(call, #call, words)

/* Of a call that ends in CALLBACK, user, operation, error: whatever it has, it wants a loop and a
 * callback. */
#define STARTS(name, callback, ...)                                                                \
  do {                                                                                             \
    REFUSED(name(NULL, ##__VA_ARGS__, callback, NULL, NULL, &e), "loop");                          \
    REFUSED(name(l, ##__VA_ARGS__, NULL, NULL, NULL, &e), "callback");                             \
    assert_int_equal(cdam_loop_pending(l), 0);                                                     \
  } while (0)

static const char *const argv[] = {"true", NULL};
static const cdam_source source = {.bytes = "x", .length = 1};
static const cdam_sink sink = {.to_fd = true, .fd = 2};
static const cdam_source both = {.bytes = "x", .length = 1, .from_fd = true};
static const cdam_source closed = {.from_fd = true, .fd = 9999};
static const cdam_sink closed_sink = {.to_fd = true, .fd = 9999};

/* ---- processes ---- */

static void started(void *user, cdam_status status, cdam_process *process, const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_process_free(process);
}

static void listed(void *user, cdam_status status, cdam_process_list *list, const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_process_list_free(list);
}

static void done(void *user, cdam_status status, const cdam_error *err) {
  (void)user, (void)status, (void)err;
}

static void of_spawning(void **unused) {
  (void)unused;
  const cdam_process_command good = {.argv = argv}, no_argv = {0},
                             empty = {.argv = (const char *const[]){NULL}},
                             reserved = {.argv = argv, .reserved = {true}},
                             relative = {.argv = argv, .workdir = "x"},
                             variable = {.argv = argv, .env = (const char *const[]){"x", NULL}},
                             negative = {.argv = argv, .timeout_ms = -1},
                             limits = {.argv = argv, .limit_count = 1};
  cdam_process *p;
  REFUSED(cdam_process_spawn(NULL, &good, &p, &e), "session");
  REFUSED(cdam_process_spawn(s, NULL, &p, &e), "command");
  REFUSED(cdam_process_spawn(s, &good, NULL, &e), "out");
  REFUSED(cdam_process_spawn(s, &no_argv, &p, &e), "argv");
  REFUSED(cdam_process_spawn(s, &empty, &p, &e), "argv");
  REFUSED(cdam_process_spawn(s, &reserved, &p, &e), "reserved");
  REFUSED(cdam_process_spawn(s, &relative, &p, &e), "workdir");
  REFUSED(cdam_process_spawn(s, &variable, &p, &e), "env");
  REFUSED(cdam_process_spawn(s, &negative, &p, &e), "timeout");
  REFUSED(cdam_process_spawn(s, &limits, &p, &e), "limit");
  STARTS(cdam_process_spawn_start, started, s, &good);
  REFUSED(cdam_process_spawn_start(l, NULL, &good, started, NULL, NULL, &e), "session");
  REFUSED(cdam_process_spawn_start(l, s, NULL, started, NULL, NULL, &e), "command");
}

static void of_attaching(void **unused) {
  (void)unused;
  const cdam_process_attachment reserved = {.reserved = {true}};
  cdam_process *p;
  cdam_process_list *list;
  REFUSED(cdam_process_attach(NULL, "1", NULL, &p, &e), "session");
  REFUSED(cdam_process_attach(s, NULL, NULL, &p, &e), "key");
  REFUSED(cdam_process_attach(s, "", NULL, &p, &e), "key");
  REFUSED(cdam_process_attach(s, "1", NULL, NULL, &e), "out");
  REFUSED(cdam_process_attach(s, "1", &reserved, &p, &e), "");
  STARTS(cdam_process_attach_start, started, s, "1", NULL);
  REFUSED(cdam_process_attach_start(l, NULL, "1", NULL, started, NULL, NULL, &e), "session");
  REFUSED(cdam_process_attach_start(l, s, NULL, NULL, started, NULL, NULL, &e), "key");
  REFUSED(cdam_processes(NULL, &list, &e), "session");
  REFUSED(cdam_processes(s, NULL, &e), "out");
  STARTS(cdam_processes_start, listed, s);
  REFUSED(cdam_processes_start(l, NULL, listed, NULL, NULL, &e), "session");
  REFUSED(cdam_process_forget(NULL, "1", &e), "session");
  REFUSED(cdam_process_forget(s, NULL, &e), "key");
  STARTS(cdam_process_forget_start, done, s, "1");
  REFUSED(cdam_process_forget_start(l, s, NULL, done, NULL, NULL, &e), "key");
}

static void of_no_process(void **unused) {
  (void)unused;
  cdam_process_event event;
  cdam_process_exit exit_status;
  size_t taken;
  REFUSED(cdam_process_next(NULL, 0, &event, &e), "process");
  REFUSED(cdam_process_wait(NULL, 0, &exit_status, &e), "process");
  REFUSED(cdam_process_write(NULL, "x", 1, &e), "process");
  REFUSED(cdam_process_write_some(NULL, "x", 1, &taken, &e), "process");
  REFUSED(cdam_process_end_input(NULL, &e), "process");
  REFUSED(cdam_process_signal(NULL, 1, CDAM_TARGET_PROCESS, &e), "process");
  REFUSED(cdam_process_kill(NULL, 0, &e), "process");
  REFUSED(cdam_process_resize(NULL, 1, 1, &e), "process");
  assert_string_equal(cdam_process_key(NULL), "");
  assert_int_equal(cdam_process_pid(NULL), 0);
  assert_false(cdam_process_exit_status(NULL, &exit_status));
  assert_int_equal(cdam_process_list_count(NULL), 0);
  assert_false(cdam_process_list_get(NULL, 0, NULL));
  cdam_process_on_ready(NULL, NULL, NULL);
  cdam_process_list_free(NULL);
  cdam_process_free(NULL);
}

/* ---- files ---- */

static void read_bytes(void *user, cdam_status status, char *bytes, size_t length,
                       const cdam_error *err) {
  (void)user, (void)status, (void)length, (void)err;
  free(bytes);
}

static void of_contents(void **unused) {
  (void)unused;
  char *bytes;
  size_t length;
  const cdam_file_write_options reserved = {.reserved = {true}};
  REFUSED(cdam_file_read(NULL, "x", 1, &bytes, &length, &e), "session");
  REFUSED(cdam_file_read(s, NULL, 1, &bytes, &length, &e), "path");
  REFUSED(cdam_file_read(s, "x", 1, NULL, &length, &e), "bytes");
  REFUSED(cdam_file_read(s, "x", 1, &bytes, NULL, &e), "length");
  STARTS(cdam_file_read_start, read_bytes, s, "x", 1);
  REFUSED(cdam_file_read_to(NULL, "x", 0, 0, &sink, &e), "session");
  REFUSED(cdam_file_read_to(s, NULL, 0, 0, &sink, &e), "path");
  REFUSED(cdam_file_read_to(s, "x", 0, 0, NULL, &e), "sink");
  REFUSED(cdam_file_read_to(s, "x", 0, 0, &closed_sink, &e), "sink");
  STARTS(cdam_file_read_to_start, done, s, "x", 0, 0, &sink);
  REFUSED(cdam_file_write(NULL, "x", &source, NULL, &e), "session");
  REFUSED(cdam_file_write(s, NULL, &source, NULL, &e), "path");
  REFUSED(cdam_file_write(s, "x", NULL, NULL, &e), "source");
  REFUSED(cdam_file_write(s, "x", &both, NULL, &e), "source");
  REFUSED(cdam_file_write(s, "x", &closed, NULL, &e), "source");
  REFUSED(cdam_file_write(s, "x", &source, &reserved, &e), "reserved");
  STARTS(cdam_file_write_start, done, s, "x", &source, NULL);
}

static void looked(void *user, cdam_status status, cdam_file_list *list, const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_file_list_free(list);
}

static void exists(void *user, cdam_status status, bool found, const cdam_error *err) {
  (void)user, (void)status, (void)found, (void)err;
}

static void of_looking(void **unused) {
  (void)unused;
  cdam_file_list *list;
  bool found;
  REFUSED(cdam_file_stat(NULL, "x", true, &list, &e), "session");
  REFUSED(cdam_file_stat(s, NULL, true, &list, &e), "path");
  REFUSED(cdam_file_stat(s, "x", true, NULL, &e), "out");
  STARTS(cdam_file_stat_start, looked, s, "x", true);
  REFUSED(cdam_file_exists(NULL, "x", &found, &e), "session");
  REFUSED(cdam_file_exists(s, NULL, &found, &e), "path");
  REFUSED(cdam_file_exists(s, "x", NULL, &e), "exists");
  STARTS(cdam_file_exists_start, exists, s, "x");
  REFUSED(cdam_file_list_directory(NULL, "x", &list, &e), "session");
  REFUSED(cdam_file_list_directory(s, NULL, &list, &e), "path");
  REFUSED(cdam_file_list_directory(s, "x", NULL, &e), "out");
  STARTS(cdam_file_list_directory_start, looked, s, "x");
  assert_int_equal(cdam_file_list_count(NULL), 0);
  assert_null(cdam_file_list_get(NULL, 0));
  cdam_file_list_free(NULL);
}

static void of_changing(void **unused) {
  (void)unused;
  const cdam_file_attributes good = {0}, reserved = {.reserved = {true}};
  REFUSED(cdam_file_make_directory(NULL, "x", 0, true, &e), "session");
  REFUSED(cdam_file_make_directory(s, NULL, 0, true, &e), "path");
  STARTS(cdam_file_make_directory_start, done, s, "x", 0, true);
  REFUSED(cdam_file_remove(NULL, "x", true, true, &e), "session");
  REFUSED(cdam_file_remove(s, NULL, true, true, &e), "path");
  STARTS(cdam_file_remove_start, done, s, "x", true, true);
  REFUSED(cdam_file_rename(NULL, "x", "y", true, &e), "session");
  REFUSED(cdam_file_rename(s, NULL, "y", true, &e), "from");
  REFUSED(cdam_file_rename(s, "x", NULL, true, &e), "to");
  STARTS(cdam_file_rename_start, done, s, "x", "y", true);
  REFUSED(cdam_file_make_link(NULL, "x", "y", true, &e), "session");
  REFUSED(cdam_file_make_link(s, NULL, "y", true, &e), "path");
  REFUSED(cdam_file_make_link(s, "x", NULL, true, &e), "target");
  STARTS(cdam_file_make_link_start, done, s, "x", "y", true);
  REFUSED(cdam_file_set_attributes(NULL, "x", &good, &e), "session");
  REFUSED(cdam_file_set_attributes(s, NULL, &good, &e), "path");
  REFUSED(cdam_file_set_attributes(s, "x", NULL, &e), "attributes");
  REFUSED(cdam_file_set_attributes(s, "x", &reserved, &e), "reserved");
  STARTS(cdam_file_set_attributes_start, done, s, "x", &good);
}

static void watched(void *user, cdam_status status, cdam_file_watch *watch, const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_file_watch_free(watch);
}

static void of_watching(void **unused) {
  (void)unused;
  cdam_file_watch *watch;
  cdam_file_event event;
  REFUSED(cdam_file_watch_new(NULL, "x", &watch, &e), "session");
  REFUSED(cdam_file_watch_new(s, NULL, &watch, &e), "path");
  REFUSED(cdam_file_watch_new(s, "x", NULL, &e), "out");
  STARTS(cdam_file_watch_new_start, watched, s, "x");
  REFUSED(cdam_file_watch_next(NULL, 0, &event, &e), "watch");
  cdam_file_watch_on_ready(NULL, NULL, NULL);
  cdam_file_watch_free(NULL);
}

/* ---- trees ---- */

static void moved(void *user, cdam_status status, const cdam_tree_result *result,
                  const cdam_error *err) {
  (void)user, (void)status, (void)result, (void)err;
}

static void of_trees(void **unused) {
  (void)unused;
  const cdam_tree_options reserved = {.reserved = {true}};
  REFUSED(cdam_tree_upload(NULL, "/", "x", NULL, NULL, &e), "session");
  REFUSED(cdam_tree_upload(s, NULL, "x", NULL, NULL, &e), "local");
  REFUSED(cdam_tree_upload(s, "/", NULL, NULL, NULL, &e), "path");
  REFUSED(cdam_tree_upload(s, "/", "x", &reserved, NULL, &e), "reserved");
  STARTS(cdam_tree_upload_start, moved, s, "/", "x", NULL);
  REFUSED(cdam_tree_download(NULL, "x", "/", NULL, NULL, &e), "session");
  REFUSED(cdam_tree_download(s, NULL, "/", NULL, NULL, &e), "path");
  REFUSED(cdam_tree_download(s, "x", NULL, NULL, NULL, &e), "local");
  REFUSED(cdam_tree_download(s, "x", "/", &reserved, NULL, &e), "reserved");
  STARTS(cdam_tree_download_start, moved, s, "x", "/", NULL);
}

static void of_archives(void **unused) {
  (void)unused;
  const cdam_tree_options reserved = {.reserved = {true}};
  REFUSED(cdam_tree_upload_tar(NULL, &source, "x", NULL, NULL, &e), "session");
  REFUSED(cdam_tree_upload_tar(s, NULL, "x", NULL, NULL, &e), "source");
  REFUSED(cdam_tree_upload_tar(s, &both, "x", NULL, NULL, &e), "source");
  REFUSED(cdam_tree_upload_tar(s, &closed, "x", NULL, NULL, &e), "source");
  REFUSED(cdam_tree_upload_tar(s, &source, NULL, NULL, NULL, &e), "path");
  REFUSED(cdam_tree_upload_tar(s, &source, "x", &reserved, NULL, &e), "reserved");
  REFUSED(cdam_tree_download_tar(NULL, "x", &sink, NULL, NULL, &e), "session");
  REFUSED(cdam_tree_download_tar(s, NULL, &sink, NULL, NULL, &e), "path");
  REFUSED(cdam_tree_download_tar(s, "x", NULL, NULL, NULL, &e), "sink");
  REFUSED(cdam_tree_download_tar(s, "x", &closed_sink, NULL, NULL, &e), "sink");
  REFUSED(cdam_tree_download_tar(s, "x", &sink, &reserved, NULL, &e), "reserved");
}

/* ---- loops ---- */

static void pinged(void *user, cdam_status status, const char *version, const cdam_error *err) {
  (void)user, (void)status, (void)version, (void)err;
}

static void has_session(void *user, cdam_status status, cdam_session *session,
                        const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_session_free(session);
}

static void executed(void *user, cdam_status status, cdam_exec_result *result,
                     const cdam_error *err) {
  (void)user, (void)status, (void)err;
  cdam_exec_result_free(result);
}

static void resolved(void *user, cdam_status status, char *host, uint16_t port,
                     const cdam_error *err) {
  (void)user, (void)status, (void)port, (void)err;
  free(host);
}

static void of_loops(void **unused) {
  (void)unused;
  cdam_loop *loop;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  const cdam_state *state = cdam_session_state(s);
  const cdam_exec_command command = {.argv = argv};
  REFUSED(cdam_loop_new(NULL, &loop, &e), "client");
  REFUSED(cdam_loop_new(model->client, NULL, &e), "out");
  STARTS(cdam_client_ping_start, pinged);
  STARTS(cdam_create_start, has_session, options);
  REFUSED(cdam_create_start(l, NULL, has_session, NULL, NULL, &e), "options");
  STARTS(cdam_resume_start, has_session, state, NULL);
  REFUSED(cdam_resume_start(l, NULL, NULL, has_session, NULL, NULL, &e), "state");
  STARTS(cdam_exec_start, executed, s, &command);
  REFUSED(cdam_exec_start(l, NULL, &command, executed, NULL, NULL, &e), "session");
  REFUSED(cdam_exec_start(l, s, NULL, executed, NULL, NULL, &e), "command");
  STARTS(cdam_session_resolve_port_start, resolved, s, 80);
  REFUSED(cdam_session_resolve_port_start(l, NULL, 80, resolved, NULL, NULL, &e), "session");
  STARTS(cdam_session_stop_start, done, s, 0);
  REFUSED(cdam_session_stop_start(l, NULL, 0, done, NULL, NULL, &e), "session");
  STARTS(cdam_delete_start, done, state);
  REFUSED(cdam_delete_start(l, NULL, done, NULL, NULL, &e), "state");
  REFUSED(cdam_list_start(NULL, NULL, NULL, NULL, &e), "loop");
  REFUSED(cdam_list_start(l, NULL, NULL, NULL, &e), "callback");
  assert_int_equal(cdam_loop_fd(NULL), -1);
  assert_int_equal(cdam_loop_dispatch(NULL), 0);
  assert_int_equal(cdam_loop_pending(NULL), 0);
  cdam_loop_set_max_connections(NULL, 1);
  cdam_loop_free(NULL);
  cdam_cancel(NULL);
  cdam_options_free(options);
}

static void of_reaping(void **unused) {
  (void)unused;
  const cdam_reap_flags reserved = {.reserved = {true}};
  cdam_reap_report *report;
  REFUSED(cdam_reap(NULL, NULL, &report, &e), "client");
  REFUSED(cdam_reap(model->client, NULL, NULL, &e), "out");
  REFUSED(cdam_reap(model->client, &reserved, &report, &e), "reserved");
  REFUSED(cdam_reap_start(NULL, NULL, NULL, NULL, NULL, &e), "loop");
  REFUSED(cdam_reap_start(l, NULL, NULL, NULL, NULL, &e), "callback");
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, none_wrong)
  const struct CMUnitTest tests[] = {
      TEST(of_spawning), TEST(of_attaching), TEST(of_no_process), TEST(of_contents),
      TEST(of_looking),  TEST(of_changing),  TEST(of_watching),   TEST(of_trees),
      TEST(of_archives), TEST(of_loops),     TEST(of_reaping),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
