/* SPDX-License-Identifier: Apache-2.0 */
#include "options/flag_values.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

static bool parse_part(const char *text, size_t length, uint64_t max, uint64_t *number) {
  uint64_t value = 0;
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (digit > max || value > (max - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

static bool parse_digits(const char *text, uint64_t max, uint64_t *number) {
  return parse_part(text, strlen(text), max, number);
}

/* A number with one of `units` behind it, or none; `factors` stand parallel to them. */
static bool parse_with_unit(const char *text, const char *units, const uint64_t *factors,
                            uint64_t max, uint64_t *number) {
  size_t length = strlen(text);
  const char *unit = length ? strchr(units, text[length - 1]) : NULL;
  uint64_t factor = unit ? factors[unit - units] : 1;
  if (!parse_part(text, length - (unit != NULL), max / factor, number)) return false;
  *number *= factor;
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

cdam_status cdam_flag_bytes(const char *field, const char *text, uint64_t max, uint64_t *number,
                            cdam_error *err) {
  static const uint64_t factors[] = {1024, 1 << 20, 1 << 30, 1024, 1 << 20, 1 << 30};
  if (text && parse_with_unit(text, "kmgKMG", factors, max, number)) return cdam_flag_ok(err);
  return cdam_flag_fail(err, field, "a number of bytes is needed, such as 1048576, 512m or 2g");
}

cdam_status cdam_flag_nano(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err) {
  const uint64_t one = 1000000000;
  size_t whole = text ? strcspn(text, ".") : 0;
  uint64_t units = 0, part = 0, scale = one;
  bool good = text && parse_part(text, whole, max / one, &units);
  if (good && text[whole]) {
    const char *digits = text + whole + 1;
    good = strlen(digits) <= 9 && parse_digits(digits, one - 1, &part);
    for (size_t i = 0; good && i < strlen(digits); i++)
      scale /= 10;
  }
  if (good) *number = units * one + (text[whole] ? part * scale : 0);
  if (good && *number <= max) return cdam_flag_ok(err);
  return cdam_flag_fail(err, field, "a decimal number is needed, such as 2 or 0.5");
}

cdam_status cdam_flag_time(const char *field, const char *text, uint64_t max, uint64_t *number,
                           cdam_error *err) {
  static const uint64_t factors[] = {1, 60, 3600, 86400};
  time_t now = time(NULL);
  bool good = text != NULL;
  if (good && text[0] == '+') {
    good = now > 0 && (uint64_t)now <= max &&
           parse_with_unit(text + 1, "smhd", factors, max - (uint64_t)now, number);
    if (good) *number += (uint64_t)now;
  } else if (good) {
    good = parse_digits(text, max, number);
  }
  if (good) return cdam_flag_ok(err);
  return cdam_flag_fail(err, field,
                        "a time is needed: seconds since 1970, or from now as +90, "
                        "+15m, +2h or +7d");
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
