/* SPDX-License-Identifier: Apache-2.0 */
/* The golden states, in each of their forms. */
#ifndef TESTS_UNIT_STATE_GOLDENS_H
#define TESTS_UNIT_STATE_GOLDENS_H

#include "state_support.h"

static const char *const goldens[] = {
    "r1-minimal",      "r1-full",       "r1-hmac",      "r2-unset",         "r2-none-full",
    "r2-none-minimal", "r2-none-ports", "r2-none-hmac", "r2-none-unsealed", "r2-none-unknown"};

#define GOLDEN_COUNT (sizeof goldens / sizeof *goldens)

static inline blob golden_as(const char *name, const char *suffix) {
  char file[64];
  snprintf(file, sizeof file, "%s.%s", name, suffix);
  return golden(file);
}

/* What is written must be what Python's printer wrote. */
typedef void (*compare_form)(const char *name, const cdam_state *state, const blob *expected);

static inline void write_goldens(const char *suffix, compare_form compare) {
  cdam_key *key = golden_key();
  for (size_t i = 0; i < GOLDEN_COUNT; i++) {
    blob bytes = golden_as(goldens[i], "binpb"), text = golden_as(goldens[i], suffix);
    cdam_state *state = parse_good(&bytes, strstr(goldens[i], "hmac") ? key : NULL);
    compare(goldens[i], state, &text);
    cdam_state_free(state);
    blob_free(&bytes);
    blob_free(&text);
  }
  cdam_key_free(key);
}

typedef cdam_status (*read_form)(const char *text, size_t length, const cdam_key *key,
                                 cdam_state **out, cdam_error *err);

/* What Python's printer wrote gives the golden's bytes. */
static inline void read_goldens(const char *suffix, read_form read) {
  cdam_key *key = golden_key();
  for (size_t i = 0; i < GOLDEN_COUNT; i++) {
    blob bytes = golden_as(goldens[i], "binpb"), text = golden_as(goldens[i], suffix);
    const cdam_key *used = strstr(goldens[i], "hmac") ? key : NULL;
    cdam_state *state = NULL;
    cdam_error err;
    cdam_status status = read((char *)text.bytes, text.length, used, &state, &err);
    if (strstr(goldens[i], "unknown")) {
      /* What is not known is not shown, and the seal tells that something is missing. */
      assert_int_equal(status, CDAM_ERR_SEAL);
      assert_null(state);
    } else {
      if (status) fail_msg("%s: %s", goldens[i], err.message);
      blob written = serialize(state, used);
      assert_memory_equal(written.bytes, bytes.bytes, bytes.length);
      blob_free(&written);
    }
    cdam_state_free(state);
    blob_free(&bytes);
    blob_free(&text);
  }
  cdam_key_free(key);
}

#endif
