/* SPDX-License-Identifier: Apache-2.0 */
#include "options/profiles.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "options/place.h"

static bool append_expanded(cdam_buffer *text, const char *value, const char *user) {
  size_t uid_length = strcspn(user, ":");
  const char *gid = user[uid_length] ? user + uid_length + 1 : "";
  for (const char *at = value; *at;) {
    size_t plain = strcspn(at, "{");
    bool done = cdam_buffer_append(text, at, plain);
    at += plain;
    if (strncmp(at, "{uid}", 5) == 0)
      done = done && cdam_buffer_append(text, user, uid_length);
    else if (strncmp(at, "{gid}", 5) == 0)
      done = done && cdam_buffer_append_text(text, gid);
    else
      return done; /* the end; the generator lets nothing else stand in braces */
    if (!done) return false;
    at += 5;
  }
  return true;
}

cdam_status cdam_profile_put(const char *present, cdam_options *options, const char *key,
                             const char *value, const char *user, cdam_entry_setter set,
                             cdam_error *err) {
  if (present) return cdam_ok(err);
  cdam_buffer text = {0};
  bool done = append_expanded(&text, value, user);
  cdam_status status =
      done ? set(options, key, cdam_buffer_text(&text), err) : cdam_fail_memory(err);
  cdam_buffer_clear(&text);
  return status;
}

cdam_status cdam_fail_unresolved(const char *option, const char *profile, cdam_error *err) {
  cdam_place place = {.prefix = "options.", .field = option};
  return cdam_fail_place(&place, err, "is not set, although the profile %s stands for it", profile);
}
