/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void end(agent_loop *loop, agent_output *output) {
  agent_gather_forget(&output->rest);
  agent_loop_close(loop, &output->source);
  output->open = false;
}

ssize_t agent_output_read(agent_loop *loop, agent_output *output, size_t limit) {
  if (!output->open) return 0;
  if (!output->ring) output->ring = malloc(output->room);
  if (!output->ring) return -1;
  size_t index = (size_t)(output->end % output->room);
  size_t room = output->room - index;
  if (room > limit) room = limit;
  ssize_t n = read(output->source.fd, output->ring + index, room);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
  if (n <= 0) { /* a terminal ends with EIO */
    end(loop, output);
    return 0;
  }
  output->end += (size_t)n;
  if (output->end - output->begin > output->room) output->begin = output->end - output->room;
  return n;
}

const uint8_t *agent_output_at(const agent_output *output, uint64_t offset, size_t *length) {
  size_t index = (size_t)(offset % output->room);
  size_t piece = output->room - index;
  *length = output->end - offset < piece ? (size_t)(output->end - offset) : piece;
  return output->ring + index;
}

void agent_output_close(agent_loop *loop, agent_output *output) {
  if (output->open) end(loop, output);
  free(output->ring);
  output->ring = NULL;
}
