/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "options/compare.h"
#include "options/compare_text.h"

/* One part of "os/architecture/variant"; what follows it in *text, NULL behind the last. */
static void next_part(const char **text, char *part, size_t size) {
  size_t length = strcspn(*text, "/");
  snprintf(part, size, "%.*s", (int)length, *text);
  *text = (*text)[length] ? *text + length + 1 : NULL;
}

cdam_status cdam_compare_image_platform(const json_t *image, const char *field,
                                        const char *expected, cdam_error *err) {
  static const char *const keys[] = {"Os", "Architecture", "Variant"};
  const char *rest = expected;
  for (size_t i = 0; rest && i < sizeof keys / sizeof *keys; i++) {
    char part[72], wanted[96], found[sizeof err->actual], shown[sizeof err->actual];
    next_part(&rest, part, sizeof part);
    const json_t *actual = json_object_get(image, keys[i]);
    if (cdam_json_equals_text(actual, part)) continue;
    cdam_describe_json(actual, shown, sizeof shown);
    snprintf(wanted, sizeof wanted, "an image with %s %s", keys[i], part);
    snprintf(found, sizeof found, "one with %s %.160s", keys[i], shown);
    cdam_fail_drift(err, field, wanted, found);
    if (err) {
      snprintf(err->message, sizeof err->message, "%s asks for %s, and the engine has %s", field,
               wanted, found);
    }
    return CDAM_ERR_DRIFT;
  }
  return cdam_ok(err);
}
