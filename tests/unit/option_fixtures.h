/* SPDX-License-Identifier: Apache-2.0 */
/* Options and states for unit tests. What is made here is freed by the same free as in the library.
 */
#ifndef COFFERDAM_TESTS_OPTION_FIXTURES_H
#define COFFERDAM_TESTS_OPTION_FIXTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cofferdam/options.h>
#include <cofferdam/state.h>

#include "options/generated.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEST_UUID "3f2a9c44-5d0e-4b1f-8a67-0c9d2e1f4b58"
#define TEST_IMAGE_ID "sha256:" HEX64

/* Options with an image and nothing else. */
static inline cdam_options *fixture_options(void) {
  cdam_options *options = malloc(sizeof *options);
  assert_non_null(options);
  cofferdam__v1__sandbox_options__init(&options->message);
  assert_int_equal(cdam_options_set_image(options, "busybox:test", NULL), CDAM_OK);
  return options;
}

static inline void fixture_free_options(cdam_options *options) {
  cofferdam__v1__sandbox_options__free_unpacked(&options->message, NULL);
}

/* A valid state of these options, which it takes over. */
static inline cdam_state *fixture_state(cdam_options *options) {
  cdam_state *state = malloc(sizeof *state);
  assert_non_null(state);
  Cofferdam__V1__SessionState *message = &state->message;
  cofferdam__v1__session_state__init(message);
  message->schema_revision = cdam_generated_revision;
  message->session_id = strdup(TEST_UUID);
  message->image_id = strdup(TEST_IMAGE_ID);
  message->container_id = strdup(HEX64);
  assert_true(message->session_id && message->image_id && message->container_id);
  message->options = &options->message;
  assert_int_equal(cdam_generated_derive_features(message, NULL), CDAM_OK);
  return state;
}

static inline void fixture_free_state(cdam_state *state) {
  cofferdam__v1__session_state__free_unpacked(&state->message, NULL);
}

#endif
