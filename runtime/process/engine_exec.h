/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process without an agent: an exec of the engine. It fills the same handle with the same events,
 * as far as the engine knows what happens.
 *
 *     engine_exec.c   the request, the stream, the end
 *     engine_look.c   what the engine says of it: that it runs, and how it ended
 *     engine_task.c   signals, the end of the tree, the size of the terminal
 */
#ifndef COFFERDAM_PROCESS_ENGINE_EXEC_H
#define COFFERDAM_PROCESS_ENGINE_EXEC_H

#include "engine/duplex.h"
#include "engine/stdcopy.h"
#include "process/process_private.h"
#include "session/exec_body.h"
#include "session/exec_private.h"

typedef enum cdam_engine_phase {
  CDAM_ENGINE_MAKING,   /* the exec is made and its stream opened */
  CDAM_ENGINE_STARTING, /* the stream is there, and nobody knows yet whether the program runs */
  CDAM_ENGINE_RUNNING,
  CDAM_ENGINE_SETTLING, /* the stream is at its end; how did the program end? */
  CDAM_ENGINE_OVER
} cdam_engine_phase;

/* What is needed to act on it; tasks, which may outlive the handle, have a copy. */
typedef struct cdam_engine_name {
  char container_id[CDAM_CONTAINER_ID_SIZE];
  char marker[CDAM_EXEC_MARKER_SIZE];
  char id[CDAM_EXEC_ID_SIZE]; /* "" until it is made */
  char user[256];             /* of the command; "": the container's */
} cdam_engine_name;

struct cdam_engine_exec {
  cdam_operation op; /* first; never in a step of it is the handle freed */
  cdam_process *process;
  cdam_client *client;
  cdam_loop *loop; /* NULL when it has ended */
  cdam_posted at_end;
  cdam_engine_name name;
  cdam_engine_phase phase;
  char *body;
  cdam_duplex *duplex;
  cdam_stdcopy copy;
  bool join, discard[2];
  uint16_t rows, columns;
  bool sent; /* the start request: the program may run */
  bool gone; /* nothing can be left of it */

  size_t unfetched; /* bytes in the handle's events */
  bool paused;
  uint64_t received; /* bytes of the stream */

  /* Its first words: when it was not started they say why. */
  char said[401];
  size_t said_length;
  bool spoke; /* on standard output */

  /* engine_look.c */
  cdam_exchange *looking; /* a timer or an inspect */
  int64_t look_ms;        /* to the next look */
  int64_t look_until;
  uint64_t look_received; /* at the last look */
  unsigned look_failures;
  cdam_error trouble;

  /* The time that it has, and its end by force. */
  int64_t timeout_ms;
  uint32_t grace_ms;
  cdam_exec_shell killer;
  unsigned kills; /* that were done */
  cdam_process_ended_by ended_by;
};

/* ---- engine_exec.c ---- */

/* CDAM_ERR_NO_AGENT for what no engine can do, CDAM_ERR_ARGUMENT. */
cdam_status cdam_engine_exec_check(const cdam_process_command *command, cdam_error *err);

/* Makes the handle's exec. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_engine_exec_new(cdam_process *process, const cdam_session *session,
                                 const cdam_process_command *command, cdam_error *err);

/* Starts it; process->opened tells what became of that. */
void cdam_engine_exec_start(cdam_engine_exec *exec, cdam_loop *loop);

/* The end of the handle: a program that runs is ended. NULL is fine. */
void cdam_engine_exec_free(cdam_engine_exec *exec);

/* Input. */
bool cdam_engine_exec_can_write(const cdam_engine_exec *exec);
cdam_status cdam_engine_exec_write(cdam_engine_exec *exec, const void *bytes, size_t length,
                                   cdam_error *err);
void cdam_engine_exec_end_input(cdam_engine_exec *exec);

/* Output that was fetched. */
void cdam_engine_exec_fetched(cdam_engine_exec *exec, size_t length);

/* ---- for the files here ---- */

/* Sends a request, or waits, as a step of it. Out of memory ends it. */
cdam_exchange *cdam_engine_exec_send(cdam_engine_exec *exec, const char *method, const char *path,
                                     cdam_step next);
cdam_exchange *cdam_engine_exec_after(cdam_engine_exec *exec, int64_t ms, cdam_step next);

/* It runs, or ran. */
void cdam_engine_exec_started(cdam_engine_exec *exec);

/* Something is there to be fetched. */
void cdam_engine_exec_tell(cdam_engine_exec *exec);

/* Nothing more comes: all is told, or this is why. */
void cdam_engine_exec_close(cdam_engine_exec *exec);
void cdam_engine_exec_fail(cdam_engine_exec *exec, const cdam_error *error);

/* The same, but first asks whether the container is the reason. */
void cdam_engine_exec_explain(cdam_engine_exec *exec, const cdam_error *error);

/* ---- engine_look.c ---- */

/* Some engines refuse a user that is not there, and so nothing was started. */
void cdam_engine_name_refusal(cdam_error *refused);

/* The phase has changed: looks as often as the new one needs. */
void cdam_engine_look(cdam_engine_exec *exec);
void cdam_engine_look_away(cdam_engine_exec *exec);

/* ---- engine_task.c ---- */

typedef enum cdam_engine_order {
  CDAM_ENGINE_KILL,
  CDAM_ENGINE_SIGNAL,
  CDAM_ENGINE_RESIZE
} cdam_engine_order;

/* What to do; `number` is the signal, `to` as in cdam_exec_shell. */
typedef struct cdam_engine_request {
  cdam_engine_order order;
  uint32_t grace_ms;
  int number;
  const char *to; /* static */
  uint16_t rows, columns;
} cdam_engine_request;

/* For the caller of a handle: waits, unless it is of a loop. */
cdam_status cdam_engine_ask(cdam_process *process, const cdam_engine_request *request,
                            cdam_error *err);

/* Ends what runs when nobody has a handle any more. `loop` goes on with it; when it is NULL, or
 * ends before, it is waited for. */
void cdam_engine_kill_off(const cdam_engine_name *name, cdam_client *client, cdam_loop *loop);

#endif
