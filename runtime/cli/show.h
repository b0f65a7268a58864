/* SPDX-License-Identifier: Apache-2.0 */
/* Text from outside on a terminal: nothing in it moves the cursor, changes colours, or turns around
 * the direction of what stands beside it. */
#ifndef COFFERDAM_CLI_SHOW_H
#define COFFERDAM_CLI_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Text, with each byte of what acts, or is not UTF-8, as \xHH. */
void cli_put_text(FILE *stream, const char *text);

/* The same with backslashes doubled, so that no name looks like another. */
void cli_put_name(FILE *stream, const char *name);

/* JSON, with what acts in its strings as \uHHHH: the same value. */
void cli_put_json_text(const char *text);

/* JSON for programs and people, with a newline. False: out of memory, or ferror(stdout). */
bool cli_put_json(const json_t *json);

#endif
