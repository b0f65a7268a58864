/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/fail.h"
#include "options/generated.h"
#include "options/taken_places.h"
#include "state/message.h"
#include "state/protojson.h"
#include "state/textproto.h"

cdam_status cdam_options_new(cdam_options **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_new: out is NULL");
  *out = malloc(sizeof **out);
  if (!*out) return cdam_fail_memory(err);
  cofferdam__v1__sandbox_options__init(&(*out)->message);
  return cdam_ok(err);
}

cdam_status cdam_options_copy(const cdam_options *options, cdam_options **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!options || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_copy: NULL");
  *out = (cdam_options *)cdam_message_copy(&options->message.base);
  return *out ? cdam_ok(err) : cdam_fail_memory(err);
}

void cdam_options_free(cdam_options *options) {
  if (options) cofferdam__v1__sandbox_options__free_unpacked(&options->message, NULL);
}

cdam_status cdam_options_validate(const cdam_options *options, cdam_error *err) {
  if (!options) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_validate: NULL");
  cdam_status status = cdam_generated_validate_options(&options->message, "", err);
  if (!status) status = cdam_check_taken_places(&options->message, err);
  return status ? status : cdam_ok(err);
}

cdam_status cdam_options_resolve_profile(cdam_options *options, cdam_error *err) {
  if (!options) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_resolve_profile: NULL");
  cdam_status status = cdam_generated_resolve_profile(options, err);
  return status ? status : cdam_ok(err);
}

cdam_status cdam_options_to_json(const cdam_options *options, char **json, cdam_error *err) {
  if (json) *json = NULL;
  if (!options || !json) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_to_json: NULL");
  cdam_status status = cdam_protojson_write(&options->message.base, json, err);
  return status ? status : cdam_ok(err);
}

cdam_status cdam_options_to_text(const cdam_options *options, char **text, cdam_error *err) {
  if (text) *text = NULL;
  if (!options || !text) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_to_text: NULL");
  cdam_status status = cdam_textproto_write(&options->message.base, text, err);
  return status ? status : cdam_ok(err);
}

/* Takes the message over. */
static cdam_status finish_reading(ProtobufCMessage *message, cdam_options **out, cdam_error *err) {
  cdam_options *options = (cdam_options *)message;
  cdam_status status = cdam_options_validate(options, err);
  if (status)
    cdam_options_free(options);
  else
    *out = options;
  return status;
}

cdam_status cdam_options_from_json(const char *json, size_t length, cdam_options **out,
                                   cdam_error *err) {
  if (out) *out = NULL;
  if (!json || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_from_json: NULL");
  ProtobufCMessage *message = NULL;
  cdam_status status = cdam_protojson_read(
      json, length, &cofferdam__v1__sandbox_options__descriptor, NULL, &message, err);
  return status ? status : finish_reading(message, out, err);
}

cdam_status cdam_options_from_text(const char *text, size_t length, cdam_options **out,
                                   cdam_error *err) {
  if (out) *out = NULL;
  if (!text || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_options_from_text: NULL");
  ProtobufCMessage *message = NULL;
  cdam_status status = cdam_textproto_read(
      text, length, &cofferdam__v1__sandbox_options__descriptor, NULL, &message, err);
  return status ? status : finish_reading(message, out, err);
}
