/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that run the agent: what is asked for, and what is drift. */
#include "agent_fixture.h"

#include "resume_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ZEROES "0000000000000000000000000000000000000000000000000000000000000000"

/* ---- what is asked for ---- */

static char *body_text(agent_fixture *this) {
  const scripted_request *request = scripted_engine_request(
      this->model->engine, "POST", "/containers/create?name=cofferdam-[0-9a-f]*-????????????", 0);
  json_t *body = json_loads(request->body, JSON_REJECT_DUPLICATES, NULL);
  json_t *labels = json_object_get(body, "Labels");
  json_object_set_new(labels, "io.cofferdam.session-id", json_string("ID"));
  json_object_set_new(labels, "io.cofferdam.creation-id", json_string("ID"));
  const char *digest = json_string_value(json_object_get(labels, "io.cofferdam.agent"));
  json_t *mounts = json_object_get(json_object_get(body, "HostConfig"), "Mounts");
  json_t *mount = json_array_get(mounts, json_array_size(mounts) - 1);
  assert_int_equal(strlen(digest), 64);
  assert_string_equal(json_string_value(json_object_get(mount, "Source")) + 16, digest);
  json_object_set_new(mount, "Source", json_string("VOLUME"));
  json_object_set_new(labels, "io.cofferdam.agent", json_string("DIGEST"));
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(body);
  return text;
}

static void the_body(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  char *text = body_text(this);
  assert_string_equal(
      text,
      "{\"AttachStderr\":true,\"AttachStdin\":true,\"AttachStdout\":true,"
      "\"Cmd\":[\"init\",\"--stop-grace-ms\",\"600000\",\"--stdio\"],"
      "\"Entrypoint\":[\"/.cofferdam/cofferdam-agent\"],\"Healthcheck\":{\"Test\":[\"NONE\"]},"
      "\"HostConfig\":{\"Init\":false,\"LogConfig\":{\"Type\":\"none\"},\"Mounts\":[{"
      "\"ReadOnly\":true,\"Source\":\"VOLUME\",\"Target\":\"/.cofferdam\",\"Type\":\"volume\","
      "\"VolumeOptions\":{\"NoCopy\":true}}],\"NetworkMode\":\"none\"},\"Image\":\"busybox:1\","
      "\"Labels\":{\"io.cofferdam.agent\":\"DIGEST\",\"io.cofferdam.creation-id\":\"ID\","
      "\"io.cofferdam.deadline\":\"\",\"io.cofferdam.isolation\":"
      "\"ffdbea2a5a9959ea5f9809139a0178c725fa9474a88f1cfe10f702bdb35c3cc0\","
      "\"io.cofferdam.session-id\":\"ID\"},\"OpenStdin\":true,"
      "\"StdinOnce\":true,\"StopSignal\":\"SIGTERM\"}");
  free(text);
}

static void options_reach_the_agent(void **state) {
  agent_fixture *this = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_session *session, *again;
  cdam_error err = {0};
  assert_int_equal(cdam_options_set_workspace(options, "/data/here", NULL), CDAM_OK);
  cdam_options_set_deadline(options, 4000000000);
  assert_int_equal(cdam_create(this->model->client, options, &session, &err), CDAM_OK);
  char *text = body_text(this);
  assert_non_null(strstr(text, "[\"init\",\"--stop-grace-ms\",\"600000\",\"--workspace\","
                               "\"/data/here\",\"--deadline\",\"4000000000\",\"--stdio\"]"));
  free(text);
  assert_int_equal(
      cdam_resume(this->model->client, cdam_session_state(session), NULL, &again, &err), CDAM_OK);
  cdam_session_free(again);
  cdam_session_free(session);
  cdam_options_free(options);
}

/* ---- what is drift ---- */

static cdam_session *sandbox(agent_fixture *this) {
  cdam_session *session;
  cdam_error err = {0};
  if (agent_create(this, &session, &err) != CDAM_OK) fail_msg("%s", err.message);
  return session;
}

static const struct drift {
  const char *path, *json, *field; /* field NULL: it is as it should be */
} drifts[] = {
    {"Config.Entrypoint", "[\"tail\"]", "Config.Entrypoint"},
    {"Config.Entrypoint", "[\"/.cofferdam/cofferdam-agent\",\"init\"]", "Config.Entrypoint"},
    {"Config.Entrypoint", NULL, "Config.Entrypoint"},
    {"Config.Entrypoint", "\"/.cofferdam/cofferdam-agent\"", "Config.Entrypoint"},
    {"Config.Cmd", "[\"init\"]", "Config.Cmd"},
    {"Config.Cmd", "[\"init\",\"--stop-grace-ms\",\"600000\",\"--workspace\",\"/etc\"]",
     "Config.Cmd"},
    {"Config.Cmd", "[\"relay\",\"--stop-grace-ms\",\"600000\"]", "Config.Cmd"},
    {"Config.Cmd", "[\"--stdio\",\"init\",\"--stop-grace-ms\",\"600000\"]", "Config.Cmd"},
    {"Config.Cmd", "[\"init\",\"--stop-grace-ms\",\"600000\",\"--stdio\"]", NULL},
    {"Config.Cmd", NULL, "Config.Cmd"},
    {"Config.Healthcheck", "{\"Test\":[\"CMD\",\"/spy\"]}", "Config.Healthcheck.Test"},
    {"Config.Healthcheck", "{\"Test\":[]}", NULL},
    {"Config.Healthcheck", NULL, NULL},
    {"HostConfig.Init", "true", "HostConfig.Init"},
    {"HostConfig.Init", NULL, NULL},
    {"HostConfig.LogConfig", "{\"Type\":\"json-file\"}", "HostConfig.LogConfig.Type"},
    {"HostConfig.LogConfig", "{\"Type\":7}", "HostConfig.LogConfig.Type"},
    {"HostConfig.LogConfig", NULL, NULL},
    {"Mounts", "[]", "Mounts"},
    {"Mounts", NULL, "Mounts"},
};

static void each_difference_is_drift(void **state) {
  agent_fixture *this = *state;
  cdam_session *session = sandbox(this), *again;
  for (size_t i = 0; i < COUNT(drifts); i++) {
    lie_path = drifts[i].path;
    lie_json = drifts[i].json;
    this->model->lie = lie_about;
    cdam_error err = {0};
    cdam_status status =
        cdam_resume(this->model->client, cdam_session_state(session), NULL, &again, &err);
    assert_int_equal(status, drifts[i].field ? CDAM_ERR_DRIFT : CDAM_OK);
    assert_string_equal(err.field, drifts[i].field ? drifts[i].field : "");
    cdam_session_free(again);
  }
  cdam_session_free(session);
}

/* What inspect says of the volume: each of its values, one at a time. */
static const char *mount_key, *mount_json;
static int mount_copies;

static void lie_about_mount(json_t *inspect, int looks) {
  (void)looks;
  json_t *mounts = json_object_get(inspect, "Mounts");
  json_t *mount = json_array_get(mounts, 0);
  for (int i = 0; i < mount_copies; i++)
    json_array_append_new(mounts, json_deep_copy(mount));
  if (mount_key)
    json_object_set_new(mount, mount_key, json_loads(mount_json, JSON_DECODE_ANY, NULL));
}

static void the_mount(void **state) {
  agent_fixture *this = *state;
  cdam_session *session = sandbox(this), *again;
  const struct {
    const char *key, *json;
    int copies;
    bool right;
  } cases[] = {
      {"RW", "true", 0, false},
      {"RW", "null", 0, false},
      {"Type", "\"bind\"", 0, false},
      {"Type", "\"tmpfs\"", 0, false},
      {"Name", "\"cofferdam-agent-" ZEROES "\"", 0, false},
      {"Name", "\"" ZEROES "\"", 0, false},
      {"Destination", "\"/.cofferdam/x\"", 0, false},
      {NULL, NULL, 1, false},
      {NULL, NULL, 0, true},
      /* As Podman says it. */
      {"Options", "[\"nosuid\",\"nodev\",\"rbind\"]", 0, true},
  };
  this->model->lie = lie_about_mount;
  for (size_t i = 0; i < COUNT(cases); i++) {
    mount_key = cases[i].key;
    mount_json = cases[i].json;
    mount_copies = cases[i].copies;
    cdam_error err = {0};
    cdam_status status =
        cdam_resume(this->model->client, cdam_session_state(session), NULL, &again, &err);
    assert_int_equal(status, cases[i].right ? CDAM_OK : CDAM_ERR_DRIFT);
    if (status) assert_string_equal(err.field, "Mounts");
    cdam_session_free(again);
  }
  cdam_session_free(session);
}

static const char *label;

static void lie_about_label(json_t *inspect, int looks) {
  (void)looks;
  json_t *labels = json_object_get(json_object_get(inspect, "Config"), "Labels");
  if (label)
    json_object_set_new(labels, "io.cofferdam.agent", json_string(label));
  else
    json_object_del(labels, "io.cofferdam.agent");
}

/* The volume of an agent is nobody's without the label, and of another one with another. */
static void the_label(void **state) {
  agent_fixture *this = *state;
  cdam_session *session = sandbox(this), *again;
  const char *const labels[] = {NULL, "", "0", ZEROES, ZEROES "0", "../" ZEROES};
  this->model->lie = lie_about_label;
  for (size_t i = 0; i < COUNT(labels); i++) {
    label = labels[i];
    cdam_error err = {0};
    assert_int_equal(
        cdam_resume(this->model->client, cdam_session_state(session), NULL, &again, &err),
        CDAM_ERR_DRIFT);
  }
  cdam_session_free(session);
}

/* Verified before it is started, as everything else. */
static void drift_never_starts(void **state) {
  agent_fixture *this = *state;
  mount_key = "RW";
  mount_json = "true";
  mount_copies = 0;
  this->model->lie = lie_about_mount;
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_DRIFT);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 0);
  assert_false(model_has_container(this->model));
}

/* ---- the way from one kind to the other ---- */

static cdam_session *resumed(agent_fixture *this, const cdam_state *state) {
  cdam_session *session;
  cdam_error err = {0};
  if (cdam_resume(this->model->client, state, NULL, &session, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  return session;
}

/* A sandbox from before stays as it is; lost, it is made again with the agent, and the other way
 * round. */
static void with_and_without(void **state) {
  agent_fixture *this = *state;
  for (int with = 0; with < 2; with++) {
    cdam_agent_policy first = with ? CDAM_AGENT_REQUIRED : CDAM_AGENT_OFF;
    cdam_agent_policy then = with ? CDAM_AGENT_OFF : CDAM_AGENT_REQUIRED;
    this->model->id[0] = '\0';
    model_use_agent(this->model, this->directory, first);
    cdam_session *session = sandbox(this);
    cdam_state *saved;
    assert_int_equal(cdam_session_has_agent(session), with);
    assert_int_equal(cdam_state_copy(cdam_session_state(session), &saved, NULL), CDAM_OK);
    cdam_session_free(session);
    model_use_agent(this->model, this->directory, then);
    session = resumed(this, saved);
    assert_false(cdam_session_was_recreated(session));
    assert_int_equal(cdam_session_has_agent(session), with);
    cdam_session_free(session);
    this->model->id[0] = '\0';
    session = resumed(this, saved);
    assert_true(cdam_session_was_recreated(session));
    assert_int_equal(cdam_session_has_agent(session), !with);
    cdam_session_free(session);
    cdam_state_free(saved);
  }
  assert_false(cdam_session_has_agent(NULL));
}

/* The name is taken by another resume of the same state, whose container has an agent. */
static void a_winner_with_an_agent(void **state) {
  agent_fixture *this = *state;
  cdam_session *session = sandbox(this);
  char name[80];
  snprintf(name, sizeof name, "%s", this->model->name);
  json_t *body = json_deep_copy(this->model->body);
  model_put_container(this->model, model_id('e'), name, body);
  cdam_session *again = resumed(this, cdam_session_state(session));
  assert_true(cdam_session_has_agent(again));
  assert_string_equal(cdam_state_container_id(cdam_session_state(again)), model_id('e'));
  cdam_session_free(again);
  cdam_session_free(session);
}

static void an_exited_agent_is_told_rightly(void **state) {
  agent_fixture *this = *state;
  this->model->start_ends_in = "exited";
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_EXITED);
  assert_null(strstr(err.message, "tail"));
  assert_false(model_has_container(this->model));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(the_body),
      AGENT_TEST(options_reach_the_agent),
      AGENT_TEST(each_difference_is_drift),
      AGENT_TEST(the_mount),
      AGENT_TEST(the_label),
      AGENT_TEST(drift_never_starts),
      AGENT_TEST(with_and_without),
      AGENT_TEST(a_winner_with_an_agent),
      AGENT_TEST(an_exited_agent_is_told_rightly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
