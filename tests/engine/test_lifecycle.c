/* SPDX-License-Identifier: Apache-2.0 */
/* Create, lose, resume, drift, delete: on a real engine. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "real_engine.h"

static const char *const show_links[] = {"ls", "/sys/class/net", NULL};

static int make_client(void **state) {
  *state = engine_client();
  return 0;
}

static int free_client(void **state) {
  cdam_client_free(*state);
  return 0;
}

static const char *id_of(const cdam_session *session) {
  return cdam_state_container_id(cdam_session_state(session));
}

static void assert_only_loopback(cdam_session *session) {
  char *links = output_of(session, show_links);
  assert_string_equal(links, "lo\n");
  free(links);
}

/* Through bytes, as another process would get it. */
static cdam_state *through_bytes(const cdam_state *state) {
  unsigned char *bytes;
  size_t length;
  cdam_state *read;
  cdam_error err;
  assert_ok(cdam_state_serialize(state, NULL, &bytes, &length, &err), &err);
  assert_ok(cdam_state_parse(bytes, length, NULL, &read, &err), &err);
  free(bytes);
  return read;
}

static void none_has_only_a_loopback(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  assert_string_equal(docker("inspect -f '{{.HostConfig.NetworkMode}}' %s", id_of(session)),
                      "none");
  assert_only_loopback(session);
  end_session(*state, session);
}

static void unset_is_the_engines_default(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_UNSET);
  assert_int_equal(cdam_state_required_feature_count(cdam_session_state(session)), 0);
  char *links = output_of(session, show_links);
  assert_non_null(strstr(links, "eth0"));
  free(links);
  end_session(*state, session);
}

static void lost_and_recreated_still_without_a_network(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  cdam_state *saved = through_bytes(cdam_session_state(session));
  cdam_session_free(session);
  docker("rm -f %s", cdam_state_container_id(saved));

  cdam_error err;
  assert_ok(cdam_resume(*state, saved, NULL, &session, &err), &err);
  assert_true(cdam_session_was_recreated(session));
  assert_string_not_equal(id_of(session), cdam_state_container_id(saved));
  assert_string_equal(docker("inspect -f '{{.HostConfig.NetworkMode}}' %s", id_of(session)),
                      "none");
  assert_only_loopback(session);
  cdam_state_free(saved);
  end_session(*state, session);
}

static void reattaches_running_and_stopped(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  cdam_error err;
  const char *const leave_a_mark[] = {"touch", "/tmp/mark", NULL};
  const char *const find_the_mark[] = {"ls", "/tmp/mark", NULL};
  free(output_of(session, leave_a_mark));
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  assert_false(cdam_session_was_recreated(again));
  cdam_session_free(again);

  assert_ok(cdam_session_stop(session, 5000, &err), &err);
  assert_string_equal(docker("inspect -f '{{.State.Status}}' %s", id_of(session)), "exited");
  assert_ok(cdam_session_stop(session, 5000, &err), &err);
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  assert_false(cdam_session_was_recreated(again));
  free(output_of(again, find_the_mark));
  assert_only_loopback(again);
  cdam_session_free(again);
  end_session(*state, session);
}

static void assert_drift(cdam_client *client, const cdam_session *session, const char *field) {
  cdam_session *again;
  cdam_error err;
  char before[65536];
  snprintf(before, sizeof before, "%s", docker("inspect %s", id_of(session)));
  assert_int_equal(cdam_resume(client, cdam_session_state(session), NULL, &again, &err),
                   CDAM_ERR_DRIFT);
  assert_null(again);
  assert_string_equal(err.field, field);
  assert_string_equal(docker("inspect %s", id_of(session)), before);
}

static void a_network_connected_by_force_is_drift(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  docker("network disconnect none %s", id_of(session));
  docker("network connect bridge %s", id_of(session));
  /* This is what makes the mode alone no proof. */
  assert_string_equal(docker("inspect -f '{{.HostConfig.NetworkMode}}' %s", id_of(session)),
                      "none");
  char *links = output_of(session, show_links);
  assert_non_null(strstr(links, "eth"));
  free(links);
  assert_drift(*state, session, "NetworkSettings.Networks");
  docker("stop -t 0 %s", id_of(session));
  assert_drift(*state, session, "NetworkSettings.Networks");
  end_session(*state, session);
}

static void disconnected_from_none_is_no_proof_of_more(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  docker("network disconnect none %s", id_of(session));
  cdam_error err;
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  cdam_session_free(again);
  end_session(*state, session);
}

/* Somebody made a container with our name and labels, and with a network. */
static void a_forged_container_is_not_adopted(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  const cdam_state *saved = cdam_session_state(session);
  const char *sid = cdam_state_session_id(saved);
  docker("rm -f %s", id_of(session));
  docker("run -d --name cofferdam-%s --label io.cofferdam.session-id=%s " TEST_IMAGE
         " tail -f /dev/null",
         sid, sid);
  cdam_error err;
  assert_int_equal(cdam_resume(*state, saved, NULL, &again, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "HostConfig.NetworkMode");
  assert_int_equal(containers_of(sid), 1);
  end_session(*state, session);
}

#define ANONYMOUS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Without a network, as the state says; but with what no sandbox of ours was ever given. */
static void a_forged_container_that_reaches_the_host_is_not_adopted(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  const cdam_state *saved = cdam_session_state(session);
  const char *sid = cdam_state_session_id(saved);
  bool podman =
      strcmp(docker("inspect -f '{{.HostConfig.PidMode}}' %s", id_of(session)), "private") == 0;
  docker("rm -f %s", id_of(session));
  const struct {
    const char *flags, *field;
    bool untold; /* by Podman's inspect */
  } forged[] = {
      {"-v /:/host:ro", "HostConfig.Binds", false},
      {"--cap-add NET_ADMIN", "HostConfig.CapAdd", false},
      {"--pid host", "HostConfig.PidMode", false},
      {"--security-opt seccomp=unconfined", "HostConfig.SecurityOpt", false},
      {"--security-opt systempaths=unconfined", "HostConfig.MaskedPaths", true},
      {"-v " ANONYMOUS ":/x", "HostConfig.Binds", true},
      {"--restart always", "HostConfig.RestartPolicy.Name", false},
      {"--rm", "HostConfig.AutoRemove", false},
      {"--sysctl net.ipv4.ip_forward=1", "HostConfig.Sysctls", true},
      {"--oom-score-adj -500", "HostConfig.OomScoreAdj", false},
      {"--ulimit rtprio=99", "HostConfig.Ulimits", false},
      {"--mount type=volume,source=cofferdam-test-shared,target=/x",
       podman ? "HostConfig.Binds" : "Mounts", false},
  };
  for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
    if (podman && forged[i].untold) continue;
    docker("create --name cofferdam-%s --label io.cofferdam.session-id=%s --network none %s "
           "--entrypoint tail " TEST_IMAGE " -f /dev/null",
           sid, sid, forged[i].flags);
    cdam_error err;
    assert_int_equal(cdam_resume(*state, saved, NULL, &again, &err), CDAM_ERR_DRIFT);
    assert_string_equal(err.field, forged[i].field);
    assert_string_equal(docker("inspect -f '{{.State.Status}}' cofferdam-%s", sid), "created");
    docker("rm -f cofferdam-%s", sid);
  }
  try_docker("volume rm cofferdam-test-shared " ANONYMOUS);
  end_session(*state, session);
}

static void a_foreign_container_with_our_name_is_left_alone(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  const cdam_state *saved = cdam_session_state(session);
  const char *sid = cdam_state_session_id(saved);
  docker("rm -f %s", id_of(session));
  docker("create --name cofferdam-%s " TEST_IMAGE " true", sid);
  cdam_error err;
  assert_int_equal(cdam_resume(*state, saved, NULL, &again, &err), CDAM_ERR_NOT_OURS);
  assert_ok(cdam_delete(*state, saved, &err), &err);
  docker("rm cofferdam-%s", sid); /* it was still there */
  cdam_session_free(session);
}

/* What was verified is known by its id. Under another name it is used as before; what has its name
 * and its labels instead, and reaches more, is not. */
static void an_impostor_is_never_used(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  const char *sid = cdam_state_session_id(cdam_session_state(session));
  const char *const argv[] = {"touch", "/tmp/was-here", NULL};
  const cdam_exec_command command = {.argv = argv, .timeout_ms = 60000};
  cdam_exec_result *result;
  cdam_error err;
  docker("rename cofferdam-%s cofferdam-elsewhere-%s", sid, sid);
  docker("run -d --name cofferdam-%s --label io.cofferdam.session-id=%s " TEST_IMAGE
         " tail -f /dev/null",
         sid, sid);
  assert_ok(cdam_exec(session, &command, &result, &err), &err);
  cdam_exec_result_free(result);
  docker("exec cofferdam-elsewhere-%s rm /tmp/was-here", sid);
  docker("rm -f %s", id_of(session));
  cdam_status status = cdam_exec(session, &command, &result, &err);
  if (status != CDAM_ERR_NOT_FOUND && status != CDAM_ERR_EXITED)
    fail_msg("%s: %s", cdam_status_name(status), err.message);
  assert_int_equal(cdam_session_stop(session, 0, &err), CDAM_ERR_NOT_FOUND);
  assert_string_equal(docker("inspect -f '{{.State.Status}}' cofferdam-%s", sid), "running");
  docker("exec cofferdam-%s test ! -e /tmp/was-here", sid);
  docker("rm -f cofferdam-%s", sid);
  cdam_session_free(session);
}

/* A state that names somebody else's container. */
static void somebody_elses_id_is_refused(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  char foreign[80], *json;
  snprintf(foreign, sizeof foreign, "%s",
           docker("run -d --network none " TEST_IMAGE " tail -f /dev/null"));
  assert_int_equal(cdam_state_to_json(cdam_session_state(session), &json, NULL), CDAM_OK);
  memcpy(strstr(json, id_of(session)), foreign, 64);
  cdam_state *forged;
  cdam_error err;
  assert_ok(cdam_state_from_json(json, strlen(json), NULL, &forged, &err), &err);
  free(json);
  assert_int_equal(cdam_resume(*state, forged, NULL, &again, &err), CDAM_ERR_NOT_OURS);
  assert_int_equal(cdam_delete(*state, forged, &err), CDAM_ERR_NOT_OURS);
  assert_string_equal(docker("inspect -f '{{.State.Status}}' %s", foreign), "running");
  docker("rm -f %s", foreign);
  cdam_state_free(forged);
  end_session(*state, session);
}

static void paused_needs_leave(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE), *again;
  docker("pause %s", id_of(session));
  cdam_error err;
  assert_int_equal(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err),
                   CDAM_ERR_PAUSED);
  cdam_resume_flags flags = {.unpause = true};
  assert_ok(cdam_resume(*state, cdam_session_state(session), &flags, &again, &err), &err);
  assert_only_loopback(again);
  cdam_session_free(again);
  end_session(*state, session);
}

/* ---- two resumes at once ---- */

typedef struct racer {
  pthread_t thread;
  cdam_client *client;
  const cdam_state *state;
  cdam_session *session;
  cdam_status status;
  cdam_error err;
} racer;

static void *race(void *user) {
  racer *this = user;
  this->status = cdam_resume(this->client, this->state, NULL, &this->session, &this->err);
  return NULL;
}

static void two_resumes_make_one_container(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  cdam_state *saved = through_bytes(cdam_session_state(session));
  cdam_session_free(session);
  docker("rm -f %s", cdam_state_container_id(saved));
  racer racers[4];
  for (int i = 0; i < 4; i++) {
    racers[i] = (racer){.client = *state, .state = saved};
    pthread_create(&racers[i].thread, NULL, race, &racers[i]);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(racers[i].thread, NULL);
  for (int i = 0; i < 4; i++) {
    assert_ok(racers[i].status, &racers[i].err);
    assert_string_equal(id_of(racers[i].session), id_of(racers[0].session));
    assert_only_loopback(racers[i].session);
  }
  assert_int_equal(containers_of(cdam_state_session_id(saved)), 1);
  for (int i = 1; i < 4; i++)
    cdam_session_free(racers[i].session);
  end_session(*state, racers[0].session);
  cdam_state_free(saved);
}

/* ---- create that fails ---- */

/* An image with nothing in it: without an agent the container cannot do its one job. */
static void an_image_without_a_shell_leaves_nothing(void **state) {
  (void)state;
  cdam_client_config *config;
  cdam_client *client;
  docker("image inspect -f '{{.Id}}' cofferdam-empty:latest 2>/dev/null || "
         "tar -cf - -T /dev/null | docker import - cofferdam-empty:latest");
  cdam_options *options;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  assert_ok(cdam_options_new(&options, &err), &err);
  assert_ok(cdam_options_set_image(options, "cofferdam-empty:latest", &err), &err);
  assert_ok(cdam_options_set_label(options, "test", "leaves-nothing", &err), &err);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_status status = cdam_create(client, options, &session, &err);
  if (status == CDAM_OK) {
    /* It ended a moment after the start was verified: the first command finds out, or, while
     * init is still there, finds no program. */
    const char *const argv[] = {"true", NULL};
    cdam_exec_result *result;
    status = cdam_exec(session, &(cdam_exec_command){.argv = argv}, &result, &err);
    bool not_started = status == CDAM_OK && cdam_exec_result_not_started(result);
    cdam_exec_result_free(result);
    end_session(client, session);
    assert_true(not_started || status == CDAM_ERR_EXITED);
  } else {
    assert_int_equal(status, CDAM_ERR_EXITED);
  }
  assert_string_equal(docker("ps -aq --filter label=test=leaves-nothing"), "");
  cdam_options_free(options);
  cdam_client_free(client);
}

static void an_unknown_image_is_not_found(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_image(options, "127.0.0.1:1/nothing:here", &err), &err);
  cdam_session *session;
  cdam_status status = cdam_create(*state, options, &session, &err);
  assert_true(status == CDAM_ERR_PULL || status == CDAM_ERR_NOT_FOUND || status == CDAM_ERR_ENGINE);
  assert_non_null(strstr(err.message, "127.0.0.1:1"));
  cdam_options_free(options);
}

/* ---- options ---- */

static void all_options_survive(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_label(options, "team", "blue \"quoted\" \xc3\xbc", &err), &err);
  assert_ok(cdam_options_set_env(options, "VALUE", "x=y==\n", &err), &err);
  assert_ok(cdam_options_set_env(options, "EMPTY", "", &err), &err);
  assert_ok(cdam_options_add_exposed_port(options, 8080, &err), &err);
  cdam_session *session;
  assert_ok(cdam_create(*state, options, &session, &err), &err);
  cdam_options_free(options);
  const char *const argv[] = {"sh", "-c", "echo \"$VALUE|$EMPTY|\"", NULL};
  for (int i = 0; i < 2; i++) {
    char *text = output_of(session, argv);
    assert_string_equal(text, "x=y==\n||\n");
    free(text);
    assert_string_equal(docker("inspect -f '{{.Config.Labels.team}}' %s", id_of(session)),
                        "blue \"quoted\" \xc3\xbc");
    char *host;
    uint16_t port;
    assert_int_equal(cdam_session_resolve_port(session, 8080, &host, &port, &err),
                     CDAM_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "no network"));
    if (i) break;
    cdam_state *saved = through_bytes(cdam_session_state(session));
    cdam_session_free(session);
    docker("rm -f %s", cdam_state_container_id(saved));
    assert_ok(cdam_resume(*state, saved, NULL, &session, &err), &err);
    cdam_state_free(saved);
  }
  end_session(*state, session);
}

static void ports_are_published_on_the_loopback(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_UNSET);
  cdam_error err;
  assert_ok(cdam_options_add_exposed_port(options, 8080, &err), &err);
  cdam_session *session;
  assert_ok(cdam_create(*state, options, &session, &err), &err);
  cdam_options_free(options);
  char *host;
  uint16_t port;
  assert_ok(cdam_session_resolve_port(session, 8080, &host, &port, &err), &err);
  assert_string_equal(host, "127.0.0.1");
  char expected[32];
  snprintf(expected, sizeof expected, "127.0.0.1:%u", port);
  assert_string_equal(docker("port %s 8080/tcp", id_of(session)), expected);
  free(host);
  cdam_session *again;
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  cdam_session_free(again);
  end_session(*state, session);
}

/* What an r1 library wrote: no network_mode, no features. */
static void r1_states_resume_as_they_always_did(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_UNSET), *again;
  char *json;
  assert_int_equal(cdam_state_to_json(cdam_session_state(session), &json, NULL), CDAM_OK);
  char *revision = strstr(json, "\"schemaRevision\"");
  assert_non_null(revision);
  revision += strcspn(revision, "0123456789");
  assert_false(revision[1] >= '0' && revision[1] <= '9');
  *revision = '1';
  cdam_state *old;
  cdam_error err;
  assert_ok(cdam_state_from_json(json, strlen(json), NULL, &old, &err), &err);
  free(json);
  assert_int_equal(cdam_options_network_mode(cdam_state_options(old)), CDAM_NETWORK_MODE_UNSET);
  assert_ok(cdam_resume(*state, old, NULL, &again, &err), &err);
  assert_false(cdam_session_was_recreated(again));
  cdam_session_free(again);
  docker("rm -f %s", id_of(session));
  cdam_session_free(session);
  assert_ok(cdam_resume(*state, old, NULL, &again, &err), &err);
  assert_true(cdam_session_was_recreated(again));
  cdam_state_free(old);
  end_session(*state, again);
}

/* ---- list, delete ---- */

static void list_shows_ours_and_only_ours(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  char foreign[80];
  snprintf(foreign, sizeof foreign, "%s", docker("create " TEST_IMAGE " true"));
  cdam_sandbox_list *list;
  cdam_error err;
  assert_ok(cdam_list(*state, &list, &err), &err);
  int found = 0;
  for (size_t i = 0; i < cdam_list_count(list); i++) {
    assert_string_not_equal(cdam_list_container_id(list, i), foreign);
    if (strcmp(cdam_list_container_id(list, i), id_of(session)) != 0) continue;
    found++;
    assert_string_equal(cdam_list_session_id(list, i),
                        cdam_state_session_id(cdam_session_state(session)));
    assert_string_equal(cdam_list_status(list, i), "running");
    assert_string_equal(cdam_list_image(list, i), TEST_IMAGE);
    assert_true(cdam_list_created(list, i) > 1600000000);
  }
  assert_int_equal(found, 1);
  assert_null(cdam_list_image(list, cdam_list_count(list)));
  cdam_list_free(list);
  docker("rm %s", foreign);
  end_session(*state, session);
}

static void delete_is_idempotent(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  for (int i = 0; i < 3; i++)
    assert_ok(cdam_delete(*state, cdam_session_state(session), &err), &err);
  cdam_session_free(session);
}

/* Stop takes milliseconds, and no zombie is left: PID 1 reaps and passes signals on. */
static void orphans_are_reaped(void **state) {
  cdam_session *session = create_with(*state, CDAM_NETWORK_MODE_NONE);
  const char *const orphan[] = {"sh", "-c", "(sleep 0.1 &)", NULL};
  const char *const count[] = {"sh", "-c", "sleep 0.5; ps -o stat | grep -c Z || true", NULL};
  for (int i = 0; i < 10; i++)
    free(output_of(session, orphan));
  char *zombies = output_of(session, count);
  assert_string_equal(zombies, "0\n");
  free(zombies);
  end_session(*state, session);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_has_only_a_loopback),
      cmocka_unit_test(unset_is_the_engines_default),
      cmocka_unit_test(lost_and_recreated_still_without_a_network),
      cmocka_unit_test(reattaches_running_and_stopped),
      cmocka_unit_test(a_network_connected_by_force_is_drift),
      cmocka_unit_test(disconnected_from_none_is_no_proof_of_more),
      cmocka_unit_test(a_forged_container_is_not_adopted),
      cmocka_unit_test(a_forged_container_that_reaches_the_host_is_not_adopted),
      cmocka_unit_test(a_foreign_container_with_our_name_is_left_alone),
      cmocka_unit_test(an_impostor_is_never_used),
      cmocka_unit_test(somebody_elses_id_is_refused),
      cmocka_unit_test(paused_needs_leave),
      cmocka_unit_test(two_resumes_make_one_container),
      cmocka_unit_test(an_image_without_a_shell_leaves_nothing),
      cmocka_unit_test(an_unknown_image_is_not_found),
      cmocka_unit_test(all_options_survive),
      cmocka_unit_test(ports_are_published_on_the_loopback),
      cmocka_unit_test(r1_states_resume_as_they_always_did),
      cmocka_unit_test(list_shows_ours_and_only_ours),
      cmocka_unit_test(delete_is_idempotent),
      cmocka_unit_test(orphans_are_reaped),
  };
  return cmocka_run_group_tests(tests, make_client, free_client);
}
