/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's bytes.
 *
 * What the strict walk passes, protobuf-c unpacks, and the checker (Python) reads as the same
 * message, whatever it says. What the library accepts as a state is also the same in JSON, and
 * has the invariants of state_checks.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "state/pack.h"
#include "state/wire.h"
#include "state_checks.h"

/* "walked", the bytes, the canonical bytes, and the JSON of an accepted state or nothing. */
static void tell(const uint8_t *data, size_t size, const ProtobufCMessage *message,
                 const cdam_state *accepted) {
  if (!fuzz_has_checker()) return;
  size_t length;
  unsigned char *bytes = fuzz_pack(message, &length);
  char *json = NULL;
  if (accepted) FUZZ_CHECK(cdam_state_to_json(accepted, &json, NULL) == CDAM_OK);
  FUZZ_CHECK(bytes || !accepted);
  fuzz_tell((fuzz_piece[]){{"walked", 6},
                           {data, size},
                           {bytes, bytes ? length : 0},
                           {json ? json : "", json ? strlen(json) : 0}},
            4);
  free(bytes);
  free(json);
}

static void check_walk(const uint8_t *data, size_t size, const cdam_state *accepted) {
  bool walks =
      cdam_wire_check(&cofferdam__v1__session_state__descriptor, data, size, NULL) == CDAM_OK;
  FUZZ_CHECK(walks || !accepted);
  if (!walks) return;
  Cofferdam__V1__SessionState *message = cofferdam__v1__session_state__unpack(NULL, size, data);
  FUZZ_CHECK(message != NULL);
  cdam_status sorted = cdam_sort_maps(&message->base, NULL);
  FUZZ_CHECK(sorted == CDAM_OK || (sorted == CDAM_ERR_MALFORMED && !accepted));
  if (sorted == CDAM_OK) tell(data, size, &message->base, accepted);
  cofferdam__v1__session_state__free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *bytes = fuzz_copy(data, size);
  cdam_state *plain, *keyed;
  cdam_status status = cdam_state_parse(bytes, size, NULL, &plain, NULL);
  cdam_status with_key = cdam_state_parse(bytes, size, fuzz_key(), &keyed, NULL);
  FUZZ_CHECK((status == CDAM_OK) == (plain != NULL) && (with_key == CDAM_OK) == (keyed != NULL));
  FUZZ_CHECK(!plain || !keyed);
  if (plain) FUZZ_CHECK(cdam_state_seal_algorithm(plain) != CDAM_SEAL_ALGORITHM_HMAC_SHA256);
  if (keyed) FUZZ_CHECK(cdam_state_seal_algorithm(keyed) == CDAM_SEAL_ALGORITHM_HMAC_SHA256);
  check_walk(bytes, size, plain ? plain : keyed);
  if (plain) fuzz_check_state(plain, NULL);
  if (plain) fuzz_check_state(plain, fuzz_key());
  if (keyed) fuzz_check_state(keyed, fuzz_key());
  cdam_state_free(plain);
  cdam_state_free(keyed);
  free(bytes);
  return 0;
}
