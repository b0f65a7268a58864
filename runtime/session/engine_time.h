/* SPDX-License-Identifier: Apache-2.0 */
/* Times as engines tell them. */
#ifndef COFFERDAM_SESSION_ENGINE_TIME_H
#define COFFERDAM_SESSION_ENGINE_TIME_H

#include <stdint.h>

/* Seconds since the epoch of "2026-02-03T04:05:06.789Z", or with a zone such as +01:00; 0 for
 * anything else, and for NULL. */
int64_t cdam_engine_time(const char *text);

#endif
