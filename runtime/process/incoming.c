/* SPDX-License-Identifier: Apache-2.0 */
/* What comes on the channel of a handle. */
#include <stdio.h>

#include "base/fail.h"
#include "process/command.h"
#include "process/process_private.h"

#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME

static bool keep_output(cdam_process *process, const Cofferdam__Agent__V1__Output *output) {
  cdam_process_stream stream =
      cdam_track_index(output) == 0 ? CDAM_PROCESS_STDOUT : CDAM_PROCESS_STDERR;
  size_t charge = cdam_channel_message_charge(&process->channel);
  if (output->data.len && !cdam_process_add_output(process, stream, output->offset, output->lost,
                                                   output->data.data, output->data.len, charge))
    return false;
  return !output->end || cdam_process_add(process, CDAM_PROCESS_OUTPUT_END, stream);
}

static bool keep(cdam_process *process, const cdam_from_agent *message) {
  switch (message->body_case) {
  case FROM(OUTPUT):
    return keep_output(process, message->output);
  case FROM(EXITED):
    return cdam_process_add(process, CDAM_PROCESS_EXITED, 0);
  case FROM(INPUT_BROKEN):
    process->has_room = true; /* what is written is thrown away */
    return cdam_process_add(process, CDAM_PROCESS_INPUT_BROKEN, 0);
  default:
    cdam_process_format_key(cdam_link_instance(process->link), process->track.id, process->key);
    return true;
  }
}

static void finish_opening(cdam_process *process, cdam_status status, const cdam_error *error) {
  cdam_operation *op = process->opening;
  process->opening = NULL;
  process->opened(op, status, error);
}

static bool message_came(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  cdam_process *process = (cdam_process *)channel;
  if (!cdam_track_take(&process->track, message, failure)) return false;
  if (!keep(process, message)) {
    cdam_fail_memory(failure);
    return false;
  }
  if (!process->opening)
    cdam_process_tell(process);
  else if (process->track.started)
    finish_opening(process, CDAM_OK, NULL);
  return true;
}

static void writable(cdam_channel *channel) {
  cdam_process *process = (cdam_process *)channel;
  process->has_room = true;
  if (!process->opening && process->wants_room) cdam_process_tell(process);
}

/* What could not be started has a member of the command that was wrong. */
static void keep_failure(cdam_error *failure, const cdam_error *error,
                         const cdam_agent_done *message) {
  *failure = *error;
  if (error->code == CDAM_ERR_NOT_STARTED && message && message->error)
    snprintf(failure->field, sizeof failure->field, "%s",
             cdam_process_member_of((int)message->error->step));
}

static void done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                 const cdam_agent_done *message) {
  cdam_process *process = (cdam_process *)channel;
  process->closed = true;
  process->has_room = true;
  if (status == CDAM_OK)
    status = cdam_track_end(&process->track, &process->failure);
  else if (status == CDAM_ERR_CANCELLED && process->track.exited)
    status = CDAM_OK;
  else
    keep_failure(&process->failure, error, message);
  process->failed = status != CDAM_OK;
  if (process->opening)
    finish_opening(process, status, &process->failure);
  else
    cdam_process_tell(process);
}

const cdam_channel_events cdam_process_channel_events = {
    .message = message_came,
    .writable = writable,
    .done = done,
};
