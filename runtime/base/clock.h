/* SPDX-License-Identifier: Apache-2.0 */
/* Time for deadlines. */
#ifndef COFFERDAM_BASE_CLOCK_H
#define COFFERDAM_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds of the monotonic clock. */
int64_t cdam_now_ms(void);

#endif
