/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The thing itself, link or not, without opening what it stands for. */
static int open_thing(agent_place *place, bool follow) {
  if (follow || strcmp(place->name, ".") == 0) return agent_place_open_target(place, O_PATH, 0);
  if (!agent_place_open_parent(place, false)) return -1;
  return openat(place->parent, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static bool set_size(const agent_place *place, uint64_t size) {
  int fd = agent_place_open_target(place, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) return false;
  struct stat info;
  bool ok = fstat(fd, &info) == 0;
  if (ok && !S_ISREG(info.st_mode)) {
    errno = EINVAL;
    ok = false;
  }
  ok = ok && ftruncate(fd, (off_t)size) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

static bool apply(agent_place *place, int fd, const MSG(SetAttributes) * request) {
  char link[32];
  struct stat info;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (fstat(fd, &info) != 0) return false;
  if (request->set_size && !set_size(place, request->size)) return false;
  if (request->set_owner && fchownat(fd, "", request->uid, request->gid, AT_EMPTY_PATH) != 0)
    return false;
  if (request->set_mode) { /* after the owner: a change of that takes set-user-id bits */
    if (S_ISLNK(info.st_mode)) errno = EOPNOTSUPP;
    if (S_ISLNK(info.st_mode) || chmod(link, request->mode & 07777) != 0) return false;
  }
  if (!request->set_mtime) return true;
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                              {.tv_sec = request->mtime_s, .tv_nsec = request->mtime_ns}};
  if (S_ISLNK(info.st_mode))
    return utimensat(place->parent, place->name, times, AT_SYMLINK_NOFOLLOW) == 0;
  return utimensat(AT_FDCWD, link, times, 0) == 0;
}

void agent_set_attributes(agent_peer *peer, uint32_t number, const MSG(SetAttributes) * request) {
  agent_place place;
  if (request->mtime_ns > 999999999 || request->size > INT64_MAX) {
    agent_reply_fail(peer, number, ERR(INVALID), "time or size out of range");
    return;
  }
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  int fd = open_thing(&place, request->follow);
  if (fd < 0)
    agent_reply_system(peer, number, STEP(OPEN), errno);
  else if (apply(&place, fd, request))
    agent_reply_done(peer, number, NULL);
  else
    agent_reply_system(peer, number, STEP(ATTRIBUTES), errno);
  if (fd >= 0) close(fd);
  agent_place_close(&place);
}
