/* SPDX-License-Identifier: Apache-2.0 */
/* Adoption on an engine that fails, lies, and leaves out. What a real one can show is in
 * tests/interop/agents_sdk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sdk_container.h"

#define ADOPTED "cofferdam-adopted-" SDK_SESSION

typedef struct fixture {
  model_engine *model;
  cdam_state *state;
} fixture;

static model_lie more_lies;

static void lie(json_t *inspect, int looks) {
  as_the_sdk_makes_it(inspect);
  if (more_lies) more_lies(inspect, looks);
}

static int setup(void **state) {
  fixture *this = calloc(1, sizeof *this);
  this->model = model_start();
  this->model->lie = lie;
  more_lies = NULL;
  this->state = put_sdk_container(this->model);
  assert_non_null(this->state);
  *state = this;
  return 0;
}

static int teardown(void **state) {
  fixture *this = *state;
  cdam_state_free(this->state);
  model_stop(this->model);
  free(this);
  return 0;
}

static cdam_status adopt(fixture *this, cdam_session **session, cdam_error *err) {
  return cdam_resume(this->model->client, this->state, &(cdam_resume_flags){.adopt = true}, session,
                     err);
}

static void assert_refused(fixture *this, cdam_status wanted, const char *name) {
  cdam_session *session;
  cdam_error err = {0};
  cdam_status status = adopt(this, &session, &err);
  if (status != wanted) fail_msg("%s: %s", cdam_status_name(status), err.message);
  assert_null(session);
  assert_string_equal(this->model->name, name);
  assert_true(model_has_container(this->model));
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 0);
  assert_true(cdam_state_needs_adoption(this->state));
}

static void assert_adopts(fixture *this) {
  cdam_session *session;
  cdam_error err = {0};
  if (adopt(this, &session, &err)) fail_msg("%s", err.message);
  const cdam_state *state = cdam_session_state(session);
  assert_true(cdam_session_was_adopted(session));
  assert_false(cdam_session_was_recreated(session));
  assert_string_equal(cdam_state_image_id(state), MODEL_IMAGE_ID);
  assert_string_equal(cdam_state_engine_id(state), "ENGINE:ONE");
  assert_string_equal(this->model->name, ADOPTED);
  cdam_session *again;
  if (cdam_resume(this->model->client, state, NULL, &again, &err)) fail_msg("%s", err.message);
  assert_false(cdam_session_was_adopted(again));
  cdam_session_free(again);
  cdam_session_free(session);
}

static void test_adopts(void **state) {
  fixture *this = *state;
  assert_adopts(this);
  assert_int_equal(model_requests(this->model, "POST", "*"), 1);
  assert_adopts(this); /* from the imported state once more: nothing is left to rename */
  assert_int_equal(model_requests(this->model, "POST", "*"), 1);
  assert_int_equal(cdam_delete(this->model->client, this->state, NULL), CDAM_OK);
  assert_false(model_has_container(this->model));
}

/* No engine is touched without the flag. */
static void test_not_without_the_flag(void **state) {
  fixture *this = *state;
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_resume(this->model->client, this->state, NULL, &session, &err),
                   CDAM_ERR_NOT_OURS);
  assert_int_equal(model_requests(this->model, "*", "*"), 0);
  assert_int_equal(cdam_delete(this->model->client, this->state, &err), CDAM_ERR_NOT_OURS);
  assert_true(model_has_container(this->model));
}

static void test_requests_fail(void **state) {
  fixture *this = *state;
  static const struct {
    const char *path;
    int http;
    cdam_status status;
  } rows[] = {
      {"GET */containers/*", 500, CDAM_ERR_ENGINE}, {"GET */images/*", 500, CDAM_ERR_ENGINE},
      {"GET */info", 500, CDAM_ERR_ENGINE},         {"POST */rename*", 500, CDAM_ERR_ENGINE},
      {"POST */rename*", 409, CDAM_ERR_NOT_OURS},   {"POST */rename*", 404, CDAM_ERR_NOT_FOUND},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    this->model->fail_path = rows[i].path;
    this->model->fail_reply = (scripted_reply){rows[i].http, .body = "{\"message\":\"no\"}"};
    assert_refused(this, rows[i].status, "gifted_name");
  }
  /* Renamed, and the answer went wrong: the next attempt finds it so. */
  this->model->fail_reply = (scripted_reply){500, .body = "{\"message\":\"no\"}"};
  this->model->fail_but_do = true;
  assert_refused(this, CDAM_ERR_ENGINE, ADOPTED);
  this->model->fail_path = NULL;
  assert_adopts(this);
}

/* ---- lies ---- */

static const char *left_out; /* a key of the answer, or of HostConfig */

static void leave_out(json_t *inspect, int looks) {
  (void)looks;
  json_object_del(inspect, left_out);
  json_object_del(json_object_get(inspect, "HostConfig"), left_out);
  json_object_del(json_object_get(inspect, "Config"), left_out);
}

static void test_proofs_are_missing(void **state) {
  fixture *this = *state;
  static const char *const keys[] = {
      "HostConfig",  "NetworkSettings", "Mounts",      "Privileged", "CapAdd",  "Binds",
      "Devices",     "PidMode",         "IpcMode",     "UsernsMode", "UTSMode", "SecurityOpt",
      "VolumesFrom", "PublishAllPorts", "NetworkMode", "Entrypoint", "Cmd"};
  more_lies = leave_out;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    left_out = keys[i];
    assert_refused(this, CDAM_ERR_DRIFT, "gifted_name");
  }
  left_out = "Name";
  assert_refused(this, CDAM_ERR_NOT_OURS, "gifted_name");
  left_out = "Id";
  assert_refused(this, CDAM_ERR_NOT_OURS, "gifted_name");
}

static void keeps_its_name(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(inspect, "Name", json_string("/gifted_name"));
}

static void gets_a_network(json_t *inspect, int looks) {
  if (looks > 1)
    json_object_set_new(json_object_get(json_object_get(inspect, "NetworkSettings"), "Networks"),
                        "bridge", json_object());
}

static void has_a_label(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(
      json_object_get(inspect, "Config"), "Labels",
      json_pack("{s:s}", "io.cofferdam.session-id", "8d352bde-f197-4d85-8fd3-c63caa5cc700"));
}

static void test_lies(void **state) {
  fixture *this = *state;
  more_lies = has_a_label;
  assert_refused(this, CDAM_ERR_NOT_OURS, "gifted_name");
  /* An engine that says that it has renamed, and has not. */
  more_lies = keeps_its_name;
  assert_refused(this, CDAM_ERR_NOT_OURS, ADOPTED);
  /* Another session's label goes before the name. */
  more_lies = has_a_label;
  assert_refused(this, CDAM_ERR_NOT_OURS, ADOPTED);
  this->model->looks = 0;
  more_lies = gets_a_network;
  assert_refused(this, CDAM_ERR_DRIFT, ADOPTED);
}

static const char *reach_key, *reach_json;

static void reaches_more(json_t *inspect, int looks) {
  (void)looks;
  json_object_set_new(json_object_get(inspect, "HostConfig"), reach_key,
                      json_loads(reach_json, JSON_DECODE_ANY, NULL));
}

/* What a resume would refuse keeps its name. What was promised of containers of ours alone is left
 * to whoever made it. */
static void test_reaches_more(void **state) {
  fixture *this = *state;
  static const char *const lies[][2] = {{"Sysctls", "{\"net.ipv4.ip_forward\":\"1\"}"},
                                        {"MaskedPaths", "[]"},
                                        {"OomScoreAdj", "-1000"},
                                        {"Annotations", "{\"run.oci.x\":\"1\"}"}};
  more_lies = reaches_more;
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    reach_key = lies[i][0];
    reach_json = lies[i][1];
    assert_refused(this, CDAM_ERR_DRIFT, "gifted_name");
  }
  reach_key = "RestartPolicy";
  reach_json = "{\"Name\":\"unless-stopped\"}";
  assert_adopts(this);
}

static void test_missing(void **state) {
  fixture *this = *state;
  this->model->id[0] = '\0';
  cdam_session *session;
  cdam_error err;
  cdam_resume_flags flags = {.adopt = true, .reattach_only = true};
  assert_int_equal(cdam_resume(this->model->client, this->state, &flags, &session, &err),
                   CDAM_ERR_NOT_FOUND);
  assert_int_equal(model_requests(this->model, "POST", "*"), 0);
  this->model->lie = NULL;
  if (adopt(this, &session, &err)) fail_msg("%s", err.message);
  assert_true(cdam_session_was_recreated(session));
  assert_false(cdam_session_was_adopted(session));
  assert_string_equal(this->model->name, "cofferdam-" SDK_SESSION);
  assert_int_equal(model_requests(this->model, "POST", "*/rename*"), 0);
  cdam_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_adopts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_not_without_the_flag, setup, teardown),
      cmocka_unit_test_setup_teardown(test_requests_fail, setup, teardown),
      cmocka_unit_test_setup_teardown(test_proofs_are_missing, setup, teardown),
      cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
      cmocka_unit_test_setup_teardown(test_reaches_more, setup, teardown),
      cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
