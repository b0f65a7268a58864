/* SPDX-License-Identifier: Apache-2.0 */
/* The scripted engine's HTTP: reading a request from a socket, writing a reply to it. */
#ifndef COFFERDAM_TESTS_SCRIPTED_HTTP_H
#define COFFERDAM_TESTS_SCRIPTED_HTTP_H

#include "base/buffer.h"
#include "scripted_engine.h"

typedef struct scripted_wire {
  int fd;
  int stop_fd;    /* readable once the engine stops: ends all sleep */
  cdam_buffer in; /* read and not used yet */
} scripted_wire;

/* Reads up to the blank line; NULL at the end of the connection. */
scripted_request *scripted_read_head(scripted_wire *wire);

/* Reads the body that the head announces, or its first `at_most` bytes when that is not 0. */
bool scripted_read_body(scripted_wire *wire, scripted_request *request, size_t at_most);

/* False when the connection is to be closed. */
bool scripted_write_reply(scripted_wire *wire, const scripted_request *request,
                          const scripted_reply *reply);

void scripted_request_free(scripted_request *request);

/* False when the engine stops meanwhile. */
bool scripted_sleep(const scripted_wire *wire, int ms);

#endif
