/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the agent that are answered by Done alone, or by one Status before it. */
#ifndef COFFERDAM_PROCESS_REQUEST_H
#define COFFERDAM_PROCESS_REQUEST_H

#include "link/link.h"

typedef struct cdam_agent_request cdam_agent_request;

/* The end of a request; it may be freed or opened again in it. */
typedef void (*cdam_agent_request_done)(void *user, cdam_status status, const cdam_error *error);

/* Embedded in whatever uses it; zeroed before its first use. */
struct cdam_agent_request {
  cdam_channel channel; /* first */
  cdam_agent_request_done done;
  void *user;
};

/* CDAM_OK, and `done` is called; else nothing is under way. */
cdam_status cdam_agent_request_open(cdam_agent_request *request, cdam_link *link,
                                    cdam_to_agent *message, cdam_agent_request_done done,
                                    void *user, cdam_error *err);

/* Sends a request whose answer nobody waits for. */
cdam_status cdam_agent_tell(cdam_link *link, cdam_to_agent *message, cdam_error *err);

/* Kill of a process: done when its tree is gone. */
cdam_status cdam_agent_request_kill(cdam_agent_request *request, cdam_link *link, uint64_t id,
                                    uint32_t grace_ms, cdam_agent_request_done done, void *user,
                                    cdam_error *err);

/* For what has to know which agent it is: `done` is called when the link has its hello, at once if
 * it has it already, or when that went wrong. */
void cdam_agent_request_meet(cdam_agent_request *request, cdam_link *link,
                             cdam_agent_request_done done, void *user);

#endif
