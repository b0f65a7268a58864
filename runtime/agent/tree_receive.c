/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

#define TYPE(NAME) COFFERDAM__AGENT__V1__ENTRY_TYPE__ENTRY_TYPE_##NAME

typedef struct receiver {
  agent_channel channel;
  int parent; /* of the tree's top */
  int top;    /* the top directory; -1 while there is none */
  int file;   /* being written, in that directory under that name until it is whole; -1 */
  int directory;
  char temporary_name[32];
  char file_name[256];
  char path[AGENT_MAX_PATH]; /* its path in the tree, for errors */
  size_t path_length;
  int step; /* what an entry failed at */
  bool begun;
  bool set_owner;
  bool sync;
  bool replace;
  bool have_openat2;
  struct stat wanted; /* of that file */
  char name[256];     /* of the top */
} receiver;

static void close_file(receiver *r) {
  int error = errno;
  close(r->file);
  close(r->directory);
  r->file = -1;
  errno = error;
}

static void drop_file(receiver *r) {
  unlinkat(r->directory, r->temporary_name, 0);
  close_file(r);
}

static void release(agent_channel *channel) {
  receiver *r = (receiver *)channel;
  if (r->file >= 0) drop_file(r);
  if (r->top >= 0) close(r->top);
  if (r->parent >= 0) close(r->parent);
}

static void fail(receiver *r, int step, int system_errno, const ProtobufCBinaryData *path) {
  MSG(Error) error = MSG_INIT(ERROR);
  agent_error_system(&error, step, system_errno);
  error.path = *path;
  agent_channel_done(&r->channel, &error);
}

/* Where an entry goes: its directory, open, and its name there. No link is followed on the way,
 * so that nothing in the tree can lead to what is not. */
typedef struct spot {
  int directory;
  bool opened;
  const char *name;
  char text[AGENT_MAX_PATH + 1];
} spot;

static bool find_spot(receiver *r, const ProtobufCBinaryData *path, spot *s) {
  s->opened = false;
  if (path->len == 0) {
    s->directory = r->parent;
    s->name = r->name;
    return true;
  }
  errno = EINVAL;
  if (path->len > AGENT_MAX_PATH || memchr(path->data, 0, path->len) || r->top < 0) return false;
  memcpy(s->text, path->data, path->len);
  s->text[path->len] = '\0';
  char *slash = strrchr(s->text, '/');
  s->name = slash ? slash + 1 : s->text;
  if (!*s->name || strcmp(s->name, ".") == 0 || strcmp(s->name, "..") == 0) return false;
  s->directory = r->top;
  if (!slash) return true;
  if (slash == s->text) return false;
  *slash = '\0';
  s->directory =
      agent_open_beneath(r->top, s->text, O_PATH | O_DIRECTORY, 0, false, r->have_openat2);
  s->opened = s->directory >= 0;
  return s->opened;
}

static void leave_spot(const spot *s) {
  int error = errno;
  if (s->opened) close(s->directory);
  errno = error;
}

static void times_of(const MSG(Entry) * entry, struct timespec times[2]) {
  times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
  times[1] = (struct timespec){.tv_sec = entry->mtime_s, .tv_nsec = entry->mtime_ns};
}

/* For what is no directory and has no content: owner and time, without following it. */
static bool dress(const receiver *r, const spot *s, const MSG(Entry) * entry) {
  struct timespec times[2];
  times_of(entry, times);
  if (r->set_owner &&
      fchownat(s->directory, s->name, entry->uid, entry->gid, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  return utimensat(s->directory, s->name, times, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Something else has the name: it goes if it may be replaced, and is no directory. */
static bool make_way(const receiver *r, const spot *s) {
  return errno == EEXIST && r->replace && unlinkat(s->directory, s->name, 0) == 0;
}

static bool make_directory(receiver *r, const spot *s) {
  bool ok = mkdirat(s->directory, s->name, 0700) == 0;
  if (!ok && errno == EEXIST) {
    struct stat info;
    if (fstatat(s->directory, s->name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISDIR(info.st_mode)) {
      ok = true; /* merged; its children must be able to come, whatever its mode */
      if ((info.st_mode & 0700) != 0700 &&
          !agent_chmod_at(s->directory, s->name, S_IFDIR, (info.st_mode & 07777) | 0700))
        errno = 0;
    } else {
      errno = EEXIST;
      ok = make_way(r, s) && mkdirat(s->directory, s->name, 0700) == 0;
    }
  }
  if (ok && s->directory == r->parent && r->top < 0) {
    r->top =
        openat(s->directory, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ok = r->top >= 0;
  }
  return ok;
}

static bool make_file(receiver *r, const spot *s, const MSG(Entry) * entry) {
  struct stat old;
  if (fstatat(s->directory, s->name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
      (!r->replace || S_ISDIR(old.st_mode))) {
    errno = r->replace ? EISDIR : EEXIST;
    return false;
  }
  errno = ENAMETOOLONG;
  if (strlen(s->name) >= sizeof r->file_name) return false;
  memcpy(r->file_name, s->name, strlen(s->name) + 1);
  if (entry->path.len) memcpy(r->path, entry->path.data, entry->path.len);
  r->path_length = entry->path.len;
  r->directory = fcntl(s->directory, F_DUPFD_CLOEXEC, 4);
  if (r->directory < 0) return false;
  agent_temporary_name(r->temporary_name);
  r->file = openat(r->directory, r->temporary_name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (r->file < 0) {
    close_file(r);
    return false;
  }
  r->wanted =
      (struct stat){.st_mode = entry->mode & 07777, .st_uid = entry->uid, .st_gid = entry->gid};
  r->wanted.st_mtim = (struct timespec){entry->mtime_s, (long)entry->mtime_ns};
  return true;
}

static bool make_link(receiver *r, const spot *s, const MSG(Entry) * entry) {
  char target[AGENT_MAX_PATH + 1];
  errno = EINVAL;
  if (entry->target.len == 0 || entry->target.len > AGENT_MAX_PATH ||
      memchr(entry->target.data, 0, entry->target.len))
    return false;
  memcpy(target, entry->target.data, entry->target.len);
  target[entry->target.len] = '\0';
  bool ok = symlinkat(target, s->directory, s->name) == 0;
  if (!ok && make_way(r, s)) ok = symlinkat(target, s->directory, s->name) == 0;
  return ok && dress(r, s, entry);
}

static bool make_hard_link(receiver *r, const spot *s, const MSG(Entry) * entry) {
  spot old;
  struct stat info;
  errno = EINVAL;
  if (entry->target.len == 0 || !find_spot(r, &entry->target, &old)) return false;
  bool ok = fstatat(old.directory, old.name, &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (ok && !S_ISREG(info.st_mode)) {
    errno = EINVAL;
    ok = false;
  }
  if (ok) {
    r->step = STEP(UNSPECIFIED); /* EXDEV would be another file system */
    ok = linkat(old.directory, old.name, s->directory, s->name, 0) == 0;
    if (!ok && make_way(r, s)) ok = linkat(old.directory, old.name, s->directory, s->name, 0) == 0;
  }
  leave_spot(&old);
  return ok;
}

static bool make_pipe(receiver *r, const spot *s, const MSG(Entry) * entry) {
  bool ok = mkfifoat(s->directory, s->name, 0600) == 0;
  if (!ok && make_way(r, s)) ok = mkfifoat(s->directory, s->name, 0600) == 0;
  return ok && dress(r, s, entry) &&
         agent_chmod_at(s->directory, s->name, S_IFIFO, entry->mode & 07777);
}

static bool finish_directory(receiver *r, const spot *s, const MSG(Entry) * entry) {
  struct timespec times[2];
  times_of(entry, times);
  int fd =
      openat(s->directory, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = (!r->set_owner || fchown(fd, entry->uid, entry->gid) == 0) &&
            fchmod(fd, entry->mode & 07777) == 0 && futimens(fd, times) == 0 &&
            (!r->sync || fsync(fd) == 0);
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

static bool make(receiver *r, const spot *s, const MSG(Entry) * entry) {
  switch ((int)entry->type) {
  case TYPE(FILE):
    return make_file(r, s, entry);
  case TYPE(DIRECTORY):
    return make_directory(r, s);
  case TYPE(LINK):
    return make_link(r, s, entry);
  case TYPE(HARD_LINK):
    return make_hard_link(r, s, entry);
  case TYPE(PIPE):
    return make_pipe(r, s, entry);
  case TYPE(LEAVE_DIRECTORY):
    return finish_directory(r, s, entry);
  default:
    errno = EINVAL;
    return false;
  }
}

static void take_entry(agent_channel *channel, const MSG(Entry) * entry) {
  receiver *r = (receiver *)channel;
  if (r->file >= 0 || entry->mtime_ns > 999999999 || (!r->begun && entry->path.len)) {
    agent_channel_fail(channel, ERR(INVALID), "an entry out of order, or a bad one");
    return;
  }
  r->begun = true;
  spot s;
  if (!find_spot(r, &entry->path, &s)) {
    fail(r, STEP(OPEN), errno, &entry->path);
    return;
  }
  r->step = STEP(CREATE);
  bool ok = make(r, &s, entry);
  leave_spot(&s);
  if (ok)
    agent_channel_consumed(channel, 64 + entry->path.len + entry->target.len, false);
  else
    fail(r, r->step, errno, &entry->path);
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

static bool finish_file(receiver *r) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, r->wanted.st_mtim};
  bool ok = (!r->set_owner || fchown(r->file, r->wanted.st_uid, r->wanted.st_gid) == 0) &&
            fchmod(r->file, r->wanted.st_mode) == 0 && futimens(r->file, times) == 0 &&
            (!r->sync || fsync(r->file) == 0) &&
            syscall(SYS_renameat2, r->directory, r->temporary_name, r->directory, r->file_name,
                    r->replace ? 0 : RENAME_NOREPLACE) == 0;
  if (ok) close_file(r);
  return ok;
}

static void take_data(agent_channel *channel, const MSG(Data) * data) {
  receiver *r = (receiver *)channel;
  const ProtobufCBinaryData path = {r->path_length, (uint8_t *)r->path};
  if (r->file < 0) {
    if (data->end && data->data.len == 0)
      agent_channel_done(channel, NULL);
    else
      agent_channel_fail(channel, ERR(INVALID), "data outside a file");
    return;
  }
  if (!write_all(r->file, data->data.data, data->data.len)) {
    fail(r, STEP(WRITE), errno, &path);
    return;
  }
  if (data->end && !finish_file(r)) {
    fail(r, STEP(ATTRIBUTES), errno, &path);
    return;
  }
  if (data->data.len) agent_channel_consumed(channel, data->data.len + 16, false);
}

static const agent_channel_class receiver_class = {
    .data = take_data, .entry = take_entry, .release = release};

/* The workspace itself is a top without a parent: it is opened as the top at once. */
static bool begin(receiver *r, agent_place *place, const MSG(Upload) * request) {
  if (strcmp(place->name, ".") == 0) {
    r->top = agent_place_open_target(place, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
    r->parent = r->top < 0 ? -1 : fcntl(r->top, F_DUPFD_CLOEXEC, 4);
    memcpy(r->name, ".", 2);
    return r->parent >= 0;
  }
  if (!agent_place_open_parent(place, request->parents)) return false;
  errno = ENAMETOOLONG;
  if (strlen(place->name) >= sizeof r->name) return false;
  memcpy(r->name, place->name, strlen(place->name) + 1);
  r->parent = place->parent;
  place->parent = -1;
  return true;
}

void agent_upload(agent_peer *peer, uint32_t number, const MSG(Upload) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  receiver *r = agent_channel_open(peer, number, sizeof *r, &receiver_class);
  if (r) {
    r->parent = r->top = r->file = -1;
    r->set_owner = request->set_owner;
    r->sync = request->sync;
    r->replace = request->replace;
    r->have_openat2 = place.follows_links;
    if (!begin(r, &place, request)) agent_channel_fail_system(&r->channel, STEP(OPEN), errno);
  }
  agent_place_close(&place);
}
