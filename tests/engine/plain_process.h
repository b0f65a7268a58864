/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes without the agent, and what becomes of their processes. Included once in each program.
 */
#ifndef COFFERDAM_TESTS_PLAIN_PROCESS_H
#define COFFERDAM_TESTS_PLAIN_PROCESS_H

#include "test_process_support.h"

static inline cdam_client *plain_client(const char *endpoint, const char *certs) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err = {0};
  assert_ok(cdam_client_config_new(&config, &err), &err);
  if (certs) assert_ok(cdam_client_config_set_tls(config, certs, &err), &err);
  if (endpoint) assert_ok(cdam_client_config_set_endpoint(config, endpoint, &err), &err);
  cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  cdam_client_config_set_timeout(config, 20000);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static inline fixture make_plain(const char *endpoint, const char *certs) {
  fixture this = {.client = plain_client(endpoint, certs)};
  this.session = create_with(this.client, CDAM_NETWORK_MODE_NONE);
  assert_false(cdam_session_has_agent(this.session));
  return this;
}

static inline void end_plain(fixture *this) {
  end_session(this->client, this->session);
  cdam_client_free(this->client);
}

/* A process that says that it runs, with its input open. */
static inline cdam_process *running(fixture *this, int64_t timeout_ms) {
  cdam_process *process =
      spawn(this, (cdam_process_command){.argv = SH("echo ready; read x; echo $x"),
                                         .input = true,
                                         .timeout_ms = timeout_ms});
  await_text(process, "ready\n");
  return process;
}

/* All that comes, and how it came to its end. */
static inline cdam_status to_the_end(cdam_process *process, cdam_error *err) {
  cdam_process_event event = {0};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, -1, &event, err);
  return status;
}

#endif
