/* SPDX-License-Identifier: Apache-2.0 */
#include "session/engine_time.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static const char digits[] = "0123456789";

/* "+01:00" in seconds; *ok false for what is no zone. */
static int64_t zone_offset(const char *text, bool *ok) {
  *ok = strcmp(text, "Z") == 0;
  if (*ok) return 0;
  *ok = strlen(text) == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
        strspn(text + 1, digits) == 2 && strspn(text + 4, digits) == 2;
  if (!*ok) return 0;
  int64_t hours = (text[1] - '0') * 10 + (text[2] - '0');
  int64_t minutes = (text[4] - '0') * 10 + (text[5] - '0');
  int64_t offset = hours * 3600 + minutes * 60;
  return text[0] == '-' ? -offset : offset;
}

int64_t cdam_engine_time(const char *text) {
  struct tm parts = {0};
  if (!text || strlen(text) < 20 || strspn(text, digits) != 4) return 0;
  const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
  if (!rest) return 0;
  if (*rest == '.') rest += 1 + strspn(rest + 1, digits);
  bool ok;
  int64_t offset = zone_offset(rest, &ok);
  int64_t seconds = (int64_t)timegm(&parts) - offset;
  return ok && seconds > 0 ? seconds : 0;
}
