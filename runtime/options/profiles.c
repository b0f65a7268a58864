/* SPDX-License-Identifier: Apache-2.0 */
#include "options/profiles.h"

#include "base/fail.h"
#include "options/place.h"

cdam_status cdam_profile_put(const char *present, cdam_options *options, const char *key,
                             const char *value, cdam_entry_setter set, cdam_error *err) {
  return present ? cdam_ok(err) : set(options, key, value, err);
}

cdam_status cdam_fail_unresolved(const char *option, const char *profile, cdam_error *err) {
  cdam_place place = {.prefix = "options.", .field = option};
  return cdam_fail_place(&place, err, "is not set, although the profile %s stands for it", profile);
}
