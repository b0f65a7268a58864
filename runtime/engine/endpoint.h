/* SPDX-License-Identifier: Apache-2.0 */
/* Where an engine listens: the text of DOCKER_HOST, taken apart. */
#ifndef COFFERDAM_ENGINE_ENDPOINT_H
#define COFFERDAM_ENGINE_ENDPOINT_H

#include <stdbool.h>

#include <cofferdam/error.h>

#define CDAM_DEFAULT_ENDPOINT "unix:///var/run/docker.sock"

typedef struct cdam_endpoint {
  char *socket_path; /* as it stands behind unix://, or NULL for tcp */
  char *base_url;    /* "http://localhost" for unix, "https://host:2376" */
} cdam_endpoint;

/* "unix:///path" or "tcp://host[:port]"; without a port 2376 with TLS and 2375 without.
 * TLS concerns tcp only. CDAM_ERR_ARGUMENT with a message that says what is accepted
 * instead, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_endpoint_parse(const char *text, bool tls, cdam_endpoint *out, cdam_error *err);

void cdam_endpoint_clear(cdam_endpoint *endpoint);

#endif
