/* SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state_checks.h"

#include "options/generated.h"

/* The kind ("json state", "text options", "json ignoring"), the text, the canonical bytes. */
static void tell(cdam_form form, const char *kind, const uint8_t *text, size_t size,
                 const ProtobufCMessage *message) {
  if (!fuzz_has_checker()) return;
  char whole[32];
  snprintf(whole, sizeof whole, "%s %s", form == CDAM_FORM_JSON ? "json" : "text", kind);
  size_t length;
  unsigned char *bytes = fuzz_pack(message, &length);
  FUZZ_CHECK(bytes != NULL);
  fuzz_tell((fuzz_piece[]){{whole, strlen(whole)}, {text, size}, {bytes, length}}, 3);
  free(bytes);
}

static void count_ignored(void *user, const char *field) {
  FUZZ_CHECK(field != NULL);
  ++*(size_t *)user;
}

static cdam_state *read_strictly(cdam_form form, const char *text, size_t size,
                                 const cdam_key *key) {
  cdam_state *state;
  cdam_error err = {0};
  cdam_status status = form == CDAM_FORM_JSON ? cdam_state_from_json(text, size, key, &state, &err)
                                              : cdam_state_from_text(text, size, key, &state, &err);
  FUZZ_CHECK((status == CDAM_OK) == (state != NULL) && err.code == status);
  return state;
}

static cdam_options *read_options(cdam_form form, const char *text, size_t size) {
  cdam_options *options;
  cdam_error err = {0};
  cdam_status status = form == CDAM_FORM_JSON ? cdam_options_from_json(text, size, &options, &err)
                                              : cdam_options_from_text(text, size, &options, &err);
  FUZZ_CHECK((status == CDAM_OK) == (options != NULL) && err.code == status);
  return options;
}

static void check_state(cdam_form form, const char *text, size_t size, const cdam_key *key) {
  size_t ignored = 0;
  cdam_state *state = read_strictly(form, text, size, key), *more;
  cdam_status status =
      cdam_state_read_ignoring(form, text, size, key, count_ignored, &ignored, &more, NULL);
  FUZZ_CHECK((status == CDAM_OK) == (more != NULL));
  FUZZ_CHECK(!state || (more && ignored == 0));
  FUZZ_CHECK(!more || state || ignored > 0);
  if (state) FUZZ_CHECK(fuzz_same(&state->message.base, &more->message.base));
  if (more) {
    FUZZ_CHECK(!cdam_state_has_unknown_fields(more));
    tell(form, state ? "state" : "ignoring", (const uint8_t *)text, size, &more->message.base);
    fuzz_check_state(more, key);
  }
  cdam_state_free(state);
  cdam_state_free(more);
}

void fuzz_check_form(cdam_form form, const uint8_t *data, size_t size) {
  char *text = fuzz_copy(data, size);
  check_state(form, text, size, NULL);
  check_state(form, text, size, fuzz_key());
  cdam_options *options = read_options(form, text, size);
  if (options) {
    tell(form, "options", data, size, &options->message.base);
    fuzz_check_options(options);
  }
  cdam_options_free(options);
  free(text);
}
