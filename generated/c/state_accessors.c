/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cofferdam/state.h>

#include "options/fields.h"
#include "options/generated.h"
#include "state/message.h"

uint32_t cdam_state_schema_revision(const cdam_state *state) {
  if (!state) return 0;
  return state->message.schema_revision;
}

size_t cdam_state_required_feature_count(const cdam_state *state) {
  if (!state) return 0;
  return state->message.n_required_features;
}

cdam_feature cdam_state_required_feature(const cdam_state *state, size_t index) {
  if (!state) return 0;
  if (index >= state->message.n_required_features) return 0;
  return (cdam_feature)state->message.required_features[index];
}

const char *cdam_state_session_id(const cdam_state *state) {
  if (!state) return "";
  return cdam_text(state->message.session_id);
}

const cdam_options *cdam_state_options(const cdam_state *state) {
  if (!state) return NULL;
  return (const cdam_options *)state->message.options;
}

const char *cdam_state_image_id(const cdam_state *state) {
  if (!state) return "";
  return cdam_text(state->message.image_id);
}

const char *cdam_state_container_id(const cdam_state *state) {
  if (!state) return "";
  return cdam_text(state->message.container_id);
}

const char *cdam_state_engine_id(const cdam_state *state) {
  const Cofferdam__V1__EngineIdentity *holder = state ? state->message.engine : NULL;
  if (!holder) return "";
  return cdam_text(holder->id);
}

bool cdam_state_workspace_ready(const cdam_state *state) {
  if (!state) return false;
  return state->message.workspace_ready;
}

void cdam_state_set_workspace_ready(cdam_state *state, bool workspace_ready) {
  if (!state) return;
  state->message.workspace_ready = workspace_ready;
  cdam_state_forget_seal(state);
}

cdam_seal_algorithm cdam_state_seal_algorithm(const cdam_state *state) {
  const Cofferdam__V1__Seal *holder = state ? state->message.seal : NULL;
  if (!holder) return 0;
  return (cdam_seal_algorithm)holder->algorithm;
}

const char *cdam_state_seal_key_id(const cdam_state *state) {
  const Cofferdam__V1__Seal *holder = state ? state->message.seal : NULL;
  if (!holder) return "";
  return cdam_text(holder->key_id);
}

const unsigned char *cdam_state_seal_digest(const cdam_state *state, size_t *length) {
  if (length) *length = 0;
  const Cofferdam__V1__Seal *holder = state ? state->message.seal : NULL;
  if (!holder) return NULL;
  if (length) *length = holder->digest.len;
  return holder->digest.len ? holder->digest.data : NULL;
}
