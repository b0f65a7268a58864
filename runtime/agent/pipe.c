/* SPDX-License-Identifier: Apache-2.0 */
#include "pipe.h"

#include "server.h"

#include <errno.h>
#include <fcntl.h>

enum { SMALL_BYTES = 64 * 1024, LARGE_BYTES = 256 * 1024, BULK_MS = 1000 };

bool agent_pipe_make_large(int fd) {
  return fcntl(fd, F_SETPIPE_SZ, LARGE_BYTES) >= 0;
}

bool agent_pipe_enlarge(agent_server *server, agent_pipe *pipe) {
  pipe->until = agent_now_ms() + BULK_MS;
  if (pipe->large || !agent_pipe_make_large(pipe->fd)) return false;
  pipe->large = true;
  agent_server_wake_at(server, pipe->until);
  return true;
}

void agent_pipe_tick(agent_server *server, agent_pipe *pipe, uint64_t now) {
  if (!pipe->large) return;
  if (pipe->until <= now) {
    /* What still holds more cannot be made smaller yet. */
    pipe->large = fcntl(pipe->fd, F_SETPIPE_SZ, SMALL_BYTES) < 0 && errno == EBUSY;
    pipe->until = now + BULK_MS;
  }
  if (pipe->large) agent_server_wake_at(server, pipe->until);
}
