/* SPDX-License-Identifier: Apache-2.0 */
#include "state/key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "state/file.h"

#define KEY_MIN_BYTES 16
#define KEY_MAX_BYTES 1024

struct cdam_key {
  /* Holds the key, set up for use; each use works on a copy of it. libcrypto wipes it. */
  EVP_MAC_CTX *ready;
  char id[CDAM_KEY_ID_MAX_BYTES + 1];
};

static cdam_status check_id(const char *id, cdam_error *err) {
  size_t length = strlen(id);
  if (length == 0 || length > CDAM_KEY_ID_MAX_BYTES)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "a key's name has 1 to %d bytes, not %zu",
                     CDAM_KEY_ID_MAX_BYTES, length);
  for (const char *c = id; *c; c++)
    if (*c <= ' ' || *c > '~')
      return cdam_fail(err, CDAM_ERR_ARGUMENT,
                       "a key's name is printable ASCII without blanks, and \"%s\" is not", id);
  return CDAM_OK;
}

/* NULL when libcrypto has no memory, or no HMAC. */
static EVP_MAC_CTX *ready_context(const void *bytes, size_t length) {
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                             OSSL_PARAM_construct_end()};
  EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
  EVP_MAC_free(mac);
  if (context && EVP_MAC_init(context, bytes, length, parameters)) return context;
  EVP_MAC_CTX_free(context);
  return NULL;
}

cdam_status cdam_key_new(const char *id, const void *bytes, size_t length, cdam_key **out,
                         cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_key_new: out is NULL");
  *out = NULL;
  if (!id || !bytes) return cdam_fail(err, CDAM_ERR_ARGUMENT, "a key needs a name and bytes");
  if (length < KEY_MIN_BYTES || length > KEY_MAX_BYTES)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "a key has %d to %d bytes, not %zu", KEY_MIN_BYTES,
                     KEY_MAX_BYTES, length);
  cdam_status status = check_id(id, err);
  if (status) return status;
  cdam_key *key = calloc(1, sizeof *key);
  if (!key) return cdam_fail_memory(err);
  memcpy(key->id, id, strlen(id) + 1);
  key->ready = ready_context(bytes, length);
  if (!key->ready) {
    cdam_key_free(key);
    return cdam_fail_memory(err);
  }
  *out = key;
  return cdam_ok(err);
}

void cdam_key_free(cdam_key *key) {
  if (!key) return;
  EVP_MAC_CTX_free(key->ready);
  free(key);
}

const char *cdam_key_id(const cdam_key *key) {
  return key->id;
}

cdam_status cdam_key_hmac(const cdam_key *key, const unsigned char *bytes, size_t length,
                          unsigned char digest[CDAM_DIGEST_BYTES], cdam_error *err) {
  size_t made = 0;
  EVP_MAC_CTX *context = EVP_MAC_CTX_dup(key->ready);
  bool ok = context && EVP_MAC_update(context, bytes, length) &&
            EVP_MAC_final(context, digest, &made, CDAM_DIGEST_BYTES) && made == CDAM_DIGEST_BYTES;
  EVP_MAC_CTX_free(context);
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

/* Opens a key file that its owner alone can write. */
static cdam_status open_key(const char *path, int *out, cdam_error *err) {
  struct stat about;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return cdam_fail_file(err, "open the key file", path, errno);
  cdam_status status = CDAM_OK;
  if (fstat(fd, &about) != 0)
    status = cdam_fail_file(err, "look at the key file", path, errno);
  else if (!S_ISREG(about.st_mode))
    status = cdam_fail(err, CDAM_ERR_IO, "the key file %s is not a regular file", path);
  else if (about.st_mode & (S_IWGRP | S_IWOTH))
    status = cdam_fail(err, CDAM_ERR_IO,
                       "others than its owner can write the key file %s: chmod it to 600", path);
  if (status)
    close(fd);
  else
    *out = fd;
  return status;
}

cdam_status cdam_key_load(const char *path, cdam_key **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_key_load: out is NULL");
  *out = NULL;
  if (!path) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_key_load: path is NULL");
  int fd = -1;
  cdam_status status = open_key(path, &fd, err);
  if (status) return status;
  unsigned char bytes[KEY_MAX_BYTES + 1];
  size_t length;
  status = cdam_read_all(fd, bytes, sizeof bytes, &length)
               ? CDAM_OK
               : cdam_fail_file(err, "read the key file", path, errno);
  close(fd);
  const char *slash = strrchr(path, '/');
  if (!status) status = cdam_key_new(slash ? slash + 1 : path, bytes, length, out, err);
  OPENSSL_cleanse(bytes, sizeof bytes);
  return status;
}
