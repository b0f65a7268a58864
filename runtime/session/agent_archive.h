/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's program as the tar archive that goes to an engine and comes back from it. Our own
 * few lines, since libarchive ends the process when it has no memory for a name. */
#ifndef COFFERDAM_SESSION_AGENT_ARCHIVE_H
#define COFFERDAM_SESSION_AGENT_ARCHIVE_H

#include "base/buffer.h"
#include "engine/client_private.h"

/* Appends an archive of the program alone: execute-only, and root's. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_agent_archive_make(const cdam_agent_binary *binary, cdam_buffer *archive,
                                    cdam_error *err);

/* Is this an archive of that program alone, with that mode? */
bool cdam_agent_archive_is(const cdam_agent_binary *binary, const char *bytes, size_t length);

#endif
