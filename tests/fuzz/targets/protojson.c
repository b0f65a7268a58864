/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ProtoJSON, as a state and as options. What is accepted is written and read again as the same,
 * and the checker (Python) reads the text as the same message.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options/generated.h"
#include "state/pack.h"
#include "state_checks.h"

/* "state" or "options", the text, the canonical bytes. */
static void tell(const char *kind, const uint8_t *text, size_t size,
                 const ProtobufCMessage *message) {
  size_t length;
  unsigned char *bytes = fuzz_pack(message, &length);
  FUZZ_CHECK(bytes != NULL);
  fuzz_tell((fuzz_piece[]){{kind, strlen(kind)}, {text, size}, {bytes, length}}, 3);
  free(bytes);
}

static void check_state(const uint8_t *data, size_t size, const cdam_key *key) {
  cdam_state *state;
  char *text = fuzz_copy(data, size);
  cdam_status status = cdam_state_from_json(text, size, key, &state, NULL);
  free(text);
  FUZZ_CHECK((status == CDAM_OK) == (state != NULL));
  if (!state) return;
  FUZZ_CHECK(!cdam_state_has_unknown_fields(state));
  tell("state", data, size, &state->message.base);
  fuzz_check_state(state, key);
  cdam_state_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_state(data, size, NULL);
  check_state(data, size, fuzz_key());
  cdam_options *options;
  char *text = fuzz_copy(data, size);
  cdam_status status = cdam_options_from_json(text, size, &options, NULL);
  free(text);
  FUZZ_CHECK((status == CDAM_OK) == (options != NULL));
  if (!options) return 0;
  tell("options", data, size, &options->message.base);
  fuzz_check_options(options);
  cdam_options_free(options);
  return 0;
}
