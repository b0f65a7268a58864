/* SPDX-License-Identifier: Apache-2.0 */
/* Time for deadlines. */
#ifndef COFFERDAM_BASE_CLOCK_H
#define COFFERDAM_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds and microseconds of the monotonic clock. */
int64_t cdam_now_ms(void);
int64_t cdam_now_us(void);

#endif
