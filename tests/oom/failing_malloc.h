/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the place of malloc and its kin in a test program. While armed, allocations of this
 * thread are counted, one or all from one on fail, and what was allocated is remembered until it
 * is freed, by whomever. Other threads are left alone.
 */
#ifndef COFFERDAM_TESTS_FAILING_MALLOC_H
#define COFFERDAM_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* From now on allocation number `nth` (from 1) of this thread fails, and with `all_later` every
 * one behind it, too. */
void failing_malloc_arm(long nth, bool all_later);

/* No more failures and no more remembering. True when an allocation was made to fail. */
bool failing_malloc_disarm(void);

/* How many of the remembered allocations are not freed; forgets them. With `show` they are
 * written to stderr, with lines for addr2line. Not counted is what libcrypto lost inside the very
 * call that the failure made fail: that call handed out nothing, so nobody could free it. */
size_t failing_malloc_leaks(bool show);

/* How often that was. */
size_t failing_malloc_lost_by_others(void);

/* Where the last failure was put, on stderr. */
void failing_malloc_show_failure(void);

#endif
