/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what the engine answers. */
#ifndef COFFERDAM_ENGINE_ANSWER_H
#define COFFERDAM_ENGINE_ANSWER_H

#include <jansson.h>

#include "engine/operation.h"

/* CDAM_OK for a 2xx answer or 304. Otherwise fills in the error: the transport's own; or, from
 * the answer, CDAM_ERR_NOT_FOUND for 404 and CDAM_ERR_ENGINE for the rest, with http_status, a
 * retry hint (yes for 429, 502, 503, 504; unknown for other 5xx and 409; no for other 4xx), and
 * the message "WHAT: engine's message". `what` is a short text such as "create container". The
 * engine's message is its JSON "message", or else the trimmed text of the body, or else the
 * standard phrase of the code; escaped and capped. */
cdam_status cdam_answer_check(const cdam_reply *reply, const char *what, cdam_error *err);

/* cdam_answer_check, and the body as JSON, duplicate keys refused. *json is a new reference.
 * CDAM_ERR_PROTOCOL when it is no JSON object or array. */
cdam_status cdam_answer_json(const cdam_reply *reply, const char *what, json_t **json,
                             cdam_error *err);

/* The value at a dotted path of an object ("State.Status"), borrowed; NULL when any
 * key on the way is absent. JSON null is returned as such. Keys must hold no dot. */
const json_t *cdam_json_at(const json_t *json, const char *path);

/* The string at a path; NULL when absent, null, or no string. */
const char *cdam_json_string_at(const json_t *json, const char *path);

#endif
