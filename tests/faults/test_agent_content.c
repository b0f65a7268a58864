/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the agent's volume, when to believe it, and a program that is missing when it is
 * needed. */
#include "engine/client_private.h"
#include "volume_fixture.h"

static const content wrong_ones[] = {
    {"cofferdam-agent", 0755, AGENT_SIZE, 'x', false, false},
    {"cofferdam-agent", 04111, AGENT_SIZE, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE - 1, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE + 1, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'y', false, false},
    {"cofferdam-agent", 0111, 0, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'x', true, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'x', false, true},
    {"somebody", 0111, AGENT_SIZE, 'x', false, false},
};

/* A name alone is not trusted. */
static void a_wrong_content_is_replaced(void **state) {
  agent_fixture *this = *state;
  for (size_t i = 0; i < COUNT(wrong_ones); i++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    put_content(this, &wrong_ones[i]);
    size_t puts = model_requests(this->model, "PUT", "*");
    assert_created(this);
    assert_int_equal(model_requests(this->model, "PUT", "*"), puts + 1);
  }
}

static void the_right_content_is_left(void **state) {
  agent_fixture *this = *state;
  put_content(this, &right_one);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 0);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 1);
  assert_true(this->model->volumes.marker);
}

static void a_cut_archive_is_not_content(void **state) {
  agent_fixture *this = *state;
  put_content(this, &right_one);
  this->model->volumes.tar_size = 3000;
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
}

/* It says that it took the program, and shows something else. */
static void a_lying_engine(void **state) {
  agent_fixture *this = *state;
  model_volumes *volumes = &this->model->volumes;
  for (size_t i = 0; i <= COUNT(wrong_ones); i++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    if (i < COUNT(wrong_ones)) put_content(this, &wrong_ones[i]);
    volumes->forgetful = true;
    cdam_error err;
    assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
    assert_false(model_has_container(this->model));
    assert_false(volumes->helper);
    assert_false(volumes->marker);
  }
}

/* ---- the marker ---- */

static void a_marker_that_is_older_does_not_count(void **state) {
  agent_fixture *this = *state;
  model_volumes *volumes = &this->model->volumes;
  assert_created(this);
  /* Pruned, and made again by somebody's create request. */
  free(volumes->tar);
  volumes->tar = NULL;
  volumes->volume_at = volumes->clock = volumes->marker_at + 1;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 2); /* none in vain */
  assert_int_equal(volumes->helpers, 2);
  assert_int_equal(volumes->marker_at, volumes->clock);
  /* As one without the volume, or without a time. */
  volumes->volume = false;
  free(volumes->tar);
  volumes->tar = NULL;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(volumes->helpers, 3);
}

static void a_pruned_marker_costs_a_look(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  this->model->volumes.marker = false;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 2);
  assert_true(this->model->volumes.marker);
}

/* ---- a program that is missing when it is needed ---- */

/* The engine was reset under a client that remembers, or somebody emptied the volume within a
 * second, which its times do not show. */
static void a_start_without_the_program_is_healed(void **state) {
  agent_fixture *this = *state;
  for (int fresh = 0; fresh < 2; fresh++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    assert_created(this);
    empty_volume(this);
    if (fresh) model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
    size_t starts = model_requests(this->model, "POST", "*/start");
    assert_created(this);
    assert_int_equal(model_requests(this->model, "POST", "*/start"), starts + 2);
    assert_int_equal(this->model->volumes.helpers, 2);
    assert_created(this); /* and that is remembered */
    assert_int_equal(model_requests(this->model, "POST", "*/start"), starts + 3);
  }
}

/* What a client remembers it remembers of one engine. */
static void another_engine(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  empty_volume(this);
  this->model->volumes.volume = this->model->volumes.marker = false;
  snprintf(this->model->client->engine_id, CDAM_ENGINE_ID_SIZE, "ENGINE:TWO");
  assert_created(this);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 2);
}

static void once_and_not_forever(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  fail_at(this->model, "POST */start", 0,
          (scripted_reply){400, .body = "{\"message\":\"/.cofferdam/cofferdam-agent: no such "
                                        "file or directory\"}"},
          false);
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "no such file"));
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 3);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 2);
  assert_false(model_has_container(this->model));
  assert_false(this->model->volumes.helper);
}

static void another_failing_start_is_what_it_is(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  fail_at(this->model, "POST */start", 0, refusal, false);
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_ENGINE);
  assert_int_equal(this->model->volumes.helpers, 1);
  assert_false(model_has_container(this->model));
}

static cdam_state *stopped_sandbox(agent_fixture *this) {
  cdam_session *session;
  cdam_state *state;
  assert_int_equal(agent_create(this, &session, NULL), CDAM_OK);
  assert_int_equal(cdam_state_copy(cdam_session_state(session), &state, NULL), CDAM_OK);
  cdam_session_free(session);
  snprintf(this->model->status, sizeof this->model->status, "exited");
  return state;
}

/* Stopped, and its volume emptied meanwhile. */
static void a_resume_heals_too(void **state) {
  agent_fixture *this = *state;
  cdam_session *again;
  cdam_error err = {0};
  cdam_state *saved = stopped_sandbox(this);
  empty_volume(this);
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  cdam_status status = cdam_resume(this->model->client, saved, NULL, &again, &err);
  if (status != CDAM_OK) fail_msg("%s", err.message);
  assert_false(cdam_session_was_recreated(again));
  assert_true(cdam_session_has_agent(again));
  cdam_session_free(again);
  cdam_state_free(saved);
}

/* Its volume is not one that we could fill. */
static void a_resume_of_another_version_cannot(void **state) {
  agent_fixture *this = *state;
  cdam_session *again;
  cdam_error err = {0};
  cdam_state *saved = stopped_sandbox(this);
  write_program(this->path, EM_X86_64, AGENT_SIZE, 'z');
  empty_volume(this);
  fail_at(this->model, "POST */start", 0,
          (scripted_reply){400, .body = "{\"message\":\"/.cofferdam/cofferdam-agent\"}"}, false);
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_int_equal(cdam_resume(this->model->client, saved, NULL, &again, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "version"));
  assert_true(model_has_container(this->model));
  assert_string_equal(this->model->status, "exited");
  cdam_state_free(saved);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(a_wrong_content_is_replaced),
      AGENT_TEST(the_right_content_is_left),
      AGENT_TEST(a_cut_archive_is_not_content),
      AGENT_TEST(a_lying_engine),
      AGENT_TEST(a_marker_that_is_older_does_not_count),
      AGENT_TEST(a_pruned_marker_costs_a_look),
      AGENT_TEST(a_start_without_the_program_is_healed),
      AGENT_TEST(another_engine),
      AGENT_TEST(once_and_not_forever),
      AGENT_TEST(another_failing_start_is_what_it_is),
      AGENT_TEST(a_resume_heals_too),
      AGENT_TEST(a_resume_of_another_version_cannot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
