/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library as a filter, for comparison with another implementation: reads states from stdin
 * and answers on stdout, each number as four bytes, low byte first.
 *
 *   in:  length, bytes                       out: status; when it is CDAM_OK also
 *                                                 length, the bytes serialized again,
 *                                                 length, ProtoJSON
 *                                                 length, text format
 *
 * With an argument, the file of that name is the key, called "test-key". "--json" or "--text" as
 * the first argument: the input is ProtoJSON or text format.
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

static void put_piece(const void *bytes, size_t length) {
  put_number((uint32_t)length);
  put(bytes, length);
}

static void answer(const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes;
  size_t length;
  char *json, *text;
  cdam_error err;
  if (cdam_state_serialize(state, key, &bytes, &length, &err)) die(err.message);
  if (cdam_state_to_json(state, &json, &err)) die(err.message);
  if (cdam_state_to_text(state, &text, &err)) die(err.message);
  put_piece(bytes, length);
  put_piece(json, strlen(json));
  put_piece(text, strlen(text));
  free(bytes);
  free(json);
  free(text);
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

static cdam_status read_state(const char *form, const unsigned char *bytes, size_t length,
                              const cdam_key *key, cdam_state **state) {
  if (strcmp(form, "--json") == 0)
    return cdam_state_from_json((const char *)bytes, length, key, state, NULL);
  if (strcmp(form, "--text") == 0)
    return cdam_state_from_text((const char *)bytes, length, key, state, NULL);
  return cdam_state_parse(bytes, length, key, state, NULL);
}

int main(int argc, char **argv) {
  const char *form = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
  int key_at = *form ? 2 : 1;
  cdam_key *key = argc > key_at ? read_key(argv[key_at]) : NULL;
  unsigned char *bytes;
  size_t length;
  while ((bytes = get(&length))) {
    cdam_state *state;
    cdam_status status = read_state(form, bytes, length, key, &state);
    put_number(status);
    if (!status) answer(state, key);
    cdam_state_free(state);
    free(bytes);
    fflush(stdout);
  }
  cdam_key_free(key);
  return 0;
}
