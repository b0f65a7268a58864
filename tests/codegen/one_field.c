/* SPDX-License-Identifier: Apache-2.0 */
/* An option that the schema got by its field, its feature and annotations alone: what can be shown
 * without an engine. Writes a state to the file that is named, and prints what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/cofferdam.h>

#include "options/generated.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int failures;

static void expect(bool good, const char *what, const cdam_error *err) {
  if (good) return;
  fprintf(stderr, "wrong: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
  failures++;
}

#define EXPECT(condition) expect((condition), #condition, &err)

static cdam_options *options_with(uint32_t cpu_shares) {
  cdam_error err = {0};
  cdam_options *options = NULL;
  EXPECT(cdam_options_new(&options, &err) == CDAM_OK);
  EXPECT(cdam_options_set_image(options, "busybox:test", &err) == CDAM_OK);
  cdam_options_set_cpu_shares(options, cpu_shares);
  return options;
}

static void test_validated(void) {
  static const struct {
    uint32_t value;
    bool good;
  } rows[] = {{0, true}, {1, false}, {2, true}, {262144, true}, {262145, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_error err = {0};
    cdam_options *options = options_with(rows[i].value);
    cdam_status status = cdam_options_validate(options, &err);
    EXPECT(status == (rows[i].good ? CDAM_OK : CDAM_ERR_INVALID));
    EXPECT(rows[i].good || strcmp(err.field, "cpu_shares") == 0);
    cdam_options_free(options);
  }
}

static void test_sent(void) {
  cdam_error err = {0};
  cdam_options *options = options_with(512);
  json_t *body = NULL;
  EXPECT(cdam_generated_create_body(&options->message, &body, &err) == CDAM_OK);
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  EXPECT(text &&
         strcmp(text, "{\"HostConfig\":{\"CpuShares\":512},\"Image\":\"busybox:test\"}") == 0);
  free(text);
  json_decref(body);
  cdam_options_free(options);
}

static cdam_status parse_json(const char *features, cdam_state **state, cdam_error *err) {
  char text[1024];
  int length = snprintf(text, sizeof text,
                        "{\"schemaRevision\":%u,\"requiredFeatures\":[%s],"
                        "\"sessionId\":\"3f2a9c44-5d0e-4b1f-8a67-0c9d2e1f4b58\","
                        "\"options\":{\"image\":\"busybox:test\",\"cpuShares\":512},"
                        "\"imageId\":\"sha256:" DIGEST "\",\"containerId\":\"" DIGEST "\"}",
                        cdam_schema_revision(), features);
  return cdam_state_from_json(text, (size_t)length, NULL, state, err);
}

static void save(const char *path, const unsigned char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  expect(file && fwrite(bytes, 1, length, file) == length, "writing the state", NULL);
  if (file) fclose(file);
}

static void test_persisted(const char *path) {
  cdam_error err = {0};
  cdam_state *state = NULL, *again = NULL;
  unsigned char *bytes = NULL;
  size_t length = 0;
  EXPECT(parse_json("\"FEATURE_CPU_SHARES\"", &state, &err) == CDAM_OK);
  EXPECT(cdam_state_serialize(state, NULL, &bytes, &length, &err) == CDAM_OK);
  EXPECT(cdam_state_parse(bytes, length, NULL, &again, &err) == CDAM_OK);
  EXPECT(cdam_options_cpu_shares(cdam_state_options(again)) == 512);
  EXPECT(cdam_state_required_feature_count(again) == 1);
  EXPECT(cdam_state_required_feature(again, 0) == CDAM_FEATURE_CPU_SHARES);
  if (bytes) save(path, bytes, length);
  free(bytes);
  cdam_state_free(state);
  cdam_state_free(again);
}

static void test_listed(void) {
  static const char *const lists[] = {"", "\"FEATURE_NETWORK_ISOLATION\"",
                                      "\"FEATURE_CPU_SHARES\",\"FEATURE_NETWORK_ISOLATION\""};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    cdam_error err = {0};
    cdam_state *state = NULL;
    EXPECT(parse_json(lists[i], &state, &err) == CDAM_ERR_INVALID);
    EXPECT(strcmp(err.field, "required_features") == 0);
    cdam_state_free(state);
  }
}

static void test_compared(void) {
  static const struct {
    const char *host;
    bool same;
  } rows[] = {{"{\"CpuShares\":512}", true},
              {"{\"CpuShares\":1024}", false},
              {"{\"CpuShares\":0}", false},
              {"{\"CpuShares\":null}", false},
              {"{}", false}};
  cdam_error err = {0};
  cdam_state *state = NULL;
  EXPECT(parse_json("\"FEATURE_CPU_SHARES\"", &state, &err) == CDAM_OK);
  for (size_t i = 0; state && i < sizeof rows / sizeof *rows; i++) {
    json_t *inspect = json_pack("{ss}", "Image", "sha256:" DIGEST);
    json_object_set_new(inspect, "HostConfig", json_loads(rows[i].host, 0, NULL));
    cdam_status status = cdam_generated_compare(&state->message, inspect, &err);
    EXPECT(status == (rows[i].same ? CDAM_OK : CDAM_ERR_DRIFT));
    EXPECT(rows[i].same || strcmp(err.field, "HostConfig.CpuShares") == 0);
    json_decref(inspect);
  }
  cdam_state_free(state);
}

/* Not even an address that cannot be reached is touched. */
static void test_demanded(void) {
  cdam_error err = {0};
  cdam_client_config *config = NULL;
  cdam_client *client = NULL;
  cdam_session *session = NULL;
  cdam_options *minimum = options_with(512), *looser = options_with(1024);
  EXPECT(cdam_client_config_new(&config, &err) == CDAM_OK);
  EXPECT(cdam_client_config_set_endpoint(config, "unix:///nobody/listens", &err) == CDAM_OK);
  EXPECT(cdam_client_config_require(config, minimum, &err) == CDAM_OK);
  EXPECT(cdam_client_new(config, &client, &err) == CDAM_OK);
  EXPECT(cdam_create(client, looser, &session, &err) == CDAM_ERR_POLICY);
  EXPECT(strcmp(err.field, "cpu_shares") == 0);
  cdam_client_free(client);
  cdam_client_config_free(config);
  cdam_options_free(minimum);
  cdam_options_free(looser);
}

/* A format that has no place for it refuses it. */
static void test_not_exported(void) {
  cdam_error err = {0};
  cdam_state *state = NULL;
  char *json = NULL;
  cdam_agents_report *report = NULL;
  EXPECT(parse_json("\"FEATURE_CPU_SHARES\"", &state, &err) == CDAM_OK);
  EXPECT(cdam_state_to_agents_json(state, NULL, 0, &json, &report, &err) == CDAM_ERR_UNSUPPORTED);
  EXPECT(strstr(err.message, "FEATURE_CPU_SHARES") != NULL);
  EXPECT(!json && !report);
  cdam_state_free(state);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  test_validated();
  test_sent();
  test_persisted(argv[1]);
  test_listed();
  test_compared();
  test_demanded();
  test_not_exported();
  return failures ? 1 : 0;
}
