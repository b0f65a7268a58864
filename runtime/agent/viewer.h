/* SPDX-License-Identifier: Apache-2.0 */
/* A channel on a process: sends its output and its end, takes its input. */
#ifndef COFFERDAM_AGENT_VIEWER_H
#define COFFERDAM_AGENT_VIEWER_H

#include "process.h"

struct agent_viewer {
  agent_channel channel;
  agent_process *process;
  agent_viewer *next;
  uint64_t position[2];
  uint64_t lost[2];
  bool streams[2]; /* still to be sent */
  bool paced;
  bool input;
  bool starter;
  bool told_start;
  bool told_exit;
  bool told_broken;
};

/* NULL: no memory, the client knows. */
agent_viewer *agent_viewer_open(agent_peer *peer, uint32_t number, agent_process *process);

/* Something happened to the process. */
void agent_viewer_wake_all(agent_process *process);
void agent_viewer_input_broken(agent_process *process);

/* The bytes of that stream that may be read without outrunning a paced viewer. */
size_t agent_viewer_room(const agent_process *process, int stream);

/* Exited, for a process that ended. */
void agent_fill_exited(const agent_process *process, MSG(Exited) * exited);

#endif
