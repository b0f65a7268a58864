/* SPDX-License-Identifier: Apache-2.0 */
#include "exhaust.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"

#define TOO_MANY 100000

static bool status_fits(const exhaust_case *subject, cdam_status status) {
  switch (status) {
  case CDAM_OK: /* a library went on without; the result is checked */
  case CDAM_ERR_NO_MEMORY:
    return true;
  case CDAM_ERR_CONNECT:
  case CDAM_ERR_PROTOCOL:
  case CDAM_ERR_TIMEOUT:
    return subject->has_transport;
  default:
    return false;
  }
}

static const char *error_fits(const cdam_error *err, cdam_status status) {
  if (err->code != status) return "the error has another code than the call's status";
  if (status != CDAM_OK && !err->message[0]) return "the error has no message";
  if (status == CDAM_OK && err->message[0]) return "success with a message";
  return NULL;
}

/* One run. False when no allocation failed any more. */
static bool try_once(const exhaust_case *subject, long nth, bool all_later, size_t *leaks,
                     cdam_status *status) {
  cdam_error err = {0};
  failing_malloc_arm(nth, all_later);
  *status = subject->run(subject->context, &err);
  bool fired = failing_malloc_disarm();
  const char *wrong = error_fits(&err, *status);
  const char *result = subject->finish(subject->context, *status, !all_later || !fired);
  if (!wrong) wrong = result;
  if (!wrong && !status_fits(subject, *status)) wrong = "an error that does not speak of memory";
  if (!wrong && !fired && *status != CDAM_OK) wrong = "a failure with all the memory it wanted";
  if (wrong) {
    failing_malloc_show_failure();
    fail_msg("%s, allocation %ld%s: %s (%s: %s)", subject->name, nth, all_later ? " and later" : "",
             wrong, cdam_status_name(*status), err.message);
  }
  *leaks = failing_malloc_leaks(false);
  return fired;
}

/* What a library keeps for later is allocated once; a leak happens again. */
static void insist(const exhaust_case *subject, long nth, bool all_later) {
  size_t leaks = 1;
  cdam_status status;
  cdam_error err = {0};
  for (int again = 0; again < 3 && leaks; again++)
    try_once(subject, nth, all_later, &leaks, &status);
  if (!leaks) return;
  failing_malloc_arm(nth, all_later);
  status = subject->run(subject->context, &err);
  failing_malloc_disarm();
  subject->finish(subject->context, status, !all_later);
  leaks = failing_malloc_leaks(true);
  failing_malloc_show_failure();
  if (leaks) fail_msg("%s, allocation %ld: %zu blocks leaked", subject->name, nth, leaks);
}

static void exhaust_mode(const exhaust_case *subject, bool all_later, long stride) {
  size_t others = failing_malloc_lost_by_others();
  long absorbed = 0, tried = 0;
  for (long nth = 1;; nth += stride) {
    size_t leaks;
    cdam_status status;
    assert_true(nth < TOO_MANY);
    bool fired = try_once(subject, nth, all_later, &leaks, &status);
    if (leaks) insist(subject, nth, all_later);
    if (!fired) break;
    tried++;
    absorbed += status == CDAM_OK;
  }
  fprintf(stderr, "# %s: %ld allocations%s made to fail, %ld of them did not matter\n",
          subject->name, tried, all_later ? " and all later ones" : "", absorbed);
  others = failing_malloc_lost_by_others() - others;
  if (others) fprintf(stderr, "# %s: libcrypto itself lost %zu blocks\n", subject->name, others);
  assert_true(tried > 0);
}

void exhaust(const exhaust_case *subject) {
  /* What is set up once in a process is set up now. */
  for (int i = 0; i < 3; i++) {
    cdam_error err = {0};
    cdam_status status = subject->run(subject->context, &err);
    const char *wrong = subject->finish(subject->context, status, true);
    if (status != CDAM_OK || wrong)
      fail_msg("%s, with memory: %s %s", subject->name, err.message, wrong ? wrong : "");
  }
  exhaust_mode(subject, false, 1);
  exhaust_mode(subject, true, subject->stride ? subject->stride : 1);
}
