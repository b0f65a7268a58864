/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_resume of a container that is gone, and two resumes at once. */
#include "resume_fixture.h"

/* ---- recreate ---- */

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

/* Adds field 2000 to the options, which nobody knows, and reads the state again. */
static cdam_state *with_unknown_option(fixture *this) {
  unsigned char *bytes;
  size_t length;
  assert_int_equal(cdam_state_serialize(this->state, NULL, &bytes, &length, NULL), CDAM_OK);
  const unsigned char unknown[] = {0x80, 0x7d, 0x01}; /* field 2000, varint 1 */
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

int main(void) {
  const struct CMUnitTest tests[] = {
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
