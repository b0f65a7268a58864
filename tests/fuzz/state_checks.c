/* SPDX-License-Identifier: Apache-2.0 */
#include "state_checks.h"

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

void fuzz_check_state(const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes, *again;
  size_t length, again_length;
  cdam_state *back;
  cdam_error err = {0};
  FUZZ_CHECK(cdam_state_validate(state, &err) == CDAM_OK && err.code == CDAM_OK);
  check_features(state);
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
  cdam_state_free(back);
  free(bytes);
  free(again);
}

void fuzz_check_options(const cdam_options *options) {
  char *json, *again;
  cdam_options *back;
  FUZZ_CHECK(cdam_options_validate(options, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_options_to_json(options, &json, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_options_from_json(json, strlen(json), &back, NULL) == CDAM_OK);
  FUZZ_CHECK(cdam_options_to_json(back, &again, NULL) == CDAM_OK && strcmp(json, again) == 0);
  if (!cdam_message_has_unknown(&options->message.base))
    FUZZ_CHECK(fuzz_same(&options->message.base, &back->message.base));
  cdam_options_free(back);
  free(json);
  free(again);
}
