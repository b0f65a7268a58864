/* SPDX-License-Identifier: Apache-2.0 */
/* Is the container the reason for what went wrong in it? */
#ifndef COFFERDAM_ENGINE_EXPLAIN_H
#define COFFERDAM_ENGINE_EXPLAIN_H

#include "engine/operation.h"

/* Looks into the answer of GET /containers/{id}/json. When the container is gone, paused or not
 * running, *trouble becomes that (CDAM_ERR_NOT_FOUND, CDAM_ERR_PAUSED, CDAM_ERR_EXITED), and the
 * result is CDAM_OK; when it runs, CDAM_OK too, and *trouble is left alone. When nothing could be
 * learned, *trouble is left alone, and the error says why. */
cdam_status cdam_explain(const cdam_reply *reply, cdam_error *trouble, cdam_error *err);

#endif
