/* SPDX-License-Identifier: Apache-2.0 */
/* The agent as the first process of sandboxes, on a real engine. Each test has an agent of its own,
 * ours with some bytes behind its end, and so a volume of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/client_private.h"
#include "real_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct own_agent {
  char directory[64];
  char path[128];
  char volume[96];
  cdam_client *client;
} own_agent;

/* ---- one agent for each test ---- */

static cdam_client *client_with(const char *directory, cdam_agent_policy policy) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  assert_ok(cdam_client_config_set_agent_directory(config, directory, &err), &err);
  cdam_client_config_set_agent(config, policy);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  assert_int_equal(system(command), 0);
}

static int setup(void **state) {
  own_agent *this = calloc(1, sizeof *this);
  const char *built = getenv("COFFERDAM_AGENT_DIR");
  assert_non_null(built);
  snprintf(this->directory, sizeof this->directory, "/tmp/cofferdam-agent-XXXXXX");
  assert_non_null(mkdtemp(this->directory));
  const char *name = sizeof(void *) == 8 && access("/lib64/ld-linux-x86-64.so.2", F_OK) == 0
                         ? "cofferdam-agent-amd64"
                         : "cofferdam-agent-arm64";
  snprintf(this->path, sizeof this->path, "%s/%s", this->directory, name);
  shell("cp %s/%s %s && chmod u+w %s && head -c 16 /dev/urandom >>%s", built, name, this->path,
        this->path, this->path);
  char command[200], digest[80] = "";
  snprintf(command, sizeof command, "sha256sum <%s", this->path);
  FILE *sum = popen(command, "r");
  assert_non_null(fgets(digest, 65, sum));
  pclose(sum);
  snprintf(this->volume, sizeof this->volume, "cofferdam-agent-%s", digest);
  this->client = client_with(this->directory, CDAM_AGENT_REQUIRED);
  *state = this;
  return 0;
}

static int teardown(void **state) {
  own_agent *this = *state;
  cdam_client_free(this->client);
  try_docker("rm -f -v %s-fill >/dev/null 2>&1", this->volume);
  try_docker("volume rm %s %s-ready >/dev/null 2>&1", this->volume, this->volume);
  unlink(this->path);
  rmdir(this->directory);
  free(this);
  return 0;
}

static const char *id_of(const cdam_session *session) {
  return cdam_state_container_id(cdam_session_state(session));
}

static cdam_session *create_on(cdam_client *client, const char *image, const char *profile) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_options_set_image(options, image, &err), &err);
  if (profile) cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  assert_true(cdam_session_has_agent(session));
  assert_string_equal(docker("inspect -f '{{.State.Running}} {{.Path}}' %s", id_of(session)),
                      "true /.cofferdam/cofferdam-agent");
  return session;
}

static bool has_volume(const char *name, const char *suffix) {
  return try_docker("volume inspect %s%s >/dev/null 2>&1", name, suffix) == 0;
}

static void assert_clean(own_agent *this) {
  assert_string_equal(docker("ps -aq --filter name=%s-fill", this->volume), "");
  assert_true(has_volume(this->volume, ""));
  assert_true(has_volume(this->volume, "-ready"));
}

/* ---- images ---- */

static void every_image(void **state) {
  own_agent *this = *state;
  const char *const images[] = {"cofferdam-test:latest", "busybox:test", "cofferdam-empty:latest"};
  docker("image inspect -f '{{.Id}}' cofferdam-empty:latest 2>/dev/null || "
         "tar -cf - -T /dev/null | docker import - cofferdam-empty:latest");
  for (size_t i = 0; i < COUNT(images); i++)
    for (int hardened = 0; hardened < 2; hardened++) {
      cdam_session *session = create_on(this->client, images[i], hardened ? "hardened" : NULL),
                   *again;
      cdam_error err;
      assert_non_null(
          strstr(docker("exec %s /.cofferdam/cofferdam-agent --version", id_of(session)),
                 "cofferdam-agent "));
      /* Nobody in the sandbox can change it. */
      assert_string_equal(
          docker("inspect -f '{{range .Mounts}}{{if eq .Destination \"/.cofferdam\"}}{{.RW}} "
                 "{{.Name}}{{end}}{{end}}' %s | cut -c1-21",
                 id_of(session)),
          "false cofferdam-agent");
      assert_ok(cdam_resume(this->client, cdam_session_state(session), NULL, &again, &err), &err);
      cdam_session_free(again);
      end_session(this->client, session);
    }
  assert_clean(this);
}

static void execute_only(void **state) {
  own_agent *this = *state;
  cdam_session *session = create_on(this->client, TEST_IMAGE, NULL);
  assert_string_equal(
      docker("exec %s stat -c '%%a %%u %%g %%F' /.cofferdam/cofferdam-agent", id_of(session)),
      "111 0 0 regular file");
  assert_int_not_equal(try_docker("exec %s touch /.cofferdam/more 2>/dev/null", id_of(session)), 0);
  assert_int_not_equal(
      try_docker("exec -u 1000 %s cat /.cofferdam/cofferdam-agent 2>/dev/null", id_of(session)), 0);
  end_session(this->client, session);
}

/* ---- its end ---- */

static void stopping_takes_milliseconds(void **state) {
  own_agent *this = *state;
  cdam_session *session = create_on(this->client, "cofferdam-empty:latest", NULL), *again;
  cdam_error err;
  for (int i = 0; i < 3; i++) {
    int64_t begun = cdam_now_ms();
    assert_ok(cdam_session_stop(session, 60000, &err), &err);
    assert_true(cdam_now_ms() - begun < 50000); /* not killed in the end */
    assert_string_equal(docker("inspect -f '{{.State.ExitCode}}' %s", id_of(session)), "0");
    assert_ok(cdam_resume(this->client, cdam_session_state(session), NULL, &again, &err), &err);
    assert_true(cdam_session_has_agent(again));
    cdam_session_free(again);
  }
  end_session(this->client, session);
  assert_true(has_volume(this->volume, "")); /* it is everybody's */
}

/* Not killed by the agent before the caller's time for that is over. */
static void the_grace_is_the_callers(void **state) {
  own_agent *this = *state;
  cdam_session *session = create_on(this->client, TEST_IMAGE, NULL);
  cdam_error err;
  docker("exec -d %s sh -c 'trap \"\" TERM; while :; do sleep 0.1; done'", id_of(session));
  usleep(300000);
  int64_t begun = cdam_now_ms();
  assert_ok(cdam_session_stop(session, 1000, &err), &err);
  assert_true(cdam_now_ms() - begun < 50000);
  end_session(this->client, session);
}

/* ---- filling ---- */

typedef struct filler {
  pthread_t thread;
  const own_agent *agent;
  cdam_client *client;
  cdam_session *session;
  cdam_status status;
  cdam_error err;
} filler;

static void *fill(void *user) {
  filler *this = user;
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  this->status = cdam_create(this->client, options, &this->session, &this->err);
  cdam_options_free(options);
  return NULL;
}

static void sixteen_at_once(void **state) {
  own_agent *this = *state;
  filler fillers[16];
  for (size_t i = 0; i < COUNT(fillers); i++) {
    /* Half of them share a client. */
    cdam_client *client = i % 2 ? this->client : client_with(this->directory, CDAM_AGENT_REQUIRED);
    fillers[i] = (filler){.agent = this, .client = client};
    assert_int_equal(pthread_create(&fillers[i].thread, NULL, fill, &fillers[i]), 0);
  }
  for (size_t i = 0; i < COUNT(fillers); i++)
    pthread_join(fillers[i].thread, NULL);
  for (size_t i = 0; i < COUNT(fillers); i++) {
    assert_ok(fillers[i].status, &fillers[i].err);
    assert_true(cdam_session_has_agent(fillers[i].session));
    end_session(fillers[i].client, fillers[i].session);
    if (fillers[i].client != this->client) cdam_client_free(fillers[i].client);
  }
  assert_clean(this);
}

/* What `docker volume prune` takes: the marker, which nobody mounts, or both. */
static void pruned(void **state) {
  own_agent *this = *state;
  const char *const removed[] = {"%s-ready", "%s", "%s %s-ready"};
  for (size_t i = 0; i < COUNT(removed); i++)
    for (int remembers = 0; remembers < 2; remembers++) {
      cdam_client *first = client_with(this->directory, CDAM_AGENT_REQUIRED);
      end_session(first, create_on(first, TEST_IMAGE, NULL));
      cdam_client_free(first);
      end_session(this->client, create_on(this->client, TEST_IMAGE, NULL));
      assert_clean(this);
      if (i != 1) docker("volume rm %s-ready", this->volume);
      if (i != 0) docker("volume rm %s", this->volume);
      cdam_client *client =
          remembers ? this->client : client_with(this->directory, CDAM_AGENT_REQUIRED);
      end_session(client, create_on(client, TEST_IMAGE, NULL));
      if (!(remembers && i == 0)) assert_clean(this);
      if (!remembers) cdam_client_free(client);
    }
}

/* Somebody makes an empty volume of that name, and a marker. */
static void a_false_marker(void **state) {
  own_agent *this = *state;
  docker("volume create %s >/dev/null && docker volume create %s-ready", this->volume,
         this->volume);
  end_session(this->client, create_on(this->client, TEST_IMAGE, NULL));
  assert_clean(this);
}

/* A volume of the image that is mounted where a link leads: in the agent's place, before or after
 * it, as the engine likes. What a sandbox on it runs is its own affair; that of others is not. */
static void an_image_that_takes_the_agents_place(void **state) {
  own_agent *this = *state;
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_error err;
  shell("cd %s && mkdir -p tree/.cofferdam && ln -s .cofferdam tree/link && "
        "cp /bin/busybox tree/.cofferdam/cofferdam-agent && tar -C tree -cf image.tar . && "
        "docker import --change 'VOLUME /link' image.tar cofferdam-link:latest >/dev/null && "
        "rm -r tree image.tar",
        this->directory);
  assert_ok(cdam_options_set_image(options, "cofferdam-link:latest", &err), &err);
  for (int round = 0; round < 8; round++) {
    cdam_client *client = client_with(this->directory, CDAM_AGENT_REQUIRED);
    if (cdam_create(client, options, &session, &err) == CDAM_OK) end_session(client, session);
    if (has_volume(this->volume, "-ready"))
      docker("run --rm --network none -v %s:/agent " TEST_IMAGE " test -s /agent/cofferdam-agent",
             this->volume);
    docker("volume rm -f %s %s-ready", this->volume, this->volume);
    cdam_client_free(client);
  }
  cdam_options_free(options);
  docker("rmi cofferdam-link:latest");
}

/* A client that is killed in the middle of it, at some moment. */
static void a_killed_client(void **state) {
  own_agent *this = *state;
  for (int after_ms = 4; after_ms < 150; after_ms += 24) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      cdam_client *client = client_with(this->directory, CDAM_AGENT_REQUIRED);
      cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
      cdam_session *session;
      cdam_error err;
      _exit(cdam_options_set_label(options, "test", this->volume, &err) ||
            cdam_create(client, options, &session, &err));
    }
    usleep((useconds_t)after_ms * 1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    usleep(200000); /* the engine finishes what it was asked for */
    try_docker("rm -f -v %s-fill >/dev/null 2>&1", this->volume); /* a minute later */
    try_docker("rm -f $(docker ps -aq --filter label=test=%s) >/dev/null 2>&1", this->volume);
    cdam_client *client = client_with(this->directory, CDAM_AGENT_REQUIRED);
    end_session(client, create_on(client, TEST_IMAGE, NULL));
    cdam_client_free(client);
    assert_clean(this);
    docker("volume rm %s %s-ready", this->volume, this->volume);
  }
}

/* ---- without it, and against it ---- */

static void without_a_program(void **state) {
  (void)state;
  cdam_client *client = client_with("/nowhere", CDAM_AGENT_AUTO);
  cdam_session *session = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_false(cdam_session_has_agent(session));
  assert_int_equal(cdam_session_warning_count(session), 1);
  assert_non_null(strstr(cdam_session_warning(session, 0), "/nowhere/cofferdam-agent-"));
  end_session(client, session);
  cdam_client_free(client);

  client = client_with("/nowhere", CDAM_AGENT_REQUIRED);
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_label(options, "test", "no-agent", &err), &err);
  assert_int_equal(cdam_create(client, options, &session, &err), CDAM_ERR_NO_AGENT);
  assert_string_equal(docker("ps -aq --filter label=test=no-agent"), "");
  cdam_options_free(options);
  cdam_client_free(client);
}

static void from_one_kind_to_the_other(void **state) {
  own_agent *this = *state;
  cdam_client *without = client_with(this->directory, CDAM_AGENT_OFF);
  cdam_session *session = create_with(without, CDAM_NETWORK_MODE_NONE), *again;
  cdam_error err;
  assert_false(cdam_session_has_agent(session));
  assert_ok(cdam_resume(this->client, cdam_session_state(session), NULL, &again, &err), &err);
  assert_false(cdam_session_has_agent(again));
  cdam_session_free(again);
  docker("rm -f %s", id_of(session));
  assert_ok(cdam_resume(this->client, cdam_session_state(session), NULL, &again, &err), &err);
  assert_true(cdam_session_was_recreated(again));
  assert_true(cdam_session_has_agent(again));
  cdam_session_free(session);
  end_session(this->client, again);
  cdam_client_free(without);
}

/* Everything as it should be, but the volume can be written to. */
static void a_writable_agent_is_drift(void **state) {
  own_agent *this = *state;
  cdam_session *session = create_on(this->client, TEST_IMAGE, NULL), *again;
  const char *sid = cdam_state_session_id(cdam_session_state(session));
  cdam_error err;
  docker("rm -f %s", id_of(session));
  docker("create --name cofferdam-%s --label io.cofferdam.session-id=%s "
         "--label io.cofferdam.agent=%s --network none --log-driver none --no-healthcheck "
         "--mount type=volume,source=%s,target=/.cofferdam,volume-nocopy "
         "--entrypoint /.cofferdam/cofferdam-agent " TEST_IMAGE " init --stop-grace-ms 600000",
         sid, sid, this->volume + 16, this->volume);
  assert_int_equal(cdam_resume(this->client, cdam_session_state(session), NULL, &again, &err),
                   CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "Mounts");
  assert_string_equal(docker("inspect -f '{{.State.Status}}' cofferdam-%s", sid), "created");
  end_session(this->client, session);
}

static void the_helper_is_no_sandbox(void **state) {
  own_agent *this = *state;
  cdam_sandbox_list *list;
  cdam_error err;
  docker("create --name %s-fill --label io.cofferdam.agent=%s --label "
         "io.cofferdam.agent-fill=x " TEST_IMAGE " true",
         this->volume, this->volume + 16);
  char id[80];
  snprintf(id, sizeof id, "%s", docker("inspect -f '{{.Id}}' %s-fill", this->volume));
  assert_ok(cdam_list(this->client, &list, &err), &err);
  for (size_t i = 0; i < cdam_list_count(list); i++)
    assert_string_not_equal(cdam_list_container_id(list, i), id);
  cdam_list_free(list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      TEST(every_image),
      TEST(execute_only),
      TEST(stopping_takes_milliseconds),
      TEST(the_grace_is_the_callers),
      TEST(sixteen_at_once),
      TEST(pruned),
      TEST(a_false_marker),
      TEST(an_image_that_takes_the_agents_place),
      TEST(a_killed_client),
      TEST(without_a_program),
      TEST(from_one_kind_to_the_other),
      TEST(a_writable_agent_is_drift),
      TEST(the_helper_is_no_sandbox),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
