/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS_A_TURN = 128, MAX_DEPTH = 64 };

typedef struct level {
  DIR *directory;
  bool progress; /* something went since it was last read from its beginning */
  char name[256];
} level;

typedef struct remover {
  agent_channel channel;
  int parent;
  int depth;
  level levels[MAX_DEPTH];
} remover;

static void release(agent_channel *channel) {
  remover *r = (remover *)channel;
  while (r->depth)
    closedir(r->levels[--r->depth].directory);
  if (r->parent >= 0) close(r->parent);
}

static int directory_of(const remover *r, int depth) {
  return depth ? dirfd(r->levels[depth - 1].directory) : r->parent;
}

/* What is left behind by a directory's mode can still be removed by its owner. */
static int open_directory(int at, const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = openat(at, name, flags);
  if (fd >= 0 || errno != EACCES) return fd;
  if (agent_chmod_at(at, name, S_IFDIR, 0700)) return openat(at, name, flags);
  errno = EACCES;
  return -1;
}

static bool remove_at(int at, const char *name, int flags) {
  if (unlinkat(at, name, flags) == 0) return true;
  if (errno != EACCES) return false;
  if (fchmod(at, 0700) == 0) return unlinkat(at, name, flags) == 0;
  errno = EACCES;
  return false;
}

/* Deeper than descriptors should go: the rest hangs on at the top, under a name of ours. */
static bool lift(remover *r, const char *name) {
  char temporary[32];
  agent_temporary_name(temporary);
  r->levels[0].progress = true;
  return renameat(directory_of(r, r->depth), name, directory_of(r, 1), temporary) == 0;
}

static bool enter(remover *r, const char *name) {
  if (r->depth == MAX_DEPTH) return lift(r, name);
  int fd = open_directory(directory_of(r, r->depth), name);
  if (fd < 0) return errno == ENOENT;
  level *l = &r->levels[r->depth];
  *l = (level){.directory = fdopendir(fd)};
  if (!l->directory) {
    close(fd);
    errno = ENOMEM;
    return false;
  }
  memcpy(l->name, name, strlen(name) + 1);
  r->depth++;
  return true;
}

/* The directory has been read to its end. Reading while removing may leave names out: then once
 * more, as long as that helps. */
static bool leave(remover *r) {
  level *l = &r->levels[r->depth - 1];
  int at = directory_of(r, r->depth - 1);
  bool ok = remove_at(at, l->name, AT_REMOVEDIR) || errno == ENOENT;
  if (!ok && (errno == ENOTEMPTY || errno == EEXIST) && l->progress) {
    l->progress = false;
    rewinddir(l->directory);
    return true;
  }
  if (!ok) return false;
  closedir(l->directory);
  r->depth--;
  if (r->depth) r->levels[r->depth - 1].progress = true;
  return true;
}

static bool step(remover *r) {
  level *l = &r->levels[r->depth - 1];
  errno = 0;
  struct dirent *entry = readdir(l->directory);
  if (!entry) return errno == 0 && leave(r);
  if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) return true;
  if (remove_at(dirfd(l->directory), entry->d_name, 0)) {
    l->progress = true;
    return true;
  }
  return errno == ENOENT || (errno == EISDIR && enter(r, entry->d_name));
}

static void run(agent_channel *channel) {
  remover *r = (remover *)channel;
  for (int i = 0; i < STEPS_A_TURN && r->depth; i++) {
    if (step(r)) continue;
    agent_channel_fail_system(channel, STEP(REMOVE), errno);
    return;
  }
  if (r->depth)
    agent_channel_wake(channel);
  else
    agent_channel_done(channel, NULL);
}

static const agent_channel_class remover_class = {.run = run, .release = release};

static void remove_tree(agent_peer *peer, uint32_t number, agent_place *place) {
  remover *r = agent_channel_open(peer, number, sizeof *r, &remover_class);
  if (!r) return;
  r->parent = place->parent;
  place->parent = -1;
  if (strlen(place->name) > 255 || !enter(r, place->name))
    agent_channel_fail_system(&r->channel, STEP(REMOVE), errno);
  else
    run(&r->channel);
}

void agent_remove(agent_peer *peer, uint32_t number, const MSG(Remove) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  bool open = agent_place_open_parent(&place, false);
  bool ok = open && unlinkat(place.parent, place.name, 0) == 0;
  bool directory = open && !ok && errno == EISDIR;
  if (directory && request->recursive) {
    remove_tree(peer, number, &place);
  } else {
    if (directory) ok = unlinkat(place.parent, place.name, AT_REMOVEDIR) == 0;
    if (ok || (request->missing_ok && errno == ENOENT))
      agent_reply_done(peer, number, NULL);
    else
      agent_reply_system(peer, number, open ? STEP(REMOVE) : STEP(OPEN), errno);
  }
  agent_place_close(&place);
}
