/* SPDX-License-Identifier: Apache-2.0 */
/* The value of the Api-Version header; and DOCKER_HOST, when the text begins with a letter. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/endpoint.h"
#include "engine/negotiate.h"
#include "fuzz.h"

static void check_version(const char *offered) {
  char chosen[8] = "";
  cdam_error err = {0};
  cdam_status status = cdam_negotiate_choose(offered, chosen, &err);
  unsigned major = 0, minor = 0;
  int used = 0;
  char again[32] = "";
  bool is_version = strlen(offered) < 8 &&
                    sscanf(offered, "%3u.%3u%n", &major, &minor, &used) == 2 &&
                    offered[used] == '\0';
  if (is_version) snprintf(again, sizeof again, "%u.%u", major, minor);
  is_version = is_version && strcmp(again, offered) == 0;
  if (status == CDAM_OK) {
    unsigned ours = major > 1 || minor > 52 ? 52 : minor;
    FUZZ_CHECK(is_version && (major > 1 || (major == 1 && minor >= 40)));
    snprintf(again, sizeof again, "1.%u", ours);
    FUZZ_CHECK(strcmp(chosen, again) == 0);
  } else if (status == CDAM_ERR_API_VERSION) {
    FUZZ_CHECK(!offered[0] || (is_version && (major < 1 || (major == 1 && minor < 40))));
  } else {
    FUZZ_CHECK(status == CDAM_ERR_PROTOCOL && !is_version);
  }
}

/* What is in the URL that libcurl gets is a host and a port, and nothing that ends them early. */
static void check_endpoint(const char *text, bool tls) {
  cdam_endpoint endpoint = {0};
  cdam_error err = {0};
  cdam_status status = cdam_endpoint_parse(text, tls, &endpoint, &err);
  FUZZ_CHECK(status == CDAM_OK || status == CDAM_ERR_ARGUMENT);
  if (status == CDAM_OK && endpoint.socket_path) {
    FUZZ_CHECK(strncmp(text, "unix://", 7) == 0 && strcmp(text + 7, endpoint.socket_path) == 0);
    FUZZ_CHECK(endpoint.socket_path[0] == '/' && strlen(endpoint.socket_path) <= 107);
    FUZZ_CHECK(strcmp(endpoint.base_url, "http://localhost") == 0);
  } else if (status == CDAM_OK) {
    const char *prefix = tls ? "https://" : "http://";
    size_t length = strlen(prefix);
    FUZZ_CHECK(strncmp(text, "tcp://", 6) == 0);
    FUZZ_CHECK(strncmp(endpoint.base_url, prefix, length) == 0);
    FUZZ_CHECK(!strpbrk(endpoint.base_url + length, "/@?#\\ \t\r\n"));
    const char *port = strrchr(endpoint.base_url, ':') + 1;
    FUZZ_CHECK(*port && strspn(port, "0123456789") == strlen(port));
    unsigned long number = strtoul(port, NULL, 10);
    FUZZ_CHECK(number >= 1 && number <= 65535);
  }
  cdam_endpoint_clear(&endpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  check_version(text);
  check_endpoint(text, true);
  check_endpoint(text, false);
  free(text);
  return 0;
}
