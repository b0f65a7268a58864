/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"
#include "files.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct reader {
  agent_channel channel;
  int fd;
  uint64_t offset;
  uint64_t left;
} reader;

static void run(agent_channel *channel) {
  reader *r = (reader *)channel;
  uint8_t *buffer = channel->peer->server->scratch;
  if (!agent_channel_ready(channel)) return;
  size_t length = r->left < AGENT_CHUNK ? (size_t)r->left : AGENT_CHUNK;
  ssize_t n = pread(r->fd, buffer, length, (off_t)r->offset);
  if (n < 0 && errno != EINTR) {
    agent_channel_fail_system(channel, STEP(READ), errno);
    return;
  }
  if (n > 0) {
    r->offset += (uint64_t)n;
    r->left -= (uint64_t)n;
  }
  /* A short read of a file is its end: saves the call that would say so. */
  bool end = n == 0 || (n > 0 && (r->left == 0 || (size_t)n < length));
  if (n > 0 || end) agent_data_send(channel, buffer, n > 0 ? (size_t)n : 0, end);
  if (end)
    agent_channel_done(channel, NULL);
  else
    agent_channel_wake(channel);
}

static void release(agent_channel *channel) {
  reader *r = (reader *)channel;
  if (r->fd >= 0) close(r->fd);
}

static const agent_channel_class reader_class = {.run = run, .release = release};

void agent_read_file(agent_peer *peer, uint32_t number, const MSG(ReadFile) * request) {
  agent_place place;
  struct stat info;
  if (request->offset > INT64_MAX) {
    agent_reply_fail(peer, number, ERR(INVALID), "offset out of range");
    return;
  }
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  int fd = agent_place_open_target(&place, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) {
    agent_reply_system(peer, number, STEP(OPEN), errno);
  } else if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    agent_reply_system(peer, number, STEP(OPEN), S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
    close(fd);
  } else {
    reader *r = agent_channel_open(peer, number, sizeof *r, &reader_class);
    if (r) {
      r->fd = fd;
      r->offset = request->offset;
      r->left = request->length ? request->length : UINT64_MAX;
      agent_entry_send_fd(&r->channel, fd, place.name);
      run(&r->channel); /* what is small is answered in one piece */
    } else {
      close(fd);
    }
  }
  agent_place_close(&place);
}
