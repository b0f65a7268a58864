/* SPDX-License-Identifier: Apache-2.0 */
/* One exchange as a blocking call, for tests of what lies below sessions. */
#ifndef COFFERDAM_TESTS_FETCH_H
#define COFFERDAM_TESTS_FETCH_H

#include "base/buffer.h"
#include "engine/operation.h"

/* What came of it. Free with fetch_clear. */
typedef struct fetched {
  cdam_operation op;
  cdam_request request;
  cdam_status status;
  cdam_error error;
  int http;
  cdam_buffer body;     /* collected */
  cdam_buffer streamed; /* what the sink got */
  size_t pieces;        /* in how many calls */
  int64_t took_ms;
} fetched;

/* Sends the request, with a sink that keeps everything when it is a stream or an upgrade and has
 * none, and waits for its end. `deadline_ms` is the operation's, from now; 0: none. */
void fetch(cdam_client *client, const cdam_request *request, int64_t deadline_ms, fetched *out);

void fetch_clear(fetched *out);

#endif
