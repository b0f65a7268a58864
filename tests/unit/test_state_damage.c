/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promise: a state that says NONE, cut anywhere or with any single bit flipped, is refused or
 * still says NONE. Every cut and every flip of every golden is tried, sealed and with the seal
 * taken off, by a reader with a key and by one without.
 */
#include "state_support.h"

#include <cofferdam/options.h>
#include <cofferdam/state.h>

#include "state/wire.h"

static const char *const none_goldens[] = {"r2-none-minimal.binpb",  "r2-none-full.binpb",
                                           "r2-none-ports.binpb",    "r2-none-hmac.binpb",
                                           "r2-none-unsealed.binpb", "r2-none-unknown.binpb"};

typedef struct tally {
  size_t tried;
  size_t accepted;
} tally;

static bool says_none(const cdam_state *state) {
  return cdam_options_network_mode(cdam_state_options(state)) == CDAM_NETWORK_MODE_NONE &&
         cdam_state_required_feature_count(state) == 1 &&
         cdam_state_required_feature(state, 0) == CDAM_FEATURE_NETWORK_ISOLATION;
}

/* What was accepted is also written and read again: nothing gets lost on the way. */
static void still_none(const char *what, size_t place, const unsigned char *bytes, size_t length,
                       const cdam_key *key, tally *count) {
  blob exact = blob_of(bytes, length);
  cdam_state *state = NULL;
  cdam_status status = cdam_state_parse(exact.bytes, exact.length, key, &state, NULL);
  count->tried++;
  if (!status) {
    count->accepted++;
    if (!says_none(state)) fail_msg("%s at %zu: accepted, and it does not say NONE", what, place);
    blob written = serialize(state, key);
    cdam_state *again = parse_good(&written, key);
    if (!says_none(again)) fail_msg("%s at %zu: NONE was lost in writing", what, place);
    cdam_state_free(again);
    blob_free(&written);
  }
  cdam_state_free(state);
  blob_free(&exact);
}

static tally cut_everywhere(const blob *b, const cdam_key *key) {
  tally count = {0};
  for (size_t length = 0; length < b->length; length++)
    still_none("cut", length, b->bytes, length, key, &count);
  return count;
}

static tally flip_every_bit(const blob *b, const cdam_key *key) {
  tally count = {0};
  for (size_t bit = 0; bit < 8 * b->length; bit++) {
    b->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    still_none("flip", bit, b->bytes, b->length, key, &count);
    b->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  return count;
}

static void try_all(const char *name, const char *variant, const blob *b, const cdam_key *key) {
  tally cuts = cut_everywhere(b, key);
  tally flips = flip_every_bit(b, key);
  printf("# %s%s, %s key: %zu of %zu cuts and %zu of %zu flips accepted, all NONE\n", name, variant,
         key ? "with" : "no", cuts.accepted, cuts.tried, flips.accepted, flips.tried);
  /* A reader with a key takes nothing that was touched. */
  if (key) assert_int_equal(cuts.accepted + flips.accepted, 0);
}

static void every_cut_and_every_flip(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  for (size_t i = 0; i < sizeof none_goldens / sizeof *none_goldens; i++) {
    blob b = golden(none_goldens[i]);
    try_all(none_goldens[i], "", &b, NULL);
    try_all(none_goldens[i], "", &b, key);
    cdam_seal_place place;
    assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
    if (place.offset < b.length) {
      b.length = place.offset;
      try_all(none_goldens[i], " without its seal", &b, NULL);
      try_all(none_goldens[i], " without its seal", &b, key);
    }
    blob_free(&b);
  }
  cdam_key_free(key);
}

/* The seal finds all damage but what removes the seal itself. */
static void a_sealed_body_takes_no_flip(void **unused) {
  (void)unused;
  blob b = golden("r2-none-full.binpb");
  cdam_seal_place place;
  assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
  for (size_t bit = 0; bit < 8 * b.length; bit++) {
    bool in_tag = bit / 8 >= place.offset && bit / 8 < place.offset + 2;
    cdam_state *state = NULL;
    b.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    cdam_status status = cdam_state_parse(b.bytes, b.length, NULL, &state, NULL);
    b.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    if (!status && !in_tag) fail_msg("bit %zu flipped and accepted", bit);
    cdam_state_free(state);
  }
  blob_free(&b);
}

static blob without_seal(const char *name) {
  blob b = golden(name);
  cdam_seal_place place;
  assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
  b.length = place.offset;
  return b;
}

/* Protobuf merges what is written behind each other: the last mode would win. With their seals off
 * only the walk stands in the way. */
static void concatenations(void **unused) {
  (void)unused;
  static const char *const names[] = {"r2-none-full.binpb", "r2-none-unsealed.binpb",
                                      "r2-unset.binpb",     "r2-none-unknown.binpb",
                                      "r1-full.binpb",      "r2-none-minimal.binpb"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
      blob first = golden(names[i]), second = golden(names[j]);
      blob_add(&first, second.bytes, second.length);
      cdam_state *state = NULL;
      cdam_status status = cdam_state_parse(first.bytes, first.length, NULL, &state, NULL);
      assert_true(status == CDAM_ERR_MALFORMED || status == CDAM_ERR_SEAL);
      blob_free(&first);
      blob_free(&second);
      first = without_seal(names[i]);
      second = without_seal(names[j]);
      blob_add(&first, second.bytes, second.length);
      refuse(names[i], &first, NULL, CDAM_ERR_MALFORMED, "twice");
      blob_free(&first);
      blob_free(&second);
    }
  }
}

/* A shorter new state over a longer old one: every tail of the old that could have been left. */
static void tails_of_old_states(void **unused) {
  (void)unused;
  size_t accepted = 0;
  for (int sealed = 0; sealed < 2; sealed++) {
    blob fresh = golden(sealed ? "r2-none-minimal.binpb" : "r2-none-unsealed.binpb");
    blob old = sealed ? golden("r2-unset.binpb") : without_seal("r2-unset.binpb");
    for (size_t at = 0; at < old.length; at++) {
      blob both = blob_of(fresh.bytes, fresh.length);
      blob_add(&both, old.bytes + at, old.length - at);
      cdam_state *state = NULL;
      if (!cdam_state_parse(both.bytes, both.length, NULL, &state, NULL)) {
        accepted++;
        assert_true(says_none(state));
      }
      cdam_state_free(state);
      blob_free(&both);
    }
    blob_free(&fresh);
    blob_free(&old);
  }
  printf("# tails of an old state behind a new one: %zu accepted, all NONE\n", accepted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_cut_and_every_flip),
      cmocka_unit_test(a_sealed_body_takes_no_flip),
      cmocka_unit_test(concatenations),
      cmocka_unit_test(tails_of_old_states),
  };
  return cmocka_run_group_tests_name("state_damage", tests, NULL, NULL);
}
