/* SPDX-License-Identifier: Apache-2.0 */
/* The clients that the library is measured against: the least that makes the same HTTP calls
 * over a kept-alive unix socket. Errors end the program; these are no libraries. */
#ifndef COFFERDAM_BENCH_HTTP_CLIENT_H
#define COFFERDAM_BENCH_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct http_client {
  /* Sends a request and reads the answer into `body` (cut to its size, NUL at the end). `upgrade`
   * takes a connection of its own and reads to its end. Returns the status. */
  int (*call)(const char *method, const char *path, const char *request, bool upgrade, char *body,
              size_t size);
} http_client;

/* raw_client.c: by hand, one socket and one buffer. curl_client.c: libcurl's easy interface,
 * handles reused; with PARSE_JSON every answer is also read by jansson and dropped. One of them is
 * linked. */
http_client make_http_client(const char *socket_path);

#endif
