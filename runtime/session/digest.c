/* SPDX-License-Identifier: Apache-2.0 */
#include "session/digest.h"

#include <stdio.h>

#include <openssl/evp.h>

bool cdam_digest(const void *bytes, size_t length, char digest[CDAM_DIGEST_SIZE]) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned made = 0;
  if (EVP_Digest(bytes, length, hash, &made, EVP_sha256(), NULL) != 1 || made != 32) return false;
  for (size_t i = 0; i < made; i++)
    snprintf(digest + 2 * i, 3, "%02x", hash[i]);
  return true;
}
