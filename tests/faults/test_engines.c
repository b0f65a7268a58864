/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes as engines of several makes and ages show them. The inspects were recorded from real
 * ones, of containers with port 8080, a label and a variable: NAME-none.json and NAME-unset.json.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_engine.h"

static const char *const engines[] = {"docker-20.10", "docker-26.1", "podman-4.3"};
#define ENGINES (sizeof engines / sizeof *engines)

static json_t *recorded; /* what the model shows, but for what is the container's own */

/* ---- recordings ---- */

static json_t *load(const char *engine, const char *kind) {
  char path[4096];
  const char *directory = getenv("COFFERDAM_INSPECTS");
  snprintf(path, sizeof path, "%s/%s-%s.json", directory ? directory : ".", engine, kind);
  json_error_t problem;
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
  if (!json) fail_msg("%s: %s", path, problem.text);
  return json;
}

static json_t *at(json_t *json, const char *first, const char *second) {
  return json_object_get(json_object_get(json, first), second);
}

static bool says_nothing(const json_t *value) {
  return json_is_null(value) || (json_is_string(value) && !json_string_length(value)) ||
         (json_is_array(value) && !json_array_size(value)) ||
         (json_is_object(value) && !json_object_size(value));
}

/* A port is the key of an empty object. */
static void shear(json_t *object) {
  const char *key;
  json_t *value;
  void *next;
  json_object_foreach_safe(object, next, key, value) {
    if (json_is_object(value) && strcmp(key, "ExposedPorts") != 0) shear(value);
    if (says_nothing(value)) json_object_del(object, key);
  }
}

/* API 1.52 leaves out much of what is empty or deprecated; this leaves out all of it. The map of
 * networks stays: without it nothing is proved. */
static void shear_inspect(json_t *inspect) {
  static const char *const deprecated[] = {
      "Bridge",     "HairpinMode", "LinkLocalIPv6Address", "LinkLocalIPv6PrefixLen", "EndpointID",
      "Gateway",    "IPv6Gateway", "GlobalIPv6Address",    "GlobalIPv6PrefixLen",    "IPAddress",
      "MacAddress", "IPPrefixLen", "SecondaryIPAddresses", "SecondaryIPv6Addresses"};
  json_t *settings = json_object_get(inspect, "NetworkSettings");
  for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
    json_object_del(settings, deprecated[i]);
  json_t *networks = json_incref(json_object_get(settings, "Networks"));
  const char *key;
  json_t *entry;
  json_object_foreach(networks, key, entry) shear(entry);
  json_object_del(settings, "Networks");
  shear(inspect);
  json_t *left = json_object_get(inspect, "NetworkSettings");
  if (!left) json_object_set_new(inspect, "NetworkSettings", left = json_object());
  json_object_set_new(left, "Networks", networks);
}

static void show_recorded(json_t *inspect, int looks) {
  (void)looks;
  json_t *shown = json_deep_copy(recorded);
  static const char *const own[] = {"Id", "Name", "Image"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    json_object_set(shown, own[i], json_object_get(inspect, own[i]));
  json_object_set(json_object_get(shown, "State"), "Status", at(inspect, "State", "Status"));
  json_object_set(json_object_get(shown, "Config"), "Labels", at(inspect, "Config", "Labels"));
  json_object_clear(inspect);
  json_object_update(inspect, shown);
  json_decref(shown);
}

/* ---- a sandbox on each of them ---- */

static cdam_options *options_as_recorded(cdam_network_mode mode) {
  cdam_options *options = model_options(mode);
  assert_int_equal(cdam_options_set_label(options, "team", "blue", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "A", "1", NULL), CDAM_OK);
  assert_int_equal(cdam_options_add_exposed_port(options, 8080, NULL), CDAM_OK);
  return options;
}

static model_engine *start(const char *engine, const char *kind, bool sheared) {
  model_engine *model = model_start();
  model->podman = strncmp(engine, "podman", 6) == 0;
  recorded = load(engine, kind);
  if (sheared) shear_inspect(recorded);
  model->lie = show_recorded;
  return model;
}

static void stop(model_engine *model) {
  model_stop(model);
  json_decref(recorded);
  recorded = NULL;
}

static cdam_state *create(model_engine *model, const char *kind) {
  cdam_options *options =
      options_as_recorded(strcmp(kind, "none") ? CDAM_NETWORK_MODE_UNSET : CDAM_NETWORK_MODE_NONE);
  cdam_state *state = model_create_state(model, options);
  cdam_options_free(options);
  return state;
}

static cdam_session *resume(model_engine *model, const cdam_state *state, bool recreated) {
  cdam_session *session;
  cdam_error err = {0};
  if (cdam_resume(model->client, state, NULL, &session, &err) != CDAM_OK)
    fail_msg("%s: %s (%s)", err.field, err.message, err.actual);
  assert_int_equal(cdam_session_was_recreated(session), recreated);
  return session;
}

static void check_port(cdam_session *session, const char *kind) {
  char *host;
  uint16_t port;
  cdam_error err;
  cdam_status status = cdam_session_resolve_port(session, 8080, &host, &port, &err);
  if (strcmp(kind, "none") == 0) {
    assert_int_equal(status, CDAM_ERR_NOT_FOUND);
    return;
  }
  assert_int_equal(status, CDAM_OK);
  assert_string_equal(host, "127.0.0.1");
  assert_true(port > 0);
  free(host);
}

/* Created, found again, stopped and found again, lost and made again. */
static void whole_life(const char *engine, const char *kind, bool sheared) {
  model_engine *model = start(engine, kind, sheared);
  cdam_state *state = create(model, kind);
  cdam_session *session = resume(model, state, false);
  check_port(session, kind);
  cdam_error err;
  assert_int_equal(cdam_session_stop(session, 0, &err), CDAM_OK);
  cdam_session_free(session);
  cdam_session_free(resume(model, state, false));
  model->id[0] = '\0';
  session = resume(model, state, true);
  assert_int_equal(cdam_delete(model->client, cdam_session_state(session), &err), CDAM_OK);
  assert_false(model_has_container(model));
  cdam_session_free(session);
  cdam_state_free(state);
  stop(model);
}

static void none_on_every_engine(void **state) {
  (void)state;
  for (size_t i = 0; i < ENGINES; i++)
    for (int sheared = 0; sheared < 2; sheared++)
      whole_life(engines[i], "none", sheared);
}

static void unset_on_every_engine(void **state) {
  (void)state;
  for (size_t i = 0; i < ENGINES; i++)
    for (int sheared = 0; sheared < 2; sheared++)
      whole_life(engines[i], "unset", sheared);
}

/* ---- what is no isolation on any of them ---- */

static void assert_drift(model_engine *model, const cdam_state *state, const char *field) {
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_resume(model->client, state, NULL, &session, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, field);
}

static void put_in_network(const char *network, json_t *entry) {
  json_object_set_new(at(recorded, "NetworkSettings", "Networks"), network, entry);
}

static void a_network_is_drift_on_every_engine(void **unused) {
  (void)unused;
  for (size_t i = 0; i < 2 * ENGINES; i++) {
    model_engine *model = start(engines[i / 2], "none", i % 2);
    cdam_state *state = create(model, "none");
    json_t *none = recorded;
    recorded = load(engines[i / 2], "unset");
    if (i % 2) shear_inspect(recorded);
    assert_drift(model, state, "HostConfig.NetworkMode");
    /* Connected afterwards: the mode goes on saying "none". */
    json_t *networks = json_incref(at(recorded, "NetworkSettings", "Networks"));
    json_object_set_new(json_object_get(none, "NetworkSettings"), "Networks", networks);
    json_decref(recorded);
    recorded = none;
    assert_drift(model, state, "NetworkSettings.Networks");
    json_object_clear(networks);
    put_in_network("some", json_object());
    assert_drift(model, state, "NetworkSettings.Networks");
    json_object_del(json_object_get(recorded, "NetworkSettings"), "Networks");
    assert_drift(model, state, "NetworkSettings.Networks");
    cdam_state_free(state);
    stop(model);
  }
}

static void privileges_must_be_told_on_every_engine(void **unused) {
  (void)unused;
  for (size_t i = 0; i < ENGINES; i++) {
    model_engine *model = start(engines[i], "none", true);
    cdam_state *state = create(model, "none");
    json_object_set_new(json_object_get(recorded, "HostConfig"), "Privileged", json_true());
    assert_drift(model, state, "HostConfig.Privileged");
    json_object_del(json_object_get(recorded, "HostConfig"), "Privileged");
    assert_drift(model, state, "HostConfig.Privileged");
    cdam_state_free(state);
    stop(model);
  }
}

/* ---- Podman's id ---- */

static void the_id_that_podman_makes_up_is_not_kept(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  model->podman = true;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_state *state = model_create_state(model, options);
  cdam_options_free(options);
  assert_string_equal(cdam_state_engine_id(state), "");
  model->id[0] = '\0';
  cdam_session *session = resume(model, state, true);
  assert_string_equal(cdam_state_engine_id(cdam_session_state(session)), "");
  cdam_session_free(session);
  cdam_state_free(state);
  model_stop(model);
}

static void a_state_of_docker_is_not_recreated_on_podman(void **unused) {
  (void)unused;
  model_engine *model = model_start();
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_state *state = model_create_state(model, options);
  cdam_options_free(options);
  model->id[0] = '\0';
  model->podman = true;
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_resume(model->client, state, NULL, &session, &err), CDAM_ERR_OTHER_ENGINE);
  assert_false(model_has_container(model));
  cdam_state_free(state);
  model_stop(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_on_every_engine),
      cmocka_unit_test(unset_on_every_engine),
      cmocka_unit_test(a_network_is_drift_on_every_engine),
      cmocka_unit_test(privileges_must_be_told_on_every_engine),
      cmocka_unit_test(the_id_that_podman_makes_up_is_not_kept),
      cmocka_unit_test(a_state_of_docker_is_not_recreated_on_podman),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
