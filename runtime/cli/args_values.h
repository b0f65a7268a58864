/* SPDX-License-Identifier: Apache-2.0 */
/* Values of flags, read strictly. */
#ifndef COFFERDAM_CLI_ARGS_VALUES_H
#define COFFERDAM_CLI_ARGS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Digits, up to `most`. */
bool cli_parse_count(const char *text, uint64_t most, uint64_t *count);

/* Seconds as digits, with or without a fraction, rounded up to milliseconds. */
bool cli_parse_seconds(const char *text, int64_t *ms);

/* A signal by its name, with or without SIG, or by its number; 0 when it is none. */
int cli_parse_signal(const char *text);

#endif
