/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of cdam_exec on a real engine share: sandboxes with and without the agent, and
 * short ways to run a command and to say what must come of it. */
#ifndef COFFERDAM_TESTS_EXEC_SUPPORT_H
#define COFFERDAM_TESTS_EXEC_SUPPORT_H

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test_process_support.h"

/* With a timeout of its own, or 0. */
static inline cdam_client *client_with(cdam_agent_policy policy, unsigned timeout_ms) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  if (timeout_ms) cdam_client_config_set_timeout(config, timeout_ms);
  cdam_client_config_set_agent(config, policy);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static inline int make_sandbox_without(void **state) {
  static fixture this;
  this.client = client_with(CDAM_AGENT_OFF, 0);
  this.session = create_with(this.client, CDAM_NETWORK_MODE_NONE);
  assert_false(cdam_session_has_agent(this.session));
  *state = &this;
  return 0;
}

#define BY_ENGINE(name)                                                                            \
  { #name " by the engine", name, make_sandbox_without, end_sandbox, NULL }

static inline cdam_exec_result *run(fixture *this, cdam_exec_command command) {
  cdam_exec_result *result;
  cdam_error err = {0};
  assert_ok(cdam_exec(this->session, &command, &result, &err), &err);
  return result;
}

/* It ended by itself, and this is all that it said. */
static inline void expect(fixture *this, cdam_exec_command command, int code, const char *out,
                          const char *err) {
  cdam_exec_result *result = run(this, command);
  assert_string_equal(cdam_exec_result_stdout(result, NULL), out);
  assert_string_equal(cdam_exec_result_stderr(result, NULL), err);
  assert_int_equal(cdam_exec_result_stdout_total(result), strlen(out));
  assert_int_equal(cdam_exec_result_stderr_total(result), strlen(err));
  assert_int_equal(cdam_exec_result_exit_code(result), code);
  assert_false(cdam_exec_result_not_started(result));
  assert_false(cdam_exec_result_timed_out(result));
  cdam_exec_result_free(result);
}

static inline void expect_failure(fixture *this, cdam_exec_command command, cdam_status code) {
  cdam_exec_result *result;
  cdam_error err = {0};
  cdam_status status = cdam_exec(this->session, &command, &result, &err);
  if (status != code) fail_msg("%s: %s", cdam_status_name(status), err.message);
  assert_null(result);
}

/* ---- bytes that are known by where they stand ---- */

typedef struct pattern {
  size_t total;
  size_t limit; /* of what is taken: 0 for none */
  unsigned wrong;
} pattern;

static inline unsigned char byte_at(size_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 12));
}

static inline int64_t give(void *user, void *buffer, size_t size) {
  pattern *from = user;
  unsigned char *to = buffer;
  if (size > from->limit - from->total) size = from->limit - from->total;
  for (size_t i = 0; i < size; i++)
    to[i] = byte_at(from->total + i);
  from->total += size;
  return (int64_t)size;
}

static inline bool take(void *user, const void *bytes, size_t length) {
  pattern *to = user;
  const unsigned char *from = bytes;
  if (to->limit && to->total + length > to->limit) return false;
  for (size_t i = 0; i < length; i += 61)
    to->wrong += from[i] != byte_at(to->total + i);
  to->total += length;
  return true;
}

#endif
