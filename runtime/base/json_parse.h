/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON so that what comes out is what was there, or nothing. */
#ifndef COFFERDAM_BASE_JSON_PARSE_H
#define COFFERDAM_BASE_JSON_PARSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* No JSON is nested deeper. jansson would follow 2048 levels down, which takes more stack than a
 * small thread has. */
#define CDAM_JSON_MAX_DEPTH 64

bool cdam_json_is_too_deep(const char *text, size_t length);

/*
 * json_loadb with JSON_REJECT_DUPLICATES, a new reference. NULL with *problem filled in when the
 * text is no object or array, or nested too deep; problem->text is "" when memory was lacking.
 * NULs, of which jansson passes over those behind a number or a word, are refused wherever they
 * are.
 *
 * jansson gathers each token in one buffer that grows, and when it cannot grow, bytes are left
 * out in silence. So a token longer than any in the text is read first: when that has come out
 * whole, the buffer is large enough for the rest.
 */
json_t *cdam_json_parse(const char *text, size_t length, json_error_t *problem);

#endif
