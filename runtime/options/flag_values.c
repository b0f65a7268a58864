/* SPDX-License-Identifier: Apache-2.0 */
#include "options/flag_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cdam_status fail(cdam_error *err, cdam_status code, const char *field, const char *reason) {
  if (!err) return code;
  memset(err, 0, sizeof *err);
  err->code = code;
  err->retry = code == CDAM_ERR_NO_MEMORY ? CDAM_RETRY_YES : CDAM_RETRY_NO;
  snprintf(err->field, sizeof err->field, "%s", field);
  snprintf(err->message, sizeof err->message, "%s: %s", field, reason);
  return code;
}

cdam_status cdam_flag_fail(cdam_error *err, const char *field, const char *reason) {
  return fail(err, CDAM_ERR_INVALID, field, reason);
}

cdam_status cdam_flag_ok(cdam_error *err) {
  if (err) memset(err, 0, sizeof *err);
  return CDAM_OK;
}

static bool parse_digits(const char *text, uint64_t max, uint64_t *number) {
  uint64_t value = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    uint64_t digit = (uint64_t)(*text - '0');
    if (value > (max - digit) / 10 || digit > max) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

cdam_status cdam_flag_uint(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err) {
  if (text && parse_digits(text, max, number)) return cdam_flag_ok(err);
  char reason[96];
  snprintf(reason, sizeof reason, "a whole number from 0 to %llu is needed",
           (unsigned long long)max);
  return cdam_flag_fail(err, field, reason);
}

cdam_status cdam_flag_enum(const char *field, const char *text, const cdam_flag_word *words,
                           size_t count, const char *accepted, int *number, cdam_error *err) {
  for (size_t i = 0; text && i < count; i++) {
    if (strcmp(text, words[i].word) == 0) {
      *number = words[i].number;
      return cdam_flag_ok(err);
    }
  }
  char reason[160];
  snprintf(reason, sizeof reason, "no such value; accepted: %s", accepted);
  return cdam_flag_fail(err, field, reason);
}

cdam_status cdam_flag_pair(const char *field, const char *text, char **key, const char **value,
                           cdam_error *err) {
  const char *equals = text ? strchr(text, '=') : NULL;
  if (!equals) return cdam_flag_fail(err, field, "KEY=VALUE is needed");
  *key = strndup(text, (size_t)(equals - text));
  if (!*key) return fail(err, CDAM_ERR_NO_MEMORY, field, "out of memory");
  *value = equals + 1;
  return CDAM_OK;
}
