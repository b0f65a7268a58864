/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "options/generated.h"
#include "state/file.h"
#include "state/message.h"
#include "state/pack.h"
#include "state/seal.h"
#include "state/state.h"
#include "state/wire.h"

cdam_status cdam_state_copy(const cdam_state *state, cdam_state **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!state || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_copy: NULL");
  *out = (cdam_state *)cdam_message_copy(&state->message.base);
  return *out ? cdam_ok(err) : cdam_fail_memory(err);
}

void cdam_state_free(cdam_state *state) {
  if (state) cofferdam__v1__session_state__free_unpacked(&state->message, NULL);
}

cdam_status cdam_state_validate(const cdam_state *state, cdam_error *err) {
  if (!state) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_validate: NULL");
  cdam_status status = cdam_generated_validate_state(&state->message, err);
  return status ? status : cdam_ok(err);
}

bool cdam_state_has_unknown_fields(const cdam_state *state) {
  return state && cdam_message_has_unknown(&state->message.base);
}

/* ---- bytes ---- */

static cdam_status append_seal(unsigned char *bytes, size_t *length, const cdam_key *key,
                               cdam_error *err) {
  cdam_seal_bytes seal;
  cdam_status status = cdam_seal_make(bytes, *length, key, &seal, err);
  if (status) return status;
  if (*length + seal.length > CDAM_STATE_MAX_BYTES)
    return cdam_fail(err, CDAM_ERR_INVALID, "the state would take more than %d bytes",
                     CDAM_STATE_MAX_BYTES);
  memcpy(bytes + *length, seal.bytes, seal.length);
  *length += seal.length;
  return CDAM_OK;
}

cdam_status cdam_state_serialize(const cdam_state *state, const cdam_key *key,
                                 unsigned char **bytes, size_t *length, cdam_error *err) {
  if (bytes) *bytes = NULL;
  if (length) *length = 0;
  if (!state || !bytes || !length)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_serialize: NULL");
  cdam_status status = cdam_generated_validate_state(&state->message, err);
  if (status) return status;
  unsigned char *packed;
  size_t size;
  status =
      cdam_pack(&state->message.base, CDAM_SEAL_FIELD, CDAM_SEAL_MAX_BYTES, &packed, &size, err);
  if (status) return status;
  status = append_seal(packed, &size, key, err);
  if (status) {
    free(packed);
    return status;
  }
  *bytes = packed;
  *length = size;
  return cdam_ok(err);
}

cdam_status cdam_state_check_bytes(const unsigned char *bytes, size_t length, const cdam_key *key,
                                   cdam_error *err) {
  if (length == 0) return cdam_fail(err, CDAM_ERR_MALFORMED, "not a well-formed state: no bytes");
  if (length > CDAM_STATE_MAX_BYTES)
    return cdam_fail(err, CDAM_ERR_MALFORMED, "not a well-formed state: more than %d bytes",
                     CDAM_STATE_MAX_BYTES);
  cdam_seal_place place;
  cdam_status status = cdam_wire_find_seal(bytes, length, &place, err);
  if (!status) status = cdam_seal_check(bytes, length, &place, key, err);
  if (!status)
    status = cdam_wire_check(&cofferdam__v1__session_state__descriptor, bytes, length, err);
  return status;
}

cdam_status cdam_state_parse(const void *bytes, size_t length, const cdam_key *key,
                             cdam_state **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!out || (!bytes && length))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_parse: NULL");
  cdam_status status = cdam_state_check_bytes(bytes, length, key, err);
  if (status) return status;
  cdam_state *state = (cdam_state *)cofferdam__v1__session_state__unpack(NULL, length, bytes);
  if (!state) return cdam_fail_memory(err); /* protobuf-c accepts all that the walk does */
  status = cdam_sort_maps(&state->message.base, err);
  if (!status) status = cdam_state_validate(state, err);
  if (status)
    cdam_state_free(state);
  else
    *out = state;
  return status;
}

/* ---- files ---- */

cdam_status cdam_state_save(const cdam_state *state, const char *path, const cdam_key *key,
                            cdam_error *err) {
  if (!path) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_save: path is NULL");
  unsigned char *bytes;
  size_t length;
  cdam_status status = cdam_state_serialize(state, key, &bytes, &length, err);
  if (status) return status;
  status = cdam_local_file_replace(path, bytes, length, err);
  free(bytes);
  return status ? status : cdam_ok(err);
}

cdam_status cdam_state_load(const char *path, const cdam_key *key, cdam_state **out,
                            cdam_error *err) {
  if (out) *out = NULL;
  if (!path || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_load: NULL");
  unsigned char *bytes;
  size_t length;
  cdam_status status = cdam_local_file_read(path, CDAM_STATE_MAX_BYTES, &bytes, &length, err);
  if (status) return status;
  status = cdam_state_parse(bytes, length, key, out, err);
  free(bytes);
  return status;
}
