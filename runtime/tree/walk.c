/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "tree/links.h"
#include "tree/local_path.h"

/* Names that are skipped in one go, so that a directory of nothing but sockets holds up nobody. */
enum { MOST_SKIPPED = 64 };

typedef struct walk {
  cdam_tree_feed feed;
  cdam_local_path at;
  bool begun;
  int depth;
  DIR *levels[CDAM_TREE_DEPTH];
  size_t lengths[CDAM_TREE_DEPTH]; /* of the path of each */
  int file;                        /* whose content is being sent; -1 */
  uint64_t left;                   /* of it */
  cdam_tree_links links;
  size_t length;
  char path[CDAM_TREE_PATH + 1];
  char target[CDAM_TREE_PATH + 1];
  unsigned char bytes[CDAM_TREE_PIECE];
} walk;

static cdam_status fail_at(const walk *w, const char *what, int error, cdam_error *err) {
  if (error == ENOMEM) return cdam_fail_memory(err);
  cdam_fail(err, CDAM_ERR_IO, "cannot %s %s%s%.*s: %s", what, w->at.text, w->length ? "/" : "",
            (int)w->length, w->path, strerror(error));
  if (err) err->system_errno = error;
  return CDAM_ERR_IO;
}

static void put(const walk *w, const struct stat *info, int type, cdam_tree_part *part) {
  part->kind = CDAM_TREE_PART_ENTRY;
  part->entry = (cdam_entry)CDAM_ENTRY_INIT;
  part->entry.path = (ProtobufCBinaryData){.data = (uint8_t *)w->path, .len = w->length};
  part->entry.type = (Cofferdam__Agent__V1__EntryType)type;
  part->entry.mode = info->st_mode & 07777;
  part->entry.uid = info->st_uid;
  part->entry.gid = info->st_gid;
  part->entry.size = S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0;
  part->entry.mtime_s = info->st_mtim.tv_sec;
  part->entry.mtime_ns = (uint32_t)info->st_mtim.tv_nsec;
}

static cdam_status begin_file(walk *w, int at, const char *name, cdam_tree_part *part,
                              cdam_error *err) {
  struct stat info;
  int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return fail_at(w, "open", errno, err);
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return fail_at(w, "read", EAGAIN, err); /* it was exchanged just now */
  }
  const cdam_tree_link *first =
      info.st_nlink > 1 ? cdam_tree_links_find(&w->links, info.st_dev, info.st_ino) : NULL;
  if (first) {
    close(fd);
    put(w, &info, CDAM_ENTRY(HARD_LINK), part);
    part->entry.target =
        (ProtobufCBinaryData){.data = (uint8_t *)first->path, .len = first->length};
    return CDAM_OK;
  }
  if (info.st_nlink > 1 &&
      !cdam_tree_links_add(&w->links, info.st_dev, info.st_ino, w->path, w->length)) {
    close(fd);
    return cdam_fail_memory(err);
  }
  put(w, &info, CDAM_ENTRY(FILE), part);
  w->file = fd;
  w->left = part->entry.size;
  return CDAM_OK;
}

static cdam_status enter(walk *w, int at, const char *name, cdam_tree_part *part, cdam_error *err) {
  struct stat info;
  if (w->depth == CDAM_TREE_DEPTH)
    return cdam_fail(err, CDAM_ERR_IO, "%s/%.*s is deeper than %d directories", w->at.text,
                     (int)w->length, w->path, CDAM_TREE_DEPTH);
  int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return fail_at(w, "open", errno, err);
  DIR *directory = fdopendir(fd);
  if (!directory || fstat(fd, &info) != 0) {
    int error = errno;
    if (directory)
      closedir(directory);
    else
      close(fd);
    return fail_at(w, "open", error, err);
  }
  w->levels[w->depth] = directory;
  w->lengths[w->depth++] = w->length;
  put(w, &info, CDAM_ENTRY(DIRECTORY), part);
  return CDAM_OK;
}

static cdam_status put_link(walk *w, int at, const char *name, const struct stat *info,
                            cdam_tree_part *part, cdam_error *err) {
  ssize_t n = readlinkat(at, name, w->target, sizeof w->target);
  if (n < 0 || n == (ssize_t)sizeof w->target)
    return fail_at(w, "read the link", n < 0 ? errno : ENAMETOOLONG, err);
  put(w, info, CDAM_ENTRY(LINK), part);
  part->entry.target = (ProtobufCBinaryData){.data = (uint8_t *)w->target, .len = (size_t)n};
  return CDAM_OK;
}

/* The part is AGAIN for what is skipped. */
static cdam_status put_thing(walk *w, int at, const char *name, cdam_tree_part *part,
                             cdam_error *err) {
  struct stat info;
  if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    part->kind = CDAM_TREE_PART_AGAIN;
    /* One of a directory's names that has gone is no name of it. */
    return errno == ENOENT && w->depth ? CDAM_OK : fail_at(w, "look at", errno, err);
  }
  if (S_ISREG(info.st_mode)) return begin_file(w, at, name, part, err);
  if (S_ISDIR(info.st_mode)) return enter(w, at, name, part, err);
  if (S_ISLNK(info.st_mode)) return put_link(w, at, name, &info, part, err);
  if (S_ISFIFO(info.st_mode)) {
    put(w, &info, CDAM_ENTRY(PIPE), part);
    return CDAM_OK;
  }
  if (w->depth == 0)
    return cdam_fail(err, CDAM_ERR_IO, "%s is a socket or a device: those are not copied",
                     w->at.text);
  w->feed.skipped++;
  part->kind = CDAM_TREE_PART_AGAIN;
  return CDAM_OK;
}

static cdam_status put_content(walk *w, cdam_tree_part *part, cdam_error *err) {
  size_t size = w->left < sizeof w->bytes ? (size_t)w->left : sizeof w->bytes;
  ssize_t n = 0;
  do {
    n = size ? read(w->file, w->bytes, size) : 0;
  } while (n < 0 && errno == EINTR);
  if (n < 0) return fail_at(w, "read", errno, err);
  if (n == 0 && w->left)
    return cdam_fail(err, CDAM_ERR_IO, "%s%s%.*s became shorter while it was copied", w->at.text,
                     w->length ? "/" : "", (int)w->length, w->path);
  w->left -= (uint64_t)n;
  part->kind = CDAM_TREE_PART_DATA;
  part->bytes = w->bytes;
  part->length = (size_t)n;
  part->end = w->left == 0;
  if (!part->end) return CDAM_OK;
  close(w->file);
  w->file = -1;
  return CDAM_OK;
}

static cdam_status leave(walk *w, cdam_tree_part *part, cdam_error *err) {
  struct stat info;
  DIR *directory = w->levels[--w->depth];
  w->length = w->lengths[w->depth];
  int error = fstat(dirfd(directory), &info) == 0 ? 0 : errno;
  closedir(directory);
  if (error) return fail_at(w, "look at", error, err);
  put(w, &info, CDAM_ENTRY(LEAVE_DIRECTORY), part);
  return CDAM_OK;
}

static cdam_status put_next_name(walk *w, cdam_tree_part *part, cdam_error *err) {
  DIR *directory = w->levels[w->depth - 1];
  w->length = w->lengths[w->depth - 1];
  errno = 0;
  const struct dirent *entry = readdir(directory);
  if (!entry) return errno ? fail_at(w, "read", errno, err) : leave(w, part, err);
  part->kind = CDAM_TREE_PART_AGAIN;
  if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) return CDAM_OK;
  size_t length = strlen(entry->d_name);
  if (w->length + 1 + length > CDAM_TREE_PATH) return fail_at(w, "copy", ENAMETOOLONG, err);
  if (w->length) w->path[w->length++] = '/';
  memcpy(w->path + w->length, entry->d_name, length);
  w->length += length;
  return put_thing(w, dirfd(directory), entry->d_name, part, err);
}

static cdam_status next(cdam_tree_feed *feed, cdam_tree_part *part, cdam_error *err) {
  walk *w = (walk *)feed;
  if (w->file >= 0) return put_content(w, part, err);
  if (!w->begun) {
    w->begun = true;
    return put_thing(w, w->at.directory, w->at.name, part, err);
  }
  part->kind = w->depth ? CDAM_TREE_PART_AGAIN : CDAM_TREE_PART_END;
  cdam_status status = CDAM_OK;
  for (int i = 0; i < MOST_SKIPPED && status == CDAM_OK && part->kind == CDAM_TREE_PART_AGAIN; i++)
    status = put_next_name(w, part, err);
  return status;
}

static void free_walk(cdam_tree_feed *feed) {
  walk *w = (walk *)feed;
  if (w->file >= 0) close(w->file);
  while (w->depth)
    closedir(w->levels[--w->depth]);
  cdam_tree_links_clear(&w->links);
  cdam_local_path_clear(&w->at);
  free(w);
}

cdam_status cdam_tree_walk_new(const char *local, cdam_tree_feed **out, cdam_error *err) {
  walk *w = calloc(1, sizeof *w);
  if (!w) return cdam_fail_memory(err);
  w->feed = (cdam_tree_feed){.next = next, .free = free_walk};
  w->file = -1;
  cdam_status status = cdam_local_path_open(&w->at, local, err);
  if (status == CDAM_OK)
    *out = &w->feed;
  else
    free_walk(&w->feed);
  return status;
}
