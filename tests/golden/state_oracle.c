/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library as a filter, for comparison with another implementation: reads states from stdin
 * and answers on stdout, each number as four bytes, low byte first.
 *
 *   in:  length, bytes                       out: status; when it is CDAM_OK also
 *                                                 length, the bytes serialized again,
 *                                                 length, ProtoJSON
 *
 * With an argument, the file of that name is the key, called "test-key". "--json" as the first
 * argument: the input is ProtoJSON.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/message.h>

static void die(const char *text) {
  fprintf(stderr, "state_oracle: %s\n", text);
  exit(1);
}

static void put(const void *bytes, size_t length) {
  if (fwrite(bytes, 1, length, stdout) != length) die("cannot write");
}

static void put_number(uint32_t number) {
  unsigned char bytes[4] = {(unsigned char)number, (unsigned char)(number >> 8),
                            (unsigned char)(number >> 16), (unsigned char)(number >> 24)};
  put(bytes, sizeof bytes);
}

/* NULL at the end of input. */
static unsigned char *get(size_t *length) {
  unsigned char number[4];
  size_t got = fread(number, 1, sizeof number, stdin);
  if (got == 0) return NULL;
  if (got != sizeof number) die("half a length");
  *length = (size_t)(number[0] | (uint32_t)number[1] << 8 | (uint32_t)number[2] << 16 |
                     (uint32_t)number[3] << 24);
  unsigned char *bytes = malloc(*length + 1);
  if (!bytes || fread(bytes, 1, *length, stdin) != *length) die("half an input");
  return bytes;
}

static void answer(const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes;
  size_t length;
  char *json;
  cdam_error err;
  if (cdam_state_serialize(state, key, &bytes, &length, &err)) die(err.message);
  if (cdam_state_to_json(state, &json, &err)) die(err.message);
  put_number((uint32_t)length);
  put(bytes, length);
  put_number((uint32_t)strlen(json));
  put(json, strlen(json));
  free(bytes);
  free(json);
}

static cdam_key *read_key(const char *path) {
  unsigned char bytes[1024];
  FILE *file = fopen(path, "rb");
  if (!file) die("cannot open the key");
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  cdam_key *key;
  cdam_error err;
  if (cdam_key_new("test-key", bytes, length, &key, &err)) die(err.message);
  return key;
}

int main(int argc, char **argv) {
  bool is_json = argc > 1 && strcmp(argv[1], "--json") == 0;
  cdam_key *key = argc > 1 + is_json ? read_key(argv[1 + is_json]) : NULL;
  unsigned char *bytes;
  size_t length;
  while ((bytes = get(&length))) {
    cdam_state *state;
    cdam_status status = is_json ? cdam_state_from_json((char *)bytes, length, key, &state, NULL)
                                 : cdam_state_parse(bytes, length, key, &state, NULL);
    put_number(status);
    if (!status) answer(state, key);
    cdam_state_free(state);
    free(bytes);
    fflush(stdout);
  }
  cdam_key_free(key);
  return 0;
}
