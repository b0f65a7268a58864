/* SPDX-License-Identifier: Apache-2.0 */
/* Values in the body of POST /containers/create. Generated code is made of these. */
#ifndef COFFERDAM_OPTIONS_CREATE_BODY_H
#define COFFERDAM_OPTIONS_CREATE_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "options/fields.h"

/* Puts a value at a dotted path, making the objects on the way. Takes the reference in any
 * case. False when out of memory, or when `value` is NULL (it could not be made). */
bool cdam_body_put(json_t *body, const char *path, json_t *value);

/* Puts one label, as cdam_body_put does a value. */
bool cdam_body_put_label(json_t *body, const char *key, json_t *value);

/* Appends "&NAME=VALUE" with the value escaped. False when out of memory. */
bool cdam_query_put(cdam_buffer *query, const char *name, const char *value);

/* New references; NULL when out of memory. Texts are valid UTF-8. */
json_t *cdam_body_strings(char *const *items, size_t count);
json_t *cdam_body_uints(const uint32_t *items, size_t count);
json_t *cdam_body_object(const cdam_map *map);
json_t *cdam_body_env(const cdam_map *map);     /* ["KEY=VALUE"] */
json_t *cdam_body_decimal(uint64_t number);     /* "123" */
json_t *cdam_body_ulimits(const cdam_map *map); /* [{"Name": "core", "Soft": 0, "Hard": 0}]; values
                                                   are "SOFT:HARD" */
json_t *cdam_body_port_set(const uint32_t *ports, size_t count);      /* {"80/tcp": {}} */
json_t *cdam_body_port_bindings(const uint32_t *ports, size_t count); /* on CDAM_PORT_HOST */

/* Where ports are published. */
#define CDAM_PORT_HOST "127.0.0.1"

/* A port's key: "80/tcp". */
#define CDAM_PORT_KEY_SIZE 16
void cdam_port_key(uint32_t port, char key[static CDAM_PORT_KEY_SIZE]);

#endif
