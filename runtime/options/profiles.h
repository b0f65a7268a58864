/* SPDX-License-Identifier: Apache-2.0 */
/* Resolving profiles. Generated code is made of these. */
#ifndef COFFERDAM_OPTIONS_PROFILES_H
#define COFFERDAM_OPTIONS_PROFILES_H

#include <cofferdam/error.h>
#include <cofferdam/message.h>

/* A generated setter of one entry of a map. */
typedef cdam_status (*cdam_entry_setter)(cdam_options *options, const char *key, const char *value,
                                         cdam_error *err);

/* Puts an entry that is not there yet; `present` is the value that the key has, or NULL. In the
 * value {uid} and {gid} become the two parts of `user`, which is UID:GID. */
cdam_status cdam_profile_put(const char *present, cdam_options *options, const char *key,
                             const char *value, const char *user, cdam_entry_setter set,
                             cdam_error *err);

/* CDAM_ERR_INVALID: a state names a profile and lacks an option that it stands for. */
cdam_status cdam_fail_unresolved(const char *option, const char *profile, cdam_error *err);

#endif
