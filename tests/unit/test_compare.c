/* SPDX-License-Identifier: Apache-2.0 */
/* What inspect shows against what the state says: a table of answers. */
#include <stdio.h>

#include <jansson.h>

#include "base/fail.h"
#include "option_fixtures.h"
#include "options/compare.h"

static json_t *parse(const char *text) {
  json_error_t error;
  json_t *json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (!json) fail_msg("%s: %s", error.text, text);
  return json;
}

/* An answer with these members of HostConfig, NetworkSettings and Config. */
static json_t *answer(const char *host, const char *network, const char *config) {
  char text[4096];
  snprintf(text, sizeof text,
           "{\"Image\":\"" TEST_IMAGE_ID "\",\"HostConfig\":{%s},\"NetworkSettings\":{%s},"
           "\"Config\":{%s}}",
           host, network, config);
  return parse(text);
}

static cdam_status compare(const cdam_state *state, json_t *inspect, cdam_error *err) {
  cdam_status status = cdam_generated_compare(&state->message, inspect, err);
  assert_int_equal(cdam_generated_compare(&state->message, inspect, NULL), status);
  json_decref(inspect);
  return status;
}

static void expect_same(const cdam_state *state, json_t *inspect) {
  cdam_error err;
  cdam_status status = compare(state, inspect, &err);
  if (status != CDAM_OK) fail_msg("%s", err.message);
}

static void expect_drift(const cdam_state *state, json_t *inspect, const char *field,
                         const char *expected, const char *actual) {
  cdam_error err;
  assert_int_equal(compare(state, inspect, &err), CDAM_ERR_DRIFT);
  assert_string_equal(err.field, field);
  if (expected) assert_string_equal(err.expected, expected);
  if (actual) assert_string_equal(err.actual, actual);
  assert_non_null(strstr(err.message, field));
  assert_int_equal(err.retry, CDAM_RETRY_NO);
}

static cdam_state *state_of(cdam_network_mode mode) {
  cdam_options *options = fixture_options();
  cdam_options_set_network_mode(options, mode);
  return fixture_state(options);
}

#define MODE_NONE "\"NetworkMode\":\"none\""
#define NETWORKS(members) "\"Networks\":{" members "}"

/* What Docker 20.10 shows of a container without a network. */
#define EMPTY_NONE                                                                                 \
  "\"none\":{\"IPAMConfig\":null,\"Links\":null,\"Aliases\":null,\"NetworkID\":\"abc\","           \
  "\"EndpointID\":\"def\",\"Gateway\":\"\",\"IPAddress\":\"\",\"IPPrefixLen\":0,"                  \
  "\"IPv6Gateway\":\"\",\"GlobalIPv6Address\":\"\",\"GlobalIPv6PrefixLen\":0,\"MacAddress\":\"\"," \
  "\"DriverOpts\":null}"

static int none_up(void **state) {
  *state = state_of(CDAM_NETWORK_MODE_NONE);
  return 0;
}

static int unset_up(void **state) {
  *state = state_of(CDAM_NETWORK_MODE_UNSET);
  return 0;
}

static int down(void **state) {
  fixture_free_state(*state);
  return 0;
}

/* ---- network ---- */

static void none_is_recognized(void **state) {
  static const char *const networks[] = {
      NETWORKS(""),
      NETWORKS(EMPTY_NONE),
      NETWORKS("\"none\":{}"),
      NETWORKS("\"none\":{\"IPAddress\":null,\"IPPrefixLen\":null,\"MacAddress\":null}"),
  };
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    expect_same(*state, answer(MODE_NONE, networks[i], ""));
  }
}

static void another_mode_is_drift(void **state) {
  static const char *const found[][2] = {
      {"\"NetworkMode\":\"bridge\"", "bridge"},
      {"\"NetworkMode\":\"default\"", "default"},
      {"\"NetworkMode\":\"host\"", "host"},
      {"\"NetworkMode\":\"container:abc\"", "container:abc"},
      {"\"NetworkMode\":\"None\"", "None"},
      {"\"NetworkMode\":\"none \"", "none "},
      {"\"NetworkMode\":\"none\\u0000\"", NULL},
      {"\"NetworkMode\":\"\"", "an empty text"},
      {"\"NetworkMode\":null", "null"},
      {"\"NetworkMode\":1", "1"},
      {"\"NetworkMode\":true", "true"},
      {"\"NetworkMode\":[\"none\"]", "a list of 1"},
      {"\"NetworkMode\":{\"none\":1}", "an object with 1 keys"},
      {"\"networkMode\":\"none\"", "absent"},
      {"", "absent"},
  };
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
    expect_drift(*state, answer(found[i][0], NETWORKS(EMPTY_NONE), ""), "HostConfig.NetworkMode",
                 "none", found[i][1]);
  }
}

/* NetworkMode still says none after `disconnect none` and `connect X`. */
static void another_network_is_drift(void **state) {
  static const char *const found[][2] = {
      {NETWORKS("\"bridge\":{}"), "bridge"},
      {NETWORKS("\"bridge\":{\"IPAddress\":\"172.17.0.2\"}"), "bridge"},
      {NETWORKS(EMPTY_NONE ",\"bridge\":{}"), "bridge, none"},
      {NETWORKS("\"zz\":{}," EMPTY_NONE ",\"aa\":{}"), "aa, none, zz"},
      {NETWORKS("\"NONE\":{}"), "NONE"},
      {NETWORKS("\"none2\":{}"), "none2"},
      {NETWORKS("\"\":{}"), NULL},
      {"\"Networks\":null", "null"},
      {"\"Networks\":[]", "a list of 0"},
      {"\"Networks\":\"\"", "an empty text"},
      {"\"Networks\":false", "false"},
      {"", "absent"},
  };
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
    expect_drift(*state, answer(MODE_NONE, found[i][0], ""), "NetworkSettings.Networks",
                 "only \"none\", without addresses", found[i][1]);
  }
}

static void none_with_an_address_is_drift(void **state) {
  static const char *const members[][2] = {
      {"\"IPAddress\":\"172.17.0.2\"", "\"none\" with IPAddress"},
      {"\"GlobalIPv6Address\":\"fd00::2\"", "\"none\" with GlobalIPv6Address"},
      {"\"Gateway\":\"172.17.0.1\"", "\"none\" with Gateway"},
      {"\"IPv6Gateway\":\"fd00::1\"", "\"none\" with IPv6Gateway"},
      {"\"MacAddress\":\"02:42:ac:11:00:02\"", "\"none\" with MacAddress"},
      {"\"IPPrefixLen\":16", "\"none\" with IPPrefixLen"},
      {"\"GlobalIPv6PrefixLen\":64", "\"none\" with GlobalIPv6PrefixLen"},
      {"\"IPAddress\":0", "\"none\" with IPAddress"},
      {"\"IPAddress\":{}", "\"none\" with IPAddress"},
      {"\"IPAddress\":false", "\"none\" with IPAddress"},
      {"\"IPAddress\":\"\\u0000\"", "\"none\" with IPAddress"},
      {"\"IPPrefixLen\":\"\"", "\"none\" with IPPrefixLen"},
      {"\"IPPrefixLen\":0.0", "\"none\" with IPPrefixLen"},
  };
  static const char *const entries[] = {"null", "\"\"", "[]", "0"};
  char networks[256];
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    snprintf(networks, sizeof networks, "\"Networks\":{\"none\":{%s}}", members[i][0]);
    expect_drift(*state, answer(MODE_NONE, networks, ""), "NetworkSettings.Networks", NULL,
                 members[i][1]);
  }
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    snprintf(networks, sizeof networks, "\"Networks\":{\"none\":%s}", entries[i]);
    expect_drift(*state, answer(MODE_NONE, networks, ""), "NetworkSettings.Networks", NULL,
                 "\"none\" with an odd entry");
  }
}

static void many_networks_fit_the_error(void **state) {
  char networks[3000] = "\"Networks\":{";
  for (int i = 0; i < 100; i++) {
    char one[32];
    snprintf(one, sizeof one, "%s\"network-%02d\":{}", i ? "," : "", i);
    memcpy(networks + strlen(networks), one, strlen(one) + 1);
  }
  memcpy(networks + strlen(networks), "}", 2);
  cdam_error err;
  assert_int_equal(compare(*state, answer(MODE_NONE, networks, ""), &err), CDAM_ERR_DRIFT);
  assert_memory_equal(err.actual, "network-00, network-01, ", 24);
}

static void what_is_no_inspect_answer_is_drift(void **state) {
  static const char *const texts[] = {"{}", "[]", "{\"HostConfig\":null}", "{\"HostConfig\":\"x\"}",
                                      "{\"HostConfig\":[]}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    expect_drift(*state, parse(texts[i]), "HostConfig.NetworkMode", "none", "absent");
  }
}

/* Engines call their default by many names. */
static void unset_is_compared_with_nothing(void **state) {
  static const char *const hosts[] = {"\"NetworkMode\":\"default\"", "\"NetworkMode\":\"bridge\"",
                                      "\"NetworkMode\":\"slirp4netns\"", "\"NetworkMode\":null",
                                      ""};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    expect_same(*state, answer(hosts[i], NETWORKS("\"bridge\":{\"IPAddress\":\"1.2.3.4\"}"), ""));
    expect_same(*state, answer(hosts[i], "", ""));
  }
}

static void an_unknown_mode_matches_nothing(void **unused) {
  (void)unused;
  static const int numbers[] = {2, -1};
  for (size_t i = 0; i < 2; i++) {
    cdam_state *state = state_of((cdam_network_mode)numbers[i]);
    expect_drift(state, answer(MODE_NONE, NETWORKS(""), ""), "HostConfig.NetworkMode", NULL, NULL);
    fixture_free_state(state);
  }
}

/* ---- image ---- */

static void the_image_is_the_resolved_one(void **state) {
  cdam_error err;
  expect_same(*state, parse("{\"Image\":\"" HEX64 "\"}"));
  static const char *const wrong[] = {"{}",
                                      "{\"Image\":null}",
                                      "{\"Image\":\"\"}",
                                      "{\"Image\":\"sha256:\"}",
                                      "{\"Image\":\"busybox:test\"}",
                                      "{\"Image\":\"sha512:" HEX64 "\"}",
                                      "{\"Image\":\"sha256:sha256:" HEX64 "\"}",
                                      "{\"Image\":{}}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(compare(*state, parse(wrong[i]), &err), CDAM_ERR_DRIFT);
    assert_string_equal(err.field, "Image");
    assert_string_equal(err.expected, TEST_IMAGE_ID);
  }
}

static void an_empty_resolved_value_matches_nothing(void **unused) {
  (void)unused;
  json_t *inspect = parse("{\"Image\":\"\"}");
  assert_int_equal(cdam_compare_resolved(inspect, "Image", "", NULL), CDAM_ERR_DRIFT);
  assert_int_equal(cdam_compare_resolved(inspect, "Image", "sha256:", NULL), CDAM_ERR_DRIFT);
  assert_int_equal(cdam_compare_resolved(inspect, "Image", NULL, NULL), CDAM_ERR_DRIFT);
  json_decref(inspect);
  inspect = parse("{\"Image\":\"" HEX64 "\"}");
  assert_int_equal(cdam_compare_resolved(inspect, "Image", "sha512:" HEX64, NULL), CDAM_ERR_DRIFT);
  json_decref(inspect);
}

/* ---- labels ---- */

static void labels_match_as_a_subset(void **unused) {
  (void)unused;
  cdam_options *options = fixture_options();
  assert_int_equal(cdam_options_set_label(options, "a", "1", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_label(options, "b.c", "", NULL), CDAM_OK);
  cdam_state *state = fixture_state(options);
  expect_same(state, answer("", "", "\"Labels\":{\"a\":\"1\",\"b.c\":\"\"}"));
  expect_same(state, answer("", "", "\"Labels\":{\"b.c\":\"\",\"x\":\"y\",\"a\":\"1\"}"));
  static const char *const wrong[][4] = {
      {"\"Labels\":{\"a\":\"2\",\"b.c\":\"\"}", "Config.Labels[a]", "1", "2"},
      {"\"Labels\":{\"b.c\":\"\"}", "Config.Labels[a]", "1", "absent"},
      {"\"Labels\":{\"a\":\"1\"}", "Config.Labels[b.c]", "", "absent"},
      {"\"Labels\":{\"a\":null,\"b.c\":\"\"}", "Config.Labels[a]", "1", "null"},
      {"\"Labels\":{\"a\":1,\"b.c\":\"\"}", "Config.Labels[a]", "1", "1"},
      {"\"Labels\":{}", "Config.Labels[a]", "1", "absent"},
      {"\"Labels\":null", "Config.Labels[a]", "1", "absent"},
      {"", "Config.Labels[a]", "1", "absent"},
      {"\"Labels\":[]", "Config.Labels", "an object", "a list of 0"},
      {"\"Labels\":\"a\"", "Config.Labels", "an object", "a"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    expect_drift(state, answer("", "", wrong[i][0]), wrong[i][1], wrong[i][2], wrong[i][3]);
  }
  fixture_free_state(state);
}

/* ---- environment ---- */

static void env_matches_as_a_subset_and_stays_secret(void **unused) {
  (void)unused;
  cdam_options *options = fixture_options();
  assert_int_equal(cdam_options_set_env(options, "A", "se=cret==", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "B", "", NULL), CDAM_OK);
  cdam_state *state = fixture_state(options);
  expect_same(state, answer("", "", "\"Env\":[\"A=se=cret==\",\"B=\"]"));
  expect_same(state, answer("", "", "\"Env\":[\"PATH=/bin\",\"B=\",\"A=se=cret==\",\"PATH\",7]"));
  static const char *const wrong[][3] = {
      {"\"Env\":[\"A=hidden\",\"B=\"]", "Config.Env[A]", "another value"},
      {"\"Env\":[\"A=se=cret==\",\"A=hidden\",\"B=\"]", "Config.Env[A]", "another value"},
      {"\"Env\":[\"A=hidden\",\"A=se=cret==\",\"B=\"]", "Config.Env[A]", "another value"},
      {"\"Env\":[\"A=se=cret==\\u0000\",\"B=\"]", "Config.Env[A]", "another value"},
      {"\"Env\":[\"A=se=cret==\"]", "Config.Env[B]", "absent"},
      {"\"Env\":[\"A=se=cret==\",\"B\"]", "Config.Env[B]", "absent"},
      {"\"Env\":[\"AA=se=cret==\",\"B=\"]", "Config.Env[A]", "absent"},
      {"\"Env\":[]", "Config.Env[A]", "absent"},
      {"\"Env\":null", "Config.Env[A]", "absent"},
      {"", "Config.Env[A]", "absent"},
      {"\"Env\":{\"A\":\"hidden\"}", "Config.Env", "something else"},
      {"\"Env\":\"hidden\"", "Config.Env", "something else"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cdam_error err;
    json_t *inspect = answer("", "", wrong[i][0]);
    assert_int_equal(compare(state, json_incref(inspect), &err), CDAM_ERR_DRIFT);
    assert_null(strstr(err.message, "hidden"));
    assert_null(strstr(err.message, "cret"));
    expect_drift(state, inspect, wrong[i][1], NULL, wrong[i][2]);
  }
  fixture_free_state(state);
}

/* ---- ports ---- */

static cdam_state *state_with_ports(cdam_network_mode mode) {
  cdam_options *options = fixture_options();
  cdam_options_set_network_mode(options, mode);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  assert_int_equal(cdam_options_add_exposed_port(options, 8080, NULL), CDAM_OK);
  return fixture_state(options);
}

#define EXPOSED "\"ExposedPorts\":{\"80/tcp\":{},\"8080/tcp\":{}}"
#define BOUND "[{\"HostIp\":\"127.0.0.1\",\"HostPort\":\"\"}]"
#define BINDINGS(first) "\"PortBindings\":{\"80/tcp\":" first ",\"8080/tcp\":" BOUND "}"

static void ports_match_as_a_subset(void **unused) {
  (void)unused;
  cdam_state *state = state_with_ports(CDAM_NETWORK_MODE_UNSET);
  expect_same(state, answer(BINDINGS(BOUND), "", EXPOSED));
  expect_same(state,
              answer("\"PortBindings\":{\"53/udp\":[],\"80/tcp\":" BOUND ",\"8080/tcp\":" BOUND "}",
                     "", "\"ExposedPorts\":{\"80/tcp\":{},\"8080/tcp\":{},\"1/tcp\":{}}"));
  static const char *const wrong[][4] = {
      {BINDINGS(BOUND), "\"ExposedPorts\":{\"80/tcp\":{}}", "Config.ExposedPorts[8080/tcp]",
       "absent"},
      {BINDINGS(BOUND), "\"ExposedPorts\":{\"80/udp\":{},\"8080/tcp\":{}}",
       "Config.ExposedPorts[80/tcp]", "absent"},
      {BINDINGS(BOUND), "\"ExposedPorts\":null", "Config.ExposedPorts[80/tcp]", "absent"},
      {BINDINGS(BOUND), "\"ExposedPorts\":[]", "Config.ExposedPorts", "a list of 0"},
      {BINDINGS(BOUND), "\"ExposedPorts\":{\"80/tcp\":null,\"8080/tcp\":{}}",
       "Config.ExposedPorts[80/tcp]", "no object"},
      {"", EXPOSED, "HostConfig.PortBindings[80/tcp]", "absent"},
      {"\"PortBindings\":{}", EXPOSED, "HostConfig.PortBindings[80/tcp]", "absent"},
      {"\"PortBindings\":7", EXPOSED, "HostConfig.PortBindings", "7"},
      {BINDINGS("null"), EXPOSED, "HostConfig.PortBindings[80/tcp]", "no list of bindings"},
      {BINDINGS("[]"), EXPOSED, "HostConfig.PortBindings[80/tcp]", "no binding"},
      {BINDINGS("[{}]"), EXPOSED, "HostConfig.PortBindings[80/tcp]", "bound to another address"},
      {BINDINGS("[null]"), EXPOSED, "HostConfig.PortBindings[80/tcp]", "bound to another address"},
      {BINDINGS("[{\"HostIp\":\"\",\"HostPort\":\"1\"}]"), EXPOSED,
       "HostConfig.PortBindings[80/tcp]", "bound to another address"},
      {BINDINGS("[{\"HostIp\":\"0.0.0.0\"}]"), EXPOSED, "HostConfig.PortBindings[80/tcp]",
       "bound to another address"},
      {BINDINGS("[{\"HostIp\":\"127.0.0.1\"},{\"HostIp\":\"::\"}]"), EXPOSED,
       "HostConfig.PortBindings[80/tcp]", "bound to another address"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    expect_drift(state, answer(wrong[i][0], "", wrong[i][1]), wrong[i][2], NULL, wrong[i][3]);
  }
  fixture_free_state(state);
}

/* Podman drops the ports of a container without a network; Docker keeps them. */
static void ports_of_a_none_container_may_be_missing(void **unused) {
  (void)unused;
  cdam_state *state = state_with_ports(CDAM_NETWORK_MODE_NONE);
  expect_same(state, answer(MODE_NONE "," BINDINGS(BOUND), NETWORKS(EMPTY_NONE), EXPOSED));
  expect_same(state, answer(MODE_NONE ",\"PortBindings\":{}", NETWORKS(""), ""));
  expect_drift(state,
               answer(MODE_NONE "," BINDINGS("[{\"HostIp\":\"0.0.0.0\"}]"), NETWORKS(""), EXPOSED),
               "HostConfig.PortBindings[80/tcp]", NULL, "bound to another address");
  fixture_free_state(state);
}

/* ---- shapes that later options will use ---- */

static json_t *at_path(const char *value) {
  char text[256];
  snprintf(text, sizeof text, "{\"A\":{\"B\":%s}}", value);
  return parse(text);
}

static void booleans_and_numbers(void **unused) {
  (void)unused;
  static const struct {
    const char *value;
    bool is_true;
    bool is_five;
    bool nothing;
  } rows[] = {
      {"true", true, false, false},   {"false", false, false, false},
      {"null", false, false, true},   {"\"true\"", false, false, false},
      {"1", false, false, false},     {"5", false, true, false},
      {"5.0", false, false, false},   {"-5", false, false, false},
      {"\"5\"", false, false, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *json = at_path(rows[i].value);
    assert_int_equal(cdam_compare_bool(json, "A.B", true, CDAM_COMPARE_EXACT, NULL),
                     rows[i].is_true ? CDAM_OK : CDAM_ERR_DRIFT);
    assert_int_equal(cdam_compare_uint(json, "A.B", 5, CDAM_COMPARE_EXACT, NULL),
                     rows[i].is_five ? CDAM_OK : CDAM_ERR_DRIFT);
    assert_int_equal(cdam_compare_uint(json, "A.B", 5, CDAM_COMPARE_ABSENT_OR_EQUAL, NULL),
                     rows[i].is_five || rows[i].nothing ? CDAM_OK : CDAM_ERR_DRIFT);
    assert_int_equal(cdam_compare_bool(json, "A.C", true, CDAM_COMPARE_ABSENT_OR_EQUAL, NULL),
                     CDAM_OK);
    assert_int_equal(cdam_compare_bool(json, "A.C", true, CDAM_COMPARE_EXACT, NULL),
                     CDAM_ERR_DRIFT);
    assert_int_equal(cdam_compare_string(json, "A.C", "x", CDAM_COMPARE_ABSENT_OR_EQUAL, NULL),
                     CDAM_OK);
    json_decref(json);
  }
}

static void lists(void **unused) {
  (void)unused;
  char all[] = "ALL", net[] = "NET";
  char *items[] = {all, net};
  static const uint32_t numbers[] = {1, 2};
  static const struct {
    const char *value;
    bool exact, subset;
  } rows[] = {
      {"[\"ALL\",\"NET\"]", true, true},
      {"[\"NET\",\"ALL\"]", false, true},
      {"[\"ALL\"]", false, false},
      {"[\"ALL\",\"NET\",\"X\"]", false, true},
      {"[\"all\",\"NET\"]", false, false},
      {"null", false, false},
      {"{}", false, false},
      {"[\"ALL\",null]", false, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *json = at_path(rows[i].value);
    assert_int_equal(cdam_compare_strings(json, "A.B", items, 2, CDAM_COMPARE_EXACT, NULL),
                     rows[i].exact ? CDAM_OK : CDAM_ERR_DRIFT);
    assert_int_equal(cdam_compare_strings(json, "A.B", items, 2, CDAM_COMPARE_SUBSET, NULL),
                     rows[i].subset ? CDAM_OK : CDAM_ERR_DRIFT);
    json_decref(json);
  }
  cdam_error err;
  json_t *json = at_path("[1,3]");
  assert_int_equal(cdam_compare_uints(json, "A.B", numbers, 2, CDAM_COMPARE_EXACT, &err),
                   CDAM_ERR_DRIFT);
  assert_string_equal(err.field, "A.B[1]");
  assert_string_equal(err.expected, "2");
  assert_string_equal(err.actual, "3");
  assert_int_equal(cdam_compare_uints(json, "A.B", numbers, 1, CDAM_COMPARE_SUBSET, NULL), CDAM_OK);
  json_decref(json);
}

static void whole_objects(void **unused) {
  (void)unused;
  cdam_options *options = fixture_options();
  assert_int_equal(cdam_options_set_label(options, "/tmp", "size=1", NULL), CDAM_OK);
  cdam_map map = {(void **)options->message.labels, 1,
                  &cofferdam__v1__sandbox_options__labels_entry__descriptor};
  static const struct {
    const char *value;
    bool same;
  } rows[] = {
      {"{\"/tmp\":\"size=1\"}", true},
      {"{\"/tmp\":\"size=2\"}", false},
      {"{\"/tmp\":\"size=1\",\"/x\":\"\"}", false},
      {"{}", false},
      {"null", false},
      {"[]", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *json = at_path(rows[i].value);
    assert_int_equal(cdam_compare_object(json, "A.B", &map, CDAM_COMPARE_EXACT, NULL),
                     rows[i].same ? CDAM_OK : CDAM_ERR_DRIFT);
    json_decref(json);
  }
  fixture_free_options(options);
}

int main(void) {
#define NONE(name) cmocka_unit_test_setup_teardown(name, none_up, down)
#define UNSET(name) cmocka_unit_test_setup_teardown(name, unset_up, down)
  const struct CMUnitTest tests[] = {
      NONE(none_is_recognized),
      NONE(another_mode_is_drift),
      NONE(another_network_is_drift),
      NONE(none_with_an_address_is_drift),
      NONE(many_networks_fit_the_error),
      NONE(what_is_no_inspect_answer_is_drift),
      UNSET(unset_is_compared_with_nothing),
      cmocka_unit_test(an_unknown_mode_matches_nothing),
      UNSET(the_image_is_the_resolved_one),
      cmocka_unit_test(an_empty_resolved_value_matches_nothing),
      cmocka_unit_test(labels_match_as_a_subset),
      cmocka_unit_test(env_matches_as_a_subset_and_stays_secret),
      cmocka_unit_test(ports_match_as_a_subset),
      cmocka_unit_test(ports_of_a_none_container_may_be_missing),
      cmocka_unit_test(booleans_and_numbers),
      cmocka_unit_test(lists),
      cmocka_unit_test(whole_objects),
  };
#undef NONE
#undef UNSET
  return cmocka_run_group_tests(tests, NULL, NULL);
}
