/* SPDX-License-Identifier: Apache-2.0 */
/* Files while code in the sandbox, other clients, and the engine work against them. */
#include "test_file_support.h"

#include <signal.h>

/* ---- a process of our own in the sandbox ---- */

/* Runs on until its file "run" is gone. */
__attribute__((format(printf, 1, 2))) static void run_beside(const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  shell("touch run; (%s) >/tmp/beside.out 2>/tmp/beside.err </dev/null &", line);
}

static const char *stop_beside(void) {
  return shell(
      "rm -f run; n=0; while [ ! -e stopped ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); "
      "done; rm -f stopped; cat /tmp/beside.out");
}

/* ---- links that are swapped ---- */

/* Without the agent each takes a hundred times as long. */
enum { ROUNDS = 500, FEW_ROUNDS = 20 };

static void test_a_directory_that_becomes_a_link(void **state) {
  (void)state;
  shell("mkdir -p swapped inside /tmp/beyond && echo inside > inside/f && "
        "echo beyond > /tmp/beyond/f && ln -sfn /tmp/beyond away && ln -sfn ../tmp/beyond up && "
        "rmdir swapped");
  run_beside("while [ -e run ]; do mv inside d; mv d inside; mv away d; mv d away; mv up d; "
             "mv d up; done; touch stopped");
  int inside = 0, outside = 0, missing = 0, written = 0;
  const int rounds = cdam_session_has_agent(session) ? ROUNDS : FEW_ROUNDS;
  for (int i = 0; i < rounds || (i < ROUNDS && !(inside && outside)); i++) {
    char *bytes;
    size_t length;
    cdam_error err;
    cdam_status status = cdam_file_read(session, "d/f", 100, &bytes, &length, &err);
    if (status == CDAM_OK) {
      if (strcmp(bytes, "inside\n") != 0 && strcmp(bytes, "ours") != 0)
        fail_msg("read \"%s\" in round %d", bytes, i);
      inside++;
      free(bytes);
    } else if (status == CDAM_ERR_OUTSIDE) {
      outside++;
    } else {
      assert_fails(status, CDAM_ERR_FILE, ENOENT, &err);
      missing++;
    }
    cdam_source source = {.bytes = "ours", .length = 4};
    cdam_file_write_options options = {.mode = i % 2 ? CDAM_FILE_REPLACE : CDAM_FILE_APPEND};
    if (i % 2 == 0) source.length = 0;
    status = cdam_file_write(session, "d/f", &source, &options, &err);
    if (status == CDAM_OK)
      written++;
    else if (status != CDAM_ERR_OUTSIDE)
      assert_fails(status, CDAM_ERR_FILE, ENOENT, &err);
    bool exists;
    status = cdam_file_exists(session, "d/g", &exists, &err);
    assert_true(status == CDAM_OK || status == CDAM_ERR_OUTSIDE);
    if (status == CDAM_OK) assert_false(exists);
  }
  print_message("# %d read inside, %d led out, %d found nothing, %d written\n", inside, outside,
                missing, written);
  stop_beside();
  assert_string_equal(shell("cat /tmp/beyond/f; ls -A /tmp/beyond"), "beyond\nf");
  assert_true(inside > 0 && outside > 0);
  cdam_error err;
  assert_ok(cdam_file_remove(session, "inside", true, true, &err), &err);
}

/* ---- a reader never sees half of a file ---- */

static void test_writes_are_atomic(void **state) {
  (void)state;
  enum { SIZE = 400000 };
  char *a = malloc(SIZE), *b = malloc(SIZE);
  memset(a, 'a', SIZE);
  memset(b, 'b', SIZE);
  put_with("whole", a, SIZE, NULL);
  run_beside("while [ -e run ]; do wc -c < whole; tr -d a < whole | tr -d b | wc -c; "
             "head -c 1 whole > h; done | sort -u; touch stopped");
  for (int i = 0; i < 150; i++)
    put_with("whole", i % 2 ? a : b, SIZE, NULL);
  assert_string_equal(stop_beside(), "0\n400000");
  assert_string_equal(shell("ls -A | grep -c cofferdam- || true"), "0");
  free(a);
  free(b);
}

/* ---- two clients ---- */

static void test_two_sessions_append(void **state) {
  (void)state;
  cdam_error err;
  cdam_session *other;
  assert_ok(cdam_resume(client, cdam_session_state(session), NULL, &other, &err), &err);
  put("appended", "");
  cdam_file_write_options append = {.mode = CDAM_FILE_APPEND};
  for (int i = 0; i < 100; i++) {
    cdam_source one = {.bytes = "from one\n", .length = 9},
                two = {.bytes = "from two\n", .length = 9};
    assert_ok(cdam_file_write(session, "appended", &one, &append, &err), &err);
    assert_ok(cdam_file_write(other, "appended", &two, &append, &err), &err);
  }
  assert_string_equal(shell("sort appended | uniq -c | sed 's/^ *//'"),
                      "100 from one\n100 from two");
  cdam_session_free(other);
}

/* ---- what has no room, and what must not be written ---- */

/* The directory of a workspace of its own, of 512 KiB; its root cannot be written. */
static cdam_session *create_small(void) {
  cdam_error err;
  cdam_session *small;
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_options_set_workspace(options, "/some/where", &err), &err);
  assert_ok(cdam_options_set_tmpfs_mount(options, "/some/where", "size=512k,mode=1777", &err),
            &err);
  cdam_options_set_read_only_root(options, true);
  assert_ok(cdam_create(client, options, &small, &err), &err);
  cdam_options_free(options);
  return small;
}

static void test_no_room(void **state) {
  (void)state;
  cdam_error err;
  cdam_session *shared = session;
  size_t size = 1 << 20;
  char *bytes = noise(size);
  cdam_source source = {.bytes = bytes, .length = size};
  session = create_small();
  put("old", "old");
  assert_content("/some/where/old", "old");
  assert_fails(cdam_file_write(session, "old", &source, NULL, &err), CDAM_ERR_FILE, ENOSPC, &err);
  assert_string_equal(err.message, "cannot write \"old\": no space left on device");
  assert_content("old", "old");
  cdam_file_write_options create = {.mode = CDAM_FILE_CREATE, .sync = true};
  assert_fails(cdam_file_write(session, "new", &source, &create, &err), CDAM_ERR_FILE, ENOSPC,
               &err);
  assert_int_equal(count_of(""), 1);
  cdam_file_write_options append = {.mode = CDAM_FILE_APPEND};
  assert_fails(cdam_file_write(session, "old", &source, &append, &err), CDAM_ERR_FILE, ENOSPC,
               &err);
  end_session(client, session);
  session = shared;
  free(bytes);
}

/* A workspace on a root that cannot be written, and a user who is not root. */
static void test_what_may_not_be_written(void **state) {
  (void)state;
  cdam_error err;
  cdam_session *own;
  const cdam_source source = {.bytes = "x", .length = 1};
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_options_set_workspace(options, "/etc", &err), &err);
  cdam_options_set_read_only_root(options, true);
  assert_ok(cdam_create(client, options, &own, &err), &err);
  assert_fails(cdam_file_write(own, "new", &source, NULL, &err), CDAM_ERR_FILE, EROFS, &err);
  assert_fails(cdam_file_remove(own, "mtab", false, false, &err), CDAM_ERR_FILE, EROFS, &err);
  end_session(client, own);

  cdam_options_set_read_only_root(options, false);
  assert_ok(cdam_options_set_user(options, "1000:1000", &err), &err);
  assert_ok(cdam_create(client, options, &own, &err), &err);
  docker("exec -u 0 %s sh -c 'echo secret > /etc/secret; chmod 600 /etc/secret'",
         container_of(own));
  char *bytes;
  size_t length;
  assert_fails(cdam_file_write(own, "new", &source, NULL, &err), CDAM_ERR_FILE, EACCES, &err);
  assert_string_equal(err.message, "cannot write \"new\": permission denied");
  assert_fails(cdam_file_read(own, "secret", 99, &bytes, &length, &err), CDAM_ERR_FILE, EACCES,
               &err);
  end_session(client, own);
  cdam_options_free(options);
}

static void test_a_deleted_workspace(void **state) {
  (void)state;
  cdam_error err;
  char *bytes;
  size_t length;
  bool exists;
  cdam_session *own = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_file_exists(own, "f", &exists, &err), &err); /* makes the workspace */
  docker("exec %s mv /workspace /elsewhere", container_of(own));
  if (cdam_session_has_agent(own)) { /* without, it would be made again */
    assert_fails(cdam_file_read(own, "f", 9, &bytes, &length, &err), CDAM_ERR_FILE, ENOENT, &err);
    assert_message(&err, "the workspace: no such file or directory");
    assert_fails(cdam_file_exists(own, "f", &exists, &err), CDAM_ERR_FILE, ENOENT, &err);
  }
  docker("exec %s ln -s /etc /workspace", container_of(own));
  assert_int_equal(cdam_file_read(own, "passwd", 9999, &bytes, &length, &err), CDAM_ERR_FILE);
  end_session(client, own);
}

/* ---- the client goes ---- */

static void test_a_killed_client(void **state) {
  (void)state;
  shell("mkdir -p killed");
  put("killed/f", "old");
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    cdam_client *own;
    cdam_session *resumed;
    cdam_error err;
    cdam_source source = {.from_fd = true, .fd = ends[0]};
    if (cdam_client_new(NULL, &own, &err) == CDAM_OK &&
        cdam_resume(own, cdam_session_state(session), NULL, &resumed, &err) == CDAM_OK)
      (void)!cdam_file_write(resumed, "killed/f", &source, NULL, &err);
    _exit(1);
  }
  assert_int_equal(write(ends[1], "half of it", 10), 10);
  for (int i = 0; count_of("killed") < 2 && i < 1000; i++)
    usleep(20000);
  assert_int_equal(count_of("killed"), 2); /* a temporary file */
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  for (int i = 0; count_of("killed") > 1 && i < 1000; i++)
    usleep(20000);
  assert_int_equal(count_of("killed"), 1);
  assert_content("killed/f", "old");
  close(ends[0]);
  close(ends[1]);
}

/* ---- the container goes ---- */

typedef struct saboteur {
  const char *command; /* what docker does with the container in the middle */
  const char *container;
  int calls;
} saboteur;

/* By then what runs in the sandbox has taken something. */
#define STRIKE 60

static int64_t give_and_strike(void *user, void *buffer, size_t size) {
  saboteur *this = user;
  if (++this->calls == STRIKE) docker("%s %s", this->command, this->container);
  memset(buffer, 'x', size);
  return this->calls < 2000 ? (ssize_t)size : 0;
}

static bool take_and_strike(void *user, const void *bytes, size_t length) {
  saboteur *this = user;
  (void)bytes;
  (void)length;
  if (++this->calls == 3) docker("%s %s", this->command, this->container);
  return true;
}

/* A client that is not patient, once there is a sandbox. */
static cdam_session *impatient(cdam_client **own) {
  cdam_client_config *config;
  cdam_session *made = create_with(client, CDAM_NETWORK_MODE_NONE), *victim;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_timeout(config, 3000);
  assert_ok(cdam_client_new(config, own, &err), &err);
  cdam_client_config_free(config);
  assert_ok(cdam_resume(*own, cdam_session_state(made), NULL, &victim, &err), &err);
  cdam_session_free(made);
  return victim;
}

static void strike(const char *command, cdam_status expected) {
  cdam_client *own;
  cdam_error err;
  cdam_session *victim = impatient(&own);
  char container[80];
  snprintf(container, sizeof container, "%s", container_of(victim));
  saboteur this = {.command = command, .container = container};
  cdam_source source = {.read = give_and_strike, .user = &this};
  int64_t before = cdam_now_ms();
  cdam_status status = cdam_file_write(victim, "f", &source, NULL, &err);
  if (status != expected) fail_msg("%s: %s: %s", command, cdam_status_name(status), err.message);
  assert_message(&err, "cannot write \"f\": ");
  assert_in_range(cdam_now_ms() - before, 0, 40000);
  print_message("# %s: %s\n", command, err.message);
  /* And so it is for the next one. */
  bool exists;
  status = cdam_file_exists(victim, "f", &exists, &err);
  if (status != expected) fail_msg("%s: %s: %s", command, cdam_status_name(status), err.message);
  (void)try_docker("unpause %s 2>/dev/null", container);
  end_session(own, victim);
  cdam_client_free(own);
}

static void test_the_container_goes(void **state) {
  (void)state;
  strike("stop -t 1", CDAM_ERR_EXITED);
  strike("kill", CDAM_ERR_EXITED);
  strike("rm -f", CDAM_ERR_NOT_FOUND);
  strike("pause", CDAM_ERR_PAUSED);
}

static void test_the_container_goes_while_reading(void **state) {
  (void)state;
  cdam_error err;
  cdam_session *victim = create_with(client, CDAM_NETWORK_MODE_NONE);
  bool exists;
  assert_ok(cdam_file_exists(victim, "", &exists, &err), &err); /* makes the workspace */
  docker("exec %s dd if=/dev/zero of=/workspace/large bs=1M count=64 2>/dev/null",
         container_of(victim));
  saboteur this = {.command = "kill", .container = container_of(victim)};
  cdam_sink sink = {.write = take_and_strike, .user = &this};
  cdam_status status = cdam_file_read_to(victim, "large", 0, 0, &sink, &err);
  if (status != CDAM_ERR_EXITED) fail_msg("%s: %s", cdam_status_name(status), err.message);
  /* Started again by somebody: the next call finds the new agent. */
  docker("start %s", container_of(victim));
  assert_ok(cdam_file_exists(victim, "large", &exists, &err), &err);
  docker("restart -t 0 %s", container_of(victim));
  assert_ok(cdam_file_exists(victim, "large", &exists, &err), &err);
  assert_true(exists);
  end_session(client, victim);
}

static void test_a_watch_whose_container_goes(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_event event;
  cdam_file_watch *watch;
  cdam_session *victim = create_with(client, CDAM_NETWORK_MODE_NONE);
  if (!cdam_session_has_agent(victim)) { /* and so there is no watch */
    assert_int_equal(cdam_file_watch_new(victim, "", &watch, &err), CDAM_ERR_NO_AGENT);
    end_session(client, victim);
    return;
  }
  assert_ok(cdam_file_watch_new(victim, "", &watch, &err), &err);
  docker("kill %s", container_of(victim));
  cdam_status status = cdam_file_watch_next(watch, 10000, &event, &err);
  assert_int_equal(status, CDAM_ERR_EXITED);
  /* It may outlive its session. */
  end_session(client, victim);
  assert_int_equal(cdam_file_watch_next(watch, 10, &event, &err), CDAM_ERR_EXITED);
  cdam_file_watch_free(watch);

  victim = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_file_watch_new(victim, "", &watch, &err), &err);
  char container[80];
  snprintf(container, sizeof container, "%s", container_of(victim));
  docker("exec %s touch /workspace/new", container);
  cdam_session_free(victim);
  assert_ok(cdam_file_watch_next(watch, 5000, &event, &err), &err);
  assert_int_equal(event.kind, CDAM_FILE_CREATED);
  assert_string_equal(event.name, "new");
  cdam_file_watch_free(watch);
  docker("rm -f %s", container);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_directory_that_becomes_a_link),
      cmocka_unit_test(test_writes_are_atomic),
      cmocka_unit_test(test_two_sessions_append),
      cmocka_unit_test(test_no_room),
      cmocka_unit_test(test_what_may_not_be_written),
      cmocka_unit_test(test_a_deleted_workspace),
      cmocka_unit_test(test_a_killed_client),
      cmocka_unit_test(test_the_container_goes),
      cmocka_unit_test(test_the_container_goes_while_reading),
      cmocka_unit_test(test_a_watch_whose_container_goes),
  };
  return cmocka_run_group_tests_name("file_hostile", tests, begin_sandbox, end_sandbox);
}
