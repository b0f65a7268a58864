/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/endpoint.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/fail.h"

#define LETTERS_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* What else is written into DOCKER_HOST, and what to do about it. */
static const struct {
  const char *prefix;
  const char *advice;
} refused[] = {
    {"http://", "write tcp:// instead"},
    {"https://", "write tcp:// instead, and ask for TLS with DOCKER_TLS_VERIFY=1"},
    {"ssh://", "ssh is not supported; forward the engine's socket (ssh -L) and use unix://"},
    {"npipe://", "named pipes are not supported; use unix:// or tcp://"},
    {"fd://", "fd:// is for the engine's own command line; use unix:// or tcp://"},
};

static cdam_status refuse(cdam_error *err, const char *text, const char *why) {
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "endpoint \"%.200s\": %s", text, why);
}

static cdam_status refuse_scheme(cdam_error *err, const char *text) {
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    if (strncmp(text, refused[i].prefix, strlen(refused[i].prefix)) == 0)
      return refuse(err, text, refused[i].advice);
  return refuse(err, text, "it must start with unix:// or tcp://");
}

static cdam_status parse_unix(const char *text, const char *path, cdam_endpoint *out,
                              cdam_error *err) {
  const size_t limit = sizeof((struct sockaddr_un *)0)->sun_path - 1;
  if (path[0] != '/') return refuse(err, text, "the path behind unix:// must be absolute");
  if (strlen(path) > limit)
    return cdam_fail(
        err, CDAM_ERR_ARGUMENT,
        "endpoint \"%.150s...\": the socket's path is %zu bytes long, and the system's "
        "limit is %zu; use a shorter path or a symbolic link",
        text, strlen(path), limit);
  out->socket_path = strdup(path);
  out->base_url = strdup("http://localhost");
  return out->socket_path && out->base_url ? CDAM_OK : cdam_fail_memory(err);
}

/* "fe80::1%25eth0", without the brackets: the zone stands behind an escaped percent sign. */
static bool is_ipv6(const char *text, size_t length) {
  char address[INET6_ADDRSTRLEN];
  struct in6_addr parsed;
  const char *percent = memchr(text, '%', length);
  size_t address_length = percent ? (size_t)(percent - text) : length;
  if (address_length >= sizeof address) return false;
  memcpy(address, text, address_length);
  address[address_length] = '\0';
  if (inet_pton(AF_INET6, address, &parsed) != 1) return false;
  if (!percent) return true;
  size_t zone_length = length - address_length;
  if (zone_length < 4 || zone_length > 3 + 15 || strncmp(percent, "%25", 3) != 0) return false;
  return strspn(percent + 3, LETTERS_DIGITS "-._~") >= zone_length - 3;
}

static bool is_host_name(const char *text, size_t length) {
  if (length == 0 || length > 253 || strspn(text, LETTERS_DIGITS) == 0) return false;
  return strspn(text, LETTERS_DIGITS "-._") >= length;
}

/* The length of the host at the start of "host[:port]"; 0 when it is none. */
static size_t host_length(const char *host) {
  if (host[0] == '[') {
    const char *end = strchr(host, ']');
    return end && is_ipv6(host + 1, (size_t)(end - host - 1)) ? (size_t)(end - host) + 1 : 0;
  }
  size_t length = strcspn(host, ":");
  return is_host_name(host, length) ? length : 0;
}

static bool parse_port(const char *text, unsigned *port) {
  size_t length = strlen(text);
  if (length == 0 || length > 5 || strspn(text, "0123456789") != length) return false;
  *port = (unsigned)strtoul(text, NULL, 10);
  return *port >= 1 && *port <= 65535;
}

static cdam_status parse_tcp(const char *text, const char *host, bool tls, cdam_endpoint *out,
                             cdam_error *err) {
  if (host[strcspn(host, "/?#@")] != '\0')
    return refuse(err, text, "only tcp://host:port is accepted, without a path or a user");
  size_t length = host_length(host);
  const char *rest = host + length;
  if (length == 0 || (*rest && *rest != ':') || strchr(rest + (*rest == ':'), ':'))
    return refuse(err, text,
                  "that is no host and port; write tcp://host:port, and an IPv6 address in "
                  "brackets: tcp://[::1]:2376");
  unsigned port = tls ? 2376 : 2375;
  if (*rest && !parse_port(rest + 1, &port))
    return refuse(err, text, "the port must be a number from 1 to 65535");
  if (asprintf(&out->base_url, "%s://%.*s:%u", tls ? "https" : "http", (int)length, host, port) < 0)
    out->base_url = NULL;
  return out->base_url ? CDAM_OK : cdam_fail_memory(err);
}

cdam_status cdam_endpoint_parse(const char *text, bool tls, cdam_endpoint *out, cdam_error *err) {
  *out = (cdam_endpoint){0};
  cdam_status status;
  if (strncmp(text, "unix://", 7) == 0)
    status = parse_unix(text, text + 7, out, err);
  else if (strncmp(text, "tcp://", 6) == 0)
    status = parse_tcp(text, text + 6, tls, out, err);
  else
    status = refuse_scheme(err, text);
  if (status != CDAM_OK) cdam_endpoint_clear(out);
  return status;
}

void cdam_endpoint_clear(cdam_endpoint *endpoint) {
  free(endpoint->socket_path);
  free(endpoint->base_url);
  *endpoint = (cdam_endpoint){0};
}
