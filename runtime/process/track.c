/* SPDX-License-Identifier: Apache-2.0 */
#include "process/track.h"

#include "base/fail.h"

typedef Cofferdam__Agent__V1__Exited exited_message;
typedef Cofferdam__Agent__V1__Output output_message;

#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME
#define ENDED_BY(NAME) COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_##NAME

/* _NSIG of Linux. */
#define HIGHEST_SIGNAL 64

static bool lie(cdam_error *failure, const char *what) {
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent broke the protocol: %s", what);
  return false;
}

/* ---- how it ended ---- */

bool cdam_process_read_exit(const exited_message *exited, cdam_process_exit *exit,
                            cdam_error *failure) {
  if (exited->code > 255 || exited->signal > HIGHEST_SIGNAL)
    return lie(failure, "an exit status that is none");
  if (exited->signal && exited->code) return lie(failure, "an exit by a code and a signal");
  if (exited->ended_by < ENDED_BY(ITSELF) || exited->ended_by > ENDED_BY(SHUTDOWN))
    return lie(failure, "a process ended by nothing that is known");
  bool known = !exited->status_unknown;
  *exit = (cdam_process_exit){
      .code = known && !exited->signal ? (int)exited->code : -1,
      .signal = known ? (int)exited->signal : 0,
      .core_dumped = known && exited->core,
      .out_of_memory = exited->out_of_memory,
      .ended_by = (cdam_process_ended_by)exited->ended_by,
      .user_us = exited->user_us,
      .system_us = exited->system_us,
      .elapsed_us = exited->elapsed_us,
      .max_rss_kib = exited->max_rss_kib,
  };
  if (!known && exit->ended_by == CDAM_ENDED_ITSELF) exit->ended_by = CDAM_ENDED_UNKNOWN;
  return true;
}

static bool take_exited(cdam_process_track *track, const exited_message *exited,
                        cdam_error *failure) {
  if (!track->started || track->exited) return lie(failure, "an end that cannot be");
  if (exited->process_id != track->id) return lie(failure, "the end of another process");
  if (!track->pid && !exited->status_unknown) return lie(failure, "the end of what never ran");
  track->exited = true;
  return cdam_process_read_exit(exited, &track->exit, failure);
}

/* ---- output ---- */

static bool check_offset(cdam_process_output *output, const output_message *message,
                         cdam_error *failure) {
  uint64_t expected;
  if (__builtin_add_overflow(output->next, message->lost, &expected))
    return lie(failure, "an impossible amount of lost output");
  if (message->offset != expected && !(output->any_offset && message->offset >= message->lost))
    return lie(failure, "output with a wrong offset");
  output->any_offset = false;
  if (__builtin_add_overflow(message->offset, message->data.len, &output->next))
    return lie(failure, "output with an impossible offset");
  return true;
}

static bool take_output(cdam_process_track *track, const output_message *message,
                        cdam_error *failure) {
  if (!track->started) return lie(failure, "output of what was not started");
  if (message->stream != COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT &&
      message->stream != COFFERDAM__AGENT__V1__STREAM__STREAM_ERROR)
    return lie(failure, "output of an unknown stream");
  cdam_process_output *output = &track->outputs[cdam_track_index(message)];
  if (!output->wanted) return lie(failure, "output that nobody asked for");
  if (output->ended) return lie(failure, "output after its end");
  if (!message->data.len && !message->end) return lie(failure, "output without a byte");
  output->ended = message->end;
  return check_offset(output, message, failure);
}

/* ---- the rest ---- */

static bool take_started(cdam_process_track *track, const Cofferdam__Agent__V1__Started *started,
                         cdam_error *failure) {
  if (track->started) return lie(failure, "a process that was started twice");
  /* One that was killed while it was started never had a number in the sandbox. */
  if (!started->process_id || started->pid > INT32_MAX)
    return lie(failure, "a process without a number");
  if (track->attached && started->process_id != track->id)
    return lie(failure, "another process than was asked for");
  track->started = true;
  track->id = started->process_id;
  track->pid = started->pid;
  return true;
}

static bool take_broken_input(cdam_process_track *track, cdam_error *failure) {
  if (!track->has_input || track->input_broken) return lie(failure, "input that cannot break");
  track->input_broken = true;
  return true;
}

bool cdam_track_take(cdam_process_track *track, const cdam_from_agent *message,
                     cdam_error *failure) {
  switch (message->body_case) {
  case FROM(STARTED):
    return take_started(track, message->started, failure);
  case FROM(OUTPUT):
    return take_output(track, message->output, failure);
  case FROM(EXITED):
    return take_exited(track, message->exited, failure);
  case FROM(INPUT_BROKEN):
    return take_broken_input(track, failure);
  default:
    return lie(failure, "a message that is none of a process");
  }
}

cdam_status cdam_track_end(const cdam_process_track *track, cdam_error *err) {
  bool whole = track->started && track->exited;
  /* One that was attached to may never have had both. */
  for (int i = 0; i < 2; i++)
    if (track->outputs[i].wanted && !track->outputs[i].ended && !track->attached) whole = false;
  if (whole) return CDAM_OK;
  lie(err, "the end of a process that has not ended");
  return CDAM_ERR_AGENT;
}
