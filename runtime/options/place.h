/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a message something is wrong, as the errors name it: "options.env[PATH]". The text is
 * made only when it is needed. */
#ifndef COFFERDAM_OPTIONS_PLACE_H
#define COFFERDAM_OPTIONS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>

typedef struct cdam_place {
  const char *prefix; /* "options." */
  const char *field;  /* "env" */
  const char *key;    /* of a map's entry, or NULL */
  bool indexed;       /* one item of a repeated field */
  size_t index;
} cdam_place;

#define CDAM_PLACE_SIZE 128

void cdam_place_text(const cdam_place *place, char text[static CDAM_PLACE_SIZE]);

/* CDAM_ERR_INVALID about the place. */
cdam_status cdam_fail_place(const cdam_place *place, cdam_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of one item of a repeated field. */
cdam_place cdam_place_item(const cdam_place *list, size_t index);

/* The place of one entry of a map. */
cdam_place cdam_place_entry(const cdam_place *map, const char *key);

#endif
