/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer.h"

#include <sys/wait.h>

static void send_started(agent_viewer *viewer) {
  MSG(Started) started = MSG_INIT(STARTED);
  started.process_id = viewer->process->id;
  started.pid = (uint32_t)viewer->process->pid;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(STARTED);
  message.started = &started;
  viewer->told_start = true;
  agent_channel_send(&viewer->channel, &message, false);
}

void agent_fill_exited(const agent_process *process, MSG(Exited) * exited) {
  int status = process->exit.status;
  exited->process_id = process->id;
  if (WIFSIGNALED(status)) {
    exited->signal = (uint32_t)WTERMSIG(status);
    exited->core = WCOREDUMP(status);
  } else {
    exited->code = (uint32_t)WEXITSTATUS(status);
  }
  exited->ended_by =
      process->ended_by ? process->ended_by : COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_ITSELF;
  exited->out_of_memory = process->out_of_memory;
  exited->user_us = process->exit.user_us;
  exited->system_us = process->exit.system_us;
  exited->max_rss_kib = process->exit.max_rss_kib;
  exited->elapsed_us = process->elapsed_us;
  exited->status_unknown = process->status_unknown;
}

static void send_exited(agent_viewer *viewer) {
  MSG(Exited) exited = MSG_INIT(EXITED);
  agent_fill_exited(viewer->process, &exited);
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(EXITED);
  message.exited = &exited;
  viewer->told_exit = true;
  agent_channel_send(&viewer->channel, &message, false);
}

static void send_piece(agent_viewer *viewer, int stream, const uint8_t *data, size_t length,
                       bool end) {
  MSG(Output) output = MSG_INIT(OUTPUT);
  output.stream = stream == 0 ? COFFERDAM__AGENT__V1__STREAM__STREAM_OUTPUT
                              : COFFERDAM__AGENT__V1__STREAM__STREAM_ERROR;
  output.offset = viewer->position[stream];
  output.lost = viewer->lost[stream];
  output.data.data = (uint8_t *)data;
  output.data.len = length;
  output.end = end;
  viewer->lost[stream] = 0;
  viewer->position[stream] += length;
  if (end) viewer->streams[stream] = false;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(OUTPUT);
  message.output = &output;
  agent_channel_send(&viewer->channel, &message, length > 0);
}

/* One piece of the stream, if there is one. */
static bool send_stream(agent_viewer *viewer, int stream) {
  const agent_output *output = &viewer->process->streams[stream];
  if (!viewer->streams[stream]) return false;
  if (viewer->position[stream] < output->begin) {
    viewer->lost[stream] += output->begin - viewer->position[stream];
    viewer->position[stream] = output->begin;
  }
  size_t length = 0;
  const uint8_t *data = NULL;
  if (viewer->position[stream] < output->end)
    data = agent_output_at(output, viewer->position[stream], &length);
  if (length > AGENT_CHUNK) length = AGENT_CHUNK;
  bool end = !output->open && viewer->position[stream] + length == output->end;
  if (!length && !end) return false;
  if (length && !agent_channel_ready(&viewer->channel)) return false;
  send_piece(viewer, stream, data, length, end);
  return true;
}

static void run(agent_channel *channel) {
  agent_viewer *viewer = (agent_viewer *)channel;
  agent_process *process = viewer->process;
  if (process->state == AGENT_STARTING) return;
  if (process->state == AGENT_FAILED) {
    MSG(Error) error = MSG_INIT(ERROR);
    agent_error_system(&error, process->exit.step, process->exit.error);
    error.code = ERR(NOT_STARTED);
    agent_channel_done(channel, &error);
    return;
  }
  if (!viewer->told_start) send_started(viewer);
  bool sent = false;
  bool more = false;
  for (int stream = 0; stream < 2; stream++) {
    more = send_stream(viewer, stream);
    sent = more || sent;
  }
  if (process->state == AGENT_ENDED && !viewer->told_exit) send_exited(viewer);
  if (viewer->told_exit && !viewer->streams[0] && !viewer->streams[1]) {
    agent_channel_done(channel, NULL);
    return;
  }
  if (!sent) return;
  agent_channel_wake(channel);
  agent_process_pump(process);
}

static void take_data(agent_channel *channel, const MSG(Data) * data) {
  agent_viewer *viewer = (agent_viewer *)channel;
  if (!viewer->input) {
    agent_peer_fail(channel->peer, ERR(PROTOCOL), "input for a channel that has none");
    return;
  }
  agent_process *process = viewer->process;
  agent_input_result result = agent_input_put(process->server, &process->input, channel,
                                              data->data.data, data->data.len, data->end);
  if (result == AGENT_INPUT_FULL)
    agent_peer_fail(channel->peer, ERR(LIMIT), "too much input waits in the agent");
  if (result == AGENT_INPUT_BROKEN) agent_viewer_input_broken(process);
}

/* All that can be said of a process whose end crossed a Cancel. */
static void tell_end(agent_viewer *viewer) {
  if (!viewer->told_start) send_started(viewer);
  while (send_stream(viewer, 0) || send_stream(viewer, 1))
    continue;
  send_exited(viewer);
}

/* It leaves; what must not live without it is killed, and Done comes with its end. */
static void cancel(agent_channel *channel) {
  agent_viewer *viewer = (agent_viewer *)channel;
  agent_process *process = viewer->process;
  if (viewer->starter && !process->outlive && process->state <= AGENT_RUNNING) {
    viewer->paced = false;
    agent_process_kill(process, COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_KILL, process->grace_ms);
    return;
  }
  if (process->state == AGENT_ENDED && !viewer->told_exit) tell_end(viewer);
  if (viewer->told_exit && !viewer->streams[0] && !viewer->streams[1])
    agent_channel_done(channel, NULL);
  else
    agent_channel_fail(channel, ERR(CANCELLED), "cancelled");
}

static void release(agent_channel *channel) {
  agent_viewer *viewer = (agent_viewer *)channel;
  agent_process *process = viewer->process;
  agent_viewer **at = &process->viewers;
  while (*at != viewer)
    at = &(*at)->next;
  *at = viewer->next;
  agent_input_forget(&process->input, channel);
  agent_process_pump(process);
  agent_process_settle(process);
}

static const agent_channel_class viewer_class = {
    .data = take_data, .run = run, .cancel = cancel, .release = release};

agent_viewer *agent_viewer_open(agent_peer *peer, uint32_t number, agent_process *process) {
  agent_viewer *viewer = agent_channel_open(peer, number, sizeof *viewer, &viewer_class);
  if (!viewer) return NULL;
  viewer->process = process;
  viewer->next = process->viewers;
  process->viewers = viewer;
  return viewer;
}

void agent_viewer_wake_all(agent_process *process) {
  for (agent_viewer *viewer = process->viewers; viewer; viewer = viewer->next)
    agent_channel_wake(&viewer->channel);
}

void agent_viewer_input_broken(agent_process *process) {
  for (agent_viewer *viewer = process->viewers; viewer; viewer = viewer->next) {
    if (!viewer->input || viewer->told_broken) continue;
    viewer->told_broken = true;
    MSG(InputBroken) broken = MSG_INIT(INPUT_BROKEN);
    MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
    message.body_case = FROM(INPUT_BROKEN);
    message.input_broken = &broken;
    agent_channel_send(&viewer->channel, &message, false);
  }
}

size_t agent_viewer_room(const agent_process *process, int stream) {
  const agent_output *output = &process->streams[stream];
  size_t room = output->room;
  for (const agent_viewer *viewer = process->viewers; viewer; viewer = viewer->next) {
    if (!viewer->paced || !viewer->streams[stream] || viewer->position[stream] < output->begin)
      continue;
    uint64_t waiting = output->end - viewer->position[stream];
    if (output->room - waiting < room) room = (size_t)(output->room - waiting);
  }
  return room;
}
