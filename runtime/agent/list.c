/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_A_TURN = 128 };

typedef struct lister {
  agent_channel channel;
  DIR *directory;
} lister;

static void run(agent_channel *channel) {
  lister *l = (lister *)channel;
  for (int i = 0; i < NAMES_A_TURN; i++) {
    if (!agent_channel_ready(channel)) return;
    errno = 0;
    struct dirent *entry = readdir(l->directory);
    if (!entry && errno)
      agent_channel_fail_system(channel, STEP(READ), errno);
    else if (!entry)
      agent_channel_done(channel, NULL);
    if (!entry) return;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    /* Gone meanwhile: then it is not in the directory. */
    agent_entry_send_at(channel, dirfd(l->directory), entry->d_name);
  }
  agent_channel_wake(channel);
}

static void release(agent_channel *channel) {
  lister *l = (lister *)channel;
  if (l->directory) closedir(l->directory);
}

static const agent_channel_class lister_class = {.run = run, .release = release};

void agent_list(agent_peer *peer, uint32_t number, const MSG(List) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  int fd = agent_place_open_target(&place, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory) {
    agent_reply_system(peer, number, STEP(OPEN), errno);
    if (fd >= 0) close(fd);
  } else {
    lister *l = agent_channel_open(peer, number, sizeof *l, &lister_class);
    if (l) {
      l->directory = directory;
      run(&l->channel);
    } else {
      closedir(directory);
    }
  }
  agent_place_close(&place);
}
