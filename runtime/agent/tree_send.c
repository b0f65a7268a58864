/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"
#include "files.h"
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPE(NAME) COFFERDAM__AGENT__V1__ENTRY_TYPE__ENTRY_TYPE_##NAME

enum { STEPS_A_TURN = 64, MAX_DEPTH = 128, LINK_BUCKETS = 256, MAX_LINKS = 16384 };

/* A file with several names, as it was first seen. */
typedef struct seen {
  struct seen *next;
  dev_t device;
  ino_t inode;
  size_t length;
  char path[];
} seen;

typedef struct sender {
  agent_channel channel;
  int file; /* whose content is being sent; -1 */
  uint64_t left;
  bool keep_going;
  uint64_t skipped;
  int depth;
  DIR *levels[MAX_DEPTH];
  size_t lengths[MAX_DEPTH]; /* of the path of each level */
  size_t length;
  char path[AGENT_MAX_PATH + 1];
  seen *links[LINK_BUCKETS];
  unsigned link_count;
} sender;

static void release(agent_channel *channel) {
  sender *s = (sender *)channel;
  while (s->depth)
    closedir(s->levels[--s->depth]);
  if (s->file >= 0) close(s->file);
  for (unsigned i = 0; i < LINK_BUCKETS; i++)
    while (s->links[i]) {
      seen *link = s->links[i];
      s->links[i] = link->next;
      free(link);
    }
}

static void send(sender *s, const struct stat *info, int type, const char *target, size_t length) {
  MSG(Entry) entry = MSG_INIT(ENTRY);
  agent_entry_fill(&entry, info);
  if (type) entry.type = type;
  entry.path.data = (uint8_t *)s->path;
  entry.path.len = s->length;
  entry.target.data = (uint8_t *)target;
  entry.target.len = length;
  agent_entry_send(&s->channel, &entry);
}

/* The first name of this file, or NULL and it is remembered. When too many are, the rest is sent
 * as files of their own. */
static const seen *seen_before(sender *s, const struct stat *info) {
  if (info->st_nlink < 2) return NULL;
  seen **bucket = &s->links[info->st_ino % LINK_BUCKETS];
  for (seen *link = *bucket; link; link = link->next)
    if (link->inode == info->st_ino && link->device == info->st_dev) return link;
  seen *link = s->link_count < MAX_LINKS ? malloc(sizeof *link + s->length) : NULL;
  if (!link) return NULL;
  *link =
      (seen){.next = *bucket, .device = info->st_dev, .inode = info->st_ino, .length = s->length};
  memcpy(link->path, s->path, s->length);
  *bucket = link;
  s->link_count++;
  return NULL;
}

/* 0 or errno, as all of these. */
static int begin_file(sender *s, int at, const char *name) {
  struct stat info;
  int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return EINVAL; /* swapped just now */
  }
  const seen *first = seen_before(s, &info);
  if (first) {
    close(fd);
    send(s, &info, TYPE(HARD_LINK), first->path, first->length);
    return 0;
  }
  send(s, &info, TYPE(FILE), NULL, 0);
  s->file = fd;
  s->left = (uint64_t)info.st_size; /* what it grows by from here on is not part of it */
  return 0;
}

static int enter(sender *s, int fd) {
  struct stat info;
  DIR *directory = s->depth == MAX_DEPTH ? NULL : fdopendir(fd);
  if (!directory || fstat(fd, &info) != 0) {
    int error = s->depth == MAX_DEPTH ? ENAMETOOLONG : errno;
    if (directory)
      closedir(directory);
    else
      close(fd);
    return error;
  }
  s->levels[s->depth] = directory;
  s->lengths[s->depth++] = s->length;
  send(s, &info, TYPE(DIRECTORY), NULL, 0);
  return 0;
}

static int send_link(sender *s, int at, const char *name, const struct stat *info) {
  char target[PATH_MAX];
  ssize_t n = readlinkat(at, name, target, sizeof target);
  if (n < 0) return errno;
  send(s, info, TYPE(LINK), target, (size_t)n);
  return 0;
}

static int send_thing(sender *s, int at, const char *name) {
  struct stat info;
  if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (S_ISREG(info.st_mode)) return begin_file(s, at, name);
  if (S_ISLNK(info.st_mode)) return send_link(s, at, name, &info);
  if (S_ISDIR(info.st_mode)) {
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? errno : enter(s, fd);
  }
  if (S_ISFIFO(info.st_mode))
    send(s, &info, TYPE(PIPE), NULL, 0);
  else
    s->skipped++; /* sockets and devices mean nothing elsewhere */
  return 0;
}

static void send_content(sender *s) {
  uint8_t *buffer = s->channel.peer->server->scratch;
  size_t length = s->left < AGENT_CHUNK ? (size_t)s->left : AGENT_CHUNK;
  ssize_t n = length ? read(s->file, buffer, length) : 0;
  if (n < 0 && errno == EINTR) return;
  if (n < 0) { /* it has been begun: leaving it out would be a lie */
    agent_channel_fail_system(&s->channel, STEP(READ), errno);
    return;
  }
  s->left -= (uint64_t)n;
  bool end = n == 0 || s->left == 0;
  agent_data_send(&s->channel, buffer, (size_t)n, end);
  if (!end) return;
  close(s->file);
  s->file = -1;
}

static void leave(sender *s) {
  struct stat info;
  DIR *directory = s->levels[s->depth - 1];
  s->length = s->lengths[s->depth - 1];
  if (fstat(dirfd(directory), &info) == 0) send(s, &info, TYPE(LEAVE_DIRECTORY), NULL, 0);
  closedir(directory);
  s->depth--;
}

static void fail(sender *s, int system_errno) {
  if (s->keep_going) {
    s->skipped++;
    return;
  }
  MSG(Error) error = MSG_INIT(ERROR);
  agent_error_system(&error, STEP(READ), system_errno);
  error.path.data = (uint8_t *)s->path;
  error.path.len = s->length;
  agent_channel_done(&s->channel, &error);
}

static void next(sender *s) {
  size_t base = s->lengths[s->depth - 1];
  DIR *directory = s->levels[s->depth - 1];
  errno = 0;
  struct dirent *entry = readdir(directory);
  s->length = base;
  if (!entry) {
    if (errno) fail(s, errno);
    if (!s->channel.done) leave(s); /* reading on after an error could fail for ever */
    return;
  }
  const char *name = entry->d_name;
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return;
  size_t length = strlen(name);
  if (base + 1 + length > AGENT_MAX_PATH) {
    fail(s, ENAMETOOLONG);
    return;
  }
  if (base) s->path[s->length++] = '/';
  memcpy(s->path + s->length, name, length);
  s->length += length;
  int error = send_thing(s, dirfd(directory), name);
  if (error && error != ENOENT) fail(s, error);
}

static void run(agent_channel *channel) {
  sender *s = (sender *)channel;
  for (int i = 0; i < STEPS_A_TURN && !channel->done; i++) {
    if (!agent_channel_ready(channel)) return;
    if (s->file >= 0)
      send_content(s);
    else if (s->depth)
      next(s);
    else
      agent_channel_done_skipped(channel, s->skipped);
  }
  if (!channel->done) agent_channel_wake(channel);
}

static const agent_channel_class sender_class = {.run = run, .release = release};

static int begin(sender *s, agent_place *place) {
  if (strcmp(place->name, ".") == 0) {
    int fd = agent_place_open_target(place, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
    return fd < 0 ? errno : enter(s, fd);
  }
  if (!agent_place_open_parent(place, false)) return errno;
  return send_thing(s, place->parent, place->name);
}

void agent_download(agent_peer *peer, uint32_t number, const MSG(Download) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  sender *s = agent_channel_open(peer, number, sizeof *s, &sender_class);
  if (s) {
    s->file = -1;
    s->keep_going = request->keep_going;
    int error = begin(s, &place);
    if (error)
      agent_channel_fail_system(&s->channel, STEP(OPEN), error);
    else
      run(&s->channel);
  }
  agent_place_close(&place);
}
