/* SPDX-License-Identifier: Apache-2.0 */
/* The helper container that fills the agent's volume, when another client has made it. */
#include <pthread.h>

#include "volume_fixture.h"

static void leave_helper(agent_fixture *this, const char *label) {
  model_volumes *volumes = &this->model->volumes;
  volumes->helper = true;
  volumes->helper_at = volumes->clock;
  snprintf(volumes->helper_label, sizeof volumes->helper_label, "%s", label);
}

typedef struct other_client {
  agent_fixture *fixture;
  cdam_status status;
  cdam_error err;
} other_client;

static void *create_in_thread(void *user) {
  other_client *this = user;
  this->status = agent_create(this->fixture, NULL, &this->err);
  return NULL;
}

/* A create in a thread, which finds the helper of another client and looks at it twice. */
static pthread_t create_beside_another(other_client *this) {
  pthread_t thread;
  leave_helper(this->fixture, "another");
  pthread_create(&thread, NULL, create_in_thread, this);
  scripted_engine_wait(this->fixture->model->engine, "GET", "*-fill/json", 2);
  return thread;
}

static void waits_for_another(void **state) {
  agent_fixture *this = *state;
  other_client other = {.fixture = this};
  pthread_t thread = create_beside_another(&other);
  assert_true(this->model->volumes.helper); /* it has a minute */
  put_content(this, &right_one);
  this->model->volumes.marker_at = this->model->volumes.clock;
  this->model->volumes.marker = true;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 0);
  assert_true(this->model->volumes.helper);
}

/* It fails, or is gone before it has filled anything. */
static void takes_over_from_another(void **state) {
  agent_fixture *this = *state;
  other_client other = {.fixture = this};
  pthread_t thread = create_beside_another(&other);
  this->model->volumes.helper = false;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
  assert_false(this->model->volumes.helper);
}

/* As Podman has it for a moment: the name is taken, and there is nothing of that name. */
static void takes_over_from_a_ghost(void **state) {
  agent_fixture *this = *state;
  fail_at(this->model, "GET *-fill/json", 0,
          (scripted_reply){500, .body = "{\"message\":\"x does not exist in database: no such "
                                        "container\"}"},
          false);
  other_client other = {.fixture = this};
  pthread_t thread = create_beside_another(&other);
  this->model->volumes.helper = false;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
}

/* By the engine's clock, whatever ours says. */
static void a_stale_helper_is_removed(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "another");
  this->model->volumes.clock += 61;
  assert_created(this);
  assert_int_equal(this->model->volumes.helpers, 1);
  assert_int_equal(model_requests(this->model, "DELETE", "/containers/" MODEL_HELPER_ID "*"), 2);
}

static void a_stranger_with_its_name_is_left_alone(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "");
  this->model->volumes.clock += 1000;
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "not ours"));
  assert_true(this->model->volumes.helper);
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
}

/* The request came twice: the answer says that the name is taken, and it is ours. */
static void its_own_helper_is_known_again(void **state) {
  agent_fixture *this = *state;
  fail_at(this->model, "POST /containers/create?name=cofferdam-agent-*", 0,
          (scripted_reply){409, .body = "{\"message\":\"Conflict. The name is in use\"}"}, true);
  assert_created(this);
  assert_int_equal(this->model->volumes.helpers, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(waits_for_another),
      AGENT_TEST(takes_over_from_another),
      AGENT_TEST(takes_over_from_a_ghost),
      AGENT_TEST(a_stale_helper_is_removed),
      AGENT_TEST(a_stranger_with_its_name_is_left_alone),
      AGENT_TEST(its_own_helper_is_known_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
