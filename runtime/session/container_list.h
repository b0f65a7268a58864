/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's list of containers, by their labels. */
#ifndef COFFERDAM_SESSION_CONTAINER_LIST_H
#define COFFERDAM_SESSION_CONTAINER_LIST_H

#include <jansson.h>

#include "engine/operation.h"

/* Asks for the containers that bear all of `labels` (as in a JSON array: "\"a\",\"b\""), stopped
 * ones too. An engine may ignore this filter. */
void cdam_container_list_send(cdam_operation *op, const char *labels, cdam_step next);

/* The array in its answer, a new reference also when this fails, or NULL. Nothing is known of its
 * entries. */
cdam_status cdam_container_list_read(const cdam_reply *reply, json_t **out, cdam_error *err);

#endif
