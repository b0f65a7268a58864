/* SPDX-License-Identifier: Apache-2.0 */
/* Everything on every image: one with a busybox, one with nothing at all, and one whose programs,
 * users, links and configuration lie (tools/test-image.sh). Nothing of an image is needed, and
 * nothing of it is believed. */
#include "test_file_support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <cofferdam/process.h>
#include <cofferdam/reap.h>
#include <cofferdam/tree.h>

#define LIES "cofferdam-lies:latest"
#define TOOL "/workspace/busybox"
#define SH(script) ((const char *const[]){TOOL, "sh", "-c", script, NULL})

typedef struct image_kind {
  const char *image;
  bool hardened;
} image_kind;

static char scratch[64];
static bool made_empty, made_lies;

/* ---- images ---- */

static bool lacks(const char *image) {
  return try_docker("image inspect %s >/dev/null 2>&1", image) != 0;
}

static int begin(void **state) {
  (void)state;
  require_engine();
  const char *root = getenv("COFFERDAM_SOURCE_ROOT");
  char command[512];
  assert_non_null(root);
  made_empty = lacks("cofferdam-empty:latest");
  if (made_empty)
    assert_int_equal(
        system("tar -cf - -T /dev/null | docker import - cofferdam-empty:latest >/dev/null"), 0);
  made_lies = lacks(LIES);
  snprintf(command, sizeof command, "%s/tools/test-image.sh lies --import %s >/dev/null", root,
           LIES);
  if (made_lies) assert_int_equal(system(command), 0);
  snprintf(scratch, sizeof scratch, "/tmp/cofferdam-images-XXXXXX");
  assert_non_null(mkdtemp(scratch));
  snprintf(command, sizeof command, "cd %s && cp /bin/busybox tail && tar -cf image.tar tail",
           scratch);
  assert_int_equal(system(command), 0);
  client = engine_client();
  return 0;
}

static int finish(void **state) {
  (void)state;
  cdam_client_free(client);
  if (made_empty) try_docker("rmi cofferdam-empty:latest >/dev/null 2>&1");
  if (made_lies) try_docker("rmi " LIES " >/dev/null 2>&1");
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", scratch);
  return system(command);
}

/* ---- a sandbox ---- */

static cdam_options *options_of(const image_kind *kind) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_image(options, kind->image, &err), &err);
  if (kind->hardened) cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  /* Its volumes could be written. */
  if (kind->hardened && strcmp(kind->image, LIES) == 0) {
    assert_ok(cdam_options_set_tmpfs_mount(options, "/volume", "", &err), &err);
    assert_ok(cdam_options_set_tmpfs_mount(options, "/workspace/volume", "", &err), &err);
  }
  return options;
}

static void create(const image_kind *kind) {
  cdam_options *options = options_of(kind);
  cdam_error err;
  assert_ok(cdam_create(client, options, &session, &err), &err);
  assert_true(cdam_session_has_agent(session));
  cdam_options_free(options);
}

/* The image has no program that can be trusted: here is one. */
static void bring_a_tool(void) {
  cdam_error err;
  int fd = open("/bin/busybox", O_RDONLY);
  assert_true(fd >= 0);
  const cdam_source source = {.from_fd = true, .fd = fd};
  const cdam_file_write_options options = {.set_permissions = true, .permissions = 0755};
  assert_ok(cdam_file_write(session, "busybox", &source, &options, &err), &err);
  close(fd);
  const cdam_file_info info = info_of("busybox", false);
  assert_int_equal(info.permissions, 0755);
  assert_int_equal(info.type, CDAM_FILE_REGULAR);
}

static cdam_exec_result *run(const char *const *argv, int64_t timeout_ms) {
  cdam_exec_result *result;
  cdam_error err;
  /* What the image's configuration says of the environment counts for nothing here. */
  const char *const env[] = {"LD_PRELOAD=", "IFS= ", "ENV=", NULL};
  const cdam_exec_command command = {.argv = argv, .env = env, .timeout_ms = timeout_ms};
  assert_ok(cdam_exec(session, &command, &result, &err), &err);
  return result;
}

static void expect(const char *script, int code, const char *out) {
  cdam_exec_result *result = run(SH(script), 60000);
  if (cdam_exec_result_exit_code(result) != code ||
      strcmp(cdam_exec_result_stdout(result, NULL), out) != 0)
    fail_msg("%s: %d, \"%s\", \"%s\"", script, cdam_exec_result_exit_code(result),
             cdam_exec_result_stdout(result, NULL), cdam_exec_result_stderr(result, NULL));
  cdam_exec_result_free(result);
}

/* ---- what is done on each ---- */

static void commands(void) {
  expect("echo out; echo err >&2; exit 7", 7, "out\n");
  expect("exec " TOOL " head -c 3000000 /dev/zero | " TOOL " wc -c", 0, "3000000\n");
  cdam_exec_result *result = run((const char *const[]){"/no/such/program", NULL}, 0);
  assert_true(cdam_exec_result_not_started(result));
  cdam_exec_result_free(result);
  result = run(SH("kill -SEGV $$"), 0);
  assert_int_equal(cdam_exec_result_signal(result), SIGSEGV);
  cdam_exec_result_free(result);
}

/* What the sandbox's own kernel says, through a program of ours. */
static bool runs(const char *word) {
  cdam_exec_result *result = run((const char *const[]){TOOL, "ps", NULL}, 20000);
  bool found = strstr(cdam_exec_result_stdout(result, NULL), word) != NULL;
  assert_non_null(strstr(cdam_exec_result_stdout(result, NULL), "cofferdam-agent init"));
  cdam_exec_result_free(result);
  return found;
}

static void deadlines(void) {
  int64_t before = cdam_now_ms();
  cdam_exec_result *result =
      run(SH(TOOL " setsid " TOOL " sleep 777 & trap '' TERM; " TOOL " sleep 778"), 300);
  assert_true(cdam_exec_result_timed_out(result));
  assert_false(cdam_exec_result_still_running(result));
  assert_true(cdam_now_ms() - before < 60000);
  cdam_exec_result_free(result);
  assert_false(runs("sleep 77"));
}

/* The image's programs, if it has any, can say what they like: it is output. */
static void liars(const image_kind *kind) {
  static const char *const names[] = {"sh", "true", "ls", "kill", "cofferdam-agent"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[64];
    snprintf(path, sizeof path, "/bin/%s", names[i]);
    cdam_exec_result *result = run((const char *const[]){path, "said", NULL}, 20000);
    if (strcmp(kind->image, LIES) == 0) {
      assert_false(cdam_exec_result_not_started(result));
      assert_true(cdam_exec_result_exit_code(result) <= 1);
      assert_memory_equal(cdam_exec_result_stdout(result, NULL), "total 3\n", 8);
    } else {
      assert_true(cdam_exec_result_not_started(result));
    }
    cdam_exec_result_free(result);
  }
}

static void users(const image_kind *kind) {
  cdam_exec_result *result;
  cdam_error err;
  static const struct {
    const char *user;
    bool numeric;
  } asked[] = {{"nobody", false}, {"no-such-user", false}, {"12345:54321", true}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    const cdam_exec_command command = {.argv = (const char *const[]){TOOL, "id", "-u", NULL},
                                       .user = asked[i].user,
                                       .timeout_ms = 20000};
    cdam_status status = cdam_exec(session, &command, &result, &err);
    if (status == CDAM_OK && asked[i].numeric && !kind->hardened)
      assert_string_equal(cdam_exec_result_stdout(result, NULL), "12345\n");
    else if (status == CDAM_OK && !cdam_exec_result_not_started(result))
      print_message("# %s as %s: %s", kind->image, asked[i].user,
                    cdam_exec_result_stdout(result, NULL));
    if (status == CDAM_OK) cdam_exec_result_free(result);
  }
}

static void files(void) {
  cdam_error err;
  put("a", "one");
  put("a", "two");
  assert_content("a", "two");
  assert_ok(cdam_file_make_directory(session, "d/e/f", 0, true, &err), &err);
  assert_ok(cdam_file_rename(session, "a", "d/e/f/b", false, &err), &err);
  assert_ok(cdam_file_make_link(session, "d/l", "e/f/b", false, &err), &err);
  assert_content("d/l", "two");
  assert_int_equal(count_of("d"), 2);
  assert_false(is_there("a"));
  assert_ok(cdam_file_make_link(session, "d/out", "../../../bin", false, &err), &err);
  cdam_file_list *list;
  assert_fails(cdam_file_list_directory(session, "d/out", &list, &err), CDAM_ERR_OUTSIDE,
               err.system_errno, &err);
  assert_ok(cdam_file_remove(session, "d", true, false, &err), &err);
  assert_false(is_there("d"));
}

static void trees(void) {
  cdam_error err;
  char command[1024], from[96], back[96];
  snprintf(from, sizeof from, "%s/from", scratch);
  snprintf(back, sizeof back, "%s/back", scratch);
  snprintf(command, sizeof command,
           "rm -rf %s %s && mkdir -p %s/x/y && head -c 300000 /dev/urandom >%s/x/r && "
           "ln -s r %s/x/l && : >%s/x/y/empty",
           from, back, from, from, from, from);
  assert_int_equal(system(command), 0);
  cdam_tree_result result;
  assert_ok(cdam_tree_upload(session, from, "t", NULL, &result, &err), &err);
  assert_int_equal(result.entries, 6);
  assert_ok(cdam_tree_download(session, "t", back, NULL, &result, &err), &err);
  assert_int_equal(result.skipped, 0);
  snprintf(command, sizeof command, "diff -r --no-dereference %s %s", from, back);
  assert_int_equal(system(command), 0);
}

static void processes(void) {
  cdam_process *process;
  cdam_process_event event;
  cdam_process_exit exit;
  cdam_error err;
  const cdam_process_command command = {.argv = (const char *const[]){TOOL, "cat", NULL},
                                        .input = true};
  assert_ok(cdam_process_spawn(session, &command, &process, &err), &err);
  assert_ok(cdam_process_write(process, "in and out", 10, &err), &err);
  assert_ok(cdam_process_next(process, 20000, &event, &err), &err);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_int_equal(event.length, 10);
  assert_memory_equal(event.bytes, "in and out", 10);
  assert_ok(cdam_process_kill(process, 1000, &err), &err);
  assert_ok(cdam_process_wait(process, 20000, &exit, &err), &err);
  assert_int_equal(exit.ended_by, CDAM_ENDED_KILL);
  cdam_process_free(process);
  const cdam_process_command terminal = {.argv = SH(TOOL " tty >/dev/null && echo terminal"),
                                         .terminal = true};
  assert_ok(cdam_process_spawn(session, &terminal, &process, &err), &err);
  assert_ok(cdam_process_next(process, 20000, &event, &err), &err);
  assert_int_equal(event.kind, CDAM_PROCESS_OUTPUT);
  assert_memory_equal(event.bytes, "terminal", 8);
  cdam_process_free(process);
}

/* Nothing that the image asks to be run is run, and the engine stops it in milliseconds. */
static void stop_and_resume(const image_kind *kind) {
  cdam_error err;
  cdam_session *again;
  put("kept", "kept");
  int64_t before = cdam_now_ms();
  assert_ok(cdam_session_stop(session, 60000, &err), &err);
  assert_true(cdam_now_ms() - before < 50000);
  assert_ok(cdam_resume(client, cdam_session_state(session), NULL, &again, &err), &err);
  cdam_session_free(session);
  session = again;
  assert_false(cdam_session_was_recreated(session));
  assert_true(cdam_session_has_agent(session));
  if (kind->hardened) { /* there the workspace is a tmpfs */
    assert_false(is_there("kept"));
    return;
  }
  assert_content("kept", "kept");
  expect("echo again", 0, "again\n");
}

static void nothing_of_the_image_runs(void) {
  const char *id = container_of(session);
  assert_string_equal(docker("inspect -f '{{.Path}} {{.Config.StopSignal}} "
                             "{{if .State.Health}}{{.State.Health.Status}}{{end}}' %s",
                             id),
                      "/.cofferdam/cofferdam-agent SIGTERM ");
  assert_false(runs("liar"));
}

/* The volumes that the image asked for go with the sandbox. */
static void end(void) {
  char volumes[1024];
  snprintf(volumes, sizeof volumes, "%s",
           docker("inspect -f '{{range .Mounts}}{{if ne .Destination \"/.cofferdam\"}}{{.Name}} "
                  "{{end}}{{end}}' %s",
                  container_of(session)));
  end_session(client, session);
  char *rest = NULL;
  for (const char *name = strtok_r(volumes, " \n", &rest); name;
       name = strtok_r(NULL, " \n", &rest))
    assert_int_not_equal(try_docker("volume inspect %s >/dev/null 2>&1", name), 0);
}

static void everything(void **state) {
  const image_kind *kind = *state;
  create(kind);
  bring_a_tool();
  commands();
  deadlines();
  liars(kind);
  users(kind);
  files();
  trees();
  processes();
  nothing_of_the_image_runs();
  stop_and_resume(kind);
  end();
}

/* ---- lies in the configuration ---- */

/* A container has its image's labels as well, and an image that was made from a sandbox has the
 * sandbox's: a deadline that has passed, an agent. */
static void labels_of_the_image(void **state) {
  (void)state;
  const image_kind more = {"cofferdam-lies-more:latest", false};
  cdam_options *options = options_of(&more);
  cdam_error err;
  cdam_reap_report *report;
  docker("import --change 'LABEL io.cofferdam.deadline=1000000000 io.cofferdam.session-id=x "
         "io.cofferdam.creation-id=x io.cofferdam.agent=%064d' --change 'ENV PATH=/' "
         "--change 'VOLUME [\"/.cofferdam\"]' "
         "- cofferdam-lies-more:latest <%s/image.tar",
         1, scratch);
  for (int with_agent = 1; with_agent >= 0; with_agent--) {
    cdam_client_config *config;
    cdam_client *other;
    assert_ok(cdam_client_config_new(&config, &err), &err);
    cdam_client_config_set_agent(config, with_agent ? CDAM_AGENT_REQUIRED : CDAM_AGENT_OFF);
    assert_ok(cdam_client_new(config, &other, &err), &err);
    cdam_client_config_free(config);
    assert_ok(cdam_create(other, options, &session, &err), &err);
    assert_int_equal(cdam_session_has_agent(session), with_agent);
    const cdam_reap_flags flags = {.dry_run = true};
    assert_ok(cdam_reap(other, &flags, &report, &err), &err);
    for (size_t i = 0; i < cdam_reap_count(report); i++)
      assert_string_not_equal(cdam_reap_container_id(report, i), container_of(session));
    cdam_reap_report_free(report);
    end();
    cdam_client_free(other);
  }
  cdam_options_free(options);
  docker("rmi cofferdam-lies-more:latest");
}

/* ---- volumes ---- */

/* An engine makes them for the container, on its disk, and lets them be written: so a root file
 * system that is read-only is one only where something else is in their places. */
static void volumes_of_the_image(void **state) {
  (void)state;
  const image_kind kind = {"cofferdam-volumes:latest", true};
  static const char *const places[] = {"/data", "/more", "/workspace/below"};
  cdam_options *options = options_of(&kind);
  cdam_error err;
  char field[64], command[512];
  snprintf(command, sizeof command,
           "cd %s && mkdir -p tree/data tree/more tree/workspace/below && chmod -R 777 tree && "
           "tar -C tree -cf volumes.tar .",
           scratch);
  assert_int_equal(system(command), 0);
  docker("import --change 'VOLUME [\"/data\", \"/more/\", \"/workspace/below\", "
         "\"/.cofferdam/\"]' - cofferdam-volumes:latest <%s/volumes.tar",
         scratch);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(field, sizeof field, "tmpfs[%s]", places[i]);
    assert_int_equal(cdam_create(client, options, &session, &err), CDAM_ERR_INVALID);
    assert_string_equal(err.field, field);
    assert_ok(cdam_options_set_tmpfs_mount(options, places[i], "ro", &err), &err);
  }
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  bring_a_tool();
  expect(
      "for d in /data /more /workspace/below; do echo x 2>/dev/null >$d/x && echo $d; done; true",
      0, "");
  stop_and_resume(&kind);
  end();
  docker("rmi cofferdam-volumes:latest");
}

static image_kind kinds[] = {
    {"busybox:test", false},          {"busybox:test", true}, {"cofferdam-empty:latest", false},
    {"cofferdam-empty:latest", true}, {LIES, false},          {LIES, true},
};

#define ON(number, name)                                                                           \
  { name, everything, NULL, NULL, &kinds[number] }

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      ON(0, "busybox alone"),
      ON(1, "busybox alone, hardened"),
      ON(2, "nothing"),
      ON(3, "nothing, hardened"),
      ON(4, "lies"),
      ON(5, "lies, hardened"),
      cmocka_unit_test(labels_of_the_image),
      cmocka_unit_test(volumes_of_the_image),
  };
  return cmocka_run_group_tests(tests, begin, finish);
}
