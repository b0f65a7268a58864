/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any JSON as the answer of an inspect, against states with NONE. Whatever passes has network mode
 * "none" and a Networks map that is empty or has only a "none" without any address; what else the
 * state asks for; and nothing of its host. The oracle here shares nothing with the library but the
 * JSON parser.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_parse.h"
#include "fuzz.h"
#include "interchange/agents_container.h"
#include "session/reap.h"
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
    "{" COMMON "\"requiredFeatures\":[1,2,3,4,5,6,7,8,10,11],\"options\":{\"image\":\"busybox\","
    "\"networkMode\":1,\"memoryBytes\":\"67108864\",\"nanoCpus\":\"1500000000\",\"pidsLimit\":64,"
    "\"tmpfs\":{\"/tmp\":\"size=1m,nodev\"},\"readOnlyRoot\":true,\"user\":\"65532:65532\","
    "\"dropAllCapabilities\":true,\"noNewPrivileges\":true,\"ulimits\":{\"nofile\":\"256:512\"},"
    "\"hostname\":\"box\",\"workspace\":\"/workspace\",\"deadline\":\"4102444800\"}}",
};

/* The first asks for nothing but NONE, the second for what there was in r2, the third for nothing,
 * the fourth for limits. */
enum { BARE, FULL, UNSET, LIMITED, STATES };

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

static bool has_text(const json_t *list, const char *text) {
  bool found = false;
  for (size_t i = 0; i < json_array_size(list); i++)
    found = found || is_text(json_array_get(list, i), text);
  return found;
}

/* Hidden, or read-only, where a list is told at all. */
static void check_paths(const json_t *host) {
  static const char *const hidden[] = {"/proc/kcore", "/proc/keys", "/proc/acpi", "/sys/firmware",
                                       "/proc/timer_list"};
  static const char *const kept[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                     "/proc/fs"};
  const json_t *masked = member(host, "MaskedPaths"), *readonly = member(host, "ReadonlyPaths");
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
    FUZZ_CHECK(!masked || json_is_null(masked) || has_text(masked, hidden[i]));
    FUZZ_CHECK(!readonly || json_is_null(readonly) || has_text(readonly, kept[i]));
  }
}

static bool is_number_from(const json_t *value, json_int_t least, json_int_t most) {
  return is_empty(value) || (json_is_integer(value) && json_integer_value(value) >= least &&
                             json_integer_value(value) <= most);
}

/* Before the host's own processes. */
static void check_priority(const json_t *host) {
  const json_t *limits = member(host, "Ulimits");
  FUZZ_CHECK(is_empty(member(host, "OomKillDisable")));
  FUZZ_CHECK(is_number_from(member(host, "OomScoreAdj"), 0, INT64_MAX));
  FUZZ_CHECK(is_number_from(member(host, "CpuRealtimeRuntime"), 0, 0));
  for (size_t i = 0; i < json_array_size(limits); i++) {
    const json_t *limit = json_array_get(limits, i);
    const char *name = json_string_value(member(limit, "Name"));
    if (!name) continue;
    if (strncasecmp(name, "RLIMIT_", 7) == 0) name += 7;
    FUZZ_CHECK((strcasecmp(name, "nice") && strcasecmp(name, "rtprio")) ||
               is_number_from(member(limit, "Hard"), 0, 0));
  }
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

/* ---- limits ---- */

static bool is_number(const json_t *value, json_int_t number) {
  return json_is_integer(value) && json_integer_value(value) == number;
}

/* "ALL", or all that engines give; and none besides. */
static void check_capabilities(const json_t *host) {
  static const char *const given[] = {"CHOWN",      "DAC_OVERRIDE", "FOWNER",           "FSETID",
                                      "KILL",       "SETGID",       "SETUID",           "MKNOD",
                                      "NET_RAW",    "SETPCAP",      "NET_BIND_SERVICE", "SETFCAP",
                                      "SYS_CHROOT", "AUDIT_WRITE"};
  const json_t *list = member(host, "CapDrop");
  bool every = has_text(list, "ALL") || has_text(list, "CAP_ALL");
  for (size_t i = 0, left = sizeof given / sizeof *given; !every && i < left; i++) {
    char longer[32];
    snprintf(longer, sizeof longer, "CAP_%s", given[i]);
    FUZZ_CHECK(has_text(list, given[i]) || has_text(list, longer));
  }
  FUZZ_CHECK(is_empty(member(host, "CapAdd")));
}

static void check_limited(const json_t *inspect) {
  const json_t *host = member(inspect, "HostConfig"), *config = member(inspect, "Config");
  FUZZ_CHECK(is_number(member(host, "Memory"), 67108864));
  FUZZ_CHECK(is_number(member(host, "MemorySwap"), 67108864));
  FUZZ_CHECK(is_number(member(host, "NanoCpus"), 1500000000));
  FUZZ_CHECK(is_number(member(host, "PidsLimit"), 64));
  FUZZ_CHECK(json_is_true(member(host, "ReadonlyRootfs")));
  FUZZ_CHECK(json_array_size(member(host, "SecurityOpt")) > 0);
  FUZZ_CHECK(is_text(member(config, "User"), "65532:65532"));
  FUZZ_CHECK(is_text(member(config, "Hostname"), "box"));
  FUZZ_CHECK(is_text(member(config, "WorkingDir"), "/workspace"));
  FUZZ_CHECK(is_text(member(member(config, "Labels"), "io.cofferdam.deadline"), "4102444800"));
  const char *tmpfs = json_string_value(member(member(host, "Tmpfs"), "/tmp"));
  FUZZ_CHECK(tmpfs && strstr(tmpfs, "size=1m") && strstr(tmpfs, "nodev"));
  const json_t *limits = member(host, "Ulimits");
  size_t found = 0;
  for (size_t i = 0; i < json_array_size(limits); i++) {
    const json_t *limit = json_array_get(limits, i);
    const char *name = json_string_value(member(limit, "Name"));
    if (!name || (strcasecmp(name, "nofile") && strcasecmp(name, "RLIMIT_NOFILE"))) continue;
    FUZZ_CHECK(is_number(member(limit, "Soft"), 256) && is_number(member(limit, "Hard"), 512));
    found++;
  }
  FUZZ_CHECK(found > 0);
  check_capabilities(host);
}

/* ---- what we made ---- */

static bool is_long_name(const char *text, size_t length) {
  size_t digits = strspn(text, "0123456789abcdef");
  return digits == 64 && length == 64;
}

static bool is_agents_volume(const json_t *inspect, const char *text, size_t length) {
  char name[81];
  const char *digest =
      json_string_value(member(member(member(inspect, "Config"), "Labels"), "io.cofferdam.agent"));
  if (!digest || !is_long_name(digest, strlen(digest))) return false;
  snprintf(name, sizeof name, "cofferdam-agent-%s", digest);
  return length == strlen(name) && strncmp(text, name, length) == 0;
}

/* On Docker nothing was bound; Podman shows volumes there, and says "private" where Docker cannot.
 */
static void check_own_binds(const json_t *inspect) {
  const json_t *host = member(inspect, "HostConfig"), *binds = member(host, "Binds");
  FUZZ_CHECK(is_empty(binds) || is_text(member(host, "PidMode"), "private"));
  for (size_t i = 0; i < json_array_size(binds); i++) {
    const char *text = json_string_value(json_array_get(binds, i));
    size_t length = strcspn(text, ":");
    FUZZ_CHECK(text[length] == ':');
    FUZZ_CHECK(is_long_name(text, length) || is_agents_volume(inspect, text, length));
  }
}

static void check_own_mounts(const json_t *inspect) {
  const json_t *mounts = member(inspect, "Mounts");
  for (size_t i = 0; i < json_array_size(mounts); i++) {
    const json_t *mount = json_array_get(mounts, i), *driver = member(mount, "Driver");
    const char *name = json_string_value(member(mount, "Name"));
    if (is_text(member(mount, "Type"), "tmpfs")) continue;
    if (name && is_agents_volume(inspect, name, strlen(name)))
      FUZZ_CHECK(is_text(member(mount, "Destination"), "/.cofferdam") &&
                 json_is_false(member(mount, "RW")));
    else
      FUZZ_CHECK(name && is_long_name(name, strlen(name)) &&
                 (is_empty(driver) || is_text(driver, "local")));
  }
  const json_t *asked = member(member(inspect, "HostConfig"), "Mounts");
  FUZZ_CHECK(is_empty(asked) || json_is_array(asked));
  for (size_t i = 0; i < json_array_size(asked); i++) {
    const char *source = json_string_value(member(json_array_get(asked, i), "Source"));
    FUZZ_CHECK(source && is_agents_volume(inspect, source, strlen(source)));
  }
}

/* The tmpfs of the fourth state, and those that Podman adds. */
static void check_own_tmpfs(const json_t *inspect) {
  const char *path;
  json_t *options;
  const json_t *list = member(member(inspect, "HostConfig"), "Tmpfs");
  json_object_foreach((json_t *)(uintptr_t)list, path, options)
      FUZZ_CHECK(!strcmp(path, "/tmp") || !strcmp(path, "/run") || !strcmp(path, "/var/tmp"));
}

/* SHA-256 of the isolating options of each state, by another implementation. */
static void check_isolation(size_t which, const json_t *inspect) {
  static const char *const digests[STATES] = {
      "ffdbea2a5a9959ea5f9809139a0178c725fa9474a88f1cfe10f702bdb35c3cc0",
      "ffdbea2a5a9959ea5f9809139a0178c725fa9474a88f1cfe10f702bdb35c3cc0",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "7b177abeed7876ff99161069e2183aea5e83d52dd327d5fe744f1cbb3eb36fcc"};
  const json_t *labels = member(member(inspect, "Config"), "Labels");
  const json_t *label = member(labels, "io.cofferdam.isolation");
  FUZZ_CHECK(!label || is_text(label, digests[which]));
}

static void check_made_by_us(size_t which, const json_t *inspect) {
  const json_t *host = member(inspect, "HostConfig"), *labels;
  labels = member(member(inspect, "Config"), "Labels");
  if (!json_is_string(member(labels, "io.cofferdam.session-id"))) return;
  const json_t *restart = member(member(host, "RestartPolicy"), "Name");
  const json_t *agent = member(labels, "io.cofferdam.agent");
  const json_t *log = member(member(host, "LogConfig"), "Type");
  FUZZ_CHECK(is_empty(restart) || is_text(restart, "no"));
  FUZZ_CHECK(is_empty(member(host, "AutoRemove")));
  FUZZ_CHECK(!json_string_length(agent) || is_empty(log) || is_text(log, "none"));
  check_own_binds(inspect);
  check_own_mounts(inspect);
  check_own_tmpfs(inspect);
  check_isolation(which, inspect);
}

/* Nothing but what engines note themselves; nor a driver of volumes that is not theirs. */
static void check_orders(const json_t *host) {
  const char *key;
  json_t *note;
  const json_t *annotations = member(host, "Annotations"), *driver = member(host, "VolumeDriver");
  FUZZ_CHECK(is_empty(annotations) || json_is_object(annotations));
  json_object_foreach((json_t *)(uintptr_t)annotations, key, note)
      FUZZ_CHECK(strstr(key, "io.podman.") == key || strstr(key, "io.container.manager") == key ||
                 strstr(key, "org.opencontainers.") == key);
  FUZZ_CHECK(is_empty(driver) || is_text(driver, "local"));
  FUZZ_CHECK(is_empty(member(host, "Sysctls")));
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
  if (which == LIMITED) check_limited(inspect);
  check_identity(inspect);
  check_reach(inspect);
  check_paths(member(inspect, "HostConfig"));
  check_priority(member(inspect, "HostConfig"));
  check_orders(member(inspect, "HostConfig"));
  check_made_by_us(which, inspect);
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
  static const char limited[] =
      "{\"Id\":\"" ID "\",\"Image\":\"sha256:" DIGITS "\","
      "\"HostConfig\":{\"NetworkMode\":\"none\",\"Privileged\":false,\"Memory\":67108864,"
      "\"MemorySwap\":67108864,\"NanoCpus\":1500000000,\"PidsLimit\":64,\"ReadonlyRootfs\":true,"
      "\"Tmpfs\":{\"/tmp\":\"rw,size=1m,nodev\"},\"CapDrop\":[\"ALL\"],\"SecurityOpt\":"
      "[\"no-new-privileges\"],\"Ulimits\":[{\"Name\":\"nofile\",\"Soft\":256,\"Hard\":512}]},"
      "\"NetworkSettings\":{\"Networks\":{}},\"Config\":{\"User\":\"65532:65532\","
      "\"Hostname\":\"box\",\"WorkingDir\":\"/workspace\",\"Labels\":{\"io.cofferdam.session-id\":"
      "\"" SESSION_ID "\",\"io.cofferdam.deadline\":\"4102444800\"}}}";
  inspect = json_loads(limited, 0, NULL);
  FUZZ_CHECK(cdam_verify(state_of(LIMITED), inspect, NULL) == CDAM_OK);
  json_decref(inspect);
}

/* The same as an entry of the list of containers. */
static void check_expired(const json_t *entry) {
  const char *session, *container;
  uint64_t deadline;
  if (!cdam_is_expired(entry, 5000000000, &session, &container, &deadline)) return;
  FUZZ_CHECK(strlen(session) == 36 && strlen(container) == 64);
  FUZZ_CHECK(is_text(member(member(entry, "Labels"), "io.cofferdam.session-id"), session));
  char text[64];
  snprintf(text, sizeof text, "%llu", (unsigned long long)deadline);
  FUZZ_CHECK(is_text(member(member(entry, "Labels"), "io.cofferdam.deadline"), text));
  FUZZ_CHECK(deadline > 0 && deadline <= 5000000000);
  snprintf(text, sizeof text, "/cofferdam-%s", session);
  FUZZ_CHECK(has_text(member(entry, "Names"), text));
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
  check_expired(inspect);
  (void)cdam_container_status_of(inspect);
  FUZZ_CHECK(cdam_container_status_word(inspect) != NULL);
  json_decref(inspect);
  return 0;
}
