/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON so that what comes out is what was there, or nothing. */
#ifndef COFFERDAM_BASE_JSON_PARSE_H
#define COFFERDAM_BASE_JSON_PARSE_H

#include <jansson.h>

/*
 * json_loadb with JSON_REJECT_DUPLICATES, a new reference. NULL with *problem filled in when the
 * text is no object or array; problem->text is "" when memory was lacking.
 *
 * jansson gathers each token in one buffer that grows, and when it cannot grow, bytes are left
 * out in silence. So a token longer than any in the text is read first: when that has come out
 * whole, the buffer is large enough for the rest.
 */
json_t *cdam_json_parse(const char *text, size_t length, json_error_t *problem);

#endif
