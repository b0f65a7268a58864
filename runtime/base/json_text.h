/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text, whole or not at all. */
#ifndef COFFERDAM_BASE_JSON_TEXT_H
#define COFFERDAM_BASE_JSON_TEXT_H

#include <jansson.h>

/* The text, to be freed with free(); NULL for a NULL json and when out of memory. Instead of
 * json_dumps, which goes on when there was no memory for a key and then leaves the key out, and
 * whose text may come from an allocator that the program gave jansson. `flags` are json_dumps'. */
char *cdam_json_text(const json_t *json, size_t flags);

#endif
