/* SPDX-License-Identifier: Apache-2.0 */
#include "options/taken_places.h"

#include <stdbool.h>
#include <string.h>

#include "link/agent_path.h"
#include "options/fields.h"
#include "options/place.h"

static bool is_at_or_below(const char *path, const char *place) {
  size_t length = strlen(place);
  return strncmp(path, place, length) == 0 && (!path[length] || path[length] == '/');
}

static bool is_taken(const char *path) {
  return is_at_or_below(path, CDAM_AGENT_DIRECTORY) || is_at_or_below(path, "/proc") ||
         is_at_or_below(path, "/sys") || strcmp(path, "/dev") == 0;
}

cdam_status cdam_check_taken_places(const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  for (size_t i = 0; i < options->n_tmpfs; i++) {
    const char *path = cdam_text(options->tmpfs[i]->key);
    cdam_place place = {.prefix = "", .field = "tmpfs", .key = path};
    if (is_taken(path)) return cdam_fail_place(&place, err, "is a place that a sandbox needs");
  }
  return CDAM_OK;
}
