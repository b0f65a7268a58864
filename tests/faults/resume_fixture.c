/* SPDX-License-Identifier: Apache-2.0 */
#include "resume_fixture.h"

size_t changes_so_far(model_engine *model) {
  return model_requests(model, "POST", "*") + model_requests(model, "DELETE", "*") +
         model_requests(model, "PUT", "*");
}

fixture *make_fixture(cdam_network_mode mode) {
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

int setup_none(void **state) {
  *state = make_fixture(CDAM_NETWORK_MODE_NONE);
  return 0;
}

int setup_unset(void **state) {
  *state = make_fixture(CDAM_NETWORK_MODE_UNSET);
  return 0;
}

int teardown(void **state) {
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

cdam_status resume(fixture *this, const cdam_resume_flags *flags, cdam_session **session,
                   cdam_error *err) {
  return cdam_resume(this->model->client, this->state, flags, session, err);
}

void assert_no_change(fixture *this) {
  assert_int_equal(changes_so_far(this->model), this->changes);
  assert_true(model_has_container(this->model));
}

void assert_reattaches(fixture *this) {
  cdam_session *session;
  cdam_error err = {0};
  if (resume(this, NULL, &session, &err) != CDAM_OK) fail_msg("%s", err.message);
  assert_false(cdam_session_was_recreated(session));
  assert_string_equal(cdam_state_container_id(cdam_session_state(session)),
                      cdam_state_container_id(this->state));
  cdam_session_free(session);
  assert_no_change(this);
}

void assert_refused(fixture *this, cdam_status status, const char *field) {
  cdam_session *session;
  cdam_error err = {0};
  assert_int_equal(resume(this, NULL, &session, &err), status);
  assert_null(session);
  if (field) assert_string_equal(err.field, field);
  assert_no_change(this);
}

json_t *settings(json_t *inspect) {
  return json_object_get(inspect, "NetworkSettings");
}

json_t *config(json_t *inspect) {
  return json_object_get(inspect, "Config");
}

const char *lie_path, *lie_json;

/* Sets the value at "A.B" to some JSON, or takes it away. */
void lie_about(json_t *inspect, int looks) {
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

void lose_container(fixture *this) {
  this->model->id[0] = '\0';
}

json_t *create_body(fixture *this, size_t index) {
  const scripted_request *request =
      scripted_engine_request(this->model->engine, "POST", "/containers/create*", index);
  return json_loads(request->body, JSON_REJECT_DUPLICATES, NULL);
}

/* The state's id is gone, and a container with the session's name is there. */
void put_winner(fixture *this, bool ours) {
  json_t *body = create_body(this, 0);
  char name[80];
  if (!ours) json_object_set_new(body, "Labels", json_object());
  snprintf(name, sizeof name, "cofferdam-%s", cdam_state_session_id(this->state));
  model_put_container(this->model, model_id('e'), name, body);
}
