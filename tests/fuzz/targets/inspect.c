/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any JSON as the answer of an inspect, against states with NONE. Whatever passes has network mode
 * "none" and a Networks map that is empty or has only a "none" without any address; what else the
 * state asks for; and nothing of its host. The oracle here shares nothing with the library but the
 * JSON parser.
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
#define ID "a42d519714d616e9411dbceec4b52808bd6b1ee53e6f6497a281d655357d8b71"
#define COMMON                                                                                     \
  "\"schemaRevision\":2,\"sessionId\":\"" SESSION_ID "\",\"imageId\":\"sha256:" DIGITS             \
  "\",\"containerId\":\"" ID "\","
#define ISOLATED "\"requiredFeatures\":[1],"

static const char *const documents[] = {
    "{" COMMON ISOLATED "\"options\":{\"image\":\"busybox\",\"networkMode\":1}}",
    "{" COMMON ISOLATED "\"options\":{\"image\":\"busybox\",\"networkMode\":1,"
    "\"exposedPorts\":[80],\"labels\":{\"a\":\"b\",\"d.e\":\"\"},"
    "\"env\":{\"A\":\"b\",\"C\":\"\"}}}",
    "{" COMMON "\"options\":{\"image\":\"busybox\"}}",
};

/* The first asks for nothing but NONE, the second for all there is, the third for nothing. */
enum { BARE, FULL, UNSET, STATES };

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
  FUZZ_CHECK(is_text(member(inspect, "Id"), ID));
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

/* ---- the host ---- */

static bool is_empty(const json_t *value) {
  return !value || json_is_null(value) || json_is_false(value) || is_text(value, "") ||
         (json_is_array(value) && json_array_size(value) == 0) ||
         (json_is_object(value) && json_object_size(value) == 0);
}

static bool is_own_namespace(const json_t *value) {
  return is_empty(value) || is_text(value, "private") || is_text(value, "shareable") ||
         is_text(value, "none");
}

/* What no container of ours has, and none of the SDK's. */
static void check_reach(const json_t *inspect) {
  static const char *const empty[] = {
      "CapAdd",      "Devices", "DeviceRequests", "DeviceCgroupRules",
      "VolumesFrom", "Links",   "GroupAdd",       "PublishAllPorts"};
  static const char *const own[] = {"PidMode", "IpcMode", "UTSMode", "UsernsMode"};
  const json_t *host = member(inspect, "HostConfig");
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
    FUZZ_CHECK(is_empty(member(host, empty[i])));
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    FUZZ_CHECK(is_own_namespace(member(host, own[i])));
  const json_t *masked = member(host, "MaskedPaths");
  FUZZ_CHECK(!json_is_array(masked) || json_array_size(masked) > 0);
  const json_t *binds = member(host, "Binds");
  FUZZ_CHECK(is_empty(binds) || json_is_array(binds));
  for (size_t i = 0; i < json_array_size(binds); i++)
    FUZZ_CHECK(json_string_length(json_array_get(binds, i)) &&
               json_string_value(json_array_get(binds, i))[0] != '/');
  const json_t *mounts = member(inspect, "Mounts");
  FUZZ_CHECK(is_empty(mounts) || json_is_array(mounts));
  for (size_t i = 0; i < json_array_size(mounts); i++) {
    const json_t *type = member(json_array_get(mounts, i), "Type");
    FUZZ_CHECK(is_text(type, "volume") || is_text(type, "tmpfs"));
  }
}

/* Nothing in the list but words that take something away. */
static void check_security(const json_t *inspect) {
  const json_t *list = member(member(inspect, "HostConfig"), "SecurityOpt");
  FUZZ_CHECK(is_empty(list) || json_is_array(list));
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    FUZZ_CHECK(is_text(item, "no-new-privileges") || is_text(item, "no-new-privileges:true") ||
               is_text(item, "no-new-privileges=true"));
  }
}

/* Where the options ask for nothing. */
static void check_unasked(const json_t *inspect) {
  const json_t *host = member(inspect, "HostConfig");
  const char *mode = json_string_value(member(host, "NetworkMode"));
  FUZZ_CHECK(is_empty(member(host, "PortBindings")));
  FUZZ_CHECK(!mode || (strcmp(mode, "host") && strncmp(mode, "container:", 10)));
}

static void check_container(size_t which, const json_t *inspect) {
  const cdam_state *state = state_of(which);
  cdam_error err = {0};
  cdam_status status = cdam_verify(state, inspect, &err);
  FUZZ_CHECK(status == CDAM_OK || status == CDAM_ERR_DRIFT || status == CDAM_ERR_NOT_OURS);
  FUZZ_CHECK(err.code == status);
  FUZZ_CHECK(cdam_verify(state, inspect, NULL) == status);
  if (which != UNSET && cdam_generated_compare(&state->message, inspect, NULL) == CDAM_OK)
    check_isolated(inspect);
  if (status != CDAM_OK) return;
  if (which == FULL)
    check_rest(inspect);
  else
    check_unasked(inspect);
  check_identity(inspect);
  check_reach(inspect);
  check_security(inspect);
  FUZZ_CHECK(json_is_false(member(member(inspect, "HostConfig"), "Privileged")));
}

/* What adoption asks besides. */
static void check_adoption(const cdam_state *state, const json_t *inspect) {
  cdam_error err = {0};
  cdam_status status = cdam_agents_check_container(state->message.options, inspect, &err);
  FUZZ_CHECK(status == CDAM_OK || status == CDAM_ERR_DRIFT);
  (void)cdam_agents_limit_of(inspect);
  (void)cdam_agents_volume_of(inspect);
  if (status != CDAM_OK) return;
  check_reach(inspect);
  FUZZ_CHECK(is_empty(member(member(inspect, "HostConfig"), "Privileged")));
  FUZZ_CHECK(is_empty(member(member(inspect, "HostConfig"), "SecurityOpt")));
}

/* An honest answer passes, or all of this would be idle. */
static void check_honest(void) {
  static const char honest[] =
      "{\"Id\":\"" ID "\",\"Image\":\"sha256:" DIGITS "\",\"Mounts\":[],"
      "\"HostConfig\":{\"NetworkMode\":\"none\",\"Privileged\":false,"
      "\"PortBindings\":{\"80/tcp\":[{\"HostIp\":\"127.0.0.1\",\"HostPort\":\"\"}]}},"
      "\"NetworkSettings\":{\"Networks\":{\"none\":{}}},"
      "\"Config\":{\"Env\":[\"A=b\",\"C=\"],\"ExposedPorts\":{\"80/tcp\":{}},"
      "\"Labels\":{\"a\":\"b\",\"d.e\":\"\",\"io.cofferdam.session-id\":\"" SESSION_ID "\"}}}";
  json_t *inspect = json_loads(honest, 0, NULL);
  FUZZ_CHECK(cdam_verify(state_of(FULL), inspect, NULL) == CDAM_OK);
  json_decref(inspect);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_error_t problem;
  char *text = fuzz_copy(data, size);
  json_t *inspect = cdam_json_parse(text, size, &problem);
  free(text);
  static bool honest;
  if (!honest) check_honest();
  honest = true;
  if (!inspect) return 0;
  FUZZ_CHECK(!memchr(data, '\0', size));
  for (size_t i = 0; i < STATES; i++) {
    check_container(i, inspect);
    check_adoption(state_of(i), inspect);
  }
  (void)cdam_container_status_of(inspect);
  FUZZ_CHECK(cdam_container_status_word(inspect) != NULL);
  json_decref(inspect);
  return 0;
}
