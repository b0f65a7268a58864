/* SPDX-License-Identifier: Apache-2.0 */
/* Serializing and parsing a typical state, against plain protobuf-c on the same message. Prints,
 * for several rounds, "ours_ns plain_ns", and first the size of the state in bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options/generated.h"

#define ROUNDS 15
#define COUNT 20000

static cdam_error err;

static void must(cdam_status status) {
  if (status == CDAM_OK) return;
  fprintf(stderr, "%s: %s\n", cdam_status_name(status), err.message);
  exit(1);
}

static const char typical[] =
    "{\"schemaRevision\":2,\"requiredFeatures\":[\"FEATURE_NETWORK_ISOLATION\"],"
    "\"sessionId\":\"6f1c8d5e-3b9a-4e57-9a63-0d9f0f6f2c11\",\"options\":{\"image\":"
    "\"registry.example.com:5000/team/runner:2024.11\",\"exposedPorts\":[8080,9090],\"labels\":{"
    "\"team\":\"blue\",\"tenant\":\"4711\",\"purpose\":\"evaluation\"},\"env\":{\"HOME\":"
    "\"/workspace\",\"LANG\":\"C.UTF-8\",\"MODE\":\"batch\",\"PYTHONUNBUFFERED\":\"1\"},"
    "\"networkMode\":\"NETWORK_MODE_NONE\"},\"imageId\":\"sha256:"
    "1111111111111111111111111111111111111111111111111111111111111111\",\"containerId\":"
    "\"2222222222222222222222222222222222222222222222222222222222222222\",\"engine\":{\"id\":"
    "\"RK2F:MPEG:MOID:AEW2:YU5K:GJVF:NVAP:M7UZ:GHKI:TCNF:YYDN:EVTP\"},\"workspaceReady\":true}";

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long ours(const cdam_state *state) {
  long long start = now();
  for (int i = 0; i < COUNT; i++) {
    unsigned char *bytes;
    size_t length;
    cdam_state *read;
    must(cdam_state_serialize(state, NULL, &bytes, &length, &err));
    must(cdam_state_parse(bytes, length, NULL, &read, &err));
    cdam_state_free(read);
    free(bytes);
  }
  return (now() - start) / COUNT;
}

static long long plain(const cdam_state *state) {
  long long start = now();
  for (int i = 0; i < COUNT; i++) {
    size_t length = cofferdam__v1__session_state__get_packed_size(&state->message);
    unsigned char *bytes = malloc(length);
    if (!bytes) exit(1);
    cofferdam__v1__session_state__pack(&state->message, bytes);
    Cofferdam__V1__SessionState *read = cofferdam__v1__session_state__unpack(NULL, length, bytes);
    cofferdam__v1__session_state__free_unpacked(read, NULL);
    free(bytes);
  }
  return (now() - start) / COUNT;
}

int main(void) {
  cdam_state *state, *sealed;
  unsigned char *bytes;
  size_t length;
  must(cdam_state_from_json(typical, strlen(typical), NULL, &state, &err));
  must(cdam_state_serialize(state, NULL, &bytes, &length, &err));
  must(cdam_state_parse(bytes, length, NULL, &sealed, &err)); /* the same bytes for both */
  printf("%zu\n", length);
  for (int i = 0; i < ROUNDS; i++)
    printf("%lld %lld\n", ours(sealed), plain(sealed));
  cdam_state_free(sealed);
  cdam_state_free(state);
  free(bytes);
  return 0;
}
