/* SPDX-License-Identifier: Apache-2.0 */
/* Single JSON values: equality, and how drift errors show them. */
#ifndef COFFERDAM_OPTIONS_COMPARE_TEXT_H
#define COFFERDAM_OPTIONS_COMPARE_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

/* A string of exactly this text. A NUL inside makes it another one. False for NULL. */
bool cdam_json_equals_text(const json_t *value, const char *text);

/* An integer of exactly this value. */
bool cdam_json_equals_uint(const json_t *value, uint64_t number);

/* "absent" for NULL, "null", "an empty text", a text, number or truth value itself, "a list of 2",
 * "an object with 2 keys". */
void cdam_describe_json(const json_t *value, char *text, size_t size);

/* The keys of an object in byte order: "bridge, none". Cut to fit. */
void cdam_describe_keys(const json_t *object, char *text, size_t size);

/* CDAM_ERR_DRIFT at the whole path; at one key under it. */
cdam_status cdam_drift_at(const char *path, const char *expected, const json_t *actual,
                          cdam_error *err);
cdam_status cdam_drift_at_key(const char *path, const char *key, const char *expected,
                              const char *actual, cdam_error *err);

#endif
