/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"
#include "process/engine_exec.h"
#include "process/process_private.h"

/* What a terminal takes for the end. */
#define END_OF_FILE "\004"

static cdam_status check(cdam_process *process, cdam_error *err) {
  if (!process->track.has_input)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the process was started without input");
  if (process->input_ended)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the input of the process was ended");
  return cdam_process_check_alive(process, err);
}

/* In the loop of a blocking handle, what was written goes now, and what came is taken. */
static cdam_status push(cdam_process *process, cdam_error *err) {
  return process->own ? cdam_own_loop_turn(process->own, 0, err) : CDAM_OK;
}

static bool can_send(cdam_process *process) {
  return process->engine ? cdam_engine_exec_can_write(process->engine)
                         : cdam_channel_can_send(&process->channel);
}

static cdam_status send_piece(cdam_process *process, const char *bytes, size_t length,
                              cdam_error *err) {
  return process->engine ? cdam_engine_exec_write(process->engine, bytes, length, err)
                         : cdam_channel_send_data(&process->channel, bytes, length, false, err);
}

static cdam_status send_end(cdam_process *process, cdam_error *err) {
  if (!process->engine) return cdam_channel_send_data(&process->channel, "", 0, true, err);
  if (process->terminal) return cdam_engine_exec_write(process->engine, END_OF_FILE, 1, err);
  cdam_engine_exec_end_input(process->engine);
  return CDAM_OK;
}

static cdam_status send_some(cdam_process *process, const char *bytes, size_t length, size_t *taken,
                             cdam_error *err) {
  *taken = process->track.input_broken ? length : 0;
  process->has_room = false;
  while (*taken < length && can_send(process)) {
    size_t piece = length - *taken < CDAM_LINK_PIECE ? length - *taken : CDAM_LINK_PIECE;
    cdam_status status = send_piece(process, bytes + *taken, piece, err);
    if (status != CDAM_OK) return status;
    *taken += piece;
  }
  process->wants_room = *taken < length;
  return CDAM_OK;
}

cdam_status cdam_process_write_some(cdam_process *process, const void *bytes, size_t length,
                                    size_t *taken, cdam_error *err) {
  if (taken) *taken = 0;
  if (!process || (!bytes && length) || !taken)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "process, bytes or taken is NULL");
  cdam_status status = check(process, err);
  if (status == CDAM_OK) status = send_some(process, bytes, length, taken, err);
  if (status == CDAM_OK) status = push(process, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}

cdam_status cdam_process_write(cdam_process *process, const void *bytes, size_t length,
                               cdam_error *err) {
  if (!process || (!bytes && length))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "process or bytes is NULL");
  if (!process->own)
    return cdam_fail(err, CDAM_ERR_ARGUMENT,
                     "in a loop nothing can wait: use cdam_process_write_some");
  const char *at = bytes;
  for (;;) {
    size_t taken;
    cdam_status status = cdam_process_write_some(process, at, length, &taken, err);
    if (status != CDAM_OK) return status;
    at += taken;
    length -= taken;
    if (!length) break;
    while (!process->has_room && status == CDAM_OK)
      status = cdam_own_loop_turn(process->own, -1, err);
    if (status != CDAM_OK) return status;
  }
  process->wants_room = false;
  return CDAM_OK;
}

cdam_status cdam_process_end_input(cdam_process *process, cdam_error *err) {
  if (!process) return cdam_fail(err, CDAM_ERR_ARGUMENT, "process is NULL");
  cdam_status status = check(process, err);
  if (status != CDAM_OK) return status;
  if (!process->track.input_broken) status = send_end(process, err);
  if (status != CDAM_OK) return status;
  process->input_ended = !process->terminal && !process->track.attached;
  status = push(process, err);
  return status == CDAM_OK ? cdam_ok(err) : status;
}
