/* SPDX-License-Identifier: Apache-2.0 */
#include "options/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "options/compare_text.h"
#include "options/create_body.h"
#include "options/place.h"

static bool is_nothing(const json_t *value) {
  return !value || json_is_null(value);
}

/* ---- scalars ---- */

cdam_status cdam_compare_string(const json_t *inspect, const char *path, const char *expected,
                                cdam_compare how, cdam_error *err) {
  const json_t *actual = cdam_json_at(inspect, path);
  if (how == CDAM_COMPARE_ABSENT_OR_EQUAL && is_nothing(actual)) return cdam_ok(err);
  if (cdam_json_equals_text(actual, expected)) return cdam_ok(err);
  return cdam_drift_at(path, expected ? expected : "a known value", actual, err);
}

cdam_status cdam_compare_bool(const json_t *inspect, const char *path, bool expected,
                              cdam_compare how, cdam_error *err) {
  const json_t *actual = cdam_json_at(inspect, path);
  if (how == CDAM_COMPARE_ABSENT_OR_EQUAL && is_nothing(actual)) return cdam_ok(err);
  if (json_is_boolean(actual) && json_is_true(actual) == expected) return cdam_ok(err);
  return cdam_drift_at(path, expected ? "true" : "false", actual, err);
}

cdam_status cdam_compare_uint(const json_t *inspect, const char *path, uint64_t expected,
                              cdam_compare how, cdam_error *err) {
  const json_t *actual = cdam_json_at(inspect, path);
  if (how == CDAM_COMPARE_ABSENT_OR_EQUAL && is_nothing(actual)) return cdam_ok(err);
  if (cdam_json_equals_uint(actual, expected)) return cdam_ok(err);
  char wanted[24];
  snprintf(wanted, sizeof wanted, "%" PRIu64, expected);
  return cdam_drift_at(path, wanted, actual, err);
}

/* ---- labels ---- */

cdam_status cdam_compare_label(const json_t *inspect, const char *path, const char *key,
                               const char *expected, cdam_error *err) {
  const json_t *actual = json_object_get(cdam_json_at(inspect, path), key);
  if (cdam_json_equals_text(actual, expected)) return cdam_ok(err);
  char found[sizeof err->actual];
  cdam_describe_json(actual, found, sizeof found);
  return cdam_drift_at_key(path, key, expected ? expected : "a known value", found, err);
}

cdam_status cdam_compare_label_uint(const json_t *inspect, const char *path, const char *key,
                                    uint64_t expected, cdam_error *err) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, expected);
  return cdam_compare_label(inspect, path, key, text, err);
}

/* ---- lists ---- */

/* The array at a path; NULL, and drift in *status, when there is something else. In a SUBSET null
 * and absent are an empty array, which then lacks what is expected. */
static bool array_at(const json_t *inspect, const char *path, size_t count, cdam_compare how,
                     const json_t **array, cdam_status *status, cdam_error *err) {
  *array = cdam_json_at(inspect, path);
  char wanted[48];
  snprintf(wanted, sizeof wanted, "a list of %zu", count);
  bool right = json_is_array(*array) || (how == CDAM_COMPARE_SUBSET && is_nothing(*array));
  if (right && how == CDAM_COMPARE_EXACT) right = json_array_size(*array) == count;
  *status = right ? CDAM_OK : cdam_drift_at(path, wanted, *array, err);
  return right;
}

static cdam_status drift_item(const char *path, size_t index, const char *expected,
                              const json_t *actual, cdam_error *err) {
  char field[CDAM_PLACE_SIZE];
  char found[sizeof err->actual];
  cdam_place place = {.prefix = "", .field = path, .indexed = true, .index = index};
  cdam_place_text(&place, field);
  cdam_describe_json(actual, found, sizeof found);
  return cdam_fail_drift(err, field, expected, found);
}

/* Tells whether an item has the expected value. */
typedef bool (*item_matches)(const json_t *item, const void *items, size_t index);

static bool string_matches(const json_t *item, const void *items, size_t index) {
  return cdam_json_equals_text(item, cdam_text(((char *const *)items)[index]));
}

static bool uint_matches(const json_t *item, const void *items, size_t index) {
  return cdam_json_equals_uint(item, ((const uint32_t *)items)[index]);
}

static bool contains(const json_t *array, item_matches matches, const void *items, size_t index) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    if (matches(json_array_get(array, i), items, index)) return true;
  }
  return false;
}

/* The index of the first item that is not as expected, or the count. */
static size_t first_difference(const json_t *array, item_matches matches, const void *items,
                               size_t count, cdam_compare how) {
  for (size_t i = 0; i < count; i++) {
    bool there = how == CDAM_COMPARE_EXACT ? matches(json_array_get(array, i), items, i)
                                           : contains(array, matches, items, i);
    if (!there) return i;
  }
  return count;
}

/* What was found instead of item `index`: with EXACT the item there, with SUBSET nothing. */
static const json_t *found_instead(const json_t *array, size_t index, cdam_compare how) {
  return how == CDAM_COMPARE_EXACT ? json_array_get(array, index) : NULL;
}

cdam_status cdam_compare_strings(const json_t *inspect, const char *path, char *const *items,
                                 size_t count, cdam_compare how, cdam_error *err) {
  const json_t *array;
  cdam_status status;
  if (!array_at(inspect, path, count, how, &array, &status, err)) return status;
  size_t at = first_difference(array, string_matches, items, count, how);
  if (at == count) return cdam_ok(err);
  return drift_item(path, at, cdam_text(items[at]), found_instead(array, at, how), err);
}

cdam_status cdam_compare_uints(const json_t *inspect, const char *path, const uint32_t *items,
                               size_t count, cdam_compare how, cdam_error *err) {
  const json_t *array;
  cdam_status status;
  if (!array_at(inspect, path, count, how, &array, &status, err)) return status;
  size_t at = first_difference(array, uint_matches, items, count, how);
  if (at == count) return cdam_ok(err);
  char wanted[24];
  snprintf(wanted, sizeof wanted, "%" PRIu32, items[at]);
  return drift_item(path, at, wanted, found_instead(array, at, how), err);
}

/* ---- maps ---- */

cdam_status cdam_compare_object(const json_t *inspect, const char *path, const cdam_map *expected,
                                cdam_compare how, cdam_error *err) {
  const json_t *object = cdam_json_at(inspect, path);
  bool empty = how == CDAM_COMPARE_SUBSET && is_nothing(object);
  if (!empty && !json_is_object(object)) return cdam_drift_at(path, "an object", object, err);
  for (size_t i = 0; i < expected->count; i++) {
    const char *key = cdam_map_key(expected, i);
    const json_t *actual = json_object_get(object, key);
    if (cdam_json_equals_text(actual, cdam_map_value(expected, i))) continue;
    char found[sizeof err->actual];
    cdam_describe_json(actual, found, sizeof found);
    return cdam_drift_at_key(path, key, cdam_map_value(expected, i), found, err);
  }
  if (how == CDAM_COMPARE_EXACT && json_object_size(object) != expected->count) {
    char wanted[48];
    snprintf(wanted, sizeof wanted, "%zu entries", expected->count);
    return cdam_drift_at(path, wanted, object, err);
  }
  return cdam_ok(err);
}

typedef enum env_verdict { ENV_ABSENT, ENV_SAME, ENV_OTHER } env_verdict;

/* An item of another value counts even when the right one is there too: which of them a
 * process sees is the engine's affair. */
static env_verdict look_for(const json_t *array, const char *key, const char *value) {
  env_verdict verdict = ENV_ABSENT;
  size_t length = strlen(key);
  for (size_t i = 0; i < json_array_size(array); i++) {
    const char *item = json_string_value(json_array_get(array, i));
    if (!item || strncmp(item, key, length) != 0 || item[length] != '=') continue;
    if (!cdam_json_equals_text(json_array_get(array, i), item) ||
        strcmp(item + length + 1, value) != 0) {
      return ENV_OTHER;
    }
    verdict = ENV_SAME;
  }
  return verdict;
}

cdam_status cdam_compare_env(const json_t *inspect, const char *path, const cdam_map *expected,
                             cdam_error *err) {
  const json_t *array = cdam_json_at(inspect, path);
  if (!json_is_array(array) && !is_nothing(array)) {
    return cdam_fail_drift(err, path, "a list", "something else");
  }
  for (size_t i = 0; i < expected->count; i++) {
    const char *key = cdam_map_key(expected, i);
    env_verdict verdict = look_for(array, key, cdam_map_value(expected, i));
    if (verdict == ENV_SAME) continue;
    return cdam_drift_at_key(path, key, "the value in the state",
                             verdict == ENV_OTHER ? "another value" : "absent", err);
  }
  return cdam_ok(err);
}

/* ---- ports ---- */

/* Podman drops the ports of a container without a network, which can be reached by nobody. */
static bool may_lack_ports(const json_t *inspect) {
  return cdam_json_equals_text(cdam_json_at(inspect, "HostConfig.NetworkMode"), "none");
}

/* NULL when the value of a port's key is right, or else what was found. */
typedef const char *(*port_error)(const json_t *value);

static const char *exposed_error(const json_t *value) {
  return json_is_object(value) ? NULL : "no object";
}

static const char *binding_error(const json_t *value) {
  if (!json_is_array(value)) return "no list of bindings";
  if (json_array_size(value) == 0) return "no binding";
  for (size_t i = 0; i < json_array_size(value); i++) {
    const json_t *host = json_object_get(json_array_get(value, i), "HostIp");
    if (!cdam_json_equals_text(host, CDAM_PORT_HOST)) return "bound to another address";
  }
  return NULL;
}

static cdam_status compare_ports(const json_t *inspect, const char *path, const uint32_t *ports,
                                 size_t count, port_error wrong, const char *wanted,
                                 cdam_error *err) {
  const json_t *object = cdam_json_at(inspect, path);
  if (!json_is_object(object) && !is_nothing(object))
    return cdam_drift_at(path, "an object", object, err);
  for (size_t i = 0; i < count; i++) {
    char key[CDAM_PORT_KEY_SIZE];
    cdam_port_key(ports[i], key);
    const json_t *value = json_object_get(object, key);
    if (!value && may_lack_ports(inspect)) continue;
    const char *found = value ? wrong(value) : "absent";
    if (found) return cdam_drift_at_key(path, key, wanted, found, err);
  }
  return cdam_ok(err);
}

cdam_status cdam_compare_port_set(const json_t *inspect, const char *path, const uint32_t *ports,
                                  size_t count, cdam_error *err) {
  return compare_ports(inspect, path, ports, count, exposed_error, "exposed", err);
}

cdam_status cdam_compare_port_bindings(const json_t *inspect, const char *path,
                                       const uint32_t *ports, size_t count, cdam_error *err) {
  return compare_ports(inspect, path, ports, count, binding_error, "bound to " CDAM_PORT_HOST, err);
}

/* ---- networks ---- */

static bool is_empty_text(const json_t *value) {
  return is_nothing(value) || (json_is_string(value) && json_string_length(value) == 0);
}

static bool is_zero(const json_t *value) {
  return is_nothing(value) || (json_is_integer(value) && json_integer_value(value) == 0);
}

/* The first key of a network's entry that shows that it is a real one, or NULL. */
static const char *address_in(const json_t *entry) {
  static const char *const texts[] = {"IPAddress", "GlobalIPv6Address", "Gateway", "IPv6Gateway",
                                      "MacAddress"};
  static const char *const numbers[] = {"IPPrefixLen", "GlobalIPv6PrefixLen"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!is_empty_text(json_object_get(entry, texts[i]))) return texts[i];
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (!is_zero(json_object_get(entry, numbers[i]))) return numbers[i];
  }
  return NULL;
}

static cdam_status drift_networks(const char *path, const char *network, const json_t *networks,
                                  const char *address, cdam_error *err) {
  char wanted[96];
  char found[sizeof err->actual];
  snprintf(wanted, sizeof wanted, "only \"%s\", without addresses", network);
  if (address) {
    snprintf(found, sizeof found, "\"%s\" with %s", network, address);
  } else if (json_is_object(networks)) {
    cdam_describe_keys(networks, found, sizeof found);
  } else {
    cdam_describe_json(networks, found, sizeof found);
  }
  return cdam_fail_drift(err, path, wanted, found);
}

/* Engines repeat the address of one network beside the map of all. */
static const char *address_beside(const json_t *inspect, const char *path) {
  const char *dot = strrchr(path, '.');
  char parent[CDAM_PLACE_SIZE];
  snprintf(parent, sizeof parent, "%.*s", dot ? (int)(dot - path) : 0, path);
  return address_in(cdam_json_at(inspect, parent));
}

cdam_status cdam_compare_only_network(const json_t *inspect, const char *path, const char *network,
                                      cdam_error *err) {
  const json_t *networks = cdam_json_at(inspect, path);
  if (!network) return cdam_drift_at(path, "a known value", networks, err);
  size_t count = json_object_size(networks);
  if (!json_is_object(networks) || count > 1) {
    return drift_networks(path, network, networks, NULL, err);
  }
  const json_t *entry = json_object_get(networks, network);
  if (count == 1 && !entry) return drift_networks(path, network, networks, NULL, err);
  const char *address = NULL;
  if (entry) address = json_is_object(entry) ? address_in(entry) : "an odd entry";
  if (!address) address = address_beside(inspect, path);
  return address ? drift_networks(path, network, networks, address, err) : cdam_ok(err);
}

/* ---- what the engine resolved ---- */

cdam_status cdam_compare_resolved(const json_t *inspect, const char *path, const char *expected,
                                  cdam_error *err) {
  static const char prefix[] = "sha256:";
  const size_t prefix_length = sizeof prefix - 1;
  const json_t *actual = cdam_json_at(inspect, path);
  if (!expected || !expected[0]) return cdam_drift_at(path, "a known value", actual, err);
  if (cdam_json_equals_text(actual, expected)) return cdam_ok(err);
  bool prefixed = strncmp(expected, prefix, prefix_length) == 0;
  if (prefixed && expected[prefix_length] &&
      cdam_json_equals_text(actual, expected + prefix_length)) {
    return cdam_ok(err);
  }
  return cdam_drift_at(path, expected, actual, err);
}
