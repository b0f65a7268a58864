/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in what touches no engine: options, states, keys, clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "exhaust.h"

#define STATE                                                                                      \
  "{\"schemaRevision\":2,\"requiredFeatures\":[\"FEATURE_NETWORK_ISOLATION\"],"                    \
  "\"sessionId\":\"01234567-89ab-4def-8123-456789abcdef\","                                        \
  "\"options\":{\"image\":\"busybox:1\",\"exposedPorts\":[80,443],"                                \
  "\"labels\":{\"a\":\"1\",\"b\":\"\"},\"env\":{\"HOME\":\"/\",\"LANG\":\"C\"},"                   \
  "\"networkMode\":\"NETWORK_MODE_NONE\"},"                                                        \
  "\"imageId\":\"sha256:1111111111111111111111111111111111111111111111111111111111111111\","       \
  "\"containerId\":\"2222222222222222222222222222222222222222222222222222222222222222\","          \
  "\"engine\":{\"id\":\"ENGINE:ONE\"},\"workspaceReady\":true}"

#define BARE                                                                                       \
  "{\"schemaRevision\":2,\"sessionId\":\"01234567-89ab-4def-8123-456789abcdef\","                  \
  "\"options\":{\"image\":\"busybox:2\",\"env\":{\"HOME\":\"/root\"}},"                            \
  "\"imageId\":\"sha256:1111111111111111111111111111111111111111111111111111111111111111\","       \
  "\"containerId\":\"3333333333333333333333333333333333333333333333333333333333333333\"}"

typedef struct things {
  cdam_state *state; /* given */
  cdam_key *key;     /* given; or NULL */
  unsigned char *bytes;
  size_t length;
  char *json;
  char *text;
  char *shown;
  size_t differences;
  char path[64];

  cdam_state *new_state; /* made */
  cdam_options *new_options;
  cdam_key *new_key;
  cdam_client *new_client;
  unsigned char *new_bytes;
  size_t new_length;
  char *new_json;
  char *new_text;
  char *new_shown;
} things;

/* A state with its seal, as it is read from its bytes. */
static void make_state(things *t) {
  cdam_error err;
  cdam_state *plain;
  unsigned char *bytes;
  if (cdam_state_from_json(STATE, strlen(STATE), NULL, &plain, &err) != CDAM_OK)
    fail_msg("%s", err.message);
  assert_int_equal(cdam_state_serialize(plain, t->key, &bytes, &t->length, NULL), CDAM_OK);
  assert_int_equal(cdam_state_parse(bytes, t->length, t->key, &t->state, NULL), CDAM_OK);
  assert_int_equal(cdam_state_to_json(t->state, &t->json, NULL), CDAM_OK);
  assert_int_equal(cdam_state_to_text(t->state, &t->text, NULL), CDAM_OK);
  assert_int_equal(cdam_state_show(t->state, CDAM_FORM_TEXT, &t->shown, NULL, NULL), CDAM_OK);
  t->bytes = bytes;
  cdam_state_free(plain);
}

static bool made_something(const things *t) {
  return t->new_state || t->new_options || t->new_key || t->new_client || t->new_bytes ||
         t->new_json || t->new_text || t->new_shown;
}

static void free_made(things *t) {
  cdam_state_free(t->new_state);
  cdam_options_free(t->new_options);
  cdam_key_free(t->new_key);
  cdam_client_free(t->new_client);
  free(t->new_bytes);
  free(t->new_json);
  free(t->new_text);
  free(t->new_shown);
  t->new_text = NULL;
  t->new_shown = NULL;
  t->new_state = NULL;
  t->new_options = NULL;
  t->new_key = NULL;
  t->new_client = NULL;
  t->new_bytes = NULL;
  t->new_json = NULL;
}

/* Success with the whole result, or failure with none. */
static const char *judge(things *t, cdam_status status) {
  const char *wrong = NULL;
  if (status != CDAM_OK && made_something(t)) {
    wrong = "a failure that hands something out";
  } else if (status == CDAM_OK && t->new_state) {
    char *json = NULL;
    if (cdam_state_to_json(t->new_state, &json, NULL) != CDAM_OK || !json)
      wrong = "a state that cannot be shown";
    else if (strcmp(json, t->json) != 0)
      wrong = "another state than the one that went in";
    free(json);
  } else if (status == CDAM_OK && t->new_bytes) {
    if (t->new_length != t->length || memcmp(t->new_bytes, t->bytes, t->length) != 0)
      wrong = "other bytes than with memory";
  } else if (status == CDAM_OK && t->new_text) {
    if (strcmp(t->new_text, t->text) != 0) wrong = "other text than with memory";
  } else if (status == CDAM_OK && t->new_shown) {
    if (strcmp(t->new_shown, t->shown) != 0) wrong = "other text shown than with memory";
  } else if (status == CDAM_OK && t->new_json && t->state) {
    if (strcmp(t->new_json, t->json) != 0) wrong = "other JSON than with memory";
  }
  return wrong;
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  const char *wrong = judge(context, status);
  free_made(context);
  return wrong;
}

static cdam_status run_parse(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_parse(t->bytes, t->length, t->key, &t->new_state, err);
}

static cdam_status run_serialize(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_serialize(t->state, t->key, &t->new_bytes, &t->new_length, err);
}

static cdam_status run_copy(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_copy(t->state, &t->new_state, err);
}

static cdam_status run_to_json(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_to_json(t->state, &t->new_json, err);
}

static cdam_status run_from_json(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_from_json(t->json, strlen(t->json), t->key, &t->new_state, err);
}

static cdam_status run_to_text(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_to_text(t->state, &t->new_text, err);
}

static cdam_status run_from_text(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_from_text(t->text, strlen(t->text), t->key, &t->new_state, err);
}

static void count_ignored(void *user, const char *field) {
  (void)user;
  (void)field;
}

static cdam_status run_ignoring(void *context, cdam_error *err) {
  things *t = context;
  static const char later[] = "later { a: ['b' \"c\", 1] }";
  char text[4096];
  snprintf(text, sizeof text, "%s%s", t->text, later);
  return cdam_state_read_ignoring(CDAM_FORM_TEXT, text, strlen(text), t->key, count_ignored, NULL,
                                  &t->new_state, err);
}

static cdam_status run_show(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_show(t->state, CDAM_FORM_TEXT, &t->new_shown, NULL, err);
}

static bool count_differences(void *user, const cdam_difference *difference) {
  *(size_t *)user += strlen(difference->field);
  return true;
}

/* With everything in one state, and next to nothing in the other. */
static cdam_status run_diff(void *context, cdam_error *err) {
  things *t = context;
  cdam_state *bare = NULL;
  size_t length = 0, count = 0;
  cdam_status status = cdam_state_from_json(BARE, strlen(BARE), NULL, &bare, err);
  if (status == CDAM_OK)
    status = cdam_state_diff(t->state, bare, count_differences, &length, &count, err);
  cdam_state_free(bare);
  t->differences = status == CDAM_OK ? count : 0;
  return status;
}

static const char *finish_diff(void *context, cdam_status status, bool once) {
  (void)once;
  const things *t = context;
  return status == CDAM_OK && t->differences != 12 ? "another number of differences" : NULL;
}

static cdam_status run_save(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_save(t->state, t->path, t->key, err);
}

static cdam_status run_load(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_load(t->path, t->key, &t->new_state, err);
}

static cdam_status run_key(void *context, cdam_error *err) {
  things *t = context;
  return cdam_key_new("key-1", "0123456789abcdef0123456789abcdef", 32, &t->new_key, err);
}

static cdam_status run_options(void *context, cdam_error *err) {
  things *t = context;
  cdam_options *options = NULL;
  cdam_status status = cdam_options_new(&options, err);
  if (status == CDAM_OK) status = cdam_options_set_image(options, "debian:12", err);
  if (status == CDAM_OK) status = cdam_options_add_exposed_port(options, 80, err);
  if (status == CDAM_OK) status = cdam_options_set_env(options, "A", "1", err);
  if (status == CDAM_OK) status = cdam_options_set_env(options, "A", "2", err);
  if (status == CDAM_OK) status = cdam_options_set_label(options, "l", "", err);
  if (status == CDAM_OK) status = cdam_options_copy(options, &t->new_options, err);
  if (status == CDAM_OK) status = cdam_options_to_json(t->new_options, &t->new_json, err);
  cdam_options_free(options);
  return status;
}

static const char *finish_options(void *context, cdam_status status, bool once) {
  (void)once;
  things *t = context;
  const char *wrong = NULL;
  if (status == CDAM_OK &&
      strcmp(t->new_json,
             "{\"image\": \"debian:12\", \"exposedPorts\": [80], \"labels\": {\"l\": \"\"}, "
             "\"env\": {\"A\": \"2\"}}"))
    wrong = t->new_json;
  if (!wrong) free_made(t);
  return wrong;
}

static cdam_status run_profile(void *context, cdam_error *err) {
  things *t = context;
  cdam_status status = cdam_options_new(&t->new_options, err);
  if (status != CDAM_OK) return status;
  status = cdam_options_set_image(t->new_options, "a", err);
  cdam_options_set_profile(t->new_options, CDAM_PROFILE_HARDENED);
  if (status == CDAM_OK) status = cdam_options_resolve_profile(t->new_options, err);
  if (status == CDAM_OK) status = cdam_options_validate(t->new_options, err);
  return status;
}

static const char *finish_profile(void *context, cdam_status status, bool once) {
  (void)once;
  things *t = context;
  const cdam_options *options = t->new_options;
  const char *wrong = NULL;
  if (status == CDAM_OK &&
      (cdam_options_tmpfs_mount_count(options) != 2 || cdam_options_ulimit_count(options) != 2 ||
       strcmp(cdam_options_user(options), "65532:65532")))
    wrong = "a profile that is resolved in part";
  free_made(t);
  return wrong;
}

static cdam_status run_client(void *context, cdam_error *err) {
  things *t = context;
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status = cdam_client_config_set_endpoint(config, "unix:///nowhere.sock", err);
  if (status == CDAM_OK) status = cdam_client_config_set_registry_auth(config, "e30=", err);
  if (status == CDAM_OK) status = cdam_client_new(config, &t->new_client, err);
  cdam_client_config_free(config);
  return status;
}

/* With a state and its bytes at hand, sealed by the key if there is one. */
static void with_state(const char *name, cdam_status (*run)(void *, cdam_error *), bool sealed) {
  things t = {0};
  if (sealed) assert_int_equal(cdam_key_new("k", "0123456789abcdef", 16, &t.key, NULL), CDAM_OK);
  make_state(&t);
  snprintf(t.path, sizeof t.path, "/tmp/cofferdam-oom-%ld.state", (long)getpid());
  assert_int_equal(cdam_state_save(t.state, t.path, t.key, NULL), CDAM_OK);
  exhaust(&(exhaust_case){name, run, run == run_diff ? finish_diff : finish, &t, false, 0});
  /* Whatever failed, the file is whole. */
  assert_int_equal(cdam_state_load(t.path, t.key, &t.new_state, NULL), CDAM_OK);
  free_made(&t);
  unlink(t.path);
  free(t.bytes);
  free(t.json);
  free(t.text);
  free(t.shown);
  cdam_key_free(t.key);
  cdam_state_free(t.state);
}

static void test_parse(void **unused) {
  (void)unused;
  with_state("parse", run_parse, false);
  with_state("parse with a key", run_parse, true);
}

static void test_serialize(void **unused) {
  (void)unused;
  with_state("serialize", run_serialize, false);
  with_state("serialize with a key", run_serialize, true);
}

static void test_copy(void **unused) {
  (void)unused;
  with_state("copy", run_copy, false);
}

static void test_json(void **unused) {
  (void)unused;
  with_state("state to JSON", run_to_json, false);
  with_state("state from JSON", run_from_json, false);
}

static void test_text(void **unused) {
  (void)unused;
  with_state("state to text", run_to_text, false);
  with_state("state from text", run_from_text, false);
  with_state("state from text, with names to ignore", run_ignoring, false);
  with_state("state shown", run_show, false);
  with_state("states compared", run_diff, false);
}

static void test_file(void **unused) {
  (void)unused;
  with_state("save", run_save, true);
  with_state("load", run_load, true);
}

static void test_key(void **unused) {
  (void)unused;
  things t = {0};
  exhaust(&(exhaust_case){"key", run_key, finish, &t, false, 0});
}

static void test_options(void **unused) {
  (void)unused;
  things t = {0};
  exhaust(&(exhaust_case){"options", run_options, finish_options, &t, false, 0});
  exhaust(&(exhaust_case){"profile", run_profile, finish_profile, &t, false, 0});
}

static void test_client(void **unused) {
  (void)unused;
  things t = {0};
  exhaust(&(exhaust_case){"client", run_client, finish, &t, false, 0});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parse), cmocka_unit_test(test_serialize), cmocka_unit_test(test_copy),
      cmocka_unit_test(test_json),  cmocka_unit_test(test_text),      cmocka_unit_test(test_file),
      cmocka_unit_test(test_key),   cmocka_unit_test(test_options),   cmocka_unit_test(test_client),
  };
  return cmocka_run_group_tests_name("oom_values", tests, NULL, NULL);
}
