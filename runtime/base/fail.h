/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in a cdam_error. Every function takes a NULL error. */
#ifndef COFFERDAM_BASE_FAIL_H
#define COFFERDAM_BASE_FAIL_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>

/* Clears the error and returns CDAM_OK: `return cdam_ok(err);` */
cdam_status cdam_ok(cdam_error *err);

/* Fills in the code and the message, with the retry hint that the code has by
 * itself, and returns the code. The error's other members are cleared. Control characters
 * and bad UTF-8 in the message are escaped. */
cdam_status cdam_fail(cdam_error *err, cdam_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CDAM_ERR_NO_MEMORY. */
cdam_status cdam_fail_memory(cdam_error *err);

/* CDAM_ERR_INVALID about a field: the message is "FIELD: " and the text. */
cdam_status cdam_fail_field(cdam_error *err, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CDAM_ERR_DRIFT: the message names the field, what was expected and what was found. */
cdam_status cdam_fail_drift(cdam_error *err, const char *field, const char *expected,
                            const char *actual);

/* Would the character act on a terminal or break a line instead of being shown? The control
 * characters of ASCII and Latin-1, line separators, and what turns the direction of text around. */
bool cdam_is_control(const unsigned char *at, size_t width);

/* Copies `text` into a buffer, escaped and cut as a cdam_error's texts are. */
void cdam_printable(char *buffer, size_t size, const char *text, size_t length);

/* gcc's analyzer (./dev lint) sees one file at a time, and has to be told that what fails does not
 * return CDAM_OK. */
#if defined(CDAM_ANALYZE) && !defined(CDAM_FAIL_C)
static inline cdam_status cdam_failed(cdam_status status) {
  if (status == CDAM_OK) __builtin_unreachable();
  return status;
}
#define cdam_fail(...) cdam_failed(cdam_fail(__VA_ARGS__))
#define cdam_fail_memory(err) cdam_failed(cdam_fail_memory(err))
#define cdam_fail_field(...) cdam_failed(cdam_fail_field(__VA_ARGS__))
#define cdam_fail_drift(...) cdam_failed(cdam_fail_drift(__VA_ARGS__))
#endif

#endif
