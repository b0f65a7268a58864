/* SPDX-License-Identifier: Apache-2.0 */
/* The options' part of the create body, against tests/golden/create-body/. */
#include <stdio.h>

#include <jansson.h>

#include "option_fixtures.h"
#include "options/create_body.h"

static char *body_of(const cdam_options *options) {
  json_t *body;
  assert_int_equal(cdam_generated_create_body(&options->message, &body, NULL), CDAM_OK);
  char *text = json_dumps(body, JSON_SORT_KEYS | JSON_COMPACT);
  assert_non_null(text);
  json_decref(body);
  return text;
}

static void expect_golden(const cdam_options *options, const char *name) {
  const char *root = getenv("GOLDEN_CREATE_BODIES");
  char path[4096];
  char golden[4096];
  assert_non_null(root);
  snprintf(path, sizeof path, "%s/%s.json", root, name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("%s is missing", path);
  size_t length = fread(golden, 1, sizeof golden - 1, file);
  fclose(file);
  golden[length] = '\0';
  golden[strcspn(golden, "\n")] = '\0';
  char *body = body_of(options);
  assert_string_equal(body, golden);
  free(body);
}

static cdam_options *with_mode(cdam_network_mode mode) {
  cdam_options *options = fixture_options();
  cdam_options_set_network_mode(options, mode);
  return options;
}

static void add_everything_else(cdam_options *options) {
  static const uint32_t ports[] = {8080, 80};
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(cdam_options_add_exposed_port(options, ports[i], NULL), CDAM_OK);
  }
  assert_int_equal(cdam_options_set_label(options, "team", "a.b", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_label(options, "dots.in.key", "", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "PATH", "/bin", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "A", "x=y==", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "EMPTY", "", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "C", "\xc3\xbcml\n\"", NULL), CDAM_OK);
}

static void unset(void **state) {
  (void)state;
  cdam_options *options = with_mode(CDAM_NETWORK_MODE_UNSET);
  expect_golden(options, "unset");
  fixture_free_options(options);
}

static void none(void **state) {
  (void)state;
  cdam_options *options = with_mode(CDAM_NETWORK_MODE_NONE);
  expect_golden(options, "none");
  fixture_free_options(options);
}

static void unset_with_everything_else(void **state) {
  (void)state;
  cdam_options *options = with_mode(CDAM_NETWORK_MODE_UNSET);
  add_everything_else(options);
  expect_golden(options, "unset-everything");
  fixture_free_options(options);
}

static void none_with_everything_else(void **state) {
  (void)state;
  cdam_options *options = with_mode(CDAM_NETWORK_MODE_NONE);
  add_everything_else(options);
  expect_golden(options, "none-everything");
  fixture_free_options(options);
}

/* Empty objects and keys have made engines override the network mode. */
static void what_is_not_in_use_sends_no_key(void **state) {
  (void)state;
  static const char *const keys[] = {"NetworkMode",  "NetworkingConfig", "NetworkDisabled",
                                     "ExposedPorts", "PortBindings",     "PublishAllPorts",
                                     "HostConfig",   "Labels",           "Env"};
  cdam_options *options = with_mode(CDAM_NETWORK_MODE_UNSET);
  char *body = body_of(options);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    assert_null(strstr(body, keys[i]));
  }
  free(body);
  fixture_free_options(options);
}

static void an_unknown_mode_makes_no_body(void **state) {
  (void)state;
  static const int wrong[] = {2, -1};
  for (size_t i = 0; i < 2; i++) {
    cdam_options *options = with_mode((cdam_network_mode)wrong[i]);
    cdam_error err;
    json_t *body = (json_t *)options;
    assert_int_equal(cdam_generated_create_body(&options->message, &body, &err), CDAM_ERR_INVALID);
    assert_string_equal(err.field, "network_mode");
    assert_null(body);
    fixture_free_options(options);
  }
}

static void values_are_put_at_paths(void **state) {
  (void)state;
  json_t *body = json_object();
  assert_true(cdam_body_put(body, "A", json_true()));
  assert_true(cdam_body_put(body, "B.C", json_integer(1)));
  assert_true(cdam_body_put(body, "B.D.E", json_string("x")));
  assert_false(cdam_body_put(body, "F", NULL));
  assert_false(cdam_body_put(body, "A.X", json_true()));
  char *text = json_dumps(body, JSON_SORT_KEYS | JSON_COMPACT);
  assert_string_equal(text, "{\"A\":true,\"B\":{\"C\":1,\"D\":{\"E\":\"x\"}}}");
  free(text);
  json_decref(body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unset),
      cmocka_unit_test(none),
      cmocka_unit_test(unset_with_everything_else),
      cmocka_unit_test(none_with_everything_else),
      cmocka_unit_test(what_is_not_in_use_sends_no_key),
      cmocka_unit_test(an_unknown_mode_makes_no_body),
      cmocka_unit_test(values_are_put_at_paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
