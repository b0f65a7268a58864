/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/endpoint.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

typedef struct accepted {
  const char *text;
  bool tls;
  const char *socket_path, *base_url;
} accepted;

static const accepted good[] = {
    {"unix:///var/run/docker.sock", false, "/var/run/docker.sock", "http://localhost"},
    {"unix:///var/run/docker.sock", true, "/var/run/docker.sock", "http://localhost"},
    {"unix:///tmp/a b/d.sock", false, "/tmp/a b/d.sock", "http://localhost"},
    {"unix:///tmp/a%20b/d.sock", false, "/tmp/a%20b/d.sock", "http://localhost"},
    {"unix:////x", false, "//x", "http://localhost"},
    {"unix:///a?b#c:d@e", false, "/a?b#c:d@e", "http://localhost"},
    {"tcp://host:1", false, NULL, "http://host:1"},
    {"tcp://host:65535", true, NULL, "https://host:65535"},
    {"tcp://host", false, NULL, "http://host:2375"},
    {"tcp://host", true, NULL, "https://host:2376"},
    {"tcp://127.0.0.1:2375", false, NULL, "http://127.0.0.1:2375"},
    {"tcp://a-b.c_d.example:5", false, NULL, "http://a-b.c_d.example:5"},
    {"tcp://[::1]:2375", false, NULL, "http://[::1]:2375"},
    {"tcp://[::1]", true, NULL, "https://[::1]:2376"},
    {"tcp://[fe80::1%25eth0]:2375", false, NULL, "http://[fe80::1%25eth0]:2375"},
    {"tcp://[::ffff:10.0.0.1]:2375", false, NULL, "http://[::ffff:10.0.0.1]:2375"},
};

static void test_accepted(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(good); i++) {
    cdam_endpoint endpoint;
    cdam_error error = {0};
    if (cdam_endpoint_parse(good[i].text, good[i].tls, &endpoint, &error) != CDAM_OK)
      fail_msg("%s", error.message);
    if (good[i].socket_path)
      assert_string_equal(endpoint.socket_path, good[i].socket_path);
    else
      assert_null(endpoint.socket_path);
    assert_string_equal(endpoint.base_url, good[i].base_url);
    cdam_endpoint_clear(&endpoint);
    assert_null(endpoint.base_url);
  }
}

/* Each with a word of the advice that must be given. */
static const struct {
  const char *text;
  const char *advice;
} bad[] = {
    {"", "unix://"},
    {"/var/run/docker.sock", "unix://"},
    {"localhost:2375", "tcp://"},
    {"UNIX:///x", "unix://"},
    {" unix:///x", "unix://"},
    {"unix:/x", "unix://"},
    {"unix://", "absolute"},
    {"unix://x/y", "absolute"},
    {"unix://~/docker.sock", "absolute"},
    {"unix://@abstract", "absolute"},
    {"http://host:1", "tcp://"},
    {"https://host:1", "DOCKER_TLS_VERIFY"},
    {"ssh://user@host", "ssh -L"},
    {"npipe:////./pipe/docker_engine", "not supported"},
    {"fd://", "unix://"},
    {"ftp://host", "unix://"},
    {"tcp://", "tcp://host:port"},
    {"tcp://:2375", "tcp://host:port"},
    {"tcp://::1:2375", "[::1]"},
    {"tcp://::1", "[::1]"},
    {"tcp://[::1", "brackets"},
    {"tcp://[::1]2375", "brackets"},
    {"tcp://[::1]x:2375", "brackets"},
    {"tcp://[]:2375", "brackets"},
    {"tcp://[1.2.3.4]:2375", "brackets"},
    {"tcp://[host]:2375", "brackets"},
    {"tcp://[fe80::1%eth0]:2375", "brackets"},
    {"tcp://[fe80::1%25]:2375", "brackets"},
    {"tcp://[fe80::1%25e/0]:2375", "path"},
    {"tcp://[fe80::1%25e]0]:2375", "brackets"},
    {"tcp://[fe80::1%25abcdefghijklmnop]:2375", "brackets"},
    {"tcp://[:::::::::::::::::::::::::::::::::::::::::::::::::::::1]:2375", "brackets"},
    {"tcp://host:", "1 to 65535"},
    {"tcp://host:0", "1 to 65535"},
    {"tcp://host:65536", "1 to 65535"},
    {"tcp://host:-1", "1 to 65535"},
    {"tcp://host:+1", "1 to 65535"},
    {"tcp://host: 1", "1 to 65535"},
    {"tcp://host:1x", "1 to 65535"},
    {"tcp://host:123456", "1 to 65535"},
    {"tcp://host:1:2", "brackets"},
    {"tcp://host:1/", "without a path"},
    {"tcp://host/v1", "without a path"},
    {"tcp://host?x", "without a path"},
    {"tcp://user@host:1", "a user"},
    {"tcp://user:pass@host:1", "a user"},
    {"tcp://a b:1", "tcp://host:port"},
    {"tcp://a\r\nX: y:1", "tcp://host:port"},
    {"tcp://-x:1", "tcp://host:port"},
    {"tcp://.:1", "tcp://host:port"},
    {"tcp://a\xc3\xa4.example:1", "tcp://host:port"},
    {"tcp://%61:1", "tcp://host:port"},
    {"tcp://" A50 A50 A50 A50 A50 "aaaa:1", "tcp://host:port"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(bad); i++) {
    cdam_endpoint endpoint;
    cdam_error error = {0};
    if (cdam_endpoint_parse(bad[i].text, false, &endpoint, &error) != CDAM_ERR_ARGUMENT)
      fail_msg("not refused: %s", bad[i].text);
    if (!strstr(error.message, bad[i].advice)) fail_msg("%s", error.message);
    assert_int_equal(error.retry, CDAM_RETRY_NO);
    assert_null(endpoint.base_url);
    assert_null(endpoint.socket_path);
  }
}

static void test_the_longest_socket_path(void **state) {
  (void)state;
  static const struct {
    size_t length;
    cdam_status status;
  } cases[] = {{107, CDAM_OK}, {108, CDAM_ERR_ARGUMENT}, {200, CDAM_ERR_ARGUMENT}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[256] = "unix:///";
    memset(text + 8, 'x', cases[i].length - 1);
    cdam_endpoint endpoint;
    cdam_error error = {0};
    assert_int_equal(cdam_endpoint_parse(text, false, &endpoint, &error), cases[i].status);
    if (cases[i].status != CDAM_OK) assert_non_null(strstr(error.message, "limit is 107"));
    cdam_endpoint_clear(&endpoint);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_the_longest_socket_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
