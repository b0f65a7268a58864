/* SPDX-License-Identifier: Apache-2.0 */
#include "state/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"

/* SHA-256, looked up in libcrypto's tables once in a process: that takes as long as the digest of a
 * small state. NULL when out of memory; the next call tries again. */
static const EVP_MD *sha256(void) {
  static _Atomic(EVP_MD *) found;
  EVP_MD *known = atomic_load(&found);
  if (known) return known;
  EVP_MD *fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
  if (!fetched || atomic_compare_exchange_strong(&found, &known, fetched)) return fetched;
  EVP_MD_free(fetched); /* another thread was first */
  return known;
}

static cdam_status digest_of(const unsigned char *body, size_t length, const cdam_key *key,
                             unsigned char digest[CDAM_DIGEST_BYTES], cdam_error *err) {
  if (key) return cdam_key_hmac(key, body, length, digest, err);
  unsigned made = 0;
  const EVP_MD *kind = sha256();
  if (!kind || !EVP_Digest(body, length, digest, &made, kind, NULL) || made != CDAM_DIGEST_BYTES)
    return cdam_fail_memory(err);
  return CDAM_OK;
}

cdam_status cdam_seal_make(const unsigned char *body, size_t length, const cdam_key *key,
                           cdam_seal_bytes *seal, cdam_error *err) {
  unsigned char digest[CDAM_DIGEST_BYTES];
  cdam_status status = digest_of(body, length, key, digest, err);
  if (status) return status;
  Cofferdam__V1__Seal message = COFFERDAM__V1__SEAL__INIT;
  message.algorithm = key ? COFFERDAM__V1__SEAL_ALGORITHM__SEAL_ALGORITHM_HMAC_SHA256
                          : COFFERDAM__V1__SEAL_ALGORITHM__SEAL_ALGORITHM_SHA256;
  message.key_id = (char *)(uintptr_t)(key ? cdam_key_id(key) : "");
  message.digest = (ProtobufCBinaryData){sizeof digest, digest};
  size_t size = cofferdam__v1__seal__get_packed_size(&message);
  unsigned char *at = seal->bytes;
  *at++ = (CDAM_SEAL_FIELD << 3 & 0x7f) | 2 | 0x80;
  *at++ = CDAM_SEAL_FIELD >> 4;
  if (size >= 0x80) *at++ = (unsigned char)(size | 0x80);
  *at++ = (unsigned char)(size >= 0x80 ? size >> 7 : size);
  at += cofferdam__v1__seal__pack(&message, at);
  seal->length = (size_t)(at - seal->bytes);
  return CDAM_OK;
}

/* Reads the seal only to say what is wrong with it. */
static cdam_status explain(const unsigned char *payload, size_t length, const cdam_key *key,
                           cdam_error *err) {
  Cofferdam__V1__Seal *seal = NULL;
  if (!cdam_wire_check(&cofferdam__v1__seal__descriptor, payload, length, NULL))
    seal = cofferdam__v1__seal__unpack(NULL, length, payload);
  cdam_status status;
  bool hmac = seal && seal->algorithm == COFFERDAM__V1__SEAL_ALGORITHM__SEAL_ALGORITHM_HMAC_SHA256;
  if (!key && hmac)
    status = cdam_fail(err, CDAM_ERR_SEAL,
                       "the state is sealed with the key \"%.*s\", and no key was given",
                       CDAM_KEY_ID_MAX_BYTES, seal->key_id);
  else if (key && hmac && strcmp(seal->key_id, cdam_key_id(key)) != 0)
    status =
        cdam_fail(err, CDAM_ERR_SEAL, "the state is sealed with the key \"%.*s\", not with \"%s\"",
                  CDAM_KEY_ID_MAX_BYTES, seal->key_id, cdam_key_id(key));
  else if (key && seal && !hmac)
    status = cdam_fail(err, CDAM_ERR_SEAL,
                       "the state is not sealed with a key, and the key \"%s\" was given",
                       cdam_key_id(key));
  else
    status = cdam_fail(err, CDAM_ERR_SEAL, "the seal is wrong: the state has been %s",
                       key ? "changed, or sealed with another key" : "damaged");
  if (seal) cofferdam__v1__seal__free_unpacked(seal, NULL);
  return status;
}

cdam_status cdam_seal_check(const unsigned char *bytes, size_t length, const cdam_seal_place *place,
                            const cdam_key *key, cdam_error *err) {
  size_t seal_length = length - place->offset;
  if (seal_length == 0 && !key) return CDAM_OK;
  if (seal_length == 0)
    return cdam_fail(err, CDAM_ERR_SEAL, "the state is not sealed, and the key \"%s\" was given",
                     cdam_key_id(key));
  cdam_seal_bytes right;
  cdam_status status = cdam_seal_make(bytes, place->offset, key, &right, err);
  if (status) return status;
  /* Byte for byte as we would write it: no second encoding of a seal is a seal. */
  if (seal_length == right.length &&
      CRYPTO_memcmp(bytes + place->offset, right.bytes, right.length) == 0)
    return CDAM_OK;
  return explain(bytes + place->payload_offset, length - place->payload_offset, key, err);
}
