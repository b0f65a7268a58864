/* SPDX-License-Identifier: Apache-2.0 */
#include "real_engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char output[65536];

void require_engine(void) {
  if (getenv("DOCKER_HOST")) return;
  printf("1..0 # SKIP DOCKER_HOST is not set: no engine to test against\n");
  exit(0);
}

void assert_ok(cdam_status status, const cdam_error *err) {
  if (status != CDAM_OK) fail_msg("%s: %s", cdam_status_name(status), err->message);
}

cdam_client *engine_client(void) {
  cdam_client *client;
  cdam_client_config *config;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  if (getenv("COFFERDAM_TEST_NO_AGENT")) cdam_client_config_set_agent(config, CDAM_AGENT_OFF);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static int run(const char *command) {
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t used = fread(output, 1, sizeof output - 1, pipe);
  output[used] = '\0';
  if (used && output[used - 1] == '\n') output[used - 1] = '\0';
  return pclose(pipe);
}

__attribute__((format(printf, 1, 0))) static int run_docker(const char *format, va_list args) {
  char command[4096];
  int length = snprintf(command, sizeof command, "docker ");
  vsnprintf(command + length, sizeof command - (size_t)length, format, args);
  /* On a busy machine runc gives up freezing a container now and then, and leaves it as it was. */
  int tries = strncmp(command + length, "pause ", 6) == 0 ? 5 : 1;
  int status = run(command);
  while (status != 0 && --tries)
    status = run(command);
  return status;
}

const char *docker(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int status = run_docker(format, args);
  va_end(args);
  if (status != 0) fail_msg("docker failed (%d): %s", status, output);
  return output;
}

int try_docker(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int status = run_docker(format, args);
  va_end(args);
  return status;
}

cdam_options *options_with(cdam_network_mode mode) {
  cdam_options *options;
  cdam_error err;
  assert_ok(cdam_options_new(&options, &err), &err);
  const char *image = getenv("COFFERDAM_TEST_IMAGE");
  assert_ok(cdam_options_set_image(options, image ? image : TEST_IMAGE, &err), &err);
  cdam_options_set_network_mode(options, mode);
  return options;
}

cdam_session *create_with(cdam_client *client, cdam_network_mode mode) {
  cdam_options *options = options_with(mode);
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  return session;
}

char *output_of(cdam_session *session, const char *const *argv) {
  cdam_exec_result *result;
  cdam_error err;
  assert_ok(cdam_exec(session, &(cdam_exec_command){.argv = argv}, &result, &err), &err);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  char *text = strdup(cdam_exec_result_stdout(result, NULL));
  cdam_exec_result_free(result);
  return text;
}

int containers_of(const char *session_id) {
  return (int)strtol(docker("ps -aq --filter label=io.cofferdam.session-id=%s | wc -l", session_id),
                     NULL, 10);
}

void end_session(cdam_client *client, cdam_session *session) {
  cdam_error err;
  assert_ok(cdam_delete(client, cdam_session_state(session), &err), &err);
  assert_int_equal(containers_of(cdam_state_session_id(cdam_session_state(session))), 0);
  cdam_session_free(session);
}
