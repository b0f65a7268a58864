/* SPDX-License-Identifier: Apache-2.0 */
/* The id that the engine gives to an exec. */
#ifndef COFFERDAM_ENGINE_EXEC_ID_H
#define COFFERDAM_ENGINE_EXEC_ID_H

#include "engine/operation.h"

/* An exec id, with its NUL. */
#define CDAM_EXEC_ID_SIZE 129

/* From the answer of POST /containers/{id}/exec. `what` is as for cdam_answer_check.
 * CDAM_ERR_PROTOCOL for what cannot stand in a path. */
cdam_status cdam_exec_read_id(const cdam_reply *reply, const char *what, char id[CDAM_EXEC_ID_SIZE],
                              cdam_error *err);

/* The path of an exec: "/exec/ID/start", "/exec/ID/json". */
void cdam_exec_path(const char *id, const char *what, char *path, size_t size);

/* The body of POST /exec/{id}/start for an exec that is attached to and has no terminal. */
#define CDAM_EXEC_START "{\"Detach\":false,\"Tty\":false}"

#endif
