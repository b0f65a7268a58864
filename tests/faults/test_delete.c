/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_delete. */
#include "resume_fixture.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      NONE_TEST(delete_is_for_ours_only),
      NONE_TEST(delete_finds_a_recreated_one),
      NONE_TEST(delete_leaves_a_stranger_with_our_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
