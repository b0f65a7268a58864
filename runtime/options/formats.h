/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of texts that options hold. Each refuses what it does not know. */
#ifndef COFFERDAM_OPTIONS_FORMATS_H
#define COFFERDAM_OPTIONS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 8-4-4-4-12 hexadecimal digits in lower case. */
bool cdam_is_uuid(const char *text);

/* Absolute and as the engine would clean it: no ".", "..", empty part, or slash at its end ("/"
 * itself is one); no control characters. */
bool cdam_is_clean_path(const char *text);

/* USER[:GROUP]: numbers without leading zeros below 2^31, or names as useradd takes them. */
bool cdam_is_user(const char *text);

/* UID:GID, neither of them 0. */
bool cdam_is_plain_user(const char *text);

bool cdam_is_word(const char *text);
bool cdam_is_hostname(const char *text);

/* os/architecture[/variant]: words in lower case. */
bool cdam_is_platform(const char *text);

/* The options of a tmpfs. NULL when all is right, or else what is wrong. */
const char *cdam_tmpfs_error(const char *text);

/* One word of them: what it is about (its negation is about the same), such as "size" for
 * "size=64m" and "exec" for "noexec". `length` is that of the word; false for one that is not
 * known. */
bool cdam_tmpfs_subject(const char *word, size_t length, char subject[static 16]);

bool cdam_is_ulimit_name(const char *text);

/* "SOFT:HARD" in decimal, the first no higher, both below 2^63. */
bool cdam_ulimit_parse(const char *text, uint64_t *soft, uint64_t *hard);

/* All of a text as a decimal without leading zeros, up to `max`. */
bool cdam_decimal_parse(const char *text, size_t length, uint64_t max, uint64_t *number);

#endif
