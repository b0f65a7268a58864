/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "show.h"

static int read_json(const cli_args *args, const cdam_state *state, json_t **root) {
  char *text = NULL;
  cdam_error err;
  if (cdam_state_to_json(state, &text, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  *root = json_loads(text, 0, NULL);
  free(text);
  return *root ? CLI_OK : cli_no_memory(args);
}

/* "SEAL_ALGORITHM_HMAC_SHA256" as "HMAC-SHA-256". A name that came later stays as it is. */
static const char *algorithm_words(const char *name) {
  if (strcmp(name, "SEAL_ALGORITHM_SHA256") == 0) return "SHA-256";
  if (strcmp(name, "SEAL_ALGORITHM_HMAC_SHA256") == 0) return "HMAC-SHA-256";
  return name;
}

static bool seal_of(const json_t *root, char **words) {
  *words = NULL;
  const json_t *seal = json_object_get(root, "seal");
  if (!seal) return true;
  const char *name = json_string_value(json_object_get(seal, "algorithm"));
  const char *key = json_string_value(json_object_get(seal, "keyId"));
  if (asprintf(words, "%s%s%s", algorithm_words(name ? name : "?"), key ? ", key " : "",
               key ? key : "") >= 0)
    return true;
  *words = NULL;
  return false;
}

int cli_seal_words(const cli_args *args, const cdam_state *state, char **seal) {
  *seal = NULL;
  json_t *root = NULL;
  int code = read_json(args, state, &root);
  if (code == CLI_OK && !seal_of(root, seal)) code = cli_no_memory(args);
  json_decref(root);
  return code;
}

static void put_line(const char *name, const char *value) {
  printf("%-10s ", name);
  cli_put_text(stdout, value);
  putchar('\n');
}

/* The features that the state requires are the isolating options in use, whatever options
 * there are: "FEATURE_NETWORK_ISOLATION" as "network isolation". */
static void put_isolation(const json_t *features) {
  printf("%-10s ", "isolation:");
  size_t count = json_array_size(features);
  if (count == 0) fputs("none asked for", stdout);
  for (size_t i = 0; i < count; i++) {
    const char *name = json_string_value(json_array_get(features, i));
    if (!name) name = "?";
    const char prefix[] = "FEATURE_";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    if (i > 0) fputs(", ", stdout);
    for (; *name; name++)
      putchar(*name == '_' ? ' ' : tolower((unsigned char)*name));
  }
  putchar('\n');
}

int cli_put_summary(const cli_args *args, const cdam_state *state) {
  json_t *root = NULL;
  char *seal = NULL;
  int code = read_json(args, state, &root);
  if (code == CLI_OK && !seal_of(root, &seal)) code = cli_no_memory(args);
  if (code == CLI_OK) {
    puts("ok");
    printf("%-10s %u\n", "revision:", (unsigned)cdam_state_schema_revision(state));
    put_line("seal:", seal ? seal : "none");
    put_line("session:", cdam_state_session_id(state));
    put_line("container:", cdam_state_container_id(state));
    put_isolation(json_object_get(root, "requiredFeatures"));
    if (cdam_state_has_unknown_fields(state))
      put_line("note:", "holds fields of a later revision; they are kept");
    code = cli_finish_stdout(args);
  }
  free(seal);
  json_decref(root);
  return code;
}
