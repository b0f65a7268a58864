/* SPDX-License-Identifier: Apache-2.0 */
#include "session/isolation.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "options/compare_text.h"
#include "session/create_request.h"
#include "session/digest.h"
#include "session/verify.h"
#include "state/pack.h"
#include "state/schema.h"

/* Takes everything else out of a copy that refers to the values of the original. */
static void keep_isolating(Cofferdam__V1__SandboxOptions *options) {
  ProtobufCMessage *message = &options->base;
  const cdam_message_info *info = cdam_message_info_of(message->descriptor);
  message->n_unknown_fields = 0;
  for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (info->fields[i].isolates) continue;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
      *cdam_field_count(message, field) = 0;
    else
      memset(cdam_field_member(message, field), 0, cdam_element_size(field->type));
  }
}

cdam_status cdam_isolation_digest(const Cofferdam__V1__SandboxOptions *options,
                                  char digest[CDAM_DIGEST_SIZE], cdam_error *err) {
  Cofferdam__V1__SandboxOptions isolating = *options;
  keep_isolating(&isolating);
  unsigned char *bytes = NULL;
  size_t length = 0;
  cdam_status status = cdam_pack(&isolating.base, 0, 0, &bytes, &length, err);
  if (status == CDAM_OK && !cdam_digest(bytes, length, digest)) status = cdam_fail_memory(err);
  free(bytes);
  return status;
}

cdam_status cdam_check_isolation(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                 cdam_error *err) {
  const json_t *label =
      json_object_get(cdam_json_at(inspect, "Config.Labels"), CDAM_LABEL_ISOLATION);
  if (!label || !cdam_is_session_container(inspect, state->session_id)) return CDAM_OK;
  char digest[CDAM_DIGEST_SIZE], found[sizeof err->actual];
  cdam_status status = cdam_isolation_digest(state->options, digest, err);
  if (status != CDAM_OK || cdam_json_equals_text(label, digest)) return status;
  cdam_describe_json(label, found, sizeof found);
  return cdam_drift_at_key("Config.Labels", CDAM_LABEL_ISOLATION,
                           "the digest of the options that isolate in the state", found, err);
}
