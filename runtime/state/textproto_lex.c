/* SPDX-License-Identifier: Apache-2.0 */
#include "state/textproto_lex.h"

#include <string.h>

static bool has_more(const cdam_lexer *lexer) {
  return lexer->at < lexer->length;
}

/* Never strchr: it finds the NUL, too. */
static bool is_in(char character, const char *set) {
  return character && strchr(set, character);
}

bool cdam_lex_is_name(char first) {
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
}

bool cdam_lex_is_digit(char first) {
  return first >= '0' && first <= '9';
}

bool cdam_lex_is_quote(char first) {
  return first == '"' || first == '\'';
}

char cdam_lex_peek(cdam_lexer *lexer) {
  bool comment = false;
  for (; has_more(lexer); lexer->at++) {
    char c = lexer->text[lexer->at];
    if (c == '\n')
      comment = false;
    else if (c == '#')
      comment = true;
    else if (!comment && !is_in(c, " \t\r\v\f"))
      break;
  }
  lexer->token = lexer->at;
  return has_more(lexer) ? lexer->text[lexer->at] : '\0';
}

bool cdam_lex_take(cdam_lexer *lexer, char character) {
  if (cdam_lex_peek(lexer) != character || !has_more(lexer)) return false;
  lexer->at++;
  return true;
}

cdam_word cdam_lex_word(cdam_lexer *lexer) {
  cdam_lex_peek(lexer);
  size_t start = lexer->at;
  while (has_more(lexer)) {
    char c = lexer->text[lexer->at];
    if (!cdam_lex_is_name(c) && !cdam_lex_is_digit(c) && c != '.') break;
    lexer->at++;
  }
  return (cdam_word){lexer->text + start, lexer->at - start};
}

bool cdam_word_is(cdam_word word, const char *text) {
  return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

/* ---- numbers ---- */

/* 16 for what is no digit of any base. */
static unsigned digit_of(char c) {
  if (cdam_lex_is_digit(c)) return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
  return 16;
}

bool cdam_word_number(cdam_word word, uint64_t *number) {
  unsigned base = 10;
  if (word.length > 2 && word.text[0] == '0' && is_in(word.text[1], "xX")) {
    base = 16;
    word = (cdam_word){word.text + 2, word.length - 2};
  } else if (word.length > 1 && word.text[0] == '0') {
    base = 8;
  }
  uint64_t result = 0;
  for (size_t i = 0; i < word.length; i++) {
    unsigned digit = digit_of(word.text[i]);
    if (digit >= base || result > (UINT64_MAX - digit) / base) return false;
    result = result * base + digit;
  }
  *number = result;
  return word.length > 0;
}

/* ---- strings ---- */

static const char no_memory[] = "";
static const char bad_escape[] = "holds an escape that is none";

/* As many digits as there are, but at most `most`; false when there is none. */
static bool read_digits(cdam_lexer *lexer, unsigned base, size_t most, uint32_t *number) {
  size_t count = 0;
  *number = 0;
  for (; count < most && has_more(lexer); count++, lexer->at++) {
    unsigned digit = digit_of(lexer->text[lexer->at]);
    if (digit >= base) break;
    *number = *number * base + digit;
  }
  return count > 0;
}

static const char *append_byte(cdam_buffer *out, uint32_t byte) {
  char character = (char)byte;
  return cdam_buffer_append(out, &character, 1) ? NULL : no_memory;
}

/* Behind the backslash. Not every reader takes \?, \X, \u and \U for what they are: protobuf's own
 * for Python leaves the first two as they stand, and makes one byte of \u00e9. So they are refused.
 */
static const char *read_escape(cdam_lexer *lexer, cdam_buffer *out) {
  static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
  char c = has_more(lexer) ? lexer->text[lexer->at] : '\0';
  uint32_t number;
  if (is_in(c, letters)) {
    lexer->at++;
    return append_byte(out, (unsigned char)meanings[strchr(letters, c) - letters]);
  }
  if (c >= '0' && c <= '7') {
    read_digits(lexer, 8, 3, &number);
    return number > 0xff ? bad_escape : append_byte(out, number);
  }
  lexer->at += has_more(lexer);
  if (c == 'x' && read_digits(lexer, 16, 2, &number)) return append_byte(out, number);
  return bad_escape;
}

/* Behind the opening quote. */
static const char *read_piece(cdam_lexer *lexer, char quote, cdam_buffer *out) {
  const char *wrong = NULL;
  while (!wrong && has_more(lexer)) {
    char c = lexer->text[lexer->at];
    if (c == '\n') break;
    lexer->at++;
    if (c == quote) return NULL;
    wrong = c == '\\' ? read_escape(lexer, out) : append_byte(out, (unsigned char)c);
  }
  return wrong ? wrong : "a string that does not end on its line";
}

const char *cdam_lex_string(cdam_lexer *lexer, cdam_buffer *out) {
  const char *wrong = NULL;
  char quote = cdam_lex_peek(lexer);
  for (; !wrong && cdam_lex_is_quote(quote); quote = wrong ? '\0' : cdam_lex_peek(lexer)) {
    lexer->at++;
    wrong = read_piece(lexer, quote, out);
  }
  return wrong;
}

void cdam_lex_place(const cdam_lexer *lexer, size_t *line, size_t *column) {
  *line = *column = 1;
  for (size_t i = 0; i < lexer->token; i++) {
    unsigned char c = (unsigned char)lexer->text[i];
    if (c == '\n') {
      ++*line;
      *column = 1;
    } else if ((c & 0xc0) != 0x80) {
      ++*column;
    }
  }
}
