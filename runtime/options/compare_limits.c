/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what takes something away from a sandbox. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "options/compare.h"
#include "options/compare_text.h"
#include "options/formats.h"

/* ---- capabilities ---- */

static const char *without_prefix(const char *text, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(text, prefix, length) == 0 ? text + length : text;
}

static bool names_capability(const json_t *array, const char *name) {
  size_t index;
  const json_t *item;
  json_array_foreach(array, index, item) {
    const char *text = json_string_value(item);
    if (text && cdam_json_equals_text(item, text) &&
        strcmp(without_prefix(text, "CAP_"), name) == 0)
      return true;
  }
  return false;
}

/* All that an engine gives a container by itself. Podman shows what of these is missing, and as
 * added what there is besides. */
static bool drops_every_one(const json_t *array) {
  static const char *const given[] = {
      "AUDIT_WRITE", "CHOWN",     "DAC_OVERRIDE", "FOWNER", "FSETID",  "KILL",
      "MKNOD",       "NET_RAW",   "SETFCAP",      "SETGID", "SETPCAP", "NET_BIND_SERVICE",
      "SETUID",      "SYS_CHROOT"};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    if (!names_capability(array, given[i])) return false;
  }
  return true;
}

static bool is_nothing(const json_t *value) {
  return !value || json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
}

cdam_status cdam_compare_no_capabilities(const json_t *inspect, const char *path, cdam_error *err) {
  const json_t *dropped = cdam_json_at(inspect, path);
  const json_t *added = cdam_json_at(inspect, "HostConfig.CapAdd");
  if (!json_is_array(dropped) || (!names_capability(dropped, "ALL") && !drops_every_one(dropped)))
    return cdam_drift_at(path, "all of them", dropped, err);
  return is_nothing(added) ? cdam_ok(err)
                           : cdam_drift_at("HostConfig.CapAdd", "nothing", added, err);
}

/* ---- security options ---- */

cdam_status cdam_compare_no_new_privileges(const json_t *inspect, const char *path,
                                           cdam_error *err) {
  static const char *const spellings[] = {"no-new-privileges", "no-new-privileges:true",
                                          "no-new-privileges=true"};
  static const char expected[] = "no-new-privileges alone";
  const json_t *array = cdam_json_at(inspect, path);
  if (!json_is_array(array) || json_array_size(array) == 0)
    return cdam_drift_at(path, expected, array, err);
  size_t index;
  const json_t *item;
  json_array_foreach(array, index, item) {
    bool known = false;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
      known = known || cdam_json_equals_text(item, spellings[i]);
    if (!known) return cdam_drift_at(path, expected, item, err);
  }
  return cdam_ok(err);
}

/* ---- tmpfs ---- */

static bool is_same_word(const char *a, size_t a_length, const char *b, size_t b_length) {
  return a_length == b_length && strncmp(a, b, a_length) == 0;
}

/* Words of one subject as one was asked for; "suid" and "dev", which nobody can ask for, are
 * against "nosuid" and "nodev". */
static bool is_against(const char *word, size_t length, const char *asked, size_t asked_length) {
  char subject[16], other[16];
  if (!cdam_tmpfs_subject(asked, asked_length, subject)) return true;
  if (is_same_word(word, length, subject, strlen(subject))) return true;
  return cdam_tmpfs_subject(word, length, other) && strcmp(subject, other) == 0;
}

/* Is one word that was asked for among those that are shown, and none against it? */
static bool has_word(const char *shown, const char *asked, size_t asked_length) {
  bool there = false;
  for (const char *word = shown;; word++) {
    size_t length = strcspn(word, ",");
    if (is_same_word(word, length, asked, asked_length))
      there = true;
    else if (is_against(word, length, asked, asked_length))
      return false;
    word += length;
    if (!*word) return there;
  }
}

static bool has_words(const char *shown, const char *asked) {
  if (!*asked) return true;
  for (const char *word = asked;; word++) {
    size_t length = strcspn(word, ",");
    if (!has_word(shown, word, length)) return false;
    word += length;
    if (!*word) return true;
  }
}

static bool lists_word(const char *list, const char *asked) {
  for (const char *word = list;; word++) {
    size_t length = strcspn(word, ",");
    if (is_same_word(word, length, asked, strlen(asked))) return true;
    word += length;
    if (!*word) return false;
  }
}

/* What an engine allows only when it is told to. */
static bool allows_more(const char *shown, const char *asked) {
  static const char *const more[] = {"suid", "dev", "exec"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (lists_word(shown, more[i]) && !lists_word(asked, more[i])) return true;
  return false;
}

cdam_status cdam_compare_tmpfs(const json_t *inspect, const char *path, const cdam_map *expected,
                               cdam_error *err) {
  const json_t *object = cdam_json_at(inspect, path);
  if (!json_is_object(object)) return cdam_drift_at(path, "an object", object, err);
  for (size_t i = 0; i < expected->count; i++) {
    const char *key = cdam_map_key(expected, i);
    const json_t *actual = json_object_get(object, key);
    const char *text = json_string_value(actual);
    const char *asked = cdam_map_value(expected, i);
    if (text && cdam_json_equals_text(actual, text) && has_words(text, asked) &&
        !allows_more(text, asked))
      continue;
    char found[sizeof err->actual];
    cdam_describe_json(actual, found, sizeof found);
    return cdam_drift_at_key(path, key, asked, found, err);
  }
  return cdam_ok(err);
}

/* ---- limits of processes ---- */

static bool is_named(const json_t *limit, const char *name) {
  const char *text = json_string_value(json_object_get(limit, "Name"));
  return text && strcasecmp(without_prefix(text, "RLIMIT_"), name) == 0;
}

static bool has_values(const json_t *limit, const char *expected) {
  uint64_t soft, hard;
  return cdam_ulimit_parse(expected, &soft, &hard) &&
         cdam_json_equals_uint(json_object_get(limit, "Soft"), soft) &&
         cdam_json_equals_uint(json_object_get(limit, "Hard"), hard);
}

static void describe_limit(const json_t *limit, char *text, size_t size) {
  char soft[64], hard[64];
  cdam_describe_json(json_object_get(limit, "Soft"), soft, sizeof soft);
  cdam_describe_json(json_object_get(limit, "Hard"), hard, sizeof hard);
  snprintf(text, size, "%s:%s", soft, hard);
}

cdam_status cdam_compare_ulimits(const json_t *inspect, const char *path, const cdam_map *expected,
                                 cdam_error *err) {
  const json_t *array = cdam_json_at(inspect, path);
  if (!json_is_array(array)) return cdam_drift_at(path, "a list", array, err);
  for (size_t i = 0; i < expected->count; i++) {
    const char *key = cdam_map_key(expected, i);
    const char *value = cdam_map_value(expected, i);
    bool there = false;
    size_t index;
    const json_t *limit;
    json_array_foreach(array, index, limit) {
      if (!is_named(limit, key)) continue;
      there = true;
      if (has_values(limit, value)) continue;
      char found[160];
      describe_limit(limit, found, sizeof found);
      return cdam_drift_at_key(path, key, value, found, err);
    }
    if (!there) return cdam_drift_at_key(path, key, value, "absent", err);
  }
  return cdam_ok(err);
}
