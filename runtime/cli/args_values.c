/* SPDX-License-Identifier: Apache-2.0 */
#include "args_values.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

bool cli_parse_count(const char *text, uint64_t most, uint64_t *count) {
  *count = 0;
  if (!isdigit((unsigned char)*text)) return false;
  for (; isdigit((unsigned char)*text); text++) {
    unsigned digit = (unsigned)(*text - '0');
    if (*count > (most - digit) / 10) return false;
    *count = *count * 10 + digit;
  }
  return *text == '\0';
}

bool cli_parse_seconds(const char *text, int64_t *ms) {
  const int64_t most = INT64_C(1000000000);
  int64_t whole = 0, thousandths = 0, unit = 100;
  const char *at = text;
  if (!isdigit((unsigned char)*at)) return false;
  for (; isdigit((unsigned char)*at); at++) {
    whole = whole * 10 + (*at - '0');
    if (whole > most) return false;
  }
  bool more = false;
  if (*at == '.' && isdigit((unsigned char)at[1])) {
    for (at++; isdigit((unsigned char)*at); at++, unit /= 10) {
      thousandths += unit * (*at - '0');
      more = more || (unit == 0 && *at != '0');
    }
  }
  *ms = whole * 1000 + thousandths + (more ? 1 : 0);
  return *at == '\0';
}

int cli_parse_signal(const char *text) {
  uint64_t number;
  if (cli_parse_count(text, 64, &number)) return (int)number;
  if (strncmp(text, "SIG", 3) == 0) text += 3;
  for (int i = 1; i < NSIG; i++) {
    const char *name = sigabbrev_np(i);
    if (name && strcmp(name, text) == 0) return i;
  }
  return 0;
}
