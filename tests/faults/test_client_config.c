/* SPDX-License-Identifier: Apache-2.0 */
/* What a client is made from, and what is refused before anything is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "engine/client_private.h"
#include "fetch.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int clear_environment(void **state) {
  (void)state;
  unsetenv("DOCKER_HOST");
  unsetenv("DOCKER_TLS_VERIFY");
  unsetenv("DOCKER_CERT_PATH");
  unsetenv("COFFERDAM_AGENT_DIR");
  return 0;
}

static cdam_client_config *new_config(void) {
  cdam_client_config *config;
  cdam_error error;
  assert_int_equal(cdam_client_config_new(&config, &error), CDAM_OK);
  return config;
}

/* ---- the environment ---- */

static void expect_config(const char *endpoint, bool tls, const char *cert_path) {
  cdam_client_config *config = new_config();
  assert_string_equal(config->endpoint, endpoint);
  assert_int_equal(config->tls, tls);
  if (cert_path)
    assert_string_equal(config->cert_path, cert_path);
  else
    assert_null(config->cert_path);
  assert_false(config->allow_plain_tcp);
  assert_int_equal(config->timeout_ms, 60000);
  cdam_client_config_free(config);
}

static void test_the_environment(void **state) {
  (void)state;
  expect_config("unix:///var/run/docker.sock", false, NULL);
  setenv("DOCKER_HOST", "", 1);
  expect_config("unix:///var/run/docker.sock", false, NULL);
  setenv("DOCKER_HOST", "tcp://host:1", 1);
  expect_config("tcp://host:1", false, NULL);
  setenv("DOCKER_CERT_PATH", "/certs", 1); /* alone it does nothing */
  expect_config("tcp://host:1", false, NULL);
  setenv("DOCKER_TLS_VERIFY", "", 1);
  expect_config("tcp://host:1", false, NULL);
  setenv("DOCKER_TLS_VERIFY", "0", 1); /* not empty */
  expect_config("tcp://host:1", true, "/certs");
  unsetenv("DOCKER_CERT_PATH");
  setenv("HOME", "/home/somebody", 1);
  expect_config("tcp://host:1", true, "/home/somebody/.docker");
  setenv("DOCKER_CERT_PATH", "", 1);
  expect_config("tcp://host:1", true, "/home/somebody/.docker");
}

static void test_a_client_of_the_environment(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start(NULL, 0);
  setenv("DOCKER_HOST", scripted_engine_endpoint(engine), 1);
  cdam_client *client;
  cdam_error error;
  assert_int_equal(cdam_client_new(NULL, &client, &error), CDAM_OK);
  assert_int_equal(scripted_engine_connections(engine), 0); /* nothing is opened yet */
  assert_int_equal(cdam_client_ping(client, NULL, &error), CDAM_OK);
  cdam_client_free(client);
  setenv("DOCKER_HOST", "ssh://host", 1);
  assert_int_equal(cdam_client_new(NULL, &client, &error), CDAM_ERR_ARGUMENT);
  assert_null(client);
  assert_non_null(strstr(error.message, "ssh"));
  scripted_engine_stop(engine);
}

static void expect_agent_directory(const char *directory) {
  cdam_client_config *config = new_config();
  assert_string_equal(config->agent_directory, directory);
  assert_int_equal(config->agent, CDAM_AGENT_AUTO);
  cdam_client_config_free(config);
}

static void test_the_agents_directory(void **state) {
  (void)state;
  expect_agent_directory(CDAM_AGENT_INSTALL_DIRECTORY);
  assert_int_equal(CDAM_AGENT_INSTALL_DIRECTORY[0], '/');
  setenv("COFFERDAM_AGENT_DIR", "", 1);
  expect_agent_directory(CDAM_AGENT_INSTALL_DIRECTORY);
  setenv("COFFERDAM_AGENT_DIR", "/agents", 1);
  expect_agent_directory("/agents");
  cdam_error error;
  cdam_client_config *config = new_config();
  assert_int_equal(cdam_client_config_set_agent_directory(config, "/mine", &error), CDAM_OK);
  assert_string_equal(config->agent_directory, "/mine");
  assert_int_equal(cdam_client_config_set_agent_directory(config, "", &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_agent_directory(config, NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_agent_directory(NULL, "/mine", &error),
                   CDAM_ERR_ARGUMENT);
  assert_string_equal(config->agent_directory, "/mine");
  cdam_client_config_set_agent(NULL, CDAM_AGENT_OFF);
  const int policies[] = {-1, 3, 100};
  for (size_t i = 0; i < COUNT(policies); i++) {
    cdam_client *client;
    cdam_client_config_set_agent(config, (cdam_agent_policy)policies[i]);
    assert_int_equal(cdam_client_new(config, &client, &error), CDAM_ERR_ARGUMENT);
    assert_null(client);
  }
  cdam_client_config_free(config);
}

/* ---- settings ---- */

static void test_arguments(void **state) {
  (void)state;
  cdam_error error;
  cdam_client_config *config = new_config();
  assert_int_equal(cdam_client_config_new(NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_endpoint(NULL, "unix:///x", &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_endpoint(config, NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_endpoint(config, "x", &error), CDAM_ERR_ARGUMENT);
  assert_string_equal(config->endpoint, "unix:///var/run/docker.sock");
  assert_int_equal(cdam_client_config_set_tls(NULL, "/x", &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_tls(config, "", &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_require(NULL, NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_require(config, NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_config_set_registry_auth(NULL, "e30=", &error), CDAM_ERR_ARGUMENT);
  cdam_client_config_allow_plain_tcp(NULL, true);
  cdam_client_config_set_timeout(NULL, 1);
  cdam_client_config_set_pull_progress(NULL, NULL, NULL);
  assert_int_equal(cdam_client_new(config, NULL, &error), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_client_ping(NULL, NULL, &error), CDAM_ERR_ARGUMENT);
  cdam_client_config_free(config);
  cdam_client_config_free(NULL);
  cdam_client_free(NULL);
}

static void test_a_timeout_of_zero(void **state) {
  (void)state;
  cdam_client_config *config = new_config();
  cdam_client_config_set_timeout(config, 0);
  cdam_client *client;
  cdam_error error;
  assert_int_equal(cdam_client_new(config, &client, &error), CDAM_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "timeout"));
  cdam_client_config_free(config);
}

static void test_registry_auth(void **state) {
  (void)state;
  static const char *const good[] = {"e30=", "eyJhIjoiYiJ9", "-_-_", "YQ=="};
  static const char *const bad[] = {
      "", "=", "e30", "e3+=", "e3/=", "e30=\n", "a===", "e30= ", "YQ==YQ==", "\xc3\xa4=="};
  cdam_client_config *config = new_config();
  cdam_error error;
  for (size_t i = 0; i < COUNT(good); i++)
    assert_int_equal(cdam_client_config_set_registry_auth(config, good[i], &error), CDAM_OK);
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_int_equal(cdam_client_config_set_registry_auth(config, bad[i], &error),
                     CDAM_ERR_ARGUMENT);
    if (bad[i][0]) assert_null(strstr(error.message, bad[i])); /* it is a secret */
    assert_string_equal(config->registry_auth, "YQ==");
  }
  assert_int_equal(cdam_client_config_set_registry_auth(config, NULL, &error), CDAM_OK);
  assert_null(config->registry_auth);
  cdam_client_config_free(config);
}

/* A client keeps what it was made from. */
static void test_the_configuration_is_copied(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start(NULL, 0);
  cdam_client_config *config = new_config();
  cdam_client *client;
  cdam_options *options;
  assert_int_equal(cdam_client_config_set_endpoint(config, scripted_engine_endpoint(engine), NULL),
                   CDAM_OK);
  assert_int_equal(cdam_client_config_set_registry_auth(config, "e30=", NULL), CDAM_OK);
  assert_int_equal(cdam_options_new(&options, NULL), CDAM_OK);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_client_config_require(config, options, NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_options_free(options);
  assert_int_equal(cdam_client_config_set_endpoint(config, "unix:///nowhere", NULL), CDAM_OK);
  cdam_client_config_free(config);
  assert_string_equal(client->config.registry_auth, "e30=");
  assert_int_equal(cdam_options_network_mode(client->config.minimum), CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_client_ping(client, NULL, NULL), CDAM_OK);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* Bad options are no policy; an image is not needed. */
static void test_policies(void **state) {
  (void)state;
  cdam_client_config *config = new_config();
  cdam_options *options;
  cdam_error error;
  assert_int_equal(cdam_options_new(&options, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_require(config, options, &error), CDAM_OK);
  cdam_options_set_network_mode(options, (cdam_network_mode)7);
  assert_int_equal(cdam_client_config_require(config, options, &error), CDAM_ERR_INVALID);
  assert_non_null(strstr(error.field, "network_mode"));
  assert_int_equal(cdam_options_network_mode(config->minimum), CDAM_NETWORK_MODE_UNSET);
  cdam_options_free(options);
  cdam_client_config_free(config);
}

/* A profile demands what it stands for; of limits, less will do. */
static void test_a_profile_as_a_policy(void **state) {
  (void)state;
  untouchable_engine *engine = untouchable_start();
  cdam_client_config *config = new_config();
  cdam_options *options;
  cdam_client *client;
  cdam_session *session;
  cdam_error error;
  assert_int_equal(cdam_options_new(&options, NULL), CDAM_OK);
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  assert_int_equal(cdam_client_config_set_endpoint(config, untouchable_endpoint(engine), NULL),
                   CDAM_OK);
  assert_int_equal(cdam_client_config_require(config, options, &error), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_image(options, "busybox", NULL), CDAM_OK);
  cdam_options_set_memory_bytes(options, (512 << 20) + 1);
  assert_int_equal(cdam_create(client, options, &session, &error), CDAM_ERR_POLICY);
  assert_string_equal(error.field, "memory_bytes");
  cdam_options_set_memory_bytes(options, 0);
  cdam_options_set_profile(options, CDAM_PROFILE_UNSET);
  assert_int_equal(cdam_create(client, options, &session, &error), CDAM_ERR_POLICY);
  assert_string_equal(error.field, "network_mode");
  cdam_client_free(client);
  untouchable_stop(engine);
  /* What the policy lets pass goes to the engine. */
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  cdam_options_set_memory_bytes(options, 6 << 20);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  assert_int_equal(cdam_create(client, options, &session, &error), CDAM_ERR_CONNECT);
  cdam_client_free(client);
  cdam_options_free(options);
  cdam_client_config_free(config);
}

/* ---- plain tcp, and TLS ---- */

static void expect_refused(const cdam_client_config *config, const char *message) {
  cdam_client *client;
  cdam_error error;
  assert_int_equal(cdam_client_new(config, &client, &error), CDAM_ERR_ARGUMENT);
  assert_null(client);
  if (!strstr(error.message, message)) fail_msg("%s", error.message);
}

static void test_plain_tcp_is_refused(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start_tcp(NULL, 0);
  cdam_client_config *config = new_config();
  assert_int_equal(cdam_client_config_set_endpoint(config, scripted_engine_endpoint(engine), NULL),
                   CDAM_OK);
  expect_refused(config, "DOCKER_TLS_VERIFY");
  cdam_client_config_allow_plain_tcp(config, true);
  cdam_client_config_allow_plain_tcp(config, false);
  expect_refused(config, "no TLS");
  cdam_client_config_free(config);
  assert_int_equal(scripted_engine_connections(engine), 0);
  scripted_engine_stop(engine);
}

static void make_file(const char *directory, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
}

static void remove_file(const char *directory, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  assert_int_equal(unlink(path), 0);
}

static void expect_client(const cdam_client_config *config, bool with_certificate) {
  cdam_client *client;
  cdam_error error;
  if (cdam_client_new(config, &client, &error) != CDAM_OK) fail_msg("%s", error.message);
  assert_int_equal(client->cert_file != NULL, with_certificate);
  assert_int_equal(client->key_file != NULL, with_certificate);
  cdam_client_free(client);
}

static void test_certificates_must_be_there(void **state) {
  (void)state;
  char directory[] = "/tmp/cofferdam-certs-XXXXXX";
  assert_non_null(mkdtemp(directory));
  cdam_client_config *config = new_config();
  assert_int_equal(cdam_client_config_set_endpoint(config, "tcp://127.0.0.1:1", NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_tls(config, "/no/such/directory", NULL), CDAM_OK);
  expect_refused(config, "/no/such/directory/ca.pem");
  assert_int_equal(cdam_client_config_set_tls(config, directory, NULL), CDAM_OK);
  expect_refused(config, "ca.pem");
  make_file(directory, "ca.pem");
  expect_client(config, false); /* the client's own is optional */
  make_file(directory, "cert.pem");
  expect_refused(config, "key.pem");
  make_file(directory, "key.pem");
  expect_client(config, true);
  remove_file(directory, "cert.pem");
  expect_refused(config, "cert.pem");
  remove_file(directory, "ca.pem");
  char path[64];
  snprintf(path, sizeof path, "%s/ca.pem", directory);
  assert_int_equal(mkdir(path, 0700), 0);
  expect_refused(config, "is not a file");
  assert_int_equal(rmdir(path), 0);
  remove_file(directory, "key.pem");
  assert_int_equal(rmdir(directory), 0);

  /* TLS that was turned off again needs none, and is plain. */
  assert_int_equal(cdam_client_config_set_tls(config, NULL, NULL), CDAM_OK);
  expect_refused(config, "no TLS");
  cdam_client_config_free(config);
}

/* TLS is for tcp; DOCKER_TLS_VERIFY in the environment does not spoil a local socket. */
static void test_tls_and_a_local_socket(void **state) {
  (void)state;
  setenv("DOCKER_TLS_VERIFY", "1", 1);
  setenv("DOCKER_CERT_PATH", "/no/such/directory", 1);
  scripted_engine *engine = scripted_engine_start(NULL, 0);
  setenv("DOCKER_HOST", scripted_engine_endpoint(engine), 1);
  cdam_client *client;
  cdam_error error;
  if (cdam_client_new(NULL, &client, &error) != CDAM_OK) fail_msg("%s", error.message);
  if (cdam_client_ping(client, NULL, &error) != CDAM_OK) fail_msg("%s", error.message);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* The tests of others lean on it. */
static void test_the_untouchable_endpoint(void **state) {
  (void)state;
  untouchable_engine *engine = untouchable_start();
  cdam_client *client = untouchable_client(engine);
  cdam_client_free(client);
  untouchable_stop(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_the_environment, clear_environment),
      cmocka_unit_test_setup(test_the_agents_directory, clear_environment),
      cmocka_unit_test_setup(test_a_client_of_the_environment, clear_environment),
      cmocka_unit_test_setup(test_arguments, clear_environment),
      cmocka_unit_test_setup(test_a_timeout_of_zero, clear_environment),
      cmocka_unit_test_setup(test_registry_auth, clear_environment),
      cmocka_unit_test_setup(test_the_configuration_is_copied, clear_environment),
      cmocka_unit_test_setup(test_policies, clear_environment),
      cmocka_unit_test_setup(test_a_profile_as_a_policy, clear_environment),
      cmocka_unit_test_setup(test_plain_tcp_is_refused, clear_environment),
      cmocka_unit_test_setup(test_certificates_must_be_there, clear_environment),
      cmocka_unit_test_setup(test_tls_and_a_local_socket, clear_environment),
      cmocka_unit_test_setup(test_the_untouchable_endpoint, clear_environment),
  };
  return cmocka_run_group_tests(tests, clear_environment, NULL);
}
