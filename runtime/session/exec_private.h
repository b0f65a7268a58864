/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command as an operation.
 *
 *     exec.c         create and start the exec, read its output to the end
 *     exec_ends.c    input and sinks: the stream is then a duplex
 *     exec_watch.c   how the command ended; and whether it did, when its output is silent
 *     exec_kill.c    what happens at the deadline
 *     exec_shell.c   how commands are ended and signalled
 *     exec_body.c    what is asked of the engine
 *     exec_result.c  what the caller gets
 */
#ifndef COFFERDAM_SESSION_EXEC_PRIVATE_H
#define COFFERDAM_SESSION_EXEC_PRIVATE_H

#include <jansson.h>

#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include "engine/duplex.h"
#include "engine/exec_id.h"
#include "engine/exec_stream.h"
#include "engine/operation.h"
#include "link/pump.h"
#include "session/exec_body.h"
#include "session/exec_shell.h"
#include "session/session_private.h"

struct cdam_exec_result {
  int exit_code;
  int signal;
  bool out_of_memory;
  bool to_sink[2]; /* nothing was to be kept */
  bool not_started;
  bool timed_out;
  bool still_running;
  cdam_exec_output out;
  cdam_exec_output err;
};

/* What the engine says about an exec. */
typedef struct cdam_exec_state {
  bool ended;        /* and exit_code is known; otherwise it runs, or nobody knows */
  bool running;      /* the engine says so */
  int64_t exit_code; /* as it came */
  bool no_process;   /* there is no process id */
  bool forgets_pid;  /* this engine drops the process id at the end, so no_process says nothing */
} cdam_exec_state;

typedef struct cdam_exec_operation {
  cdam_operation op;
  char container_id[CDAM_CONTAINER_ID_SIZE];
  char *user;    /* of the command, or NULL */
  char *body;    /* of the create request */
  int64_t until; /* cdam_now_ms() of the command's deadline; 0: none */
  cdam_exec_callback callback;
  cdam_exec_result *result;
  cdam_exec_stream stream;
  char marker[CDAM_EXEC_MARKER_SIZE];
  char id[CDAM_EXEC_ID_SIZE]; /* "" until the exec is created */

  cdam_exchange *streaming; /* the output, from the start request to the end */
  bool streamed;            /* it has come to its end */
  cdam_exchange *deadline;

  /* exec_ends.c */
  bool has_input;
  cdam_source input;
  cdam_feed *feed;
  bool has_sink[2];
  cdam_sink sinks[2];
  cdam_drain *drains[2];
  cdam_duplex *duplex; /* the stream, instead of `streaming`; or NULL */
  bool opened;         /* the engine has begun to stream */
  bool stirred;        /* it was not read for a while, since the last look */

  /* exec_watch.c */
  cdam_exchange *watch;  /* its timer or its inspect */
  uint64_t watch_offset; /* of the stream, at the last look */
  int64_t watch_ms;      /* to the next look */
  unsigned watch_failures;
  int64_t settle_until; /* when to give up on learning the exit status */
  int64_t settle_ms;    /* to the next try */
  cdam_error trouble;   /* why it could not be learned so far */

  /* exec_kill.c */
  cdam_exec_shell killer;
  unsigned kills; /* that were begun */
  bool killing;
  cdam_error failure; /* why, when it is not for the deadline: code CDAM_OK */
  bool kill_clean;    /* the last one left nothing alive that it knows of */
} cdam_exec_operation;

/* exec.c */

/* When a command that begins now has run out of time; no time is too long. */
int64_t cdam_exec_until(int64_t timeout_ms);

/* POST /containers/{id}/exec. */
void cdam_exec_send_create(cdam_exec_operation *exec, const char *body, cdam_step next);

/* The operation is over. */
void cdam_exec_finish(cdam_exec_operation *exec, const cdam_error *error);

/* As cdam_exec_finish with an error, but first asks whether the container is the reason:
 * gone, stopped, paused. */
void cdam_exec_explain(cdam_exec_operation *exec, const cdam_error *error);

/* The stream is at its end: without an error as a whole answer, or with what broke it off.
 * `answered`: it had begun. `http`: the engine's answer, or 0. */
void cdam_exec_streamed(cdam_exec_operation *exec, bool answered, int http,
                        const cdam_error *error);

/* exec_ends.c */

/* Copies the source and the sinks of a command. */
void cdam_exec_ends_set(cdam_exec_operation *exec, const cdam_exec_command *command);

/* Has it any? Then the stream is opened by cdam_exec_ends_stream. */
bool cdam_exec_has_ends(const cdam_exec_operation *exec);

/* Opens the program's ends. CDAM_ERR_NO_MEMORY, also when out of descriptors. */
cdam_status cdam_exec_ends_open(cdam_exec_operation *exec, cdam_error *err);

/* Starts the command. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_exec_ends_stream(cdam_exec_operation *exec, cdam_error *err);

/* Is something still to be written into a sink? The stream is not read meanwhile. */
bool cdam_exec_ends_wait(const cdam_exec_operation *exec);

/* Nothing is read from the source or written into a sink any more; output is read on, and thrown
 * away. */
void cdam_exec_ends_drop(cdam_exec_operation *exec);

/* Ends the stream; nothing comes from it any more. */
void cdam_exec_close_stream(cdam_exec_operation *exec);

/* The same for the operation's own end, at which its loop may be gone. */
void cdam_exec_ends_free(cdam_exec_operation *exec);

/* exec_watch.c */

/* Reads the answer of GET /exec/{id}/json. */
cdam_status cdam_exec_read_state(const cdam_reply *reply, cdam_exec_state *state, cdam_error *err);

/* Does that say that the program never ran? `silent` when nothing came on standard output; `said`
 * is what came on standard error. */
bool cdam_exec_was_not_started(const cdam_exec_state *state, bool silent, const char *said);

/* The output is at its end: learns how the command ended, and finishes. */
void cdam_exec_settle(cdam_exec_operation *exec);

/* Looks after an output that is silent. */
void cdam_exec_watch(cdam_exec_operation *exec);
void cdam_exec_unwatch(cdam_exec_operation *exec);

/* exec_kill.c */

/* The step of the deadline. */
void cdam_exec_deadline(cdam_operation *op, const cdam_reply *reply);

/* Ends a command that was cancelled. */
void cdam_exec_abort(cdam_operation *op);

/* Ends it for another reason, with which the operation finishes then. */
void cdam_exec_give_up(cdam_exec_operation *exec, const cdam_error *why);

/* While killing: the output is at its end. */
void cdam_exec_kill_streamed(cdam_exec_operation *exec);

#endif
