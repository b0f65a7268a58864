/* SPDX-License-Identifier: Apache-2.0 */
#include "options/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

void cdam_place_text(const cdam_place *place, char text[static CDAM_PLACE_SIZE]) {
  int length = snprintf(text, CDAM_PLACE_SIZE, "%s%s", place->prefix, place->field);
  if (length < 0 || length >= CDAM_PLACE_SIZE) return;
  char *end = text + length;
  size_t room = CDAM_PLACE_SIZE - (size_t)length;
  if (place->indexed) {
    snprintf(end, room, "[%zu]", place->index);
  } else if (place->key && room > 3) {
    *end++ = '[';
    cdam_printable(end, room - 2, place->key, strlen(place->key));
    end += strlen(end);
    memcpy(end, "]", 2);
  }
}

cdam_status cdam_fail_place(const cdam_place *place, cdam_error *err, const char *format, ...) {
  char path[CDAM_PLACE_SIZE];
  char reason[sizeof err->message];
  cdam_place_text(place, path);
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  return cdam_fail_field(err, path, "%s", reason);
}

cdam_place cdam_place_item(const cdam_place *list, size_t index) {
  cdam_place item = *list;
  item.indexed = true;
  item.index = index;
  return item;
}

cdam_place cdam_place_entry(const cdam_place *map, const char *key) {
  cdam_place entry = *map;
  entry.key = key;
  return entry;
}
