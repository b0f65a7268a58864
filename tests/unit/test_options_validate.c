/* SPDX-License-Identifier: Apache-2.0 */
/* Rules, required_features, policy and notes. */
#include <stdio.h>

#include "option_fixtures.h"

static int set_up(void **state) {
  *state = fixture_options();
  return 0;
}

static int tear_down(void **state) {
  fixture_free_options(*state);
  return 0;
}

static void expect_valid(const cdam_options *options) {
  cdam_error err = {.code = CDAM_ERR_IO};
  assert_int_equal(cdam_generated_validate_options(&options->message, "", &err), CDAM_OK);
  assert_int_equal(err.code, CDAM_OK);
}

static void expect_invalid(const cdam_options *options, const char *field) {
  cdam_error err;
  char path[160];
  assert_int_equal(cdam_generated_validate_options(&options->message, "", &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, field);
  assert_int_equal(err.retry, CDAM_RETRY_NO);
  snprintf(path, sizeof path, "%s: ", field);
  assert_memory_equal(err.message, path, strlen(path));
  assert_int_equal(cdam_generated_validate_options(&options->message, "options.", &err),
                   CDAM_ERR_INVALID);
  snprintf(path, sizeof path, "options.%s", field);
  assert_string_equal(err.field, path);
  assert_int_equal(cdam_generated_validate_options(&options->message, "", NULL), CDAM_ERR_INVALID);
}

static char *repeat(char letter, size_t length) {
  char *text = malloc(length + 1);
  assert_non_null(text);
  memset(text, letter, length);
  text[length] = '\0';
  return text;
}

static void an_image_alone_is_enough(void **state) {
  expect_valid(*state);
}

static void image_is_required_and_a_reference(void **state) {
  cdam_options *options = *state;
  static const char *const wrong[] = {"", " ", "A:b", "a b", "a@sha256:12", "http://a", "a:"};
  static const char *const right[] = {"localhost:5000/a:1", "a", ("a@sha256:" HEX64)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(cdam_options_set_image(options, wrong[i], NULL), CDAM_OK);
    expect_invalid(options, "image");
  }
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    assert_int_equal(cdam_options_set_image(options, right[i], NULL), CDAM_OK);
    expect_valid(options);
  }
  char *longest = repeat('a', 513);
  assert_int_equal(cdam_options_set_image(options, longest, NULL), CDAM_OK);
  expect_invalid(options, "image");
  free(longest);
}

static void network_mode_is_none_or_unset(void **state) {
  cdam_options *options = *state;
  /* 2^32+1 does not fit an enum: as the conversion has it, it is 1 only where the wire was
   * narrowed, and the strict walk refuses that. */
  static const int wrong[] = {2, 3, 15, 16, -1, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cdam_options_set_network_mode(options, (cdam_network_mode)wrong[i]);
    expect_invalid(options, "network_mode");
  }
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  expect_valid(options);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_UNSET);
  expect_valid(options);
}

static void ports_are_in_range_and_distinct(void **state) {
  cdam_options *options = *state;
  static const uint32_t wrong[] = {0, 65536, UINT32_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
    assert_int_equal(cdam_options_add_exposed_port(options, wrong[i], NULL), CDAM_OK);
    expect_invalid(options, "exposed_ports[1]");
    cdam_options_clear_exposed_ports(options);
  }
  static const uint32_t twice[] = {1, 65535, 1};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(cdam_options_add_exposed_port(options, twice[i], NULL), CDAM_OK);
    if (i == 1) expect_valid(options);
  }
  expect_invalid(options, "exposed_ports[2]");
}

static void ports_are_bounded_in_number(void **state) {
  cdam_options *options = *state;
  for (uint32_t port = 1; port <= 256; port++) {
    assert_int_equal(cdam_options_add_exposed_port(options, port, NULL), CDAM_OK);
  }
  expect_valid(options);
  assert_int_equal(cdam_options_add_exposed_port(options, 257, NULL), CDAM_OK);
  expect_invalid(options, "exposed_ports");
}

static void our_labels_are_not_for_the_caller(void **state) {
  cdam_options *options = *state;
  assert_int_equal(cdam_options_set_label(options, "io.cofferdamx", "v", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_label(options, "io.cofferdam", "v", NULL), CDAM_OK);
  expect_valid(options);
  assert_int_equal(cdam_options_set_label(options, "io.cofferdam.session", "v", NULL), CDAM_OK);
  expect_invalid(options, "labels[io.cofferdam.session]");
}

static void lengths_of_keys_and_values(void **state) {
  cdam_options *options = *state;
  char *key = repeat('k', 256);
  char *value = repeat('v', 65536);
  assert_int_equal(cdam_options_set_env(options, key, value, NULL), CDAM_OK);
  expect_valid(options);
  cdam_options_clear_env(options);
  assert_int_equal(cdam_options_set_env(options, "", "v", NULL), CDAM_OK);
  expect_invalid(options, "env[]");
  cdam_options_clear_env(options);
  char *long_key = repeat('k', 257);
  assert_int_equal(cdam_options_set_env(options, long_key, "v", NULL), CDAM_OK);
  cdam_error err;
  assert_int_equal(cdam_generated_validate_options(&options->message, "", &err), CDAM_ERR_INVALID);
  assert_memory_equal(err.field, "env[kkk", 7);
  assert_int_equal(err.field[strlen(err.field) - 1], ']');
  cdam_options_clear_env(options);
  char *long_value = repeat('v', 65537);
  assert_int_equal(cdam_options_set_env(options, "K", long_value, NULL), CDAM_OK);
  expect_invalid(options, "env[K]");
  free(key);
  free(value);
  free(long_key);
  free(long_value);
}

static void env_names_hold_no_equals_sign(void **state) {
  cdam_options *options = *state;
  assert_int_equal(cdam_options_set_env(options, "A", "x=y==", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "B", "", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "C", "\xc3\xbcml\n", NULL), CDAM_OK);
  expect_valid(options);
  assert_int_equal(cdam_options_set_env(options, "D=E", "hidden", NULL), CDAM_OK);
  expect_invalid(options, "env[D=E]");
  cdam_error err;
  assert_int_equal(cdam_generated_validate_options(&options->message, "", &err), CDAM_ERR_INVALID);
  assert_null(strstr(err.message, "hidden"));
}

/* Messages need not come from the setters. */
static void what_setters_refuse_is_refused(void **state) {
  cdam_options *options = *state;
  assert_int_equal(cdam_options_set_env(options, "AA", "v", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "BB", "v", NULL), CDAM_OK);
  Cofferdam__V1__SandboxOptions *message = &options->message;
  memcpy(message->env[1]->key, "AA", 2);
  expect_invalid(options, "env[AA]");
  memcpy(message->env[1]->key, "A\xff", 2);
  expect_invalid(options, "env[A\\xff]");
  memcpy(message->env[1]->key, "BB", 2);
  message->env[1]->value[0] = '\x80';
  expect_invalid(options, "env[BB]");
  message->env[1]->value[0] = 'v';
  expect_valid(options);
}

static void a_key_twice_is_found_in_unsorted_maps(void **state) {
  cdam_options *options = *state;
  static const char *const keys[] = {"A", "B", "C"};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(cdam_options_set_label(options, keys[i], "v", NULL), CDAM_OK);
  }
  options->message.labels[0]->key[0] = 'C';
  expect_invalid(options, "labels[C]");
  options->message.labels[0]->key[0] = 'D';
  expect_valid(options);
}

/* ---- states ---- */

static cdam_state *state_with(cdam_network_mode mode) {
  cdam_options *options = fixture_options();
  cdam_options_set_network_mode(options, mode);
  return fixture_state(options);
}

static void expect_state(const cdam_state *state, cdam_status status, const char *field) {
  cdam_error err;
  assert_int_equal(cdam_generated_validate_state(&state->message, &err), status);
  assert_string_equal(err.field, field);
  assert_int_equal(err.code, status);
}

static void states_are_valid(void **unused) {
  (void)unused;
  cdam_state *none = state_with(CDAM_NETWORK_MODE_NONE);
  cdam_state *unset = state_with(CDAM_NETWORK_MODE_UNSET);
  expect_state(none, CDAM_OK, "");
  expect_state(unset, CDAM_OK, "");
  assert_int_equal(none->message.n_required_features, 1);
  assert_int_equal(unset->message.n_required_features, 0);
  fixture_free_state(none);
  fixture_free_state(unset);
}

static void options_of_a_state_are_checked(void **unused) {
  (void)unused;
  static const int wrong[] = {2, -1};
  for (size_t i = 0; i < 2; i++) {
    cdam_state *state = state_with((cdam_network_mode)wrong[i]);
    expect_state(state, CDAM_ERR_INVALID, "options.network_mode");
    fixture_free_state(state);
  }
}

static void ids_of_a_state_are_checked(void **unused) {
  (void)unused;
  cdam_state *state = state_with(CDAM_NETWORK_MODE_NONE);
  Cofferdam__V1__SessionState *message = &state->message;
  message->session_id[0] = 'F';
  expect_state(state, CDAM_ERR_INVALID, "session_id");
  message->session_id[0] = '-';
  expect_state(state, CDAM_ERR_INVALID, "session_id");
  char longer[] = TEST_UUID "0", *right = message->session_id;
  message->session_id = longer;
  expect_state(state, CDAM_ERR_INVALID, "session_id");
  message->session_id = right;
  message->session_id[0] = 'f';
  message->image_id[6] = '-';
  expect_state(state, CDAM_ERR_INVALID, "image_id");
  message->image_id[6] = ':';
  message->container_id[63] = 'g';
  expect_state(state, CDAM_ERR_INVALID, "container_id");
  message->container_id[63] = '\0';
  expect_state(state, CDAM_ERR_INVALID, "container_id");
  message->container_id[0] = '\0';
  expect_state(state, CDAM_ERR_INVALID, "container_id");
  memcpy(message->container_id, HEX64, 64);
  message->schema_revision = 0;
  expect_state(state, CDAM_ERR_INVALID, "schema_revision");
  message->schema_revision = 99;
  expect_state(state, CDAM_OK, "");
  fixture_free_state(state);
}

static void engine_and_options_are_checked(void **unused) {
  (void)unused;
  cdam_state *state = state_with(CDAM_NETWORK_MODE_UNSET);
  Cofferdam__V1__EngineIdentity engine = COFFERDAM__V1__ENGINE_IDENTITY__INIT;
  char odd[] = "a b", fine[] = "ABCD:EFGH";
  state->message.engine = &engine;
  engine.id = odd;
  expect_state(state, CDAM_ERR_INVALID, "engine.id");
  engine.id = fine;
  expect_state(state, CDAM_OK, "");
  state->message.engine = NULL;
  Cofferdam__V1__SandboxOptions *options = state->message.options;
  state->message.options = NULL;
  expect_state(state, CDAM_ERR_INVALID, "options");
  state->message.options = options;
  fixture_free_state(state);
}

static void set_features(cdam_state *state, const int *numbers, size_t count) {
  Cofferdam__V1__Feature *list = calloc(count + 1, sizeof *list);
  assert_non_null(list);
  for (size_t i = 0; i < count; i++) {
    list[i] = (Cofferdam__V1__Feature)numbers[i];
  }
  free(state->message.required_features);
  state->message.required_features = list;
  state->message.n_required_features = count;
}

static void unknown_features_are_unsupported(void **unused) {
  (void)unused;
  cdam_state *state = state_with(CDAM_NETWORK_MODE_NONE);
  set_features(state, (int[]){1, 700}, 2);
  expect_state(state, CDAM_ERR_UNSUPPORTED, "required_features[1]");
  set_features(state, (int[]){-1, 1}, 2);
  expect_state(state, CDAM_ERR_UNSUPPORTED, "required_features[0]");
  /* First of all: even when nothing else is right. */
  set_features(state, (int[]){200}, 1);
  state->message.session_id[0] = '\0';
  expect_state(state, CDAM_ERR_UNSUPPORTED, "required_features[0]");
  cdam_error err;
  assert_int_equal(cdam_generated_validate_state(&state->message, &err), CDAM_ERR_UNSUPPORTED);
  assert_non_null(strstr(err.message, "feature 200"));
  fixture_free_state(state);
}

static void features_agree_with_the_options(void **unused) {
  (void)unused;
  cdam_state *none = state_with(CDAM_NETWORK_MODE_NONE);
  set_features(none, NULL, 0);
  expect_state(none, CDAM_ERR_INVALID, "required_features");
  set_features(none, (int[]){0}, 1);
  expect_state(none, CDAM_ERR_INVALID, "required_features[0]");
  set_features(none, (int[]){1, 1}, 2);
  expect_state(none, CDAM_ERR_INVALID, "required_features[1]");
  set_features(none, (int[]){1}, 1);
  expect_state(none, CDAM_OK, "");
  /* The field was stripped, or flipped, on the way. */
  none->message.options->network_mode = COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET;
  expect_state(none, CDAM_ERR_INVALID, "required_features");
  fixture_free_state(none);
}

static void features_are_derived(void **unused) {
  (void)unused;
  cdam_state *state = state_with(CDAM_NETWORK_MODE_UNSET);
  set_features(state, (int[]){1, 5, 6}, 3);
  assert_int_equal(cdam_generated_derive_features(&state->message, NULL), CDAM_OK);
  assert_int_equal(state->message.n_required_features, 0);
  assert_null(state->message.required_features);
  fixture_free_state(state);
}

/* ---- policy and notes ---- */

static void a_policy_only_tightens(void **state) {
  cdam_options *options = *state;
  cdam_options *minimum = fixture_options();
  cdam_error err;
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &options->message, &err),
                   CDAM_OK);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &options->message, &err),
                   CDAM_OK);
  cdam_options_set_network_mode(minimum, CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &options->message, &err),
                   CDAM_OK);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_UNSET);
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &options->message, &err),
                   CDAM_ERR_POLICY);
  assert_string_equal(err.field, "network_mode");
  assert_non_null(strstr(err.message, "none"));
  cdam_options_set_network_mode(options, (cdam_network_mode)2);
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &options->message, NULL),
                   CDAM_ERR_POLICY);
  fixture_free_options(minimum);
}

static bool count_note(void *user, const char *field, const char *with, const char *text) {
  assert_string_equal(field, "network_mode");
  assert_string_equal(with, "exposed_ports");
  assert_non_null(strstr(text, "no exposed port can be reached"));
  return ++*(int *)user < 1;
}

static void notes_are_for_options_that_meet(void **state) {
  cdam_options *options = *state;
  int notes = 0;
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  assert_true(cdam_generated_notes(&options->message, count_note, &notes));
  assert_int_equal(notes, 0);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  assert_false(cdam_generated_notes(&options->message, count_note, &notes));
  assert_int_equal(notes, 1);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_UNSET);
  assert_true(cdam_generated_notes(&options->message, count_note, &notes));
  assert_int_equal(notes, 1);
}

/* ---- what the descriptors do not say ---- */

static void every_field_has_its_json_name(void **unused) {
  (void)unused;
  assert_int_equal(cdam_generated_message_count, 4);
  for (size_t i = 0; i < cdam_generated_message_count; i++) {
    const cdam_message_info *message = &cdam_generated_messages[i];
    for (unsigned j = 0; j < message->descriptor->n_fields; j++) {
      const ProtobufCFieldDescriptor *field = &message->descriptor->fields[j];
      const char *json = message->fields[j].json_name;
      assert_int_equal(json[0], field->name[0]);
      assert_null(strchr(json, '_'));
      static const char *const maps[] = {"labels", "env", "tmpfs", "ulimits"};
      bool map = false;
      for (size_t k = 0; k < sizeof maps / sizeof *maps; k++)
        map = map || strcmp(json, maps[k]) == 0;
      assert_int_equal(message->fields[j].is_map, map);
    }
  }
}

int main(void) {
#define WITH_OPTIONS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH_OPTIONS(an_image_alone_is_enough),
      WITH_OPTIONS(image_is_required_and_a_reference),
      WITH_OPTIONS(network_mode_is_none_or_unset),
      WITH_OPTIONS(ports_are_in_range_and_distinct),
      WITH_OPTIONS(ports_are_bounded_in_number),
      WITH_OPTIONS(our_labels_are_not_for_the_caller),
      WITH_OPTIONS(lengths_of_keys_and_values),
      WITH_OPTIONS(env_names_hold_no_equals_sign),
      WITH_OPTIONS(what_setters_refuse_is_refused),
      WITH_OPTIONS(a_key_twice_is_found_in_unsorted_maps),
      cmocka_unit_test(states_are_valid),
      cmocka_unit_test(options_of_a_state_are_checked),
      cmocka_unit_test(ids_of_a_state_are_checked),
      cmocka_unit_test(engine_and_options_are_checked),
      cmocka_unit_test(unknown_features_are_unsupported),
      cmocka_unit_test(features_agree_with_the_options),
      cmocka_unit_test(features_are_derived),
      WITH_OPTIONS(a_policy_only_tightens),
      WITH_OPTIONS(notes_are_for_options_that_meet),
      cmocka_unit_test(every_field_has_its_json_name),
  };
#undef WITH_OPTIONS
  return cmocka_run_group_tests(tests, NULL, NULL);
}
