/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of files share: one sandbox for each program, and short ways to say things. */
#ifndef COFFERDAM_TESTS_FILE_SUPPORT_H
#define COFFERDAM_TESTS_FILE_SUPPORT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <cofferdam/file.h>
#include <poll.h>

#include "base/clock.h"
#include "real_engine.h"

static cdam_client *client;
static cdam_session *session;

static inline int begin_sandbox(void **state) {
  (void)state;
  require_engine();
  client = engine_client();
  session = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_session_has_agent(session), !getenv("COFFERDAM_TEST_NO_AGENT"));
  /* Where commands run: it is made with the first request. */
  cdam_error err;
  assert_ok(cdam_file_make_directory(session, "", 0, true, &err), &err);
  return 0;
}

static inline int end_sandbox(void **state) {
  (void)state;
  end_session(client, session);
  cdam_client_free(client);
  return 0;
}

static inline const char *container_of(const cdam_session *of) {
  return cdam_state_container_id(cdam_session_state(of));
}

/* The output of a command line in the sandbox, until the next call. */
__attribute__((format(printf, 1, 2))) static inline const char *shell(const char *format, ...) {
  static char *text;
  char line[4096];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  const char *const argv[] = {"/bin/sh", "-c", line, NULL};
  cdam_exec_result *result;
  cdam_error err;
  cdam_exec_command command = {.argv = argv, .workdir = "/workspace"};
  assert_ok(cdam_exec(session, &command, &result, &err), &err);
  if (cdam_exec_result_exit_code(result) != 0)
    fail_msg("%s: %d: %s", line, cdam_exec_result_exit_code(result),
             cdam_exec_result_stderr(result, NULL));
  free(text);
  text = strdup(cdam_exec_result_stdout(result, NULL));
  cdam_exec_result_free(result);
  size_t length = strlen(text);
  if (length && text[length - 1] == '\n') text[length - 1] = '\0';
  return text;
}

static inline void put_with(const char *path, const void *bytes, size_t length,
                            const cdam_file_write_options *options) {
  cdam_error err;
  cdam_source source = {.bytes = bytes, .length = length};
  assert_ok(cdam_file_write(session, path, &source, options, &err), &err);
}

static inline void put(const char *path, const char *text) {
  put_with(path, text, strlen(text), NULL);
}

/* Free with free(). */
static inline char *get(const char *path, size_t *length) {
  char *bytes;
  size_t size;
  cdam_error err;
  assert_ok(cdam_file_read(session, path, SIZE_MAX, &bytes, &size, &err), &err);
  assert_int_equal(bytes[size], 0);
  if (length) *length = size;
  return bytes;
}

static inline void assert_content(const char *path, const char *text) {
  char *bytes = get(path, NULL);
  assert_string_equal(bytes, text);
  free(bytes);
}

/* What it should have failed with; `err` is looked at as well. */
static inline void assert_fails(cdam_status status, cdam_status expected, int system_errno,
                                const cdam_error *err) {
  if (status != expected || err->code != expected || err->system_errno != system_errno)
    fail_msg("%s (errno %d), expected %s (%d): %s", cdam_status_name(status), err->system_errno,
             cdam_status_name(expected), system_errno, err->message);
}

static inline void assert_message(const cdam_error *err, const char *text) {
  if (!strstr(err->message, text)) fail_msg("no \"%s\" in: %s", text, err->message);
}

static inline size_t count_of(const char *path) {
  cdam_file_list *list;
  cdam_error err;
  assert_ok(cdam_file_list_directory(session, path, &list, &err), &err);
  size_t count = cdam_file_list_count(list);
  cdam_file_list_free(list);
  return count;
}

static inline bool is_there(const char *path) {
  bool exists;
  cdam_error err;
  assert_ok(cdam_file_exists(session, path, &exists, &err), &err);
  return exists;
}

/* The only entry of a list, copied; its strings are gone. */
static inline cdam_file_info info_of(const char *path, bool follow) {
  cdam_file_list *list;
  cdam_error err;
  assert_ok(cdam_file_stat(session, path, follow, &list, &err), &err);
  assert_int_equal(cdam_file_list_count(list), 1);
  cdam_file_info info = *cdam_file_list_get(list, 0);
  assert_string_equal(info.name, "");
  cdam_file_list_free(list);
  info.name = info.target = NULL;
  return info;
}

/* Bytes that are not all alike. */
static inline char *noise(size_t length) {
  char *bytes = malloc(length + 1);
  assert_non_null(bytes);
  uint32_t at = 12345;
  for (size_t i = 0; i < length; i++) {
    at = at * 1664525 + 1013904223;
    bytes[i] = (char)(at >> 24);
  }
  return bytes;
}

#endif
