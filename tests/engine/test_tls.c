/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine over tcp with TLS. COFFERDAM_TEST_TLS_HOST names it (tcp://127.0.0.1:port), and
 * COFFERDAM_TEST_TLS_CERTS the directory with ca.pem, cert.pem and key.pem; it is the engine
 * that DOCKER_HOST reaches, too.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "real_engine.h"

static const char *endpoint;
static const char *certs;

static void require_tls_engine(void) {
  require_engine();
  endpoint = getenv("COFFERDAM_TEST_TLS_HOST");
  certs = getenv("COFFERDAM_TEST_TLS_CERTS");
  if (endpoint && certs) return;
  printf("1..0 # SKIP COFFERDAM_TEST_TLS_HOST and COFFERDAM_TEST_TLS_CERTS are not set: no engine "
         "with TLS to test against\n");
  exit(0);
}

static cdam_client *tls_client(const char *host, const char *directory) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  assert_ok(cdam_client_config_set_tls(config, directory, &err), &err);
  assert_ok(cdam_client_config_set_endpoint(config, host, &err), &err);
  cdam_client_config_set_timeout(config, 20000);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static void expect_refused(const char *host, const char *directory, const char *message) {
  cdam_client *client = tls_client(host, directory);
  cdam_error err;
  assert_int_equal(cdam_client_ping(client, NULL, &err), CDAM_ERR_CONNECT);
  assert_int_equal(err.retry, CDAM_RETRY_NO);
  if (!strstr(err.message, message)) fail_msg("%s", err.message);
  cdam_client_free(client);
}

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  if (system(command) != 0) fail_msg("failed: %s", command);
}

/* A new directory for certificates; remove_directory it. */
static char *new_directory(void) {
  char *directory = strdup("/tmp/cofferdam-tls-XXXXXX");
  assert_non_null(directory);
  assert_non_null(mkdtemp(directory));
  return directory;
}

static void remove_directory(char *directory) {
  run("rm -r '%s'", directory);
  free(directory);
}

/* ---- what works ---- */

static void test_ping(void **state) {
  (void)state;
  cdam_client *client = tls_client(endpoint, certs);
  const char *version;
  cdam_error err;
  assert_ok(cdam_client_ping(client, &version, &err), &err);
  assert_memory_equal(version, "1.", 2);
  cdam_client_free(client);
}

static void test_the_environment(void **state) {
  (void)state;
  char *host = strdup(getenv("DOCKER_HOST"));
  setenv("DOCKER_HOST", endpoint, 1);
  setenv("DOCKER_TLS_VERIFY", "1", 1);
  setenv("DOCKER_CERT_PATH", certs, 1);
  cdam_client *client = engine_client();
  setenv("DOCKER_HOST", host, 1);
  unsetenv("DOCKER_TLS_VERIFY");
  unsetenv("DOCKER_CERT_PATH");
  free(host);
  cdam_error err;
  assert_ok(cdam_client_ping(client, NULL, &err), &err);
  cdam_client_free(client);
}

static void test_create_and_exec(void **state) {
  (void)state;
  static const char *const print[] = {"/bin/busybox", "sh", "-c",
                                      "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done",
                                      NULL};
  cdam_client *client = tls_client(endpoint, certs);
  cdam_session *session = create_with(client, CDAM_NETWORK_MODE_NONE);
  for (int i = 0; i < 3; i++) {
    char *text = output_of(session, print);
    assert_int_equal(strlen(text), 108890); /* what seq 0 19999 is long */
    assert_string_equal(text + strlen(text) - 6, "19999\n");
    free(text);
  }
  end_session(client, session);
  cdam_client_free(client);
}

/* ---- what is refused ---- */

static void test_a_certificate_by_somebody_else(void **state) {
  (void)state;
  char *directory = new_directory();
  run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=Another CA' "
      "-keyout '%s/other.pem' -out '%s/ca.pem' 2>/dev/null && cp '%s'/cert.pem '%s'/key.pem '%s'",
      directory, directory, certs, certs, directory);
  expect_refused(endpoint, directory, "ca.pem");
  remove_directory(directory);
}

static void test_no_certificate_of_ours(void **state) {
  (void)state;
  char *directory = new_directory();
  run("cp '%s/ca.pem' '%s'", certs, directory);
  expect_refused(endpoint, directory, "refused the client's certificate");
  remove_directory(directory);
}

static void test_a_certificate_of_ours_by_somebody_else(void **state) {
  (void)state;
  char *directory = new_directory();
  run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=Nobody' -keyout '%s/key.pem' "
      "-out '%s/cert.pem' 2>/dev/null && cp '%s/ca.pem' '%s'",
      directory, directory, certs, directory);
  expect_refused(endpoint, directory, "refused the client's certificate");
  remove_directory(directory);
}

static void test_files_that_are_no_certificates(void **state) {
  (void)state;
  char *directory = new_directory();
  run("cd '%s' && echo x >ca.pem && cp '%s'/cert.pem '%s'/key.pem .", directory, certs, certs);
  expect_refused(endpoint, directory, "cannot be used");
  run("cd '%s' && cp '%s/ca.pem' . && echo x >cert.pem", directory, certs);
  expect_refused(endpoint, directory, "cannot be used");
  remove_directory(directory);
}

static void test_plain_text_to_a_port_with_tls(void **state) {
  (void)state;
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  assert_ok(cdam_client_config_set_endpoint(config, endpoint, &err), &err);
  cdam_client_config_allow_plain_tcp(config, true);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  assert_int_equal(cdam_client_ping(client, NULL, &err), CDAM_ERR_ENGINE);
  assert_int_equal(err.http_status, 400);
  cdam_client_free(client);
}

/* ---- through a relay ---- */

/* Passes one connection on to the engine. */
typedef struct relay {
  pthread_t thread;
  int listener;
  int client; /* the connection from the client */
  char endpoint[64];
} relay;

static bool pump(int from, int to) {
  char bytes[65536];
  ssize_t count = recv(from, bytes, sizeof bytes, 0);
  return count > 0 && send(to, bytes, (size_t)count, MSG_NOSIGNAL) == count;
}

static void *run_relay(void *user) {
  relay *this = user;
  struct sockaddr_in engine = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  engine.sin_port = htons((uint16_t)strtoul(strrchr(endpoint, ':') + 1, NULL, 10));
  this->client = accept(this->listener, NULL, NULL);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(server, (const struct sockaddr *)&engine, sizeof engine) != 0) abort();
  struct pollfd ends[] = {{.fd = this->client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
  bool open = true;
  while (open && poll(ends, 2, -1) > 0)
    for (int i = 0; i < 2 && open; i++)
      if (ends[i].revents) open = pump(ends[i].fd, ends[1 - i].fd);
  close(server);
  return NULL;
}

static void start_relay(relay *this, uint32_t address) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
  socklen_t length = sizeof at;
  this->listener = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(this->listener, (const struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(this->listener, 1), 0);
  assert_int_equal(getsockname(this->listener, (struct sockaddr *)&at, &length), 0);
  char text[INET_ADDRSTRLEN];
  snprintf(this->endpoint, sizeof this->endpoint, "tcp://%s:%u",
           inet_ntop(AF_INET, &at.sin_addr, text, sizeof text), ntohs(at.sin_port));
  assert_int_equal(pthread_create(&this->thread, NULL, run_relay, this), 0);
}

/* Ends it; the client's side sees an RST. */
static void cut_relay(relay *this) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(this->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  shutdown(this->client, SHUT_RD);
  pthread_join(this->thread, NULL);
  close(this->client);
  close(this->listener);
}

static void test_a_host_that_is_not_in_the_certificate(void **state) {
  (void)state;
  relay middle;
  start_relay(&middle, INADDR_LOOPBACK + 1); /* 127.0.0.2 */
  expect_refused(middle.endpoint, certs, "127.0.0.2");
  cut_relay(&middle);
}

/* TLS says goodbye when a connection is closed. On one that is gone this may raise SIGPIPE, whose
 * default action would end this program. */
static void test_a_connection_that_is_gone(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_DFL);
  relay middle;
  start_relay(&middle, INADDR_LOOPBACK);
  cdam_client *client = tls_client(middle.endpoint, certs);
  cdam_error err;
  assert_ok(cdam_client_ping(client, NULL, &err), &err);
  cut_relay(&middle);
  assert_int_equal(cdam_client_ping(client, NULL, &err), CDAM_ERR_CONNECT);
  cdam_client_free(client);

  start_relay(&middle, INADDR_LOOPBACK);
  client = tls_client(middle.endpoint, certs);
  assert_ok(cdam_client_ping(client, NULL, &err), &err);
  cut_relay(&middle);
  cdam_client_free(client);
}

int main(void) {
  require_tls_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ping),
      cmocka_unit_test(test_the_environment),
      cmocka_unit_test(test_create_and_exec),
      cmocka_unit_test(test_a_certificate_by_somebody_else),
      cmocka_unit_test(test_no_certificate_of_ours),
      cmocka_unit_test(test_a_certificate_of_ours_by_somebody_else),
      cmocka_unit_test(test_files_that_are_no_certificates),
      cmocka_unit_test(test_plain_text_to_a_port_with_tls),
      cmocka_unit_test(test_a_host_that_is_not_in_the_certificate),
      cmocka_unit_test(test_a_connection_that_is_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
