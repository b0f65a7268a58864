/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command run by the sandbox's agent.
 *
 *     exec_agent.c       the operation: from the request to the result
 *     exec_agent_end.c   ending the command early: the deadline, cancelling, a sink that fails
 */
#ifndef COFFERDAM_SESSION_EXEC_AGENT_H
#define COFFERDAM_SESSION_EXEC_AGENT_H

#include "link/answer_limit.h"
#include "link/pump.h"
#include "process/command.h"
#include "process/request.h"
#include "process/track.h"
#include "session/exec_private.h"

/* What becomes of one output. */
typedef struct cdam_exec_taker {
  cdam_exec_output *kept; /* of the result */
  size_t cap;
  bool tail;         /* the last bytes are kept */
  cdam_drain *drain; /* or it is written here, and not kept */
} cdam_exec_taker;

typedef struct cdam_exec_agent {
  cdam_operation op; /* first */
  cdam_channel channel;
  cdam_link *link;
  Cofferdam__Agent__V1__Start *start;
  cdam_source input;
  bool has_input;
  cdam_feed *feed;
  cdam_sink sinks[2];
  bool has_sink[2];
  cdam_exec_taker takers[2];
  cdam_process_track track;
  cdam_answer_limit limit; /* until it is told started */
  cdam_exec_result *result;
  cdam_exec_callback callback;
  int64_t until; /* cdam_now_ms() of the command's deadline; 0: none */
  cdam_exchange *deadline;

  bool closed;         /* the channel is */
  bool bytes_came;     /* since the last look */
  cdam_exchange *look; /* after the command's end, at an output that does not end */

  /* exec_agent_end.c */
  bool ending; /* the tree is to go, for the reason in `failure` */
  bool kill_sent;
  bool gone; /* the tree is */
  cdam_agent_request kill;
  cdam_error failure; /* code CDAM_OK: the deadline */
} cdam_exec_agent;

/* The operation of a command that was checked; it takes a reference to the link.
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_exec_agent_new(cdam_link *link, const cdam_exec_command *command,
                                cdam_exec_agent **out, cdam_error *err);
void cdam_exec_agent_free(cdam_exec_agent *exec);

/* Its first step. */
void cdam_exec_agent_start(cdam_operation *op, const cdam_reply *reply);

/* The result, when there is one. */
cdam_exec_result *cdam_exec_agent_take(cdam_exec_agent *exec, cdam_status status);

/* Finishes one that was ended early: by the deadline, or for the reason in `failure`. */
void cdam_exec_agent_finish_early(cdam_exec_agent *exec);

/* Finishes when all is there that has to be. */
void cdam_exec_agent_settle(cdam_exec_agent *exec);

/* ---- exec_agent_end.c ---- */

/* The step of the deadline; and the operation's `abort`. */
void cdam_exec_agent_deadline(cdam_operation *op, const cdam_reply *reply);
void cdam_exec_agent_abort(cdam_operation *op);

/* Ends the tree, because of the deadline; nothing happens when it is ended already. */
void cdam_exec_agent_end(cdam_exec_agent *exec);

/* Ends the tree, and then finishes with the error. */
void cdam_exec_agent_give_up(cdam_exec_agent *exec, const cdam_error *why);

/* Ends the tree as far as that is possible now; called again when more is known. */
void cdam_exec_agent_end_tree(cdam_exec_agent *exec);

#endif
