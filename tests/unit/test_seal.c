/* SPDX-License-Identifier: Apache-2.0 */
/* Seals: who reads what, and that a seal has one form. */
#include "state_support.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "state/wire.h"

/* Everything of the golden but its seal. */
static blob body_of(const char *name) {
  blob b = golden(name);
  cdam_seal_place place;
  assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
  b.length = place.offset;
  return b;
}

static void sha256_of(const blob *b, unsigned char digest[32]) {
  assert_true(EVP_Digest(b->bytes, b->length, digest, NULL, EVP_sha256(), NULL));
}

static void hmac_of(const blob *b, const blob *key, unsigned char digest[32]) {
  assert_non_null(
      HMAC(EVP_sha256(), key->bytes, (int)key->length, b->bytes, b->length, digest, NULL));
}

/* A seal field with those contents, in the usual order. */
static void add_seal(blob *b, unsigned char algorithm, const char *key_id,
                     const unsigned char digest[32]) {
  blob seal = {0};
  unsigned char start[2] = {8, algorithm};
  blob_add(&seal, start, 2);
  if (key_id) blob_add_text(&seal, 2, key_id);
  blob_add_field(&seal, 3, digest, 32);
  blob_add_field(b, 2047, seal.bytes, seal.length);
  blob_free(&seal);
}

typedef enum sealing {
  BARE,
  SHA,
  SHA_WRONG,
  HMAC_GOOD,
  HMAC_OTHER_KEY,
  HMAC_OTHER_ID,
  HMAC_WRONG
} sealing;

static blob sealed_as(sealing how) {
  blob b = body_of("r2-none-full.binpb"), key = golden("test-key");
  unsigned char digest[32];
  if (how == SHA || how == SHA_WRONG) sha256_of(&b, digest);
  if (how == HMAC_OTHER_KEY) key.bytes[0] ^= 1;
  if (how >= HMAC_GOOD) hmac_of(&b, &key, digest);
  if (how == SHA_WRONG || how == HMAC_WRONG) digest[31] ^= 1;
  if (how == SHA || how == SHA_WRONG) add_seal(&b, 1, NULL, digest);
  if (how >= HMAC_GOOD) add_seal(&b, 2, how == HMAC_OTHER_ID ? "other" : "test-key", digest);
  blob_free(&key);
  return b;
}

static void who_reads_what(void **unused) {
  (void)unused;
  static const struct {
    sealing how;
    bool with_key;
    const char *refused; /* part of the message; NULL: it is read */
  } rows[] = {
      {BARE, false, NULL},
      {SHA, false, NULL},
      {SHA_WRONG, false, "damaged"},
      {HMAC_GOOD, false, "sealed with the key \"test-key\", and no key was given"},
      {HMAC_OTHER_KEY, false, "no key was given"},
      {HMAC_OTHER_ID, false, "sealed with the key \"other\", and no key was given"},
      {HMAC_WRONG, false, "no key was given"},
      {BARE, true, "is not sealed, and the key \"test-key\" was given"},
      {SHA, true, "is not sealed with a key"},
      {SHA_WRONG, true, "is not sealed with a key"},
      {HMAC_GOOD, true, NULL},
      {HMAC_OTHER_KEY, true, "changed, or sealed with another key"},
      {HMAC_OTHER_ID, true, "sealed with the key \"other\", not with \"test-key\""},
      {HMAC_WRONG, true, "changed, or sealed with another key"},
  };
  cdam_key *key = golden_key();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    blob b = sealed_as(rows[i].how);
    const cdam_key *reader = rows[i].with_key ? key : NULL;
    if (rows[i].refused)
      refuse("matrix", &b, reader, CDAM_ERR_SEAL, rows[i].refused);
    else
      cdam_state_free(parse_good(&b, reader));
    blob_free(&b);
  }
  cdam_key_free(key);
}

static void our_seals_are_the_same_bytes(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  blob bare = sealed_as(BARE), sha = sealed_as(SHA), hmac = sealed_as(HMAC_GOOD);
  cdam_state *state = parse_good(&bare, NULL);
  blob written = serialize(state, NULL);
  assert_same_bytes(&written, &sha);
  blob_free(&written);
  written = serialize(state, key);
  assert_same_bytes(&written, &hmac);
  blob_free(&written);
  cdam_state_free(state);
  /* The seal that was read is not written again: here SHA-256 replaces HMAC, and vice versa. */
  state = parse_good(&hmac, key);
  written = serialize(state, NULL);
  assert_same_bytes(&written, &sha);
  blob_free(&written);
  cdam_state_free(state);
  state = parse_good(&sha, NULL);
  written = serialize(state, key);
  assert_same_bytes(&written, &hmac);
  blob_free(&written);
  cdam_state_free(state);
  blob_free(&bare);
  blob_free(&sha);
  blob_free(&hmac);
  cdam_key_free(key);
}

static void long_key_ids(void **unused) {
  (void)unused;
  char id[129];
  memset(id, 'k', 128);
  id[128] = '\0';
  cdam_key *key = make_key(id, TEST_HEX, 64);
  blob bare = sealed_as(BARE);
  cdam_state *state = parse_good(&bare, NULL);
  blob written = serialize(state, key);
  cdam_state_free(parse_good(&written, key));
  refuse("no key", &written, NULL, CDAM_ERR_SEAL, id);
  cdam_state_free(state);
  blob_free(&bare);
  blob_free(&written);
  cdam_key_free(key);
}

/* The digest is right in each of these; only the encoding is not the one that we write. */
static void a_seal_has_one_form(void **unused) {
  (void)unused;
  enum {
    ORDER,
    EMPTY_ID,
    ID_WITH_SHA,
    UNKNOWN,
    TWICE,
    LONG_VARINT,
    OTHER_ALGORITHM,
    ZERO,
    NOTHING
  };
  for (int how = ORDER; how <= NOTHING; how++) {
    blob b = body_of("r2-none-full.binpb"), seal = {0};
    unsigned char digest[32];
    sha256_of(&b, digest);
    if (how == ORDER) blob_add_field(&seal, 3, digest, 32);
    if (how == OTHER_ALGORITHM)
      blob_add(&seal, "\x08\x03", 2);
    else if (how == LONG_VARINT)
      blob_add(&seal, "\x08\x81\0", 3);
    else if (how != ZERO && how != NOTHING)
      blob_add(&seal, "\x08\x01", 2);
    if (how == TWICE) blob_add(&seal, "\x08\x01", 2);
    if (how == EMPTY_ID) blob_add(&seal, "\x12\0", 2);
    if (how == ID_WITH_SHA) blob_add_text(&seal, 2, "key");
    if (how != ORDER && how != NOTHING) blob_add_field(&seal, 3, digest, 32);
    if (how == UNKNOWN) blob_add(&seal, "\x20\x01", 2);
    blob_add_field(&b, 2047, seal.bytes, seal.length);
    refuse("seal", &b, NULL, CDAM_ERR_SEAL, "damaged");
    blob_free(&seal);
    blob_free(&b);
  }
}

static void a_seal_has_one_length(void **unused) {
  (void)unused;
  blob b = sealed_as(SHA);
  cdam_seal_place place;
  assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
  /* The length varint in two bytes. */
  b.bytes[place.offset + 2] |= 0x80;
  blob_insert(&b, place.offset + 3, "\0", 1);
  refuse("length", &b, NULL, CDAM_ERR_MALFORMED, "longer than it must be");
  blob_free(&b);
}

static void a_seal_is_last_and_once(void **unused) {
  (void)unused;
  blob b = sealed_as(SHA), seal = {0};
  blob_add(&b, "\xc0\x3e\x01", 3);
  refuse("field behind", &b, NULL, CDAM_ERR_MALFORMED, "the seal is not the last field");
  b.length -= 3;
  cdam_seal_place place;
  assert_int_equal(cdam_wire_find_seal(b.bytes, b.length, &place, NULL), CDAM_OK);
  assert_int_equal(place.payload_offset, place.offset + 3);
  blob_add(&seal, b.bytes + place.offset, b.length - place.offset);
  blob_add(&b, seal.bytes, seal.length);
  refuse("the same twice", &b, NULL, CDAM_ERR_MALFORMED, "the seal is not the last field");
  blob_free(&b);
  /* A second seal that is right for all before it, the first one included. */
  b = sealed_as(SHA);
  unsigned char digest[32];
  sha256_of(&b, digest);
  add_seal(&b, 1, NULL, digest);
  refuse("a seal over a seal", &b, NULL, CDAM_ERR_MALFORMED, "the seal is not the last field");
  blob_free(&b);
  /* In front of everything. */
  b = body_of("r2-none-full.binpb");
  blob_insert(&b, 0, seal.bytes, seal.length);
  refuse("in front", &b, NULL, CDAM_ERR_MALFORMED, "the seal is not the last field");
  blob_free(&b);
  blob_free(&seal);
  /* As another wire type. */
  b = body_of("r2-none-full.binpb");
  blob_add(&b, "\xf8\x7f\x01", 3);
  refuse("as a number", &b, NULL, CDAM_ERR_MALFORMED, "not the field's");
  blob_free(&b);
  /* With nothing before it. */
  b = blob_of("", 0);
  sha256_of(&b, digest);
  add_seal(&b, 1, NULL, digest);
  refuse("nothing but a seal", &b, NULL, CDAM_ERR_INVALID, "required");
  blob_free(&b);
}

/* Field 2047 is the seal on the top level only. */
static void a_seal_inside_of_options_is_an_unknown_field(void **unused) {
  (void)unused;
  blob b = state_with(true, "\xfa\x7f\x02\x08\x01", 5, NULL, 0);
  cdam_state *state = parse_good(&b, NULL);
  assert_true(cdam_state_has_unknown_fields(state));
  cdam_state_free(state);
  blob_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_reads_what),
      cmocka_unit_test(our_seals_are_the_same_bytes),
      cmocka_unit_test(long_key_ids),
      cmocka_unit_test(a_seal_has_one_form),
      cmocka_unit_test(a_seal_has_one_length),
      cmocka_unit_test(a_seal_is_last_and_once),
      cmocka_unit_test(a_seal_inside_of_options_is_an_unknown_field),
  };
  return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
