/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/image.h"

/* Docker's own bound; it counts the registry and path that it fills in. */
#define NAME_MAX_BYTES 255

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c) {
  return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!is_digit(text[i]) && !(text[i] >= 'a' && text[i] <= 'f')) return false;
  return true;
}

/* Lower-case letters and digits, in groups joined by one ".", "_" or "__", or any run of "-". */
static bool is_path_component(const char *text, size_t length) {
  size_t i = 0;
  while (i < length) {
    size_t start = i;
    while (i < length && (is_digit(text[i]) || is_lower(text[i])))
      i++;
    if (i == start) return false;
    if (i == length) return true;
    if (text[i] == '-') {
      while (i < length && text[i] == '-')
        i++;
    } else if (text[i] == '_') {
      i += i + 1 < length && text[i + 1] == '_' ? 2 : 1;
    } else if (text[i] == '.') {
      i++;
    } else {
      return false;
    }
  }
  return false;
}

static bool is_host_label(const char *text, size_t length) {
  if (length == 0 || text[0] == '-' || text[length - 1] == '-') return false;
  for (size_t i = 0; i < length; i++)
    if (!is_alnum(text[i]) && text[i] != '-') return false;
  return true;
}

static bool is_host_name(const char *text, size_t length) {
  size_t start = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && text[i] != '.') continue;
    if (!is_host_label(text + start, i - start)) return false;
    start = i + 1;
  }
  return true;
}

/* The length of "[...]" at the start of the text; 0 when there is none. */
static size_t bracketed(const char *text, size_t length) {
  size_t i = 1;
  while (i < length &&
         (is_hex(text + i, 1) || (text[i] >= 'A' && text[i] <= 'F') || text[i] == ':'))
    i++;
  return i > 1 && i < length && text[i] == ']' ? i + 1 : 0;
}

/* A host name, IPv4 address or bracketed IPv6 address, and maybe a port. */
static bool is_registry(const char *text, size_t length) {
  size_t host;
  if (length && text[0] == '[') {
    host = bracketed(text, length);
    if (host == 0) return false;
  } else {
    const char *colon = memchr(text, ':', length);
    host = colon ? (size_t)(colon - text) : length;
    if (!is_host_name(text, host)) return false;
  }
  if (host == length) return true;
  if (text[host] != ':' || host + 1 == length) return false;
  for (size_t i = host + 1; i < length; i++)
    if (!is_digit(text[i])) return false;
  return true;
}

/* Docker takes what stands before the first slash for a registry only if it looks like one;
 * otherwise the name lies on Docker Hub, under "library" when it has a single component. */
static size_t implied_prefix(const char *name, size_t length) {
  const char *slash = memchr(name, '/', length);
  if (!slash) return sizeof "docker.io/library/" - 1;
  size_t first = (size_t)(slash - name);
  if (first == sizeof "localhost" - 1 && memcmp(name, "localhost", first) == 0) return 0;
  for (size_t i = 0; i < first; i++)
    if (name[i] == '.' || name[i] == ':' || (name[i] >= 'A' && name[i] <= 'Z')) return 0;
  return sizeof "docker.io/" - 1;
}

static const char *check_name(const char *name, size_t length) {
  if (length == 0) return "it has no name";
  if (implied_prefix(name, length) + length > NAME_MAX_BYTES) return "the name is too long";
  size_t start = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && name[i] != '/') continue;
    bool ok = is_path_component(name + start, i - start) ||
              (start == 0 && i < length && is_registry(name, i));
    if (!ok) {
      for (size_t j = start; j < i; j++)
        if (name[j] >= 'A' && name[j] <= 'Z') return "names are in lower case";
      return "the name has an empty part or a character that is not allowed";
    }
    start = i + 1;
  }
  return NULL;
}

static const char *check_tag(const char *tag, size_t length) {
  if (length == 0) return "the tag is empty";
  if (length > 128) return "the tag is longer than 128 characters";
  for (size_t i = 0; i < length; i++) {
    bool inner = i > 0 && (tag[i] == '.' || tag[i] == '-');
    if (!is_alnum(tag[i]) && tag[i] != '_' && !inner)
      return "the tag has a character that is not allowed";
  }
  return NULL;
}

static const char *check_digest(const char *digest) {
  static const struct {
    const char *prefix;
    size_t digits;
  } algorithms[] = {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
    size_t prefix = strlen(algorithms[i].prefix);
    if (strncmp(digest, algorithms[i].prefix, prefix) != 0) continue;
    const char *digits = digest + prefix;
    if (strlen(digits) == algorithms[i].digits && is_hex(digits, algorithms[i].digits)) return NULL;
    return "the digest does not have the right number of lower-case hexadecimal digits";
  }
  return "the digest is none of sha256, sha384 and sha512";
}

static void copy(char *out, const char *text, size_t length) {
  memcpy(out, text, length);
  out[length] = '\0';
}

bool cdam_image_id_parse(const char *text, char id[72]) {
  static const char prefix[] = "sha256:";
  const char *digits = strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + 7 : text;
  if (strlen(digits) != 64 || !is_hex(digits, 64)) return false;
  memcpy(id, prefix, sizeof prefix - 1);
  copy(id + sizeof prefix - 1, digits, 64);
  return true;
}

/* The last colon behind the last slash; a colon before that belongs to a port. */
static const char *find_tag(const char *text, size_t length) {
  for (size_t i = length; i > 0 && text[i - 1] != '/'; i--)
    if (text[i - 1] == ':') return text + i - 1;
  return NULL;
}

static const char *parse(const char *text, cdam_image_reference *out) {
  if (cdam_image_id_parse(text, out->digest)) return NULL;
  const char *wrong;
  const char *at = strchr(text, '@');
  size_t length = at ? (size_t)(at - text) : strlen(text);
  const char *colon = find_tag(text, length);
  size_t name_length = colon ? (size_t)(colon - text) : length;

  if ((wrong = check_name(text, name_length))) return wrong;
  copy(out->name, text, name_length);
  if (colon) {
    size_t tag_length = length - name_length - 1;
    if ((wrong = check_tag(colon + 1, tag_length))) return wrong;
    copy(out->tag, colon + 1, tag_length);
  }
  if (at) {
    if ((wrong = check_digest(at + 1))) return wrong;
    copy(out->digest, at + 1, strlen(at + 1));
  }
  return NULL;
}

bool cdam_image_reference_parse(const char *text, cdam_image_reference *out, const char **why) {
  cdam_image_reference parsed = {0};
  const char *wrong = parse(text, &parsed);
  if (why) *why = wrong;
  if (wrong) return false;
  if (out) *out = parsed;
  return true;
}
