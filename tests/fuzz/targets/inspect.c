/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any JSON as the answer of an inspect, against states with NONE. Whatever passes has network mode
 * "none" and a Networks map that is empty or has only a "none" without any address; and what else
 * the state asks for. The oracle here shares nothing with the library but the JSON parser.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_parse.h"
#include "fuzz.h"
#include "interchange/agents_container.h"
#include "session/verify.h"
#include "state/protojson.h"

#define SESSION_ID "6f1c2f4e-0a1b-4c3d-9e5f-8a7b6c5d4e3f"
#define DIGITS "6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d"
#define COMMON                                                                                     \
  "\"schemaRevision\":2,\"requiredFeatures\":[1],\"sessionId\":\"" SESSION_ID "\","                \
  "\"imageId\":\"sha256:" DIGITS "\",\"containerId\":\"" DIGITS "\","

static const char *const documents[] = {
    "{" COMMON "\"options\":{\"image\":\"busybox\",\"networkMode\":1}}",
    "{" COMMON "\"options\":{\"image\":\"busybox\",\"networkMode\":1,\"exposedPorts\":[80],"
    "\"labels\":{\"a\":\"b\",\"d.e\":\"\"},\"env\":{\"A\":\"b\",\"C\":\"\"}}}",
};

enum { STATES = sizeof documents / sizeof *documents };

static const cdam_state *state_of(size_t index) {
  static cdam_state *states[STATES];
  if (!states[index])
    FUZZ_CHECK(cdam_state_from_json(documents[index], strlen(documents[index]), NULL,
                                    &states[index], NULL) == CDAM_OK);
  return states[index];
}

static const json_t *member(const json_t *object, const char *name) {
  return json_is_object(object) ? json_object_get(object, name) : NULL;
}

static bool is_text(const json_t *value, const char *text) {
  return json_is_string(value) && json_string_length(value) == strlen(text) &&
         strcmp(json_string_value(value), text) == 0;
}

static bool is_no_address(const json_t *value) {
  return !value || json_is_null(value) || is_text(value, "") ||
         (json_is_integer(value) && json_integer_value(value) == 0);
}

static void check_isolated(const json_t *inspect) {
  FUZZ_CHECK(is_text(member(member(inspect, "HostConfig"), "NetworkMode"), "none"));
  const json_t *networks = member(member(inspect, "NetworkSettings"), "Networks");
  FUZZ_CHECK(json_is_object(networks) && json_object_size(networks) <= 1);
  const char *name;
  json_t *network;
  json_object_foreach((json_t *)(uintptr_t)networks, name, network) {
    static const char *const addresses[] = {
        "IPAddress",  "GlobalIPv6Address",   "Gateway",    "IPv6Gateway",
        "MacAddress", "GlobalIPv6PrefixLen", "IPPrefixLen"};
    FUZZ_CHECK(strcmp(name, "none") == 0 && json_is_object(network));
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
      FUZZ_CHECK(is_no_address(json_object_get(network, addresses[i])));
  }
}

static void check_identity(const json_t *inspect) {
  const json_t *label =
      member(member(member(inspect, "Config"), "Labels"), "io.cofferdam.session-id");
  FUZZ_CHECK(is_text(member(inspect, "Id"), DIGITS));
  FUZZ_CHECK(is_text(label, SESSION_ID) ||
             (!json_is_string(label) &&
              is_text(member(inspect, "Name"), "/cofferdam-adopted-" SESSION_ID)));
  const json_t *image = member(inspect, "Image");
  FUZZ_CHECK(is_text(image, DIGITS) || is_text(image, "sha256:" DIGITS));
}

/* Every variable of that name has that value, and there is one. */
static void check_variable(const json_t *env, const char *name, const char *item) {
  size_t found = 0, length = strlen(name);
  for (size_t i = 0; i < json_array_size(env); i++) {
    const char *text = json_string_value(json_array_get(env, i));
    if (!text || strncmp(text, name, length) != 0 || text[length] != '=') continue;
    FUZZ_CHECK(strcmp(text, item) == 0);
    found++;
  }
  FUZZ_CHECK(found > 0);
}

static void check_rest(const json_t *inspect) {
  const json_t *config = member(inspect, "Config");
  FUZZ_CHECK(is_text(member(member(config, "Labels"), "a"), "b"));
  FUZZ_CHECK(is_text(member(member(config, "Labels"), "d.e"), ""));
  check_variable(member(config, "Env"), "A", "A=b");
  check_variable(member(config, "Env"), "C", "C=");
  const json_t *port = member(member(config, "ExposedPorts"), "80/tcp");
  FUZZ_CHECK(!port || json_is_object(port));
  const json_t *bindings = member(member(member(inspect, "HostConfig"), "PortBindings"), "80/tcp");
  for (size_t i = 0; i < json_array_size(bindings); i++)
    FUZZ_CHECK(is_text(member(json_array_get(bindings, i), "HostIp"), "127.0.0.1"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_error_t problem;
  char *text = fuzz_copy(data, size);
  json_t *inspect = cdam_json_parse(text, size, &problem);
  free(text);
  if (!inspect) return 0;
  for (size_t i = 0; i < STATES; i++) {
    const cdam_state *state = state_of(i);
    cdam_error err = {0};
    cdam_status status = cdam_verify(state, inspect, &err);
    FUZZ_CHECK(status == CDAM_OK || status == CDAM_ERR_DRIFT || status == CDAM_ERR_NOT_OURS);
    FUZZ_CHECK(err.code == status);
    FUZZ_CHECK(cdam_verify(state, inspect, NULL) == status);
    if (cdam_generated_compare(&state->message, inspect, NULL) == CDAM_OK) check_isolated(inspect);
    if (status == CDAM_OK) check_identity(inspect);
    if (status == CDAM_OK && i == 1) check_rest(inspect);
    (void)cdam_agents_check_container(state->message.options, inspect, &err);
    (void)cdam_agents_limit_of(inspect);
    (void)cdam_agents_volume_of(inspect);
  }
  (void)cdam_container_status_of(inspect);
  FUZZ_CHECK(cdam_container_status_word(inspect) != NULL);
  json_decref(inspect);
  return 0;
}
