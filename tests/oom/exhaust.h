/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every allocation of a call fail in turn. */
#ifndef COFFERDAM_TESTS_EXHAUST_H
#define COFFERDAM_TESTS_EXHAUST_H

#include <cofferdam/cofferdam.h>

typedef struct exhaust_case {
  const char *name;

  /* The call, with allocations failing. It leaves what it got in `context`. */
  cdam_status (*run)(void *context, cdam_error *err);

  /* With memory again: is what came out right for this status? Frees it all. `once` tells that
   * a single allocation failed, so that cleaning up had memory. NULL, or what is wrong. */
  const char *(*finish)(void *context, cdam_status status, bool once);

  void *context;

  /* An allocation that fails in a library comes out as an error of the transport, too. */
  bool has_transport;

  /* With all later allocations failing, only every so-manyth is tried; 0: each. */
  long stride;
} exhaust_case;

/* Fails the test (CMocka) when any run crashes, leaks, or gives a wrong answer. */
void exhaust(const exhaust_case *subject);

#endif
