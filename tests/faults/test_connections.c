/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching an engine, and keeping connections to it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/sigpipe.h"
#include "fetch.h"
#include "scripted_engine.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const cdam_request get_info = {.method = "GET", .path = "/info"};
static const cdam_request create = {.method = "POST", .path = "/containers/create", .body = "{}"};

static cdam_client *client_of(const char *endpoint) {
  cdam_client_config *config;
  cdam_client *client;
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_tls(config, NULL, NULL), CDAM_OK);
  assert_int_equal(cdam_client_config_set_endpoint(config, endpoint, NULL), CDAM_OK);
  cdam_client_config_allow_plain_tcp(config, true);
  cdam_client_config_set_timeout(config, 2000);
  assert_int_equal(cdam_client_new(config, &client, NULL), CDAM_OK);
  cdam_client_config_free(config);
  return client;
}

static void expect_no_connection(const char *endpoint, cdam_retry retry, const char *message) {
  cdam_client *client = client_of(endpoint);
  cdam_error error;
  assert_int_equal(cdam_client_ping(client, NULL, &error), CDAM_ERR_CONNECT);
  assert_int_equal(error.code, CDAM_ERR_CONNECT);
  assert_int_equal(error.retry, retry);
  if (!strstr(error.message, message) || !strstr(error.message, endpoint))
    fail_msg("%s", error.message);
  fetched out;
  fetch(client, &get_info, 0, &out); /* through the negotiation */
  assert_int_equal(out.status, CDAM_ERR_CONNECT);
  fetch_clear(&out);
  cdam_client_free(client);
}

/* ---- nobody there ---- */

static void test_no_socket(void **state) {
  (void)state;
  expect_no_connection("unix:///tmp/there-is-no-such-socket", CDAM_RETRY_YES, "no socket at");
}

static void test_nobody_listens(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start_tcp(NULL, 0);
  char endpoint[64];
  snprintf(endpoint, sizeof endpoint, "%s", scripted_engine_endpoint(engine));
  scripted_engine_stop(engine);
  expect_no_connection(endpoint, CDAM_RETRY_YES, "nothing listens at");
}

static void test_a_file_that_is_no_socket(void **state) {
  (void)state;
  char path[] = "/tmp/no-socket-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  char endpoint[64];
  snprintf(endpoint, sizeof endpoint, "unix://%s", path);
  expect_no_connection(endpoint, CDAM_RETRY_YES, "nothing listens at");
  close(fd);
  unlink(path);
}

static void test_permission_denied(void **state) {
  (void)state;
  scripted_engine *engine = scripted_engine_start(NULL, 0);
  const char *endpoint = scripted_engine_endpoint(engine);
  assert_int_equal(chmod(endpoint + strlen("unix://"), 0), 0);
  bool root = geteuid() == 0;
  if (root) assert_int_equal(seteuid(65534), 0);
  expect_no_connection(endpoint, CDAM_RETRY_NO, "permission denied at");
  if (root) assert_int_equal(seteuid(0), 0);
  scripted_engine_stop(engine);
}

static void test_an_unknown_host(void **state) {
  (void)state;
  expect_no_connection("tcp://no-such-host.invalid:2375", CDAM_RETRY_YES, "is not known");
}

/* ---- endpoints ---- */

static void expect_ping_at(const char *path) {
  scripted_engine *engine = scripted_engine_start_at(path, NULL, 0);
  cdam_client *client = scripted_engine_client(engine, 2000);
  const char *version;
  cdam_error error;
  if (cdam_client_ping(client, &version, &error) != CDAM_OK) fail_msg("%s", error.message);
  assert_string_equal(version, "1.41");
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void test_paths_are_taken_as_they_are(void **state) {
  (void)state;
  char directory[] = "/tmp/a b%20c-XXXXXX";
  char path[108];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/docker.sock", directory);
  expect_ping_at(path);
  snprintf(path, sizeof path, "%s/%%2e%%2E#?x", directory);
  expect_ping_at(path);
  memset(path, 'x', 107); /* the longest one */
  memcpy(path, directory, strlen(directory));
  path[strlen(directory)] = '/';
  path[107] = '\0';
  expect_ping_at(path);
  assert_int_equal(rmdir(directory), 0);
}

static void test_plain_tcp_when_allowed(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/info", .reply = {200, .body = "{}"}}};
  scripted_engine *engine = scripted_engine_start_tcp(rules, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  fetched out;
  fetch(client, &get_info, 0, &out);
  assert_int_equal(out.status, CDAM_OK);
  fetch_clear(&out);
  char host[64];
  assert_true(scripted_request_header(scripted_engine_request(engine, "GET", "/info", 0), "Host",
                                      host, sizeof host));
  assert_string_equal(host, scripted_engine_endpoint(engine) + strlen("tcp://"));
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* Each client has connections of its own, whatever the host in its URLs is called. */
static void test_two_engines_are_not_mixed_up(void **state) {
  (void)state;
  const scripted_rule rules[2] = {{.path = "/info", .reply = {200, .body = "first"}},
                                  {.path = "/info", .reply = {200, .body = "second"}}};
  scripted_engine *engines[2];
  cdam_client *clients[2];
  for (int i = 0; i < 2; i++) {
    engines[i] = scripted_engine_start(&rules[i], 1);
    clients[i] = scripted_engine_client(engines[i], 2000);
  }
  for (int i = 0; i < 6; i++) {
    fetched out;
    fetch(clients[i % 2], &get_info, 0, &out);
    assert_int_equal(out.status, CDAM_OK);
    assert_string_equal(cdam_buffer_text(&out.body), rules[i % 2].reply.body);
    fetch_clear(&out);
  }
  for (int i = 0; i < 2; i++) {
    cdam_client_free(clients[i]);
    scripted_engine_stop(engines[i]);
  }
}

static void expect_no_proxy(scripted_engine *engine) {
  static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                      "ALL_PROXY"};
  scripted_engine *proxy = scripted_engine_start_tcp(NULL, 0);
  char url[64];
  snprintf(url, sizeof url, "http://%s", scripted_engine_endpoint(proxy) + strlen("tcp://"));
  for (size_t i = 0; i < COUNT(names); i++)
    setenv(names[i], url, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  assert_int_equal(cdam_client_ping(client, NULL, NULL), CDAM_OK);
  cdam_client_free(client);
  for (size_t i = 0; i < COUNT(names); i++)
    unsetenv(names[i]);
  assert_int_equal(scripted_engine_connections(proxy), 0);
  scripted_engine_stop(proxy);
  scripted_engine_stop(engine);
}

static void test_proxies_are_ignored(void **state) {
  (void)state;
  expect_no_proxy(scripted_engine_start(NULL, 0));
  expect_no_proxy(scripted_engine_start_tcp(NULL, 0));
}

/* ---- kept connections ---- */

static void expect_ok(cdam_client *client, const cdam_request *request) {
  fetched out;
  fetch(client, request, 0, &out);
  if (out.status != CDAM_OK) fail_msg("%s", out.error.message);
  fetch_clear(&out);
}

static void test_connections_are_kept(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "*", .method = "POST", .reply = {.status = 201}},
                                 {.path = "/info", .reply = {200, .body = "{}", .chunked = true}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 2000);
  for (int i = 0; i < 10; i++) {
    expect_ok(client, &get_info);
    expect_ok(client, &create);
  }
  assert_int_equal(scripted_engine_connections(engine), 1);
  assert_int_equal(scripted_engine_count(engine, NULL, "/_ping"), 1);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* An engine that was restarted between two calls. */
static void test_connections_that_were_closed_meanwhile(void **state) {
  (void)state;
  const scripted_rule rules[] = {{.path = "/containers/create", .reply = {.status = 201}},
                                 {.path = "/info", .reply = {.status = 200}}};
  scripted_engine *engine = scripted_engine_start(rules, 2);
  cdam_client *client = scripted_engine_client(engine, 2000);
  for (int i = 0; i < 10; i++) {
    expect_ok(client, i % 2 ? &get_info : &create);
    scripted_engine_drop(engine);
  }
  assert_int_equal(scripted_engine_count(engine, "POST", NULL), 5);
  assert_int_equal(scripted_engine_connections(engine), 10);
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static void close_at_once(void *user, int fd, const scripted_request *request, const char *early,
                          size_t early_length) {
  (void)user;
  (void)fd;
  (void)request;
  (void)early;
  (void)early_length;
}

/* The engine takes a request on a connection that was used before, and dies. A second
 * sending of a create could make two containers, so the caller has to know. */
static void test_requests_without_an_answer(void **state) {
  (void)state;
  static const char *const methods[] = {"GET", "PUT", "DELETE", "POST", "POST"};
  for (size_t i = 0; i < COUNT(methods); i++) {
    const bool repeats = methods[i][0] != 'P' || methods[i][1] == 'U';
    const scripted_rule rules[] = {{.path = "/x", .times = 1, .talk = close_at_once},
                                   {.path = "/x", .reply = {.status = 200}},
                                   {.path = "/info", .reply = {.status = 200}}};
    scripted_engine *engine = scripted_engine_start(rules, 3);
    cdam_client *client = scripted_engine_client(engine, 2000);
    expect_ok(client, &get_info);
    const cdam_request request = {
        .method = methods[i], .path = "/x", .body = methods[i][0] == 'P' && i < 4 ? "{}" : NULL};
    fetched out;
    fetch(client, &request, 0, &out);
    assert_int_equal(out.status, repeats ? CDAM_OK : CDAM_ERR_PROTOCOL);
    assert_int_equal(scripted_engine_count(engine, methods[i], "/x"), repeats ? 2 : 1);
    if (!repeats) assert_non_null(strstr(out.error.message, "is not known"));
    fetch_clear(&out);
    expect_ok(client, &get_info);
    cdam_client_free(client);
    scripted_engine_stop(engine);
  }
}

/* ---- threads ---- */

static void *fetch_often(void *client) {
  for (int i = 0; i < 25; i++) {
    fetched out;
    fetch(client, i % 2 ? &create : &get_info, 0, &out);
    bool ok = out.status == CDAM_OK && out.http == 200;
    fetch_clear(&out);
    if (!ok) return NULL;
  }
  return client;
}

static void test_threads_share_a_client(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/info", .reply = {200, .delay_ms = 1}},
      {.path = "/containers/create", .reply = {.status = 200}},
      {.path = "/_ping", .reply = {200, .headers = "Api-Version: 1.41\r\n", .delay_ms = 50}}};
  scripted_engine *engine = scripted_engine_start(rules, 3);
  cdam_client *client = scripted_engine_client(engine, 10000);
  pthread_t threads[12];
  for (size_t i = 0; i < COUNT(threads); i++)
    assert_int_equal(pthread_create(&threads[i], NULL, fetch_often, client), 0);
  for (size_t i = 0; i < COUNT(threads); i++) {
    void *result;
    pthread_join(threads[i], &result);
    assert_ptr_equal(result, client);
  }
  assert_int_equal(scripted_engine_count(engine, NULL, "/info"), 12 * 13);
  assert_in_range(scripted_engine_connections(engine), 1, 12 * 25);
  for (int i = 0; i < 500 && scripted_engine_open_connections(engine) > 8; i++)
    usleep(10000);
  assert_in_range(scripted_engine_open_connections(engine), 1, 8); /* idle loops are few */
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

/* ---- what the host program would notice ---- */

static int signals_seen;

static void count_signal(int number) {
  (void)number;
  signals_seen++;
}

static void break_a_pipe(void) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  assert_int_equal(write(ends[1], "x", 1), -1);
  assert_int_equal(errno, EPIPE);
  close(ends[1]);
}

static bool is_blocked(void) {
  sigset_t now;
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
  return sigismember(&now, SIGPIPE) == 1;
}

static void test_sigpipe_is_kept_away(void **state) {
  (void)state;
  struct sigaction before;
  const struct sigaction counting = {.sa_handler = count_signal};
  assert_int_equal(sigaction(SIGPIPE, &counting, &before), 0);
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, true);
  assert_true(is_blocked());
  break_a_pipe();
  cdam_sigpipe_release(&guard);
  assert_false(is_blocked());
  assert_int_equal(signals_seen, 0);
  break_a_pipe(); /* the program's own still gets through */
  assert_int_equal(signals_seen, 1);

  /* One that the program has blocked and left pending stays so. */
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  break_a_pipe();
  cdam_sigpipe_hold(&guard, true);
  cdam_sigpipe_release(&guard);
  assert_true(is_blocked());
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  assert_int_equal(signals_seen, 2);
  assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

/* The default action of SIGPIPE would end this program. */
static void test_an_engine_that_closes_during_an_upload(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_DFL);
  const size_t length = 4 * 1024 * 1024;
  char *body = malloc(length + 1);
  assert_non_null(body);
  memset(body, 'x', length);
  body[length] = '\0';
  const scripted_rule rules[] = {{.path = "/x", .read_at_most = 1, .talk = close_at_once}};
  for (int i = 0; i < 2; i++) {
    scripted_engine *engine =
        i ? scripted_engine_start_tcp(rules, 1) : scripted_engine_start(rules, 1);
    cdam_client *client = scripted_engine_client(engine, 2000);
    fetched out;
    fetch(client, &(cdam_request){.method = "POST", .path = "/x", .body = body}, 0, &out);
    assert_int_equal(out.status, CDAM_ERR_PROTOCOL);
    fetch_clear(&out);
    cdam_client_free(client);
    scripted_engine_stop(engine);
  }
  free(body);
}

static size_t open_descriptors(bool check_flags) {
  size_t count = 0;
  for (int fd = 3; fd < 1024; fd++) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) continue;
    count++;
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    bool connected = getpeername(fd, (struct sockaddr *)&address, &length) == 0;
    bool named = connected && (length > sizeof(sa_family_t) || address.ss_family != AF_UNIX);
    if (check_flags && named) assert_true(flags & FD_CLOEXEC);
  }
  return count;
}

static void test_descriptors(void **state) {
  (void)state;
  int flags[3];
  for (int fd = 0; fd < 3; fd++)
    flags[fd] = fcntl(fd, F_GETFL);
  size_t before = open_descriptors(false);
  const scripted_rule rules[] = {{.path = "/info", .reply = {.status = 200}}};
  for (int i = 0; i < 2; i++) {
    scripted_engine *engine =
        i ? scripted_engine_start_tcp(rules, 1) : scripted_engine_start(rules, 1);
    cdam_client *client = scripted_engine_client(engine, 2000);
    expect_ok(client, &get_info);
    open_descriptors(true);
    cdam_client_free(client);
    scripted_engine_stop(engine);
  }
  assert_int_equal(open_descriptors(false), before);
  for (int fd = 0; fd < 3; fd++)
    assert_int_equal(fcntl(fd, F_GETFL), flags[fd]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_socket),
      cmocka_unit_test(test_nobody_listens),
      cmocka_unit_test(test_a_file_that_is_no_socket),
      cmocka_unit_test(test_permission_denied),
      cmocka_unit_test(test_an_unknown_host),
      cmocka_unit_test(test_paths_are_taken_as_they_are),
      cmocka_unit_test(test_plain_tcp_when_allowed),
      cmocka_unit_test(test_two_engines_are_not_mixed_up),
      cmocka_unit_test(test_proxies_are_ignored),
      cmocka_unit_test(test_connections_are_kept),
      cmocka_unit_test(test_connections_that_were_closed_meanwhile),
      cmocka_unit_test(test_requests_without_an_answer),
      cmocka_unit_test(test_threads_share_a_client),
      cmocka_unit_test(test_sigpipe_is_kept_away),
      cmocka_unit_test(test_an_engine_that_closes_during_an_upload),
      cmocka_unit_test(test_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
