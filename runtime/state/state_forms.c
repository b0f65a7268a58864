/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/fail.h"
#include "state/message.h"
#include "state/pack.h"
#include "state/protojson.h"
#include "state/state.h"
#include "state/textproto.h"

/* ---- out ---- */

typedef cdam_status (*write_form)(const ProtobufCMessage *message, char **text, cdam_error *err);

static cdam_status write_state(const cdam_state *state, write_form write, const char *name,
                               char **text, cdam_error *err) {
  if (text) *text = NULL;
  if (!state || !text) return cdam_fail(err, CDAM_ERR_ARGUMENT, "%s: NULL", name);
  cdam_status status = write(&state->message.base, text, err);
  return status ? status : cdam_ok(err);
}

cdam_status cdam_state_to_json(const cdam_state *state, char **json, cdam_error *err) {
  return write_state(state, cdam_protojson_write, "cdam_state_to_json", json, err);
}

cdam_status cdam_state_to_text(const cdam_state *state, char **text, cdam_error *err) {
  return write_state(state, cdam_textproto_write, "cdam_state_to_text", text, err);
}

cdam_status cdam_state_show(const cdam_state *state, cdam_form form, char **text, size_t *hidden,
                            cdam_error *err) {
  if (text) *text = NULL;
  if (hidden) *hidden = 0;
  if (!state || !text || (form != CDAM_FORM_JSON && form != CDAM_FORM_TEXT))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_show: NULL, or a form that is none");
  ProtobufCMessage *copy = cdam_message_copy(&state->message.base);
  if (!copy) return cdam_fail_memory(err);
  size_t count = 0;
  cdam_status status = cdam_message_hide(copy, &count, err);
  if (!status)
    status = form == CDAM_FORM_JSON ? cdam_protojson_write(copy, text, err)
                                    : cdam_textproto_write(copy, text, err);
  protobuf_c_message_free_unpacked(copy, NULL);
  if (status) return status;
  if (hidden) *hidden = count;
  return cdam_ok(err);
}

/* ---- in ---- */

/* The seal that a document holds must be the one that the canonical bytes would have, so those are
 * written with that seal and checked like any others. */
static cdam_status check_seal(const cdam_state *state, const cdam_key *key, cdam_error *err) {
  unsigned char *bytes;
  size_t length;
  cdam_status status = cdam_pack(&state->message.base, 0, 0, &bytes, &length, err);
  if (status) return status;
  /* An empty document is for validation. */
  if (length || key) status = cdam_state_check_bytes(bytes, length, key, err);
  free(bytes);
  return status;
}

typedef cdam_status (*read_form)(const char *text, size_t length,
                                 const ProtobufCMessageDescriptor *descriptor,
                                 const cdam_ignoring *ignoring, ProtobufCMessage **message,
                                 cdam_error *err);

static cdam_status read_state(read_form read, const char *text, size_t length, const cdam_key *key,
                              const cdam_ignoring *ignoring, cdam_state **out, cdam_error *err) {
  ProtobufCMessage *message = NULL;
  cdam_status status =
      read(text, length, &cofferdam__v1__session_state__descriptor, ignoring, &message, err);
  if (status) return status;
  cdam_state *state = (cdam_state *)message;
  status = check_seal(state, key, err);
  if (!status) status = cdam_state_validate(state, err);
  if (status)
    cdam_state_free(state);
  else
    *out = state;
  return status;
}

cdam_status cdam_state_from_json(const char *json, size_t length, const cdam_key *key,
                                 cdam_state **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!json || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_from_json: NULL");
  return read_state(cdam_protojson_read, json, length, key, NULL, out, err);
}

cdam_status cdam_state_from_text(const char *text, size_t length, const cdam_key *key,
                                 cdam_state **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!text || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_from_text: NULL");
  return read_state(cdam_textproto_read, text, length, key, NULL, out, err);
}

cdam_status cdam_state_read_ignoring(cdam_form form, const char *text, size_t length,
                                     const cdam_key *key, cdam_ignored_callback ignored, void *user,
                                     cdam_state **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!text || !ignored || !out || (form != CDAM_FORM_JSON && form != CDAM_FORM_TEXT))
    return cdam_fail(err, CDAM_ERR_ARGUMENT,
                     "cdam_state_read_ignoring: NULL, or a form that is none");
  const cdam_ignoring ignoring = {ignored, user};
  return read_state(form == CDAM_FORM_JSON ? cdam_protojson_read : cdam_textproto_read, text,
                    length, key, &ignoring, out, err);
}
