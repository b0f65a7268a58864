/* SPDX-License-Identifier: Apache-2.0 */
#include "state_checks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "state/message.h"
#include "state/pack.h"
#include "state/wire.h"

/* tests/golden/states/test-key */
const cdam_key *fuzz_key(void) {
  static cdam_key *key;
  static const unsigned char bytes[32] = {
      0x9a, 0xe8, 0x6e, 0xe4, 0x72, 0x07, 0x61, 0x70, 0x9e, 0x1e, 0x9e,
      0x03, 0xff, 0x86, 0x96, 0x79, 0xce, 0xc1, 0xe0, 0x18, 0x2c, 0x30,
      0xa2, 0x20, 0x5a, 0x6b, 0x65, 0x6c, 0xe6, 0x2e, 0x25, 0xbe,
  };
  if (!key) FUZZ_CHECK(cdam_key_new("test-key", bytes, sizeof bytes, &key, NULL) == CDAM_OK);
  return key;
}

unsigned char *fuzz_pack(const ProtobufCMessage *message, size_t *length) {
  bool is_state = message->descriptor == &cofferdam__v1__session_state__descriptor;
  unsigned char *bytes;
  cdam_error err;
  if (cdam_pack(message, is_state ? CDAM_SEAL_FIELD : 0, 0, &bytes, length, &err)) {
    FUZZ_CHECK(err.code == CDAM_ERR_INVALID);
    return NULL;
  }
  return bytes;
}

bool fuzz_same(const ProtobufCMessage *a, const ProtobufCMessage *b) {
  size_t a_length = 0, b_length = 0;
  unsigned char *a_bytes = fuzz_pack(a, &a_length), *b_bytes = fuzz_pack(b, &b_length);
  bool same = a_bytes && b_bytes && a_length == b_length &&
              (a_length == 0 || memcmp(a_bytes, b_bytes, a_length) == 0);
  free(a_bytes);
  free(b_bytes);
  return same;
}

static void check_features(const cdam_state *state) {
  bool listed = false;
  for (size_t i = 0; i < cdam_state_required_feature_count(state); i++)
    listed |= cdam_state_required_feature(state, i) == CDAM_FEATURE_NETWORK_ISOLATION;
  cdam_network_mode mode = cdam_options_network_mode(cdam_state_options(state));
  FUZZ_CHECK(listed == (mode == CDAM_NETWORK_MODE_NONE));
  FUZZ_CHECK(listed || mode == CDAM_NETWORK_MODE_UNSET);
}

/* Maps are read in the order of their keys, each of which is there once. */
static void check_order(const cdam_options *options) {
  const char *key, *before = NULL;
  for (size_t i = 0; cdam_options_label_at(options, i, &key, NULL); before = key, i++)
    FUZZ_CHECK(i == 0 || strcmp(before, key) < 0);
  for (size_t i = 0; cdam_options_env_at(options, i, &key, NULL); before = key, i++)
    FUZZ_CHECK(i == 0 || strcmp(before, key) < 0);
}

/* JSON says all but unknown fields. */
static void check_state_json(const cdam_state *state, const cdam_key *key) {
  char *json, *again;
  cdam_state *back;
  FUZZ_CHECK(cdam_state_to_json(state, &json, NULL) == CDAM_OK);
  bool whole = !cdam_state_has_unknown_fields(state);
  cdam_status status = cdam_state_from_json(json, strlen(json), key, &back, NULL);
  FUZZ_CHECK(status == CDAM_OK || (!whole && status == CDAM_ERR_SEAL));
  if (status == CDAM_OK) {
    FUZZ_CHECK(!whole || fuzz_same(&state->message.base, &back->message.base));
    FUZZ_CHECK(cdam_state_to_json(back, &again, NULL) == CDAM_OK && strcmp(json, again) == 0);
    free(again);
  }
  cdam_state_free(back);
  free(json);
}

static bool count_difference(void *user, const cdam_difference *difference) {
  (void)user;
  FUZZ_CHECK(difference->field && (difference->before || difference->after));
  return true;
}

static void check_state_text(const cdam_state *state, const cdam_key *key) {
  char *text, *again;
  cdam_state *back;
  FUZZ_CHECK(cdam_state_to_text(state, &text, NULL) == CDAM_OK);
  bool whole = !cdam_state_has_unknown_fields(state);
  cdam_status status = cdam_state_from_text(text, strlen(text), key, &back, NULL);
  FUZZ_CHECK(status == CDAM_OK || (!whole && status == CDAM_ERR_SEAL));
  if (status == CDAM_OK) {
    size_t differences = 1;
    FUZZ_CHECK(cdam_state_to_text(back, &again, NULL) == CDAM_OK && strcmp(text, again) == 0);
    FUZZ_CHECK(!cdam_state_diff(state, back, count_difference, NULL, &differences, NULL));
    FUZZ_CHECK(!whole || differences == 0);
    free(again);
  }
  cdam_state_free(back);
  free(text);
}

/* No value of env is shown. */
static void check_show(const cdam_state *state) {
  const cdam_options *options = cdam_state_options(state);
  size_t hidden, again, shown = 0;
  char *text;
  FUZZ_CHECK(cdam_state_show(state, CDAM_FORM_TEXT, &text, &again, NULL) == CDAM_OK);
  free(text);
  FUZZ_CHECK(cdam_state_show(state, CDAM_FORM_JSON, &text, &hidden, NULL) == CDAM_OK);
  json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  FUZZ_CHECK(json_is_object(json));
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(json_object_get(json, "options"), "env"), name, value) {
    FUZZ_CHECK(strcmp(json_string_value(value), CDAM_HIDDEN) == 0);
    FUZZ_CHECK(cdam_options_env(options, name) != NULL);
    shown++;
  }
  FUZZ_CHECK(hidden == again && hidden >= shown && shown == cdam_options_env_count(options));
  json_decref(json);
  free(text);
}

void fuzz_check_state(const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes, *again;
  size_t length, again_length;
  cdam_state *back;
  cdam_error err = {0};
  FUZZ_CHECK(cdam_state_validate(state, &err) == CDAM_OK && err.code == CDAM_OK);
  check_features(state);
  check_order(cdam_state_options(state));
  cdam_status status = cdam_state_serialize(state, key, &bytes, &length, &err);
  if (status == CDAM_ERR_INVALID) return; /* larger than a state can be, once it is sealed */
  FUZZ_CHECK(status == CDAM_OK);
  FUZZ_CHECK(cdam_state_parse(bytes, length, key, &back, NULL) == CDAM_OK);
  FUZZ_CHECK(fuzz_same(&state->message.base, &back->message.base));
  FUZZ_CHECK(cdam_state_has_unknown_fields(state) == cdam_state_has_unknown_fields(back));
  check_features(back);
  FUZZ_CHECK(cdam_state_serialize(back, key, &again, &again_length, NULL) == CDAM_OK);
  FUZZ_CHECK(length == again_length && memcmp(bytes, again, length) == 0);
  check_state_json(back, key);
  check_state_text(back, key);
  check_show(back);
  cdam_state_free(back);
  free(bytes);
  free(again);
}

static void check_options_read(const cdam_options *options, cdam_options *back) {
  if (!cdam_message_has_unknown(&options->message.base))
    FUZZ_CHECK(fuzz_same(&options->message.base, &back->message.base));
  cdam_options_free(back);
}

void fuzz_check_options(const cdam_options *options) {
  char *json, *text;
  cdam_options *back;
  FUZZ_CHECK(cdam_options_validate(options, NULL) == CDAM_OK);
  check_order(options);
  FUZZ_CHECK(cdam_options_to_json(options, &json, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_options_from_json(json, strlen(json), &back, NULL) == CDAM_OK);
  check_options_read(options, back);
  FUZZ_CHECK(cdam_options_to_text(options, &text, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_options_from_text(text, strlen(text), &back, NULL) == CDAM_OK);
  check_options_read(options, back);
  free(json);
  free(text);
}
