/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define TYPE(NAME) COFFERDAM__AGENT__V1__ENTRY_TYPE__ENTRY_TYPE_##NAME

static int entry_type(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFREG:
    return TYPE(FILE);
  case S_IFDIR:
    return TYPE(DIRECTORY);
  case S_IFLNK:
    return TYPE(LINK);
  case S_IFIFO:
    return TYPE(PIPE);
  case S_IFSOCK:
    return TYPE(SOCKET);
  case S_IFCHR:
    return TYPE(CHARACTER_DEVICE);
  case S_IFBLK:
    return TYPE(BLOCK_DEVICE);
  default:
    return TYPE(UNSPECIFIED);
  }
}

void agent_entry_fill(MSG(Entry) * entry, const struct stat *info) {
  entry->type = entry_type(info->st_mode);
  entry->mode = info->st_mode & 07777;
  entry->uid = info->st_uid;
  entry->gid = info->st_gid;
  entry->size = (uint64_t)info->st_size;
  entry->mtime_s = info->st_mtim.tv_sec;
  entry->mtime_ns = (uint32_t)info->st_mtim.tv_nsec;
  entry->inode = info->st_ino;
  entry->device = info->st_dev;
  entry->links = (uint32_t)info->st_nlink;
}

void agent_entry_send(agent_channel *channel, MSG(Entry) * entry) {
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(ENTRY);
  message.entry = entry;
  agent_channel_send(channel, &message, true);
}

int agent_entry_send_at(agent_channel *channel, int directory, const char *name) {
  struct stat info;
  char target[PATH_MAX];
  MSG(Entry) entry = MSG_INIT(ENTRY);
  if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  agent_entry_fill(&entry, &info);
  entry.path.data = (uint8_t *)name;
  entry.path.len = strlen(name);
  if (S_ISLNK(info.st_mode)) {
    ssize_t n = readlinkat(directory, name, target, sizeof target);
    if (n < 0) return errno;
    entry.target.data = (uint8_t *)target;
    entry.target.len = (size_t)n;
  }
  agent_entry_send(channel, &entry);
  return 0;
}

int agent_entry_send_fd(agent_channel *channel, int fd, const char *path) {
  struct stat info;
  MSG(Entry) entry = MSG_INIT(ENTRY);
  if (fstat(fd, &info) != 0) return errno;
  agent_entry_fill(&entry, &info);
  entry.path.data = (uint8_t *)path;
  entry.path.len = strlen(path);
  agent_entry_send(channel, &entry);
  return 0;
}

void agent_data_send(agent_channel *channel, const uint8_t *data, size_t length, bool end) {
  MSG(Data) content = MSG_INIT(DATA);
  content.data.data = (uint8_t *)data;
  content.data.len = length;
  content.end = end;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(DATA);
  message.data = &content;
  agent_channel_send(channel, &message, length > 0);
}
