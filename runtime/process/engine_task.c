/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/explain.h"
#include "process/engine_exec.h"

/* Beyond the grace. */
#define TASK_LIMIT_MS 10000
/* A program that was just starting may slip through; then it is done again. */
#define KILLS 5
#define AGAIN_MS 100

/* Counted as pending in a loop, so that a program that waits for that waits for this. */
typedef struct task {
  cdam_operation op; /* first */
  cdam_engine_name name;
  cdam_engine_request request;
  cdam_exec_shell shell;
  unsigned kills;
  bool last; /* nobody else ends it */
  cdam_error trouble;
} task;

static void finish(task *this, cdam_status status, const cdam_error *error) {
  cdam_operation_finish(&this->op, status, error);
}

/* ---- when it went wrong ---- */

static void explained(cdam_operation *op, const cdam_reply *reply) {
  task *this = (task *)op;
  cdam_explain(reply, &this->trouble, NULL);
  bool ended = this->trouble.code == CDAM_ERR_EXITED || this->trouble.code == CDAM_ERR_NOT_FOUND;
  if (ended && this->request.order == CDAM_ENGINE_KILL)
    finish(this, CDAM_OK, NULL);
  else
    finish(this, this->trouble.code, &this->trouble);
}

static void explain(task *this) {
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", this->name.container_id);
  cdam_operation_send(&this->op, &(cdam_request){.method = "GET", .path = path}, explained);
}

static void fail(task *this, cdam_status code, const char *why) {
  cdam_fail(&this->trouble, code, "%s", why);
  explain(this);
}

/* ---- the end of a tree ---- */

static void run_shell(task *this);

static void run_again(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  run_shell((task *)op);
}

static void remains(cdam_operation *op, const cdam_reply *reply) {
  task *this = (task *)op;
  cdam_exec_state state;
  bool known = cdam_exec_read_state(reply, &state, &this->trouble) == CDAM_OK;
  if ((known && state.ended) || reply->http == 404)
    finish(this, CDAM_OK, NULL);
  else if (++this->kills < KILLS)
    cdam_operation_after(op, AGAIN_MS, run_again);
  else if (known)
    fail(this, CDAM_ERR_EXEC, "the engine does not tell the end of what was killed");
  else
    explain(this);
}

/* Whether the command itself is over, whatever the shell says. */
static void ask_what_remains(task *this) {
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(this->name.id, "json", path, sizeof path);
  cdam_operation_send(&this->op, &(cdam_request){.method = "GET", .path = path}, remains);
}

static void shell_done(cdam_operation *op, cdam_exec_shell_end end, const cdam_error *error) {
  task *this = (task *)op;
  bool kills = this->request.order == CDAM_ENGINE_KILL;
  if (end == CDAM_SHELL_FAILED) {
    this->trouble = *error;
    explain(this);
  } else if (end == CDAM_SHELL_NOWHERE) {
    finish(this, kills ? CDAM_OK : error->code, error);
  } else if (kills && end == CDAM_SHELL_REST) {
    fail(this, CDAM_ERR_EXEC, "the process could not be ended: it may still be running");
  } else if (kills) {
    ask_what_remains(this);
  } else if (end == CDAM_SHELL_REST) {
    fail(this, CDAM_ERR_NO_PROCESS, "no process took the signal");
  } else {
    finish(this, CDAM_OK, NULL);
  }
}

static void run_shell(task *this) {
  const cdam_engine_request *request = &this->request;
  this->shell.container_id = this->name.container_id;
  this->shell.user = this->name.user[0] ? this->name.user : NULL;
  this->shell.marker = this->name.marker;
  this->shell.grace = request->grace_ms / 100 + (request->grace_ms % 100 != 0);
  this->shell.signal = request->number;
  this->shell.to = request->to;
  this->shell.done = shell_done;
  cdam_exec_shell_run(&this->shell, &this->op);
}

/* ---- the size of a terminal ---- */

static void sized(cdam_operation *op, const cdam_reply *reply) {
  task *this = (task *)op;
  if (cdam_answer_check(reply, "resize terminal", &this->trouble) == CDAM_OK)
    finish(this, CDAM_OK, NULL);
  else
    explain(this);
}

static void resize(task *this) {
  char path[CDAM_EXEC_ID_SIZE + 48];
  snprintf(path, sizeof path, "/exec/%s/resize?h=%u&w=%u", this->name.id, this->request.rows,
           this->request.columns);
  cdam_operation_send(&this->op, &(cdam_request){.method = "POST", .path = path}, sized);
}

/* ---- a task ---- */

static void out_of_time(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  task *this = (task *)op;
  cdam_fail(&this->trouble, CDAM_ERR_TIMEOUT, "the sandbox's shell does not come to an end");
  finish(this, CDAM_ERR_TIMEOUT, &this->trouble);
}

static void start(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  task *this = (task *)op;
  cdam_operation_after(op, (int64_t)this->request.grace_ms + TASK_LIMIT_MS, out_of_time);
  if (this->request.order == CDAM_ENGINE_RESIZE)
    resize(this);
  else
    run_shell(this);
}

static task *new_task(const cdam_engine_name *name, const cdam_engine_request *request) {
  task *this = calloc(1, sizeof *this);
  if (!this) return NULL;
  this->name = *name;
  this->request = *request;
  return this;
}

/* There is nobody to be told how it went. */
static void run_to_end(task *this, cdam_client *client) {
  cdam_status status = cdam_operation_run(&this->op, client, start, NULL);
  (void)status;
}

static void completed(cdam_operation *op) {
  task *this = (task *)op;
  /* The loop was freed before it was done. */
  if (this->last && op->status == CDAM_ERR_CANCELLED) run_to_end(this, op->client);
  free(this);
}

static cdam_status submit(task *this, cdam_loop *loop, cdam_error *err) {
  cdam_status status = cdam_operation_submit(&this->op, loop, start, completed, err);
  if (status != CDAM_OK) free(this);
  return status;
}

cdam_status cdam_engine_ask(cdam_process *process, const cdam_engine_request *request,
                            cdam_error *err) {
  cdam_engine_exec *exec = process->engine;
  task *this = new_task(&exec->name, request);
  if (!this) return cdam_fail_memory(err);
  if (request->order == CDAM_ENGINE_KILL && !process->track.exited)
    exec->ended_by = CDAM_ENDED_KILL;
  if (!process->own) {
    if (exec->loop) return submit(this, exec->loop, err);
    free(this);
    return cdam_fail(err, CDAM_ERR_CANCELLED, "the loop was freed");
  }
  cdam_status status = cdam_operation_run_in(&this->op, process->own->loop, start, err);
  free(this);
  return status;
}

void cdam_engine_kill_off(const cdam_engine_name *name, cdam_client *client, cdam_loop *loop) {
  const cdam_engine_request request = {.order = CDAM_ENGINE_KILL};
  task *this = new_task(name, &request);
  if (!this) return;
  this->last = true;
  if (loop && !loop->closing) {
    submit(this, loop, NULL);
    return;
  }
  run_to_end(this, client);
  free(this);
}
