/* SPDX-License-Identifier: Apache-2.0 */
#include "option_fixtures.h"

static int set_up(void **state) {
  *state = fixture_options();
  return 0;
}

static int tear_down(void **state) {
  fixture_free_options(*state);
  return 0;
}

static void text_is_copied_and_replaced(void **state) {
  cdam_options *options = *state;
  char image[] = "alpine:3";
  assert_int_equal(cdam_options_set_image(options, image, NULL), CDAM_OK);
  image[0] = 'X';
  assert_string_equal(cdam_options_image(options), "alpine:3");
  assert_int_equal(cdam_options_set_image(options, "", NULL), CDAM_OK);
  assert_string_equal(cdam_options_image(options), "");
  assert_int_equal(cdam_options_set_image(options, "busybox", NULL), CDAM_OK);
  assert_string_equal(cdam_options_image(options), "busybox");
}

static void text_that_is_no_utf8_is_refused(void **state) {
  cdam_options *options = *state;
  cdam_error err;
  assert_int_equal(cdam_options_set_image(options, "\xf0\x80", &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "image");
  assert_string_equal(cdam_options_image(options), "busybox:test");
  assert_int_equal(cdam_options_set_env(options, "KEY", "se\xffret", &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "env[KEY]");
  assert_null(strstr(err.message, "ret"));
  assert_int_equal(cdam_options_set_env(options, "K\xff", "v", &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "env[K\\xff]");
  assert_int_equal(cdam_options_env_count(options), 0);
}

static void null_arguments_are_errors(void **state) {
  cdam_options *options = *state;
  cdam_error err;
  assert_int_equal(cdam_options_set_image(NULL, "a", &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_set_image(options, NULL, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_add_exposed_port(NULL, 1, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_set_label(NULL, "a", "b", &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_set_label(options, NULL, "b", &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_set_label(options, "a", NULL, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_label_count(options), 0);
}

static void null_options_read_as_empty_ones(void **state) {
  (void)state;
  const char *key = "untouched";
  assert_string_equal(cdam_options_image(NULL), "");
  assert_int_equal(cdam_options_exposed_port_count(NULL), 0);
  assert_int_equal(cdam_options_exposed_port(NULL, 0), 0);
  assert_null(cdam_options_label(NULL, "a"));
  assert_false(cdam_options_label_at(NULL, 0, &key, NULL));
  assert_string_equal(key, "untouched");
  assert_false(cdam_options_remove_env(NULL, "a"));
  assert_int_equal(cdam_options_network_mode(NULL), CDAM_NETWORK_MODE_UNSET);
  cdam_options_clear_labels(NULL);
  cdam_options_clear_exposed_ports(NULL);
  cdam_options_set_network_mode(NULL, CDAM_NETWORK_MODE_NONE);
}

static void ports_keep_their_order(void **state) {
  cdam_options *options = *state;
  static const uint32_t ports[] = {8080, 80, 443};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(cdam_options_add_exposed_port(options, ports[i], NULL), CDAM_OK);
  }
  assert_int_equal(cdam_options_exposed_port_count(options), 3);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(cdam_options_exposed_port(options, i), ports[i]);
  }
  assert_int_equal(cdam_options_exposed_port(options, 3), 0);
  cdam_options_clear_exposed_ports(options);
  assert_int_equal(cdam_options_exposed_port_count(options), 0);
  assert_int_equal(cdam_options_add_exposed_port(options, 1, NULL), CDAM_OK);
  assert_int_equal(cdam_options_exposed_port(options, 0), 1);
}

static void expect_keys(const cdam_options *options, const char *const *keys, size_t count) {
  assert_int_equal(cdam_options_env_count(options), count);
  for (size_t i = 0; i < count; i++) {
    const char *key;
    assert_true(cdam_options_env_at(options, i, &key, NULL));
    assert_string_equal(key, keys[i]);
  }
}

static void maps_are_sorted_by_bytes(void **state) {
  cdam_options *options = *state;
  static const char *const put[] = {"b", "\xc3\xa4", "a", "B", "ab", ""};
  static const char *const sorted[] = {"", "B", "a", "ab", "b", "\xc3\xa4"};
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(cdam_options_set_env(options, put[i], put[i], NULL), CDAM_OK);
  }
  expect_keys(options, sorted, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_string_equal(cdam_options_env(options, put[i]), put[i]);
  }
}

static void a_key_is_replaced(void **state) {
  cdam_options *options = *state;
  static const char *const values[] = {"one", "", "three", "x=y=="};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(cdam_options_set_env(options, "K", values[i], NULL), CDAM_OK);
    assert_int_equal(cdam_options_env_count(options), 1);
    assert_string_equal(cdam_options_env(options, "K"), values[i]);
  }
}

static void a_key_is_removed(void **state) {
  cdam_options *options = *state;
  static const char *const left[] = {"a", "c"};
  static const char *const all[] = {"a", "b", "c"};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(cdam_options_set_env(options, all[i], "v", NULL), CDAM_OK);
  }
  assert_true(cdam_options_remove_env(options, "b"));
  assert_false(cdam_options_remove_env(options, "b"));
  assert_false(cdam_options_remove_env(options, NULL));
  expect_keys(options, left, 2);
  assert_null(cdam_options_env(options, "b"));
  cdam_options_clear_env(options);
  expect_keys(options, NULL, 0);
  assert_int_equal(cdam_options_set_env(options, "z", "v", NULL), CDAM_OK);
}

static void an_entry_out_of_range_is_none(void **state) {
  cdam_options *options = *state;
  const char *key = "untouched", *value = "untouched";
  assert_int_equal(cdam_options_set_label(options, "k", "v", NULL), CDAM_OK);
  assert_false(cdam_options_label_at(options, 1, &key, &value));
  assert_string_equal(key, "untouched");
  assert_true(cdam_options_label_at(options, 0, &key, &value));
  assert_string_equal(key, "k");
  assert_string_equal(value, "v");
  assert_true(cdam_options_label_at(options, 0, NULL, NULL));
}

/* An array that grew and was emptied is freed with the message. */
static void what_is_left_empty_is_freed(void **state) {
  cdam_options *options = *state;
  assert_int_equal(cdam_options_set_label(options, "k", "v", NULL), CDAM_OK);
  assert_true(cdam_options_remove_label(options, "k"));
  assert_int_equal(cdam_options_label_count(options), 0);
}

static void enum_numbers_are_kept_as_they_are(void **state) {
  cdam_options *options = *state;
  static const int numbers[] = {0, 1, 2, -1, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < 6; i++) {
    cdam_options_set_network_mode(options, (cdam_network_mode)numbers[i]);
    assert_int_equal((int)cdam_options_network_mode(options), numbers[i]);
  }
}

static void a_state_shows_its_fields(void **unused) {
  (void)unused;
  cdam_options *options = fixture_options();
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  cdam_state *state = fixture_state(options);
  size_t length = 7;
  assert_int_equal(cdam_state_schema_revision(state), cdam_generated_revision);
  assert_int_equal(cdam_state_required_feature_count(state), 1);
  assert_int_equal(cdam_state_required_feature(state, 0), CDAM_FEATURE_NETWORK_ISOLATION);
  assert_int_equal(cdam_state_required_feature(state, 1), CDAM_FEATURE_UNSPECIFIED);
  assert_string_equal(cdam_state_session_id(state), TEST_UUID);
  assert_ptr_equal(cdam_state_options(state), options);
  assert_string_equal(cdam_state_image_id(state), TEST_IMAGE_ID);
  assert_string_equal(cdam_state_container_id(state), HEX64);
  assert_string_equal(cdam_state_engine_id(state), "");
  assert_int_equal(cdam_state_seal_algorithm(state), CDAM_SEAL_ALGORITHM_UNSPECIFIED);
  assert_string_equal(cdam_state_seal_key_id(state), "");
  assert_null(cdam_state_seal_digest(state, &length));
  assert_int_equal(length, 0);
  assert_false(cdam_state_workspace_ready(state));
  cdam_state_set_workspace_ready(state, true);
  assert_true(cdam_state_workspace_ready(state));
  fixture_free_state(state);
}

static void a_null_state_reads_as_an_empty_one(void **unused) {
  (void)unused;
  assert_int_equal(cdam_state_schema_revision(NULL), 0);
  assert_int_equal(cdam_state_required_feature_count(NULL), 0);
  assert_int_equal(cdam_state_required_feature(NULL, 0), 0);
  assert_string_equal(cdam_state_session_id(NULL), "");
  assert_null(cdam_state_options(NULL));
  assert_string_equal(cdam_state_engine_id(NULL), "");
  assert_null(cdam_state_seal_digest(NULL, NULL));
  cdam_state_set_workspace_ready(NULL, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(text_is_copied_and_replaced, set_up, tear_down),
      cmocka_unit_test_setup_teardown(text_that_is_no_utf8_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(null_arguments_are_errors, set_up, tear_down),
      cmocka_unit_test(null_options_read_as_empty_ones),
      cmocka_unit_test_setup_teardown(ports_keep_their_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(maps_are_sorted_by_bytes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_key_is_replaced, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_key_is_removed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_entry_out_of_range_is_none, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_left_empty_is_freed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(enum_numbers_are_kept_as_they_are, set_up, tear_down),
      cmocka_unit_test(a_state_shows_its_fields),
      cmocka_unit_test(a_null_state_reads_as_an_empty_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
