/* SPDX-License-Identifier: Apache-2.0 */
/* The words of text format: blanks, comments, names, numbers and strings. */
#ifndef COFFERDAM_STATE_TEXTPROTO_LEX_H
#define COFFERDAM_STATE_TEXTPROTO_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Text that is UTF-8 without a NUL. */
typedef struct cdam_lexer {
  const char *text;
  size_t length;
  size_t at;    /* what is not read yet */
  size_t token; /* where the last token began that was looked at: what an error is about */
} cdam_lexer;

typedef struct cdam_word {
  const char *text; /* in the lexer's own */
  size_t length;
} cdam_word;

/* The first character of the next token; NUL at the end. */
char cdam_lex_peek(cdam_lexer *lexer);

/* Reads the character if the next token is it. */
bool cdam_lex_take(cdam_lexer *lexer, char character);

bool cdam_lex_is_name(char first);
bool cdam_lex_is_digit(char first);
bool cdam_lex_is_quote(char first);

/* A run of letters, digits, `_` and `.`: a name or a number. Empty when there is none. */
cdam_word cdam_lex_word(cdam_lexer *lexer);

bool cdam_word_is(cdam_word word, const char *text);

/* A whole number, decimal, 0x hexadecimal or 0 octal. */
bool cdam_word_number(cdam_word word, uint64_t *number);

/* The pieces of a string, put together and without escapes. NULL, or what is wrong; "" when out of
 * memory. */
const char *cdam_lex_string(cdam_lexer *lexer, cdam_buffer *out);

/* Of the last token, from 1 on; columns count characters. */
void cdam_lex_place(const cdam_lexer *lexer, size_t *line, size_t *column);

#endif
