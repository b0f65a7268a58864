/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that a test plays, and what it says of processes. */
#ifndef COFFERDAM_TESTS_PROCESS_AGENT_H
#define COFFERDAM_TESTS_PROCESS_AGENT_H

#include <cofferdam/process.h>

#include "test_file_agent.h"

#define INSTANCE "30313233343536373839616263646566"
#define STREAM(NAME) COFFERDAM__AGENT__V1__STREAM__STREAM_##NAME
#define BY(NAME) COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_##NAME

static inline void say_started(agent *a, uint32_t channel, uint64_t id, uint32_t pid) {
  MSG(Started) started = COFFERDAM__AGENT__V1__STARTED__INIT;
  started.process_id = id;
  started.pid = pid;
  SAY(a, channel, started, STARTED, &started);
}

static inline void say_lost(agent *a, uint32_t channel, int stream, uint64_t offset, uint64_t lost,
                            const char *text, bool end) {
  MSG(Output) output = COFFERDAM__AGENT__V1__OUTPUT__INIT;
  output.stream = stream;
  output.offset = offset;
  output.lost = lost;
  output.data = binary(text, strlen(text));
  output.end = end;
  SAY(a, channel, output, OUTPUT, &output);
}

static inline void say_output(agent *a, uint32_t channel, int stream, uint64_t offset,
                              const char *text, bool end) {
  say_lost(a, channel, stream, offset, 0, text, end);
}

static inline MSG(Exited) exited_of(uint64_t id) {
  MSG(Exited) exited = COFFERDAM__AGENT__V1__EXITED__INIT;
  exited.process_id = id;
  exited.ended_by = BY(ITSELF);
  return exited;
}

static inline void say_exited(agent *a, uint32_t channel, MSG(Exited) exited) {
  SAY(a, channel, exited, EXITED, &exited);
}

static inline void say_broken(agent *a, uint32_t channel) {
  MSG(InputBroken) broken = COFFERDAM__AGENT__V1__INPUT_BROKEN__INIT;
  SAY(a, channel, input_broken, INPUT_BROKEN, &broken);
}

static inline void say_info(agent *a, uint32_t channel, MSG(ProcessInfo) info) {
  SAY(a, channel, process_info, PROCESS_INFO, &info);
}

static inline void say_ends(agent *a, uint32_t channel) {
  say_output(a, channel, STREAM(OUTPUT), 0, "", true);
  say_output(a, channel, STREAM(ERROR), 0, "", true);
}

/* What an honest one says of `true`. */
static inline void say_all(agent *a, uint32_t channel, uint64_t id) {
  say_started(a, channel, id, 10);
  say_ends(a, channel);
  say_exited(a, channel, exited_of(id));
  say_done(a, channel);
}

#define SCRIPT(name) static void name(agent *a, const MSG(ToAgent) * m)
#define ONLY(KIND)                                                                                 \
  if (m->body_case != TO(KIND)) return

static const char *const argv[] = {"true", NULL};

static inline cdam_status to_the_end(cdam_process *process, cdam_error *err) {
  cdam_process_event event = {0};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED)
    status = cdam_process_next(process, 5000, &event, err);
  return status;
}

#endif
