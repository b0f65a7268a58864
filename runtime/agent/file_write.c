/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"
#include "files.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODE(NAME) COFFERDAM__AGENT__V1__WRITE_MODE__WRITE_MODE_##NAME

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

typedef struct writer {
  agent_channel channel;
  int fd;
  int parent;
  int mode;
  bool temporary; /* `temporary_name` is there and to be renamed */
  bool begun;     /* something was written */
  bool sync;
  bool set_mode;
  bool set_owner;
  mode_t permissions;
  uid_t uid;
  gid_t gid;
  char temporary_name[32];
  char name[256];
} writer;

static void release(agent_channel *channel) {
  writer *w = (writer *)channel;
  if (w->temporary) unlinkat(w->parent, w->temporary_name, 0);
  if (w->fd >= 0) close(w->fd);
  if (w->parent >= 0) close(w->parent);
}

static bool write_all(int fd, const uint8_t *data, size_t length) {
  while (length) {
    ssize_t n = write(fd, data, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    length -= (size_t)n;
  }
  return true;
}

/* The new file looks like the one that it replaces, where nothing else was asked for. */
static bool take_after(writer *w) {
  struct stat old;
  if (fstatat(w->parent, w->name, &old, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!S_ISREG(old.st_mode)) return true;
  if (!w->set_mode) w->permissions = old.st_mode & 07777;
  /* Not everybody may give files away; then it is the writer's, as with an editor. */
  if (!w->set_owner && fchown(w->fd, old.st_uid, old.st_gid) != 0) errno = 0;
  return true;
}

static int set_attributes(writer *w) {
  if (w->mode == MODE(REPLACE) && !take_after(w)) return STEP(RENAME);
  if (w->set_owner && fchown(w->fd, w->uid, w->gid) != 0) return STEP(ATTRIBUTES);
  if ((w->temporary || w->set_mode) && fchmod(w->fd, w->permissions) != 0) return STEP(ATTRIBUTES);
  if (w->sync && fsync(w->fd) != 0) return STEP(SYNC);
  return 0;
}

static int put_in_place(writer *w) {
  if (!w->temporary) return 0;
  long failed = w->mode == MODE(CREATE)
                    ? syscall(SYS_renameat2, w->parent, w->temporary_name, w->parent, w->name,
                              RENAME_NOREPLACE)
                    : renameat(w->parent, w->temporary_name, w->parent, w->name);
  if (failed) return STEP(RENAME);
  w->temporary = false;
  if (!w->sync) return 0;
  int directory = openat(w->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return STEP(SYNC);
  int step = fsync(directory) == 0 ? 0 : STEP(SYNC);
  close(directory);
  return step;
}

static void finish(writer *w) {
  int step = set_attributes(w);
  if (!step) step = put_in_place(w);
  if (step) {
    agent_channel_fail_system(&w->channel, step, errno);
    return;
  }
  agent_entry_send_fd(&w->channel, w->fd, w->name);
  agent_channel_done(&w->channel, NULL);
}

/* Where a file replaces another, ext4 writes out what has no blocks yet before it renames. A small
 * file that has its blocks from the start does not wait for the disk; who wants that says `sync`.
 */
static void allocate(writer *w, const MSG(Data) * data) {
  if (w->temporary && data->end && !w->begun && data->data.len)
    (void)fallocate(w->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)data->data.len);
  w->begun = true;
}

static void take_data(agent_channel *channel, const MSG(Data) * data) {
  writer *w = (writer *)channel;
  allocate(w, data);
  if (!write_all(w->fd, data->data.data, data->data.len)) {
    agent_channel_fail_system(channel, STEP(WRITE), errno);
    return;
  }
  if (data->end)
    finish(w);
  else
    agent_channel_consumed(channel, data->data.len + 16, false);
}

static const agent_channel_class writer_class = {.data = take_data, .release = release};

/* 0 or the step that failed. */
static int open_file(writer *w, agent_place *place, const MSG(WriteFile) * request) {
  int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY;
  struct stat info;
  if (!agent_place_open_parent(place, request->parents)) return STEP(OPEN);
  w->parent = place->parent;
  place->parent = -1;
  if (strlen(place->name) >= sizeof w->name) {
    errno = ENAMETOOLONG;
    return STEP(OPEN);
  }
  memcpy(w->name, place->name, strlen(place->name) + 1);
  if (w->mode == MODE(REPLACE) || w->mode == MODE(CREATE)) {
    agent_temporary_name(w->temporary_name);
    w->fd = openat(w->parent, w->temporary_name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    w->temporary = w->fd >= 0;
    return w->fd >= 0 ? 0 : STEP(CREATE);
  }
  if (w->mode == MODE(APPEND)) flags |= O_APPEND | O_CREAT;
  w->fd = agent_place_open_target(place, flags, request->set_mode ? request->mode & 07777 : 0644);
  if (w->fd < 0 || fstat(w->fd, &info) != 0) return STEP(OPEN);
  if (!S_ISREG(info.st_mode)) {
    errno = EINVAL;
    return STEP(OPEN);
  }
  if (w->mode == MODE(IN_PLACE) && lseek(w->fd, (off_t)request->offset, SEEK_SET) < 0)
    return STEP(WRITE);
  return 0;
}

void agent_write_file(agent_peer *peer, uint32_t number, const MSG(WriteFile) * request) {
  agent_place place;
  if (request->write_mode < MODE(REPLACE) || request->write_mode > MODE(IN_PLACE) ||
      request->offset > INT64_MAX || (request->offset && request->write_mode != MODE(IN_PLACE))) {
    agent_reply_fail(peer, number, ERR(INVALID), "bad write mode or offset");
    return;
  }
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  writer *w = agent_channel_open(peer, number, sizeof *w, &writer_class);
  if (w) {
    w->fd = w->parent = -1;
    w->mode = request->write_mode;
    w->sync = request->sync;
    w->set_mode = request->set_mode;
    w->set_owner = request->set_owner;
    w->permissions = request->set_mode ? request->mode & 07777 : 0644;
    w->uid = request->uid;
    w->gid = request->gid;
    int step = open_file(w, &place, request);
    if (step) agent_channel_fail_system(&w->channel, step, errno);
  }
  agent_place_close(&place);
}
