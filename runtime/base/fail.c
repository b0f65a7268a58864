/* SPDX-License-Identifier: Apache-2.0 */
#define CDAM_FAIL_C
#include "base/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

cdam_status cdam_ok(cdam_error *err) {
  if (err) memset(err, 0, sizeof *err);
  return CDAM_OK;
}

bool cdam_is_control(const unsigned char *at, size_t width) {
  if (width == 1) return *at < 0x20 || *at == 0x7f;
  if (width == 2) return at[0] == 0xc2 && at[1] < 0xa0;
  if (width != 3 || at[0] != 0xe2) return false;
  if (at[1] == 0x80) return at[2] >= 0xa8 && at[2] <= 0xae;
  return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

/* Copies what can be shown as it is; of the rest each byte becomes \xNN. */
void cdam_printable(char *buffer, size_t size, const char *text, size_t length) {
  size_t used = 0;
  for (size_t i = 0; i < length;) {
    const unsigned char *at = (const unsigned char *)text + i;
    size_t width = cdam_utf8_width(at, length - i);
    char escaped[5];
    const char *piece = (const char *)at;
    size_t piece_length = width;
    if (width == 0 || cdam_is_control(at, width)) {
      snprintf(escaped, sizeof escaped, "\\x%02x", *at);
      piece = escaped;
      piece_length = 4;
      width = 1;
    }
    if (used + piece_length >= size) break;
    memcpy(buffer + used, piece, piece_length);
    used += piece_length;
    i += width;
  }
  buffer[used] = '\0';
}

static cdam_retry retry_of(cdam_status code) {
  switch (code) {
  case CDAM_ERR_NO_MEMORY:
  case CDAM_ERR_CANCELLED:
  case CDAM_ERR_CONNECT:
  case CDAM_ERR_TIMEOUT:
  case CDAM_ERR_LIMIT:
    return CDAM_RETRY_YES;
  case CDAM_ERR_IO:
  case CDAM_ERR_PROTOCOL:
  case CDAM_ERR_ENGINE:
  case CDAM_ERR_PULL:
  case CDAM_ERR_EXITED:
  case CDAM_ERR_EXEC:
  case CDAM_ERR_NOT_STARTED:
  case CDAM_ERR_AGENT:
  case CDAM_ERR_FILE:
    return CDAM_RETRY_UNKNOWN;
  default:
    return CDAM_RETRY_NO;
  }
}

/* Formats into a buffer large enough to be cut at a character boundary after. */
__attribute__((format(printf, 3, 0))) static void set_message(cdam_error *err, size_t offset,
                                                              const char *format, va_list args) {
  char raw[2 * sizeof err->message];
  int length = vsnprintf(raw, sizeof raw, format, args);
  if (length < 0) length = 0;
  if ((size_t)length >= sizeof raw) length = (int)sizeof raw - 1;
  cdam_printable(err->message + offset, sizeof err->message - offset, raw, (size_t)length);
}

cdam_status cdam_fail(cdam_error *err, cdam_status code, const char *format, ...) {
  if (!err) return code;
  cdam_error fresh = {.code = code, .retry = retry_of(code)};
  va_list args;
  va_start(args, format);
  set_message(&fresh, 0, format, args);
  va_end(args);
  *err = fresh;
  return code;
}

cdam_status cdam_fail_memory(cdam_error *err) {
  return cdam_fail(err, CDAM_ERR_NO_MEMORY, "out of memory");
}

cdam_status cdam_fail_field(cdam_error *err, const char *field, const char *format, ...) {
  if (!err) return CDAM_ERR_INVALID;
  cdam_error fresh = {.code = CDAM_ERR_INVALID, .retry = CDAM_RETRY_NO};
  cdam_printable(fresh.field, sizeof fresh.field, field, strlen(field));
  int length = snprintf(fresh.message, sizeof fresh.message, "%s: ", fresh.field);
  va_list args;
  va_start(args, format);
  set_message(&fresh, (size_t)length, format, args);
  va_end(args);
  *err = fresh;
  return CDAM_ERR_INVALID;
}

cdam_status cdam_fail_drift(cdam_error *err, const char *field, const char *expected,
                            const char *actual) {
  if (!err) return CDAM_ERR_DRIFT;
  cdam_error fresh = {.code = CDAM_ERR_DRIFT, .retry = CDAM_RETRY_NO};
  cdam_printable(fresh.field, sizeof fresh.field, field, strlen(field));
  cdam_printable(fresh.expected, sizeof fresh.expected, expected, strlen(expected));
  cdam_printable(fresh.actual, sizeof fresh.actual, actual, strlen(actual));
  char text[2 * sizeof fresh.message];
  snprintf(text, sizeof text, "the container has drifted: %s should be %s and is %s", fresh.field,
           fresh.expected, fresh.actual);
  /* Again, for the whole may have to be cut at a character boundary. */
  cdam_printable(fresh.message, sizeof fresh.message, text, strlen(text));
  *err = fresh;
  return CDAM_ERR_DRIFT;
}

const char *cdam_status_name(cdam_status status) {
  switch (status) {
#define NAME(status)                                                                               \
  case status:                                                                                     \
    return #status
    NAME(CDAM_OK);
    NAME(CDAM_ERR_ARGUMENT);
    NAME(CDAM_ERR_NO_MEMORY);
    NAME(CDAM_ERR_IO);
    NAME(CDAM_ERR_CANCELLED);
    NAME(CDAM_ERR_INVALID);
    NAME(CDAM_ERR_MALFORMED);
    NAME(CDAM_ERR_SEAL);
    NAME(CDAM_ERR_UNSUPPORTED);
    NAME(CDAM_ERR_POLICY);
    NAME(CDAM_ERR_EXPIRED);
    NAME(CDAM_ERR_DRIFT);
    NAME(CDAM_ERR_NOT_OURS);
    NAME(CDAM_ERR_PAUSED);
    NAME(CDAM_ERR_NOT_FOUND);
    NAME(CDAM_ERR_EXITED);
    NAME(CDAM_ERR_CONNECT);
    NAME(CDAM_ERR_TIMEOUT);
    NAME(CDAM_ERR_PROTOCOL);
    NAME(CDAM_ERR_ENGINE);
    NAME(CDAM_ERR_API_VERSION);
    NAME(CDAM_ERR_PULL);
    NAME(CDAM_ERR_OTHER_ENGINE);
    NAME(CDAM_ERR_EXEC);
    NAME(CDAM_ERR_NOT_STARTED);
    NAME(CDAM_ERR_NO_PROCESS);
    NAME(CDAM_ERR_NO_AGENT);
    NAME(CDAM_ERR_AGENT);
    NAME(CDAM_ERR_LIMIT);
    NAME(CDAM_ERR_FILE);
    NAME(CDAM_ERR_OUTSIDE);
#undef NAME
  }
  return "CDAM_ERR_?";
}
