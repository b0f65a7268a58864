/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's minimum. Generated code is made of these. */
#ifndef COFFERDAM_OPTIONS_POLICY_H
#define COFFERDAM_OPTIONS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

/* CDAM_ERR_POLICY about an option. The words may be NULL: a value that has none. */
cdam_status cdam_fail_policy(cdam_error *err, const char *field, const char *wanted,
                             const char *given);

/* The same items in the same order. */
bool cdam_same_strings(char *const *a, size_t a_count, char *const *b, size_t b_count);
bool cdam_same_uint32(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

#endif
