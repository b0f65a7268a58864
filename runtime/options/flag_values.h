/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the values of command-line flags. Part of the command-line tool: built on the public
 * interface only, and linked with the generated flags. */
#ifndef COFFERDAM_OPTIONS_FLAG_VALUES_H
#define COFFERDAM_OPTIONS_FLAG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

/* A word on the command line and the enum value it stands for. */
typedef struct cdam_flag_word {
  const char *word;
  int number;
} cdam_flag_word;

/* CDAM_ERR_INVALID about a field. `reason` must hold no value that may be secret. */
cdam_status cdam_flag_fail(cdam_error *err, const char *field, const char *reason);

/* Clears the error. */
cdam_status cdam_flag_ok(cdam_error *err);

/* Digits only, 0 to `max`. CDAM_ERR_INVALID. */
cdam_status cdam_flag_uint(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err);

/* Bytes, with k, m or g for a power of 1024: "512m". CDAM_ERR_INVALID. */
cdam_status cdam_flag_bytes(const char *field, const char *text, uint64_t max, uint64_t *number,
                            cdam_error *err);

/* A decimal in billionths: "1.5" is 1500000000. CDAM_ERR_INVALID. */
cdam_status cdam_flag_nano(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err);

/* Seconds since 1970, or "+" and a time from now with s, m, h or d: "+90", "+2h".
 * CDAM_ERR_INVALID. */
cdam_status cdam_flag_time(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err);

/* One of the words; `accepted` lists them for the message. CDAM_ERR_INVALID. */
cdam_status cdam_flag_enum(const char *field, const char *text, const cdam_flag_word *words,
                           size_t count, const char *accepted, int *number, cdam_error *err);

/* "KEY=VALUE", split at the first "=". *key is a copy, to be freed with free(); *value points into
 * the text. CDAM_ERR_INVALID, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_flag_pair(const char *field, const char *text, char **key, const char **value,
                           cdam_error *err);

#endif
