/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_resume: reattach, drift, recreate, and everything in between, on a scripted engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_engine.h"

/* A model with one sandbox that was created with NONE (or UNSET), a label and a variable. */
typedef struct fixture {
  model_engine *model;
  cdam_state *state;
  char *before; /* the state as JSON, to show that it is never changed */
  size_t changes;
} fixture;

static size_t changes_so_far(model_engine *model) {
  return model_requests(model, "POST", "*") + model_requests(model, "DELETE", "*") +
         model_requests(model, "PUT", "*");
}

static fixture *make_fixture(cdam_network_mode mode) {
  fixture *this = calloc(1, sizeof *this);
  this->model = model_start();
  cdam_options *options = model_options(mode);
  assert_int_equal(cdam_options_set_label(options, "team", "blue", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "A", "1", NULL), CDAM_OK);
  this->state = model_create_state(this->model, options);
  cdam_options_free(options);
  assert_int_equal(cdam_state_to_json(this->state, &this->before, NULL), CDAM_OK);
  this->changes = changes_so_far(this->model);
  this->model->looks = 0;
  return this;
}

static int setup_none(void **state) {
  *state = make_fixture(CDAM_NETWORK_MODE_NONE);
  return 0;
}

static int setup_unset(void **state) {
  *state = make_fixture(CDAM_NETWORK_MODE_UNSET);
  return 0;
}

static int teardown(void **state) {
  fixture *this = *state;
  char *after;
  assert_int_equal(cdam_state_to_json(this->state, &after, NULL), CDAM_OK);
  assert_string_equal(after, this->before);
  free(after);
  free(this->before);
  cdam_state_free(this->state);
  model_stop(this->model);
  free(this);
  return 0;
}

static cdam_status resume(fixture *this, const cdam_resume_flags *flags, cdam_session **session,
                          cdam_error *err) {
  return cdam_resume(this->model->client, this->state, flags, session, err);
}

static void assert_no_change(fixture *this) {
  assert_int_equal(changes_so_far(this->model), this->changes);
  assert_true(model_has_container(this->model));
}

static void assert_reattaches(fixture *this) {
  cdam_session *session;
  cdam_error err = {0};
  if (resume(this, NULL, &session, &err) != CDAM_OK) fail_msg("%s", err.message);
  assert_false(cdam_session_was_recreated(session));
  assert_string_equal(cdam_state_container_id(cdam_session_state(session)),
                      cdam_state_container_id(this->state));
  cdam_session_free(session);
  assert_no_change(this);
}

static void assert_refused(fixture *this, cdam_status status, const char *field) {
  cdam_session *session;
  cdam_error err = {0};
  assert_int_equal(resume(this, NULL, &session, &err), status);
  assert_null(session);
  if (field) assert_string_equal(err.field, field);
  assert_no_change(this);
}

/* ---- reattach ---- */

static void reattaches_as_docker_shows_it(void **state) {
  assert_reattaches(*state);
}

static json_t *settings(json_t *inspect) {
  return json_object_get(inspect, "NetworkSettings");
}

static json_t *config(json_t *inspect) {
  return json_object_get(inspect, "Config");
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

static const char *lie_path, *lie_json;

/* Sets the value at "A.B" to some JSON, or takes it away. */
static void lie_about(json_t *inspect, int looks) {
  (void)looks;
  char first[64];
  const char *dot = strchr(lie_path, '.');
  json_t *parent = inspect;
  const char *key = lie_path;
  if (dot) {
    snprintf(first, sizeof first, "%.*s", (int)(dot - lie_path), lie_path);
    parent = json_object_get(inspect, first);
    key = dot + 1;
  }
  if (lie_json)
    json_object_set_new(parent, key, json_loads(lie_json, JSON_DECODE_ANY, NULL));
  else
    json_object_del(parent, key);
}

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
      {"HostConfig.PublishAllPorts", "true", NULL},
      {"HostConfig.PortBindings", "{\"22/tcp\":[{\"HostIp\":\"\"}]}", NULL},
      {"Mounts", "[{\"Type\":\"bind\", \"Source\":\"/\"}]", "Mounts"},
      {"Mounts", "[{\"Type\":\"volume\", \"Name\":\"shared\"}]", "Mounts"},
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
  const char *of_image = "[{\"Type\":\"volume\", \"Name\":\"0123456789abcdef0123456789abcdef"
                         "0123456789abcdef0123456789abcdef\"}]";
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
      {"HostConfig.MaskedPaths", "[\"/proc/kcore\"]"},
      {"HostConfig.PortBindings", "{}"},
      {"HostConfig.Binds", "[\"0123:/data:rw\"]"},
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

/* ---- recreate ---- */

static void lose_container(fixture *this) {
  this->model->id[0] = '\0';
}

static json_t *create_body(fixture *this, size_t index) {
  const scripted_request *request =
      scripted_engine_request(this->model->engine, "POST", "/containers/create*", index);
  return json_loads(request->body, JSON_REJECT_DUPLICATES, NULL);
}

static void recreates_with_all_that_it_was_created_with(void **state) {
  fixture *this = *state;
  lose_container(this);
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_OK);
  assert_true(cdam_session_was_recreated(session));
  const cdam_state *now = cdam_session_state(session);
  assert_string_equal(cdam_state_container_id(now), this->model->id);
  assert_string_not_equal(cdam_state_container_id(now), cdam_state_container_id(this->state));
  assert_string_equal(cdam_state_session_id(now), cdam_state_session_id(this->state));
  assert_false(cdam_state_workspace_ready(now));
  cdam_session_free(session);

  json_t *first = create_body(this, 0), *second = create_body(this, 1);
  assert_string_equal(
      json_string_value(json_object_get(json_object_get(second, "HostConfig"), "NetworkMode")),
      "none");
  /* The same but for this request's own id and the image, which is named by its id. */
  assert_string_equal(json_string_value(json_object_get(second, "Image")), MODEL_IMAGE_ID);
  json_object_set(second, "Image", json_object_get(first, "Image"));
  const char *key = "io.cofferdam.creation-id";
  json_object_set(json_object_get(second, "Labels"), key,
                  json_object_get(json_object_get(first, "Labels"), key));
  assert_true(json_equal(first, second));
  json_decref(first);
  json_decref(second);
}

static void workspace_ready_is_cleared(void **state) {
  fixture *this = *state;
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_OK);
  cdam_session_set_workspace_ready(session, true);
  cdam_state *ready;
  assert_int_equal(cdam_state_copy(cdam_session_state(session), &ready, NULL), CDAM_OK);
  cdam_session_free(session);
  assert_int_equal(cdam_resume(this->model->client, ready, NULL, &session, NULL), CDAM_OK);
  assert_true(cdam_state_workspace_ready(cdam_session_state(session)));
  cdam_session_free(session);
  lose_container(this);
  assert_int_equal(cdam_resume(this->model->client, ready, NULL, &session, NULL), CDAM_OK);
  assert_false(cdam_state_workspace_ready(cdam_session_state(session)));
  cdam_session_free(session);
  cdam_state_free(ready);
}

/* A seal that was read says nothing of a state that has changed since. */
static void a_changed_state_shows_no_old_seal(void **state) {
  fixture *this = *state;
  unsigned char *bytes;
  size_t length;
  cdam_state *sealed;
  char *json;
  assert_int_equal(cdam_state_serialize(this->state, NULL, &bytes, &length, NULL), CDAM_OK);
  assert_int_equal(cdam_state_parse(bytes, length, NULL, &sealed, NULL), CDAM_OK);
  free(bytes);
  lose_container(this);
  cdam_session *session;
  assert_int_equal(cdam_resume(this->model->client, sealed, NULL, &session, NULL), CDAM_OK);
  assert_int_equal(cdam_state_to_json(cdam_session_state(session), &json, NULL), CDAM_OK);
  assert_null(strstr(json, "seal"));
  free(json);
  cdam_session_free(session);

  assert_int_equal(cdam_state_to_json(sealed, &json, NULL), CDAM_OK);
  assert_non_null(strstr(json, "seal"));
  free(json);
  cdam_state_set_workspace_ready(sealed, true);
  assert_int_equal(cdam_state_to_json(sealed, &json, NULL), CDAM_OK);
  assert_null(strstr(json, "seal"));
  free(json);
  cdam_state_free(sealed);
}

static void reattach_only_does_not_recreate(void **state) {
  fixture *this = *state;
  lose_container(this);
  cdam_session *session;
  cdam_resume_flags flags = {.reattach_only = true};
  assert_int_equal(resume(this, &flags, &session, NULL), CDAM_ERR_NOT_FOUND);
  assert_int_equal(changes_so_far(this->model), this->changes);
}

static void another_engine_is_refused(void **state) {
  fixture *this = *state;
  lose_container(this);
  this->model->engine_id = "ENGINE:TWO";
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_OTHER_ENGINE);
  assert_non_null(strstr(err.message, "ENGINE:TWO"));
  assert_int_equal(changes_so_far(this->model), this->changes);
}

static void a_moved_tag_does_not_change_the_image(void **state) {
  fixture *this = *state;
  lose_container(this);
  this->model->image_id = MODEL_OTHER_ID;
  this->model->image_id_known = false;
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "image");
  assert_string_equal(err.expected, MODEL_IMAGE_ID);
  assert_string_equal(err.actual, MODEL_OTHER_ID);
  assert_int_equal(changes_so_far(this->model), this->changes);
}

/* Adds field 15 to the options, which nobody knows, and reads the state again. */
static cdam_state *with_unknown_option(fixture *this) {
  unsigned char *bytes;
  size_t length;
  assert_int_equal(cdam_state_serialize(this->state, NULL, &bytes, &length, NULL), CDAM_OK);
  const unsigned char unknown[] = {0x78, 0x01}; /* field 15, varint 1 */
  unsigned char *options = memmem(bytes, length,
                                  "\x0a\x09"
                                  "busybox:1",
                                  11);
  assert_non_null(options);
  size_t at = (size_t)(options - bytes), body = length - 39; /* without the seal */
  unsigned char changed[1024];
  assert_true(bytes[at - 1] < 0x70); /* a one-byte length before the options */
  memcpy(changed, bytes, at);
  changed[at - 1] = (unsigned char)(changed[at - 1] + sizeof unknown);
  memcpy(changed + at, unknown, sizeof unknown);
  memcpy(changed + at + sizeof unknown, options, body - at);
  cdam_state *state;
  cdam_error err = {0};
  if (cdam_state_parse(changed, body + sizeof unknown, NULL, &state, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  free(bytes);
  return state;
}

static void unknown_options_are_reattached_and_never_lost(void **state) {
  fixture *this = *state;
  cdam_state *newer = with_unknown_option(this);
  assert_true(cdam_state_has_unknown_fields(newer));
  cdam_session *session;
  assert_int_equal(cdam_resume(this->model->client, newer, NULL, &session, NULL), CDAM_OK);
  assert_true(cdam_state_has_unknown_fields(cdam_session_state(session)));
  cdam_session_free(session);
  lose_container(this);
  assert_int_equal(cdam_resume(this->model->client, newer, NULL, &session, NULL),
                   CDAM_ERR_UNSUPPORTED);
  assert_int_equal(changes_so_far(this->model), this->changes);
  cdam_state_free(newer);
}

static void failing_recreate_leaves_nothing(void **state) {
  fixture *this = *state;
  const char *paths[] = {"GET /info", "GET /images/*", "POST /containers/create*", "POST */start",
                         "GET /containers/*"};
  for (size_t i = 0; i < 5; i++) {
    lose_container(this);
    this->model->fail_path = paths[i];
    this->model->fail_after = i == 4; /* the first look finds nothing, as it should */
    this->model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"broken\"}"};
    cdam_session *session;
    cdam_error err;
    assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_ENGINE);
    assert_non_null(strstr(err.message, "broken"));
    assert_false(model_has_container(this->model));
  }
}

static void ignored_network_mode_on_recreate(void **state) {
  fixture *this = *state;
  lose_container(this);
  lie_path = "HostConfig.NetworkMode";
  lie_json = "\"bridge\"";
  this->model->lie = lie_about;
  cdam_session *session;
  size_t starts = model_requests(this->model, "POST", "/containers/*/start");
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_ERR_DRIFT);
  assert_int_equal(model_requests(this->model, "POST", "/containers/*/start"), starts);
  assert_false(model_has_container(this->model));
}

/* ---- two resumes at once: the name is taken when we create ---- */

/* The state's id is gone, and a container with the session's name is there. */
static void put_winner(fixture *this, bool ours) {
  json_t *body = create_body(this, 0);
  char name[80];
  if (!ours) json_object_set_new(body, "Labels", json_object());
  snprintf(name, sizeof name, "cofferdam-%s", cdam_state_session_id(this->state));
  model_put_container(this->model, model_id('e'), name, body);
}

static void adopts_the_winner(void **state) {
  fixture *this = *state;
  put_winner(this, true);
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_OK);
  assert_true(cdam_session_was_recreated(session));
  assert_string_equal(cdam_state_container_id(cdam_session_state(session)), model_id('e'));
  assert_int_equal(this->model->made, 1);
  cdam_session_free(session);
}

static void does_not_adopt_a_drifted_winner(void **state) {
  fixture *this = *state;
  put_winner(this, true);
  lie_path = "NetworkSettings.Networks";
  lie_json = "{\"bridge\":{\"IPAddress\":\"172.17.0.2\"}}";
  this->model->lie = lie_about;
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_ERR_DRIFT);
  assert_true(model_has_container(this->model));
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
}

/* The labels are no secret: anybody can put them on a container that reaches the host. */
static void does_not_adopt_a_winner_that_reaches_the_host(void **state) {
  fixture *this = *state;
  put_winner(this, true);
  lie_path = "HostConfig.Binds";
  lie_json = "[\"/:/host\"]";
  this->model->lie = lie_about;
  cdam_session *session;
  cdam_error err;
  assert_int_equal(resume(this, NULL, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "HostConfig.Binds");
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
}

static void does_not_adopt_a_stranger(void **state) {
  fixture *this = *state;
  put_winner(this, false);
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_ERR_NOT_OURS);
  assert_true(model_has_container(this->model));
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
}

static void gone_by_the_second_look(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(json_object_get(inspect, "State"), "Status", json_string("removing"));
}

static void a_vanishing_winner_is_waited_for_with_a_bound(void **state) {
  fixture *this = *state;
  put_winner(this, true);
  this->model->lie = gone_by_the_second_look;
  cdam_session *session;
  assert_int_equal(resume(this, NULL, &session, NULL), CDAM_ERR_ENGINE);
  assert_true(model_requests(this->model, "POST", "/containers/create*") > 2);
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

/* ---- delete ---- */

static void delete_is_for_ours_only(void **state) {
  fixture *this = *state;
  lie_path = "Config.Labels";
  lie_json = "{}";
  this->model->lie = lie_about;
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_ERR_NOT_OURS);
  assert_no_change(this);
  this->model->lie = NULL;
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_OK);
  assert_false(model_has_container(this->model));
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_OK);
}

static void delete_finds_a_recreated_one(void **state) {
  fixture *this = *state;
  put_winner(this, true);
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_OK);
  assert_false(model_has_container(this->model));
}

static void delete_leaves_a_stranger_with_our_name(void **state) {
  fixture *this = *state;
  put_winner(this, false);
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_OK);
  assert_true(model_has_container(this->model));
}

#define NONE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_none, teardown)
#define UNSET_TEST(name) cmocka_unit_test_setup_teardown(name, setup_unset, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      NONE_TEST(reattaches_as_docker_shows_it),
      NONE_TEST(reattaches_as_podman_shows_it),
      NONE_TEST(more_labels_are_fine),
      NONE_TEST(drift_is_refused_and_nothing_changed),
      NONE_TEST(drift_of_a_stopped_container_does_not_start_it),
      NONE_TEST(what_it_reaches_besides_is_drift),
      NONE_TEST(what_engines_say_of_nothing_is_fine),
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
      NONE_TEST(recreates_with_all_that_it_was_created_with),
      NONE_TEST(workspace_ready_is_cleared),
      NONE_TEST(a_changed_state_shows_no_old_seal),
      NONE_TEST(reattach_only_does_not_recreate),
      NONE_TEST(another_engine_is_refused),
      NONE_TEST(a_moved_tag_does_not_change_the_image),
      NONE_TEST(unknown_options_are_reattached_and_never_lost),
      NONE_TEST(failing_recreate_leaves_nothing),
      NONE_TEST(ignored_network_mode_on_recreate),
      NONE_TEST(adopts_the_winner),
      NONE_TEST(does_not_adopt_a_drifted_winner),
      NONE_TEST(does_not_adopt_a_winner_that_reaches_the_host),
      NONE_TEST(does_not_adopt_a_stranger),
      NONE_TEST(a_vanishing_winner_is_waited_for_with_a_bound),
      UNSET_TEST(policy_touches_nothing),
      NONE_TEST(delete_is_for_ours_only),
      NONE_TEST(delete_finds_a_recreated_one),
      NONE_TEST(delete_leaves_a_stranger_with_our_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
