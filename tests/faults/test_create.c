/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_create on an engine that fails, lies, or answers late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_engine.h"

static int start_model(void **state) {
  *state = model_start();
  return 0;
}

static int stop_model(void **state) {
  model_stop(*state);
  return 0;
}

static cdam_status create(model_engine *model, cdam_network_mode mode, cdam_error *err) {
  cdam_options *options = model_options(mode);
  cdam_session *session;
  cdam_status status = cdam_create(model->client, options, &session, err);
  if (status != CDAM_OK) assert_null(session);
  cdam_options_free(options);
  cdam_session_free(session);
  return status;
}

static json_t *create_body(model_engine *model, size_t index) {
  const scripted_request *request =
      scripted_engine_request(model->engine, "POST", "/containers/create*", index);
  json_t *body = json_loads(request->body, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(body);
  return body;
}

/* ---- what is sent ---- */

/* The whole body, word for word, but for the two ids that are made anew each time. */
static void assert_body(model_engine *model, const char *expected) {
  json_t *body = create_body(model, 0);
  json_t *labels = json_object_get(body, "Labels");
  const char *keys[] = {"io.cofferdam.session-id", "io.cofferdam.creation-id"};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(strlen(json_string_value(json_object_get(labels, keys[i]))), 36);
    json_object_set_new(labels, keys[i], json_string("ID"));
  }
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  assert_string_equal(text, expected);
  free(text);
  json_decref(body);
}

static void body_with_none(void **state) {
  assert_int_equal(create(*state, CDAM_NETWORK_MODE_NONE, NULL), CDAM_OK);
  assert_body(*state,
              "{\"Cmd\":[\"-f\",\"/dev/null\"],\"Entrypoint\":[\"tail\"],"
              "\"HostConfig\":{\"Init\":true,\"NetworkMode\":\"none\"},\"Image\":\"busybox:1\","
              "\"Labels\":{\"io.cofferdam.agent\":\"\",\"io.cofferdam.creation-id\":\"ID\","
              "\"io.cofferdam.deadline\":\"\",\"io.cofferdam.isolation\":"
              "\"ffdbea2a5a9959ea5f9809139a0178c725fa9474a88f1cfe10f702bdb35c3cc0\","
              "\"io.cofferdam.session-id\":\"ID\"}}");
}

static void body_with_unset(void **state) {
  assert_int_equal(create(*state, CDAM_NETWORK_MODE_UNSET, NULL), CDAM_OK);
  assert_body(*state, "{\"Cmd\":[\"-f\",\"/dev/null\"],\"Entrypoint\":[\"tail\"],"
                      "\"HostConfig\":{\"Init\":true},\"Image\":\"busybox:1\","
                      "\"Labels\":{\"io.cofferdam.agent\":\"\",\"io.cofferdam.creation-id\":\"ID\","
                      "\"io.cofferdam.deadline\":\"\",\"io.cofferdam.isolation\":"
                      "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
                      "\"io.cofferdam.session-id\":\"ID\"}}");
}

static void name_and_label_are_the_session(void **state) {
  model_engine *model = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_state *saved = model_create_state(model, options);
  char name[80];
  snprintf(name, sizeof name, "cofferdam-%s", cdam_state_session_id(saved));
  assert_string_equal(model->name, name);
  json_t *body = create_body(model, 0);
  assert_string_equal(json_string_value(json_object_get(json_object_get(body, "Labels"),
                                                        "io.cofferdam.session-id")),
                      cdam_state_session_id(saved));
  json_decref(body);
  cdam_state_free(saved);
  cdam_options_free(options);
}

static void start_has_no_body(void **state) {
  model_engine *model = *state;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, NULL), CDAM_OK);
  const scripted_request *start =
      scripted_engine_request(model->engine, "POST", "/containers/*/start", 0);
  char length[16];
  assert_true(scripted_request_header(start, "Content-Length", length, sizeof length));
  assert_string_equal(length, "0");
}

/* ---- refused before the engine is touched ---- */

static void bad_network_modes_touch_nothing(void **state) {
  (void)state;
  untouchable_engine *engine = untouchable_start();
  cdam_client *client = untouchable_client(engine);
  const int modes[] = {2, -1, 15, 16, INT32_MAX};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    cdam_options *options = model_options((cdam_network_mode)modes[i]);
    cdam_session *session;
    cdam_error err;
    assert_int_equal(cdam_create(client, options, &session, &err), CDAM_ERR_INVALID);
    assert_string_equal(err.field, "network_mode");
    assert_null(session);
    cdam_options_free(options);
  }
  cdam_client_free(client);
  untouchable_stop(engine);
}

static cdam_client *client_that_requires_none(const char *endpoint) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_options *minimum = model_options(CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, endpoint, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_require(config, minimum, NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  cdam_options_free(minimum);
  return client;
}

static void policy_touches_nothing(void **state) {
  (void)state;
  untouchable_engine *engine = untouchable_start();
  cdam_client *client = client_that_requires_none(untouchable_endpoint(engine));
  cdam_options *options = model_options(CDAM_NETWORK_MODE_UNSET);
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_create(client, options, &session, &err), CDAM_ERR_POLICY);
  assert_string_equal(err.field, "network_mode");
  cdam_options_free(options);
  cdam_client_free(client);
  untouchable_stop(engine);
}

static void null_arguments(void **state) {
  model_engine *model = *state;
  cdam_session *session;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_create(NULL, options, &session, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_create(model->client, NULL, &session, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_create(model->client, options, NULL, NULL), CDAM_ERR_ARGUMENT);
  cdam_options_free(options);
}

/* ---- an engine that does not do as told ---- */

static void set_network(json_t *inspect, const char *mode, const char *networks) {
  json_object_set_new(json_object_get(inspect, "HostConfig"), "NetworkMode", json_string(mode));
  json_object_set_new(json_object_get(inspect, "NetworkSettings"), "Networks",
                      json_loads(networks, 0, NULL));
}

static void always_bridge(json_t *inspect, int looks) {
  (void)looks;
  set_network(inspect, "bridge", "{\"bridge\":{\"IPAddress\":\"172.17.0.2\"}}");
}

static void connected_by_the_start(json_t *inspect, int looks) {
  if (looks > 1) set_network(inspect, "none", "{\"none\":{},\"x\":{\"IPAddress\":\"10.0.0.2\"}}");
}

static void ignored_network_mode_never_starts(void **state) {
  model_engine *model = *state;
  model->lie = always_bridge;
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "HostConfig.NetworkMode");
  assert_string_equal(err.expected, "none");
  assert_string_equal(err.actual, "bridge");
  assert_int_equal(model_requests(model, "POST", "/containers/*/start"), 0);
  assert_false(model_has_container(model));
}

static void network_after_the_start_is_found(void **state) {
  model_engine *model = *state;
  model->lie = connected_by_the_start;
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "NetworkSettings.Networks");
  assert_false(model_has_container(model));
}

static void end_at_once_is_reported(void **state) {
  model_engine *model = *state;
  model->start_ends_in = "exited";
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_EXITED);
  assert_non_null(strstr(err.message, "127"));
  assert_false(model_has_container(model));
}

/* ---- each step fails; nothing is left ---- */

static void each_failing_step_leaves_nothing(void **state) {
  model_engine *model = *state;
  const struct {
    const char *path;
    int after;
  } steps[] = {
      {"GET /images/*", 0},     {"GET /info", 0},    {"POST /containers/create*", 0},
      {"GET /containers/*", 0}, {"POST */start", 0}, {"GET /containers/*", 1},
  };
  const scripted_reply replies[] = {
      {500, .body = "{\"message\":\"the first failure\"}"},
      {500, .body = "the first failure", .end = SCRIPTED_CLOSE},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    for (size_t j = 0; j < 2; j++) {
      if (i == 1 && j == 1) continue; /* the engine's id is known by then */
      model->fail_path = steps[i].path;
      model->fail_after = steps[i].after;
      model->fail_reply = replies[j];
      cdam_error err;
      assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_ENGINE);
      assert_int_equal(err.http_status, 500);
      assert_non_null(strstr(err.message, "the first failure"));
      assert_false(model_has_container(model));
      if (i == 1) {
        model->fail_path = NULL; /* let the client learn it */
        assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, NULL), CDAM_OK);
        model->id[0] = '\0';
      }
    }
}

static void failing_rollback_is_told(void **state) {
  model_engine *model = *state;
  model->lie = always_bridge;
  model->fail_path = "DELETE *";
  model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"busy\"}"};
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "HostConfig.NetworkMode");
  assert_non_null(strstr(err.message, "could not be removed"));
  assert_non_null(strstr(err.message, "busy"));
}

/* ---- a create that was done and not, or not rightly, answered ---- */

static void assert_unanswered_is_removed(model_engine *model, scripted_reply reply,
                                         cdam_status expected) {
  model->fail_path = "POST /containers/create*";
  model->fail_reply = reply;
  model->fail_but_do = true;
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), expected);
  assert_int_equal(model->made, 1);
  assert_false(model_has_container(model));
}

static void unanswered_create_is_removed(void **state) {
  assert_unanswered_is_removed(*state, (scripted_reply){.end = SCRIPTED_HANG, .raw = "HTTP/1.1 "},
                               CDAM_ERR_TIMEOUT);
}

/* The engine finishes some seconds after the client has given up. */
static void late_create_is_removed(void **state) {
  model_engine *model = *state;
  model->hidden_looks = 8;
  assert_unanswered_is_removed(model, (scripted_reply){.end = SCRIPTED_HANG, .raw = "HTTP/1.1 "},
                               CDAM_ERR_TIMEOUT);
}

static void cut_create_is_removed(void **state) {
  assert_unanswered_is_removed(
      *state, (scripted_reply){201, .body = "{\"Id\":\"abc\"}", .cut = 60, .end = SCRIPTED_CLOSE},
      CDAM_ERR_PROTOCOL);
}

static void odd_ids_are_removed(void **state) {
  assert_unanswered_is_removed(*state, (scripted_reply){201, .body = "{\"Id\":\"../../x\"}"},
                               CDAM_ERR_PROTOCOL);
}

static void no_json_is_removed(void **state) {
  assert_unanswered_is_removed(*state, (scripted_reply){201, .body = "<html>"}, CDAM_ERR_PROTOCOL);
}

static const scripted_reply docker_conflict = {409, .body = "{\"message\":\"in use\"}"};
static const scripted_reply podman_conflict = {
    500,
    .body =
        "{\"cause\":\"that name is already in use\",\"message\":\"container create: creating "
        "container storage: the container name \\\"x\\\" is already in use by f247bb6c. You have "
        "to remove that container to be able to reuse that name: that name is already in "
        "use\",\"response\":500}"};

/* A request that was sent twice: the second finds the work of the first. */
static void use_conflict_with_ourselves(model_engine *model, const scripted_reply *conflict) {
  model->fail_path = "POST /containers/create*";
  model->fail_reply = *conflict;
  model->fail_but_do = true;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, NULL), CDAM_OK);
  assert_string_equal(model->status, "running");
  assert_int_equal(model->made, 1);
}

static void conflict_with_ourselves_is_used(void **state) {
  use_conflict_with_ourselves(*state, &docker_conflict);
}

static void conflict_with_ourselves_is_used_on_podman(void **state) {
  use_conflict_with_ourselves(*state, &podman_conflict);
}

static void answer_foreign(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(json_object_get(inspect, "Config"), "Labels", json_object());
}

static void refuse_foreign_conflict(model_engine *model, const scripted_reply *conflict) {
  model->fail_path = "POST /containers/create*";
  model->fail_reply = *conflict;
  model->fail_but_do = true;
  model->lie = answer_foreign;
  cdam_error err;
  assert_int_equal(create(model, CDAM_NETWORK_MODE_NONE, &err), CDAM_ERR_NOT_OURS);
  assert_true(model_has_container(model));
  assert_int_equal(model_requests(model, "DELETE", "*"), 0);
  assert_int_equal(model_requests(model, "POST", "/containers/*/start"), 0);
}

static void conflict_with_a_foreign_container_changes_nothing(void **state) {
  refuse_foreign_conflict(*state, &docker_conflict);
}

static void conflict_with_a_foreign_container_changes_nothing_on_podman(void **state) {
  refuse_foreign_conflict(*state, &podman_conflict);
}

/* ---- what the caller is told besides ---- */

static void warnings_are_kept(void **state) {
  model_engine *model = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  cdam_session *session;
  assert_int_equal(cdam_create(model->client, options, &session, NULL), CDAM_OK);
  assert_int_equal(cdam_session_warning_count(session), 2);
  assert_non_null(strstr(cdam_session_warning(session, 0), "no network"));
  assert_string_equal(cdam_session_warning(session, 1), "a warning");
  assert_null(cdam_session_warning(session, 2));

  char *host;
  uint16_t port;
  cdam_error err;
  assert_int_equal(cdam_session_resolve_port(session, 80, &host, &port, &err), CDAM_ERR_NOT_FOUND);
  assert_non_null(strstr(err.message, "no network"));
  assert_int_equal(cdam_session_resolve_port(session, 81, &host, &port, &err), CDAM_ERR_ARGUMENT);
  cdam_session_free(session);
  cdam_options_free(options);
}

static void no_binding_yet(json_t *inspect, int looks) {
  if (looks == 3)
    json_object_set_new(json_object_get(inspect, "NetworkSettings"), "Ports", json_null());
  if (looks == 4)
    json_object_set_new(json_object_get(inspect, "NetworkSettings"), "Ports",
                        json_loads("{\"80/tcp\":[]}", 0, NULL));
  if (looks == 5)
    json_object_set_new(
        json_object_get(inspect, "NetworkSettings"), "Ports",
        json_loads("{\"80/tcp\":[{\"HostIp\":\"::\",\"HostPort\":\"1\"},{\"HostIp\":\"\","
                   "\"HostPort\":\"50000\"}]}",
                   0, NULL));
}

static void ports_are_waited_for(void **state) {
  model_engine *model = *state;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_UNSET);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  cdam_session *session;
  model->lie = no_binding_yet;
  assert_int_equal(cdam_create(model->client, options, &session, NULL), CDAM_OK);
  char *host;
  uint16_t port;
  assert_int_equal(cdam_session_resolve_port(session, 80, &host, &port, NULL), CDAM_OK);
  assert_string_equal(host, "127.0.0.1");
  assert_int_equal(port, 50000);
  free(host);
  cdam_session_free(session);
  cdam_options_free(options);
}

#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, start_model, stop_model)

int main(void) {
  const struct CMUnitTest tests[] = {
      MODEL_TEST(body_with_none),
      MODEL_TEST(body_with_unset),
      MODEL_TEST(name_and_label_are_the_session),
      MODEL_TEST(start_has_no_body),
      cmocka_unit_test(bad_network_modes_touch_nothing),
      cmocka_unit_test(policy_touches_nothing),
      MODEL_TEST(null_arguments),
      MODEL_TEST(ignored_network_mode_never_starts),
      MODEL_TEST(network_after_the_start_is_found),
      MODEL_TEST(end_at_once_is_reported),
      MODEL_TEST(each_failing_step_leaves_nothing),
      MODEL_TEST(failing_rollback_is_told),
      MODEL_TEST(unanswered_create_is_removed),
      MODEL_TEST(late_create_is_removed),
      MODEL_TEST(cut_create_is_removed),
      MODEL_TEST(odd_ids_are_removed),
      MODEL_TEST(no_json_is_removed),
      MODEL_TEST(conflict_with_ourselves_is_used),
      MODEL_TEST(conflict_with_ourselves_is_used_on_podman),
      MODEL_TEST(conflict_with_a_foreign_container_changes_nothing),
      MODEL_TEST(conflict_with_a_foreign_container_changes_nothing_on_podman),
      MODEL_TEST(warnings_are_kept),
      MODEL_TEST(ports_are_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
