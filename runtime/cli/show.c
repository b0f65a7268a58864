/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include <string.h>

/* How long the character is, and which one; 0 when it is none. */
static size_t decode(const unsigned char *at, size_t left, unsigned *code) {
  static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  *code = *at;
  if (*at < 0x80) return 1;
  size_t width = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
  if (*at < 0xc2 || *at > 0xf4 || width > left) return 0;
  *code = *at & (0xffu >> (width + 1));
  for (size_t i = 1; i < width; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (at[i] & 0x3fu);
  }
  bool text = *code >= least[width] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
  return text ? width : 0;
}

/* What acts on a terminal, breaks a line or turns the direction of text around. */
static bool acts(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static void put_escaped(FILE *stream, const unsigned char *at, size_t width) {
  for (size_t i = 0; i < width; i++)
    fprintf(stream, "\\x%02x", at[i]);
}

static void put(FILE *stream, const char *text, bool backslashes) {
  const unsigned char *at = (const unsigned char *)text;
  for (size_t left = strlen(text), width; left; at += width, left -= width) {
    unsigned code;
    width = decode(at, left, &code);
    if (!width || acts(code))
      put_escaped(stream, at, width += !width);
    else
      fwrite(at, 1, width, stream);
    if (backslashes && code == '\\') fputc('\\', stream);
  }
}

void cli_put_text(FILE *stream, const char *text) {
  put(stream, text, false);
}

void cli_put_name(FILE *stream, const char *name) {
  put(stream, name, true);
}

/* ---- JSON ---- */

/* Between its strings there is nothing of this but newlines, and in them no newline. */
static int put_json(const char *text, size_t left, void *stream) {
  const unsigned char *at = (const unsigned char *)text;
  for (size_t width; left; at += width, left -= width) {
    unsigned code;
    width = decode(at, left, &code);
    if (width && acts(code) && code != '\n') {
      fprintf(stream, "\\u%04x", code);
      continue;
    }
    width += !width;
    fwrite(at, 1, width, stream);
  }
  return ferror(stream) ? -1 : 0;
}

void cli_put_json_text(const char *text) {
  put_json(text, strlen(text), stdout);
  putchar('\n');
}

bool cli_put_json(const json_t *json) {
  bool ok = json_dump_callback(json, put_json, stdout, JSON_INDENT(2)) == 0;
  putchar('\n');
  return ok;
}
