/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent says of a process, on a Start or Attach channel. It may lie: whatever contradicts
 * what it said before, or was not asked for, is refused, which breaks the link. */
#ifndef COFFERDAM_PROCESS_TRACK_H
#define COFFERDAM_PROCESS_TRACK_H

#include <cofferdam/process.h>

#include "link/link.h"

/* What is known of one output. */
typedef struct cdam_process_output {
  bool wanted; /* the agent may send it */
  bool ended;
  bool any_offset; /* the first piece says where it begins */
  uint64_t next;   /* offset of what comes next */
} cdam_process_output;

/* Zeroed, and the first group set, before the channel is opened. */
typedef struct cdam_process_track {
  bool attached; /* to the process with this id; else it is started */
  uint64_t id;
  bool has_input;
  cdam_process_output outputs[2]; /* standard output, standard error */

  uint32_t pid;
  bool started;
  bool exited;
  bool input_broken;
  cdam_process_exit exit;
} cdam_process_track;

/* Records a message; false with *failure for what makes no sense. After it an Output's place in
 * `outputs` is 0 or 1 by cdam_track_index. */
bool cdam_track_take(cdam_process_track *track, const cdam_from_agent *message,
                     cdam_error *failure);

static inline unsigned cdam_track_index(const Cofferdam__Agent__V1__Output *output) {
  return output->stream == COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT ? 0 : 1;
}

/* The channel has ended by a Done without an error: was all told that had to be told?
 * CDAM_ERR_AGENT otherwise. */
cdam_status cdam_track_end(const cdam_process_track *track, cdam_error *err);

/* Tells how a process ended; false with *failure for what makes no sense. */
bool cdam_process_read_exit(const Cofferdam__Agent__V1__Exited *exited, cdam_process_exit *exit,
                            cdam_error *failure);

#endif
