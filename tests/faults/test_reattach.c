/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_resume of a container that is there: as the state says, different, somebody else's, not
 * running. */
#include "resume_fixture.h"

/* ---- reattach ---- */

static void reattaches_as_docker_shows_it(void **state) {
  assert_reattaches(*state);
}

static void as_podman(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(settings(inspect), "Networks", json_object());
}

static void reattaches_as_podman_shows_it(void **state) {
  fixture *this = *state;
  this->model->lie = as_podman;
  assert_reattaches(this);
}

static void more_labels(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(json_object_get(config(inspect), "Labels"), "of-the-image", json_string("x"));
}

static void more_labels_are_fine(void **state) {
  fixture *this = *state;
  this->model->lie = more_labels;
  assert_reattaches(this);
}

/* ---- drift ---- */

static void drift_is_refused_and_nothing_changed(void **state) {
  fixture *this = *state;
  const struct {
    const char *path, *json, *field;
  } lies[] = {
      {"HostConfig.NetworkMode", "\"bridge\"", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", "\"default\"", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", "\"host\"", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", "\"\"", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", "null", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", "7", "HostConfig.NetworkMode"},
      {"HostConfig.NetworkMode", NULL, "HostConfig.NetworkMode"},
      {"HostConfig", "null", "HostConfig.NetworkMode"},
      {"HostConfig", NULL, "HostConfig.NetworkMode"},
      {"NetworkSettings.Networks", NULL, "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "null", "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "[]", "NetworkSettings.Networks"},
      {"NetworkSettings", NULL, "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"bridge\":{\"IPAddress\":\"172.17.0.2\"}}",
       "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":{},\"x\":{}}", "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"None\":{}}", "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":{\"IPAddress\":\"10.0.0.1\"}}",
       "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":{\"Gateway\":\"10.0.0.1\"}}",
       "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":{\"MacAddress\":\"02:42:00:00:00:01\"}}",
       "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":{\"GlobalIPv6Address\":\"fe80::1\"}}",
       "NetworkSettings.Networks"},
      {"NetworkSettings.Networks", "{\"none\":7}", "NetworkSettings.Networks"},
      {"NetworkSettings.IPAddress", "\"172.17.0.2\"", "NetworkSettings.Networks"},
      {"NetworkSettings.MacAddress", "\"02:42:ac:11:00:02\"", "NetworkSettings.Networks"},
      {"NetworkSettings.GlobalIPv6PrefixLen", "64", "NetworkSettings.Networks"},
      {"NetworkSettings.Gateway", "7", "NetworkSettings.Networks"},
      {"Config.Labels", "{\"io.cofferdam.session-id\":\"SESSION\"}", NULL},
      {"Image", "\"" MODEL_OTHER_ID "\"", "Image"},
      {"Config.Env", "[\"A=2\"]", NULL},
      {"Config.Env", "null", NULL},
  };
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    char json[160];
    lie_path = lies[i].path;
    lie_json = lies[i].json;
    if (lie_json && strstr(lie_json, "SESSION")) {
      snprintf(json, sizeof json, "{\"io.cofferdam.session-id\":\"%s\"}",
               cdam_state_session_id(this->state));
      lie_json = json;
    }
    this->model->lie = lie_about;
    assert_refused(this, CDAM_ERR_DRIFT, lies[i].field);
  }
}

static void drift_of_a_stopped_container_does_not_start_it(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "exited");
  lie_path = "HostConfig.NetworkMode";
  lie_json = "\"bridge\"";
  this->model->lie = lie_about;
  assert_refused(this, CDAM_ERR_DRIFT, "HostConfig.NetworkMode");
}

#define ANONYMOUS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
/* All but one: /proc/keys; and all. */
#define OFTEN_MASKED                                                                               \
  "\"/proc/asound\",\"/proc/acpi\",\"/proc/kcore\",\"/proc/latency_stats\",\"/proc/timer_list\","  \
  "\"/proc/scsi\",\"/sys/firmware\""
#define OFTEN_READ_ONLY                                                                            \
  "\"/proc/bus\",\"/proc/fs\",\"/proc/irq\",\"/proc/sys\",\"/proc/sysrq-trigger\""

/* What no create request of ours asks for; the labels are right all the while. */
static void what_it_reaches_besides_is_drift(void **state) {
  fixture *this = *state;
  const struct {
    const char *path, *json, *field;
  } lies[] = {
      {"HostConfig.Privileged", "true", NULL},
      {"HostConfig.Privileged", NULL, NULL},
      {"HostConfig.CapAdd", "[\"NET_ADMIN\"]", NULL},
      {"HostConfig.Binds", "[\"/:/host\"]", NULL},
      {"HostConfig.Binds", "[\"data:/data\", \"/run/docker.sock:/d\"]", NULL},
      {"HostConfig.Binds", "{\"/\":{}}", NULL},
      {"HostConfig.Binds", "[\"" ANONYMOUS ":/data:rw\"]", NULL},
      {"HostConfig.Binds", "[\"0123:/data:rw\"]", NULL},
      {"HostConfig.VolumeDriver", "\"sshfs\"", NULL},
      {"HostConfig.Sysctls", "{\"net.ipv4.ip_forward\":\"1\"}", NULL},
      {"HostConfig.Annotations", "{\"dev.gvisor.flag.host-uds\":\"all\"}", NULL},
      {"HostConfig.Annotations", "{\"io.podman.annotations.x\":\"1\", \"run.oci.x\":\"1\"}", NULL},
      {"HostConfig.Annotations", "[\"x\"]", NULL},
      {"HostConfig.CpuRealtimeRuntime", "950000", NULL},
      {"HostConfig.OomKillDisable", "true", NULL},
      {"HostConfig.OomScoreAdj", "-1000", NULL},
      {"HostConfig.OomScoreAdj", "\"0\"", NULL},
      {"HostConfig.Ulimits", "[{\"Name\":\"rtprio\", \"Soft\":0, \"Hard\":99}]", NULL},
      {"HostConfig.Ulimits", "[{\"Name\":\"RLIMIT_NICE\", \"Soft\":40, \"Hard\":40}]", NULL},
      {"HostConfig.RestartPolicy", "{\"Name\":\"always\"}", "HostConfig.RestartPolicy.Name"},
      {"HostConfig.RestartPolicy", "{\"Name\":\"on-failure\"}", "HostConfig.RestartPolicy.Name"},
      {"HostConfig.RestartPolicy", "{\"Name\":1}", "HostConfig.RestartPolicy.Name"},
      {"HostConfig.AutoRemove", "true", NULL},
      {"HostConfig.Devices", "[{\"PathOnHost\":\"/dev/sda\"}]", NULL},
      {"HostConfig.DeviceRequests", "[{\"Driver\":\"x\"}]", NULL},
      {"HostConfig.DeviceCgroupRules", "[\"a *:* rwm\"]", NULL},
      {"HostConfig.VolumesFrom", "[\"other\"]", NULL},
      {"HostConfig.Links", "[\"/db:/db\"]", NULL},
      {"HostConfig.GroupAdd", "[\"docker\"]", NULL},
      {"HostConfig.PidMode", "\"host\"", NULL},
      {"HostConfig.IpcMode", "\"container:x\"", NULL},
      {"HostConfig.UTSMode", "\"host\"", NULL},
      {"HostConfig.UsernsMode", "\"host\"", NULL},
      {"HostConfig.SecurityOpt", "[\"seccomp=unconfined\"]", NULL},
      {"HostConfig.SecurityOpt", "[\"no-new-privileges\", \"label=disable\"]", NULL},
      {"HostConfig.SecurityOpt", "[\"no-new-privileges:false\"]", NULL},
      {"HostConfig.MaskedPaths", "[]", NULL},
      {"HostConfig.MaskedPaths", "[\"/proc/kcore\"]", NULL},
      {"HostConfig.MaskedPaths", "{\"/proc/kcore\":{}}", NULL},
      {"HostConfig.MaskedPaths", "[" OFTEN_MASKED "]", NULL},
      {"HostConfig.ReadonlyPaths", "[]", NULL},
      {"HostConfig.ReadonlyPaths", "[\"/proc/bus\",\"/proc/fs\",\"/proc/irq\",\"/proc/sys\"]",
       NULL},
      {"HostConfig.ReadonlyPaths", "\"/proc/sys\"", NULL},
      {"HostConfig.Mounts", "[{\"Type\":\"volume\", \"Target\":\"/data\"}]", NULL},
      {"HostConfig.Mounts", "[{\"Type\":\"tmpfs\", \"Target\":\"/etc\"}]", NULL},
      {"HostConfig.Mounts", "{\"Type\":\"tmpfs\"}", NULL},
      {"HostConfig.Tmpfs", "{\"/etc\":\"exec\"}", NULL},
      {"HostConfig.Tmpfs", "[\"/etc\"]", NULL},
      {"HostConfig.PublishAllPorts", "true", NULL},
      {"HostConfig.PortBindings", "{\"22/tcp\":[{\"HostIp\":\"\"}]}", NULL},
      {"Mounts", "[{\"Type\":\"bind\", \"Source\":\"/\"}]", "Mounts"},
      {"Mounts", "[{\"Type\":\"volume\", \"Name\":\"shared\"}]", "Mounts"},
      {"Mounts", "[{\"Type\":\"volume\", \"Driver\":\"x\", \"Name\":\"" ANONYMOUS "\"}]", "Mounts"},
      {"Mounts", "[{}]", "Mounts"},
      {"Mounts", "\"all\"", "Mounts"},
  };
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    lie_path = lies[i].path;
    lie_json = lies[i].json;
    this->model->lie = lie_about;
    assert_refused(this, CDAM_ERR_DRIFT, lies[i].field ? lies[i].field : lie_path);
  }
}

static void what_engines_say_of_nothing_is_fine(void **state) {
  fixture *this = *state;
  const char *of_image =
      "[{\"Type\":\"volume\", \"Driver\":\"local\", \"Name\":\"" ANONYMOUS "\"}]";
  const struct {
    const char *path, *json;
  } truths[] = {
      {"HostConfig.CapAdd", "null"},
      {"HostConfig.CapAdd", "[]"},
      {"HostConfig.IpcMode", "\"private\""},
      {"HostConfig.IpcMode", "\"shareable\""},
      {"HostConfig.PidMode", "\"\""},
      {"HostConfig.UTSMode", "\"private\""},
      {"HostConfig.SecurityOpt", "[\"no-new-privileges:true\"]"},
      {"HostConfig.MaskedPaths", "[" OFTEN_MASKED ",\"/proc/keys\",\"/proc/interrupts\"]"},
      {"HostConfig.ReadonlyPaths", "[" OFTEN_READ_ONLY "]"},
      {"HostConfig.ReadonlyPaths", "null"},
      {"HostConfig.Mounts", "[]"},
      {"HostConfig.Mounts", "null"},
      {"HostConfig.Tmpfs", "{}"},
      {"HostConfig.Tmpfs", "{\"/run\":\"rw,rprivate,nosuid,nodev,tmpcopyup\"}"},
      {"HostConfig.PortBindings", "{}"},
      {"HostConfig.VolumeDriver", "\"local\""},
      {"HostConfig.Annotations", "{\"io.container.manager\":\"libpod\", "
                                 "\"org.opencontainers.image.stopSignal\":\"15\"}"},
      {"HostConfig.OomKillDisable", "null"},
      {"HostConfig.OomScoreAdj", "200"},
      {"HostConfig.CpuRealtimeRuntime", "0"},
      {"HostConfig.Ulimits", "[{\"Name\":\"nofile\", \"Soft\":9, \"Hard\":9}, "
                             "{\"Name\":\"rtprio\", \"Soft\":0, \"Hard\":0}]"},
      {"HostConfig.RestartPolicy", "{\"Name\":\"\", \"MaximumRetryCount\":0}"},
      {"HostConfig.RestartPolicy", "{\"Name\":\"no\"}"},
      {"HostConfig.LogConfig", "{\"Type\":\"json-file\"}"}, /* without an agent */
      {"Mounts", "[]"},
      {"Mounts", of_image},
  };
  for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
    lie_path = truths[i].path;
    lie_json = truths[i].json;
    this->model->lie = lie_about;
    assert_reattaches(this);
  }
}

/* Podman shows volumes that an image asks for as binds. */
static const char *podman_bind;

static void as_podman_with_a_bind(json_t *inspect, int looks) {
  as_podman(inspect, looks);
  json_t *host = json_object_get(inspect, "HostConfig");
  json_object_set_new(host, "PidMode", json_string("private"));
  json_object_set_new(host, "Binds", json_pack("[s]", podman_bind));
}

static void podman_shows_volumes_as_binds(void **state) {
  fixture *this = *state;
  this->model->lie = as_podman_with_a_bind;
  podman_bind = ANONYMOUS ":/data:rprivate,rw,nodev,exec,nosuid,rbind";
  assert_reattaches(this);
  const char *foreign[] = {"/:/host",
                           "data:/data:rw",
                           ANONYMOUS,
                           "0" ANONYMOUS ":/data:rw",
                           "cofferdam-agent-" ANONYMOUS ":/.cofferdam:ro",
                           ":/data"};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    podman_bind = foreign[i];
    assert_refused(this, CDAM_ERR_DRIFT, "HostConfig.Binds");
  }
}

/* A mode that joins somebody else's network is no engine's default. */
static void unset_is_not_the_network_of_somebody_else(void **state) {
  fixture *this = *state;
  const char *modes[] = {"\"host\"", "\"container:0123\"", "\"ns:/run/netns/x\""};
  for (size_t i = 0; i < 3; i++) {
    lie_path = "HostConfig.NetworkMode";
    lie_json = modes[i];
    this->model->lie = lie_about;
    assert_refused(this, CDAM_ERR_DRIFT, "HostConfig.NetworkMode");
  }
}

/* UNSET is the engine's default, under whatever name. */
static void unset_is_not_compared(void **state) {
  fixture *this = *state;
  const char *modes[] = {"\"default\"", "\"bridge\"", "\"pasta\"", "null"};
  for (size_t i = 0; i < 4; i++) {
    lie_path = "HostConfig.NetworkMode";
    lie_json = modes[i];
    this->model->lie = lie_about;
    assert_reattaches(this);
  }
}

/* ---- an option that isolates was taken out of the state ---- */

#define ISOLATION "Config.Labels[io.cofferdam.isolation]"

/* The state without its network mode and what demands it, as anybody can make it without a key. */
static void strip(fixture *this) {
  json_t *json = json_loads(this->before, 0, NULL);
  json_object_del(json, "requiredFeatures");
  assert_int_equal(json_object_del(json_object_get(json, "options"), "networkMode"), 0);
  char *text = json_dumps(json, JSON_COMPACT);
  cdam_error err = {0};
  cdam_state_free(this->state);
  free(this->before);
  if (cdam_state_from_json(text, strlen(text), NULL, &this->state, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  assert_int_equal(cdam_state_to_json(this->state, &this->before, NULL), CDAM_OK);
  free(text);
  json_decref(json);
}

static void a_state_without_its_isolation_is_refused(void **state) {
  fixture *this = *state;
  assert_reattaches(this);
  strip(this);
  assert_refused(this, CDAM_ERR_DRIFT, ISOLATION);
}

static const char *isolation_json;

static void isolation_is(json_t *inspect, int looks) {
  (void)looks;
  json_t *labels = json_object_get(config(inspect), "Labels");
  if (isolation_json)
    json_object_set_new(labels, "io.cofferdam.isolation",
                        json_loads(isolation_json, JSON_DECODE_ANY, NULL));
  else
    json_object_del(labels, "io.cofferdam.isolation");
}

static void an_odd_label_of_isolation_is_refused(void **state) {
  fixture *this = *state;
  const char *odd[] = {
      "\"\"", "null",     "7",
      "[]",   "\"e3b0\"", "\"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855\""};
  this->model->lie = isolation_is;
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    isolation_json = odd[i];
    assert_refused(this, CDAM_ERR_DRIFT, ISOLATION);
  }
}

/* What an earlier release made has no such label, and its options are compared all the same. */
static void without_that_label_it_is_reattached(void **state) {
  fixture *this = *state;
  this->model->lie = isolation_is;
  isolation_json = NULL;
  assert_reattaches(this);
  strip(this);
  assert_reattaches(this);
}

/* ---- identity ---- */

static void labels_of_another_session(void **state) {
  fixture *this = *state;
  lie_path = "Config.Labels";
  lie_json = "{\"io.cofferdam.session-id\":\"00000000-0000-4000-8000-000000000000\"}";
  this->model->lie = lie_about;
  assert_refused(this, CDAM_ERR_NOT_OURS, NULL);
}

static void no_labels_at_all(void **state) {
  fixture *this = *state;
  lie_path = "Config.Labels";
  lie_json = "null";
  this->model->lie = lie_about;
  assert_refused(this, CDAM_ERR_NOT_OURS, NULL);
}

static void answer_for_another_id(void **state) {
  fixture *this = *state;
  char json[80];
  snprintf(json, sizeof json, "\"%s\"", model_id('9'));
  lie_path = "Id";
  lie_json = json;
  this->model->lie = lie_about;
  assert_refused(this, CDAM_ERR_NOT_OURS, NULL);
}

/* ---- what else a container may be ---- */

static void starts_a_stopped_one_and_looks_again(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "exited");
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_OK);
  assert_false(cdam_session_was_recreated(session));
  assert_int_equal(this->model->looks, 2);
  assert_int_equal(changes_so_far(this->model), this->changes + 1);
  cdam_session_free(session);
}

static void second_look_drifts(json_t *inspect, int looks) {
  if (looks > 1)
    json_object_set_new(settings(inspect), "Networks",
                        json_loads("{\"none\":{},\"x\":{\"IPAddress\":\"10.0.0.2\"}}", 0, NULL));
}

static void drift_after_the_start_stops_it_again(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "exited");
  this->model->lie = second_look_drifts;
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "NetworkSettings.Networks");
  assert_string_equal(this->model->status, "exited");
  assert_true(model_has_container(this->model));
}

/* Nobody may believe that a container with a network was stopped when it was not. */
static void drift_after_the_start_says_what_still_runs(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "exited");
  this->model->lie = second_look_drifts;
  this->model->fail_path = "POST */stop*";
  this->model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"broken\"}"};
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "NetworkSettings.Networks");
  assert_non_null(strstr(err.message, "could not be stopped again"));
  assert_non_null(strstr(err.message, "broken"));
}

static void drift_after_unpausing_pauses_it_again(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "paused");
  this->model->lie = second_look_drifts;
  cdam_resume_flags flags = {.unpause = true};
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, &flags, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "NetworkSettings.Networks");
  assert_string_equal(this->model->status, "paused");
  assert_int_equal(model_requests(this->model, "POST", "/containers/*/stop*"), 0);
}

static void paused_is_unpaused_only_when_allowed(void **state) {
  fixture *this = *state;
  snprintf(this->model->status, sizeof this->model->status, "paused");
  assert_refused(this, CDAM_ERR_PAUSED, NULL);
  cdam_resume_flags flags = {.unpause = true};
  cdam_session *session;
  assert_int_equal(resume(this, &flags, &session, NULL), CDAM_OK);
  assert_string_equal(this->model->status, "running");
  assert_int_equal(this->model->looks, 3);
  cdam_session_free(session);
}

static void unusable_ones_are_errors(void **state) {
  fixture *this = *state;
  const char *words[] = {"restarting", "removing", "dead", "new-fangled"};
  for (size_t i = 0; i < 4; i++) {
    snprintf(this->model->status, sizeof this->model->status, "%s", words[i]);
    assert_refused(this, CDAM_ERR_ENGINE, NULL);
  }
}

static void an_engine_error_is_not_missing(void **state) {
  fixture *this = *state;
  this->model->fail_path = "GET /containers/*";
  const scripted_reply replies[] = {{500, .body = "{\"message\":\"no such container\"}"},
                                    {400, .body = "no such container"},
                                    {404, .body = "<html>page not found</html>"},
                                    {404, .body = "{\"message\":\"page not found\"}"},
                                    {404, .body = ""},
                                    {301, .headers = "Location: /elsewhere\r\n"}};
  for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
    this->model->fail_reply = replies[i];
    assert_refused(this, CDAM_ERR_ENGINE, NULL);
  }
  this->model->fail_reply = (scripted_reply){200, .body = "[]"};
  cdam_session *session;
  assert_int_not_equal(resume(this, NULL, &session, NULL), CDAM_OK);
  assert_no_change(this);
}

/* ---- refused before the engine is touched ---- */

static void policy_touches_nothing(void **state) {
  fixture *this = *state;
  untouchable_engine *engine = untouchable_start();
  cdam_client_config *config_of_client;
  cdam_client *client;
  cdam_options *minimum = model_options(CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_client_config_new(&config_of_client, NULL), CDAM_OK);
  assert_int_equal(
      cdam_client_config_set_endpoint(config_of_client, untouchable_endpoint(engine), NULL),
      CDAM_OK);
  assert_int_equal(cdam_client_config_require(config_of_client, minimum, NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config_of_client, &client, NULL), CDAM_OK);
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_resume(client, this->state, NULL, &session, &err), CDAM_ERR_POLICY);
  assert_string_equal(err.field, "network_mode");
  cdam_client_free(client);
  cdam_client_config_free(config_of_client);
  cdam_options_free(minimum);
  untouchable_stop(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NONE_TEST(reattaches_as_docker_shows_it),
      NONE_TEST(reattaches_as_podman_shows_it),
      NONE_TEST(more_labels_are_fine),
      NONE_TEST(drift_is_refused_and_nothing_changed),
      NONE_TEST(drift_of_a_stopped_container_does_not_start_it),
      NONE_TEST(a_state_without_its_isolation_is_refused),
      NONE_TEST(an_odd_label_of_isolation_is_refused),
      NONE_TEST(without_that_label_it_is_reattached),
      NONE_TEST(what_it_reaches_besides_is_drift),
      NONE_TEST(what_engines_say_of_nothing_is_fine),
      NONE_TEST(podman_shows_volumes_as_binds),
      UNSET_TEST(unset_is_not_compared),
      UNSET_TEST(unset_is_not_the_network_of_somebody_else),
      NONE_TEST(labels_of_another_session),
      NONE_TEST(no_labels_at_all),
      NONE_TEST(answer_for_another_id),
      NONE_TEST(starts_a_stopped_one_and_looks_again),
      NONE_TEST(drift_after_the_start_stops_it_again),
      NONE_TEST(drift_after_the_start_says_what_still_runs),
      NONE_TEST(drift_after_unpausing_pauses_it_again),
      NONE_TEST(paused_is_unpaused_only_when_allowed),
      NONE_TEST(unusable_ones_are_errors),
      NONE_TEST(an_engine_error_is_not_missing),
      UNSET_TEST(policy_touches_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
