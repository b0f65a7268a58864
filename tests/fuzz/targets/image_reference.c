/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image references against the grammar of the distribution project, as regular expressions: the
 * parser takes what they match, and nothing else. The parts make the text again.
 */
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/image.h"
#include "fuzz.h"

#define LABEL "([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
#define HOST "(" LABEL "(\\." LABEL ")*|\\[[a-fA-F0-9:]+\\])(:[0-9]+)?"
#define COMPONENT "[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+)*"
#define NAME "(" HOST "/)?" COMPONENT "(/" COMPONENT ")*"
#define TAG ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
#define DIGEST "@(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})"

static regex_t reference, name_alone, id;

static void compile(void) {
  static bool done;
  if (done) return;
  done = true;
  FUZZ_CHECK(!regcomp(&reference, "^" NAME "(" TAG ")?(" DIGEST ")?$", REG_EXTENDED | REG_NOSUB));
  FUZZ_CHECK(!regcomp(&name_alone, "^" NAME "$", REG_EXTENDED | REG_NOSUB));
  FUZZ_CHECK(!regcomp(&id, "^(sha256:)?[0-9a-f]{64}$", REG_EXTENDED | REG_NOSUB));
}

static bool matches(const regex_t *expression, const char *text) {
  return regexec(expression, text, 0, NULL, 0) == 0;
}

/* What Docker puts in front of a name before it measures it. */
static size_t measured(const char *name) {
  size_t first = strcspn(name, "/");
  if (!name[first]) return strlen("docker.io/library/") + strlen(name);
  bool host = first == strlen("localhost") && strncmp(name, "localhost", first) == 0;
  for (size_t i = 0; i < first; i++)
    host = host || strchr(".:", name[i]) || isupper((unsigned char)name[i]);
  return (host ? 0 : strlen("docker.io/")) + strlen(name);
}

static void check_parts(const char *text, const cdam_image_reference *parts) {
  char again[1024];
  if (!parts->name[0]) {
    FUZZ_CHECK(matches(&id, text) && matches(&id, parts->digest) && !parts->tag[0]);
    FUZZ_CHECK(strncmp(parts->digest, "sha256:", 7) == 0);
    FUZZ_CHECK(strcmp(parts->digest + 7, text + strlen(text) - 64) == 0);
    return;
  }
  snprintf(again, sizeof again, "%s%s%s%s%s", parts->name, parts->tag[0] ? ":" : "", parts->tag,
           parts->digest[0] ? "@" : "", parts->digest);
  FUZZ_CHECK(strcmp(again, text) == 0);
  FUZZ_CHECK(matches(&reference, text) && matches(&name_alone, parts->name));
  FUZZ_CHECK(measured(parts->name) <= 255);
}

/* The name alone, for its length. */
static char *name_of(const char *text) {
  char *name = fuzz_text(text, strcspn(text, "@"));
  char *slash = strrchr(name, '/');
  char *colon = strrchr(slash ? slash : name, ':');
  if (colon) *colon = '\0';
  return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1024 || memchr(data, '\0', size)) return 0;
  compile();
  char *text = fuzz_text(data, size);
  cdam_image_reference parts;
  const char *why = "unset";
  bool accepted = cdam_image_reference_parse(text, &parts, &why);
  FUZZ_CHECK(accepted == (why == NULL));
  FUZZ_CHECK(accepted == cdam_image_reference_parse(text, NULL, NULL));
  if (accepted) {
    check_parts(text, &parts);
  } else {
    char *name = name_of(text);
    FUZZ_CHECK(!matches(&id, text));
    FUZZ_CHECK(!matches(&reference, text) || measured(name) > 255);
    free(name);
  }
  char image_id[72];
  FUZZ_CHECK(cdam_image_id_parse(text, image_id) == matches(&id, text));
  free(text);
  return 0;
}
