/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "tree/links.h"
#include "tree/local_path.h"

enum { OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

typedef struct writer {
  cdam_tree_target target;
  bool keep_owner;
  bool replace;
  cdam_local_path at; /* where the top goes */
  int depth;
  int levels[CDAM_TREE_DEPTH];
  int file;       /* being written, under the temporary name; -1 */
  cdam_entry now; /* what the file is to be; without its pointers */
  char name[CDAM_TREE_NAME + 1];
  char temporary[32];            /* one for all: there is one such file at a time */
  cdam_tree_links made;          /* files that may get more names */
  char path[CDAM_TREE_PATH + 1]; /* of the last entry, for messages and hard links */
} writer;

static cdam_status fail_at(const writer *w, const char *what, cdam_error *err) {
  int error = errno;
  if (error == ENOMEM) return cdam_fail_memory(err);
  const char *between = *w->path ? "/" : "";
  cdam_status status = cdam_fail(err, CDAM_ERR_IO, "cannot %s %s%s%s: %s", what, w->at.text,
                                 between, w->path, strerror(error));
  if (err) err->system_errno = error;
  return status;
}

/* Where the next thing goes. */
static int place(const writer *w) {
  return w->depth ? w->levels[w->depth - 1] : w->at.directory;
}

static const char *name_of(const writer *w, const char *name) {
  return w->depth ? name : w->at.name;
}

/* ---- what there is already ---- */

/* After EEXIST: it goes, if it may be replaced and is no directory. */
static bool make_way(const writer *w, const char *name) {
  if (errno != EEXIST || !w->replace) return false;
  return unlinkat(place(w), name, 0) == 0;
}

static bool is_taken(const writer *w, const char *name) {
  struct stat info;
  if (fstatat(place(w), name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  errno = S_ISDIR(info.st_mode) ? EISDIR : EEXIST;
  return S_ISDIR(info.st_mode) || !w->replace;
}

/* ---- directories ---- */

/* An existing one is merged; others must not be in it while we are, and its files must be able to
 * come whatever its mode. */
static int open_existing(const writer *w, const char *name) {
  struct stat info;
  int fd = openat(place(w), name, OPEN_DIRECTORY);
  if (fd < 0) {
    if (errno == ENOTDIR || errno == ELOOP) errno = EEXIST;
    return -1;
  }
  if (fstat(fd, &info) == 0 && (info.st_mode & 0700) != 0700)
    (void)!fchmod(fd, (info.st_mode & 07777) | 0700); /* else what follows will tell */
  return fd;
}

static int make_directory(const writer *w, const char *name) {
  if (strcmp(name, ".") == 0) return open_existing(w, name);
  if (mkdirat(place(w), name, 0700) == 0) return openat(place(w), name, OPEN_DIRECTORY);
  if (errno != EEXIST) return -1;
  int fd = open_existing(w, name);
  if (fd >= 0 || !make_way(w, name) || mkdirat(place(w), name, 0700) != 0) return fd;
  return openat(place(w), name, OPEN_DIRECTORY);
}

static cdam_status enter(writer *w, const char *name, cdam_error *err) {
  int fd = make_directory(w, name);
  if (fd < 0) return fail_at(w, "make the directory", err);
  w->levels[w->depth++] = fd;
  return CDAM_OK;
}

static bool dress(const writer *w, int fd, const cdam_entry *entry, mode_t mask) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                              {.tv_sec = entry->mtime_s, .tv_nsec = (long)entry->mtime_ns}};
  return (!w->keep_owner || fchown(fd, entry->uid, entry->gid) == 0) &&
         fchmod(fd, entry->mode & mask) == 0 && futimens(fd, times) == 0;
}

static cdam_status leave(writer *w, const cdam_entry *entry, cdam_error *err) {
  int fd = w->levels[--w->depth];
  bool ok = dress(w, fd, entry, 01777);
  cdam_status status = ok ? CDAM_OK : fail_at(w, "set mode, owner and time of", err);
  close(fd);
  return status;
}

/* ---- files ---- */

static cdam_status begin_file(writer *w, const cdam_entry *entry, const char *name,
                              cdam_error *err) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  if (is_taken(w, name)) return fail_at(w, "make", err);
  w->file = openat(place(w), w->temporary, flags, 0600);
  if (w->file < 0) return fail_at(w, "make", err);
  snprintf(w->name, sizeof w->name, "%s", name);
  w->now = *entry;
  w->now.path = w->now.target = (ProtobufCBinaryData){0};
  return CDAM_OK;
}

static bool write_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t n = write(fd, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    length -= (size_t)n;
  }
  return true;
}

static bool rename_new(int directory, const char *from, const char *to) {
  if (syscall(SYS_renameat2, directory, from, directory, to, 1u /* RENAME_NOREPLACE */) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return linkat(directory, from, directory, to, 0) == 0 && unlinkat(directory, from, 0) == 0;
}

static bool remember(writer *w) {
  struct stat info;
  if (w->now.links < 2) return true;
  if (fstat(w->file, &info) != 0) return false;
  if (cdam_tree_links_add(&w->made, info.st_dev, info.st_ino, NULL, 0)) return true;
  errno = ENOMEM;
  return false;
}

static bool complete(writer *w) {
  bool ok = dress(w, w->file, &w->now, 0777) && remember(w);
  if (close(w->file) != 0) ok = false;
  w->file = -1;
  if (ok)
    ok = w->replace ? renameat(place(w), w->temporary, place(w), w->name) == 0
                    : rename_new(place(w), w->temporary, w->name);
  if (ok) return true;
  int error = errno;
  unlinkat(place(w), w->temporary, 0);
  errno = error;
  return false;
}

static cdam_status take_data(cdam_tree_target *target, const void *bytes, size_t length, bool end,
                             cdam_error *err) {
  writer *w = (writer *)target;
  if (length && !write_all(w->file, bytes, length)) return fail_at(w, "write", err);
  if (end && !complete(w)) return fail_at(w, "complete", err);
  return CDAM_OK;
}

/* ---- links and pipes ---- */

bool cdam_tree_link_stays(const char *text, size_t length, int level) {
  bool named = false;
  const char *end = text + length;
  if (length == 0 || *text == '/') return false;
  for (const char *at = text; at < end;) {
    const char *slash = memchr(at, '/', (size_t)(end - at));
    size_t part = slash ? (size_t)(slash - at) : (size_t)(end - at);
    bool up = part == 2 && at[0] == '.' && at[1] == '.';
    if (up && (named || --level < 0)) return false;
    if (!up && part && !(part == 1 && *at == '.')) named = true;
    at += part + 1;
  }
  return true;
}

static bool dress_name(const writer *w, const char *name, const cdam_entry *entry) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                              {.tv_sec = entry->mtime_s, .tv_nsec = (long)entry->mtime_ns}};
  if (w->keep_owner && fchownat(place(w), name, entry->uid, entry->gid, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  return utimensat(place(w), name, times, AT_SYMLINK_NOFOLLOW) == 0;
}

static cdam_status make_link(writer *w, const cdam_entry *entry, const char *name, bool *made,
                             cdam_error *err) {
  char text[CDAM_TREE_PATH + 1];
  memcpy(text, entry->target.data, entry->target.len);
  text[entry->target.len] = '\0';
  /* A link that is the top itself has nothing around it that belongs to the copy. */
  if (w->depth == 0 || !cdam_tree_link_stays(text, entry->target.len, w->depth - 1)) {
    *made = false;
    w->target.skipped++;
    return CDAM_OK;
  }
  bool ok = symlinkat(text, place(w), name) == 0;
  if (!ok && make_way(w, name)) ok = symlinkat(text, place(w), name) == 0;
  if (!ok || !dress_name(w, name, entry)) return fail_at(w, "make the link", err);
  return CDAM_OK;
}

static cdam_status make_pipe(writer *w, const cdam_entry *entry, const char *name,
                             cdam_error *err) {
  struct stat info;
  bool ok = mkfifoat(place(w), name, 0600) == 0;
  if (!ok && make_way(w, name)) ok = mkfifoat(place(w), name, 0600) == 0;
  /* Nothing of the sandbox can be here, so the name is the pipe that was just made. */
  ok = ok && fstatat(place(w), name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(info.st_mode) &&
       dress_name(w, name, entry) && fchmodat(place(w), name, entry->mode & 0777, 0) == 0;
  return ok ? CDAM_OK : fail_at(w, "make the pipe", err);
}

/* The directory in which a path of the tree ends, without following a link; the rest in *name. It
 * is to be closed unless it is `top`. */
static int find_directory(int top, char *path, const char **name) {
  int at = top;
  char *part = path;
  for (char *slash; (slash = strchr(part, '/')) != NULL; part = slash + 1) {
    *slash = '\0';
    bool fine = *part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
    int next = fine ? openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int error = fine ? errno : EINVAL;
    if (at != top) close(at);
    errno = error;
    if (next < 0) return -1;
    at = next;
  }
  *name = part;
  return at;
}

/* Only files that came with this tree, so that no other file gets a name in it. */
static bool is_own_file(const writer *w, int directory, const char *name) {
  struct stat info;
  if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
  return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
         cdam_tree_links_find(&w->made, info.st_dev, info.st_ino);
}

static cdam_status make_hard_link(writer *w, const cdam_entry *entry, const char *name,
                                  cdam_error *err) {
  char text[CDAM_TREE_PATH + 1];
  const char *old = NULL;
  memcpy(text, entry->target.data, entry->target.len);
  text[entry->target.len] = '\0';
  int directory = find_directory(w->levels[0], text, &old);
  if (directory < 0 || !is_own_file(w, directory, old)) {
    if (directory >= 0 && directory != w->levels[0]) close(directory);
    return cdam_fail(err, CDAM_ERR_AGENT,
                     "the agent sent a tree that is none: a hard link to nothing in it");
  }
  bool ok = linkat(directory, old, place(w), name, 0) == 0;
  if (!ok && make_way(w, name)) ok = linkat(directory, old, place(w), name, 0) == 0;
  cdam_status status = ok ? CDAM_OK : fail_at(w, "make the hard link", err);
  if (directory != w->levels[0]) close(directory);
  return status;
}

/* ---- the target ---- */

static cdam_status take_entry(cdam_tree_target *target, const cdam_entry *entry, const char *name,
                              bool *made, cdam_error *err) {
  writer *w = (writer *)target;
  if (entry->path.len) memcpy(w->path, entry->path.data, entry->path.len);
  w->path[entry->path.len] = '\0';
  *made = true;
  if (entry->type == CDAM_ENTRY(LEAVE_DIRECTORY)) return leave(w, entry, err);
  const char *own = name_of(w, name);
  switch ((int)entry->type) {
  case CDAM_ENTRY(DIRECTORY):
    return enter(w, own, err);
  case CDAM_ENTRY(FILE):
    return begin_file(w, entry, own, err);
  case CDAM_ENTRY(LINK):
    return make_link(w, entry, own, made, err);
  case CDAM_ENTRY(PIPE):
    return make_pipe(w, entry, own, err);
  default:
    return make_hard_link(w, entry, own, err);
  }
}

static cdam_status finish(cdam_tree_target *target, cdam_error *err) {
  (void)target;
  return cdam_ok(err);
}

static void free_writer(cdam_tree_target *target) {
  writer *w = (writer *)target;
  if (w->file >= 0) {
    close(w->file);
    unlinkat(place(w), w->temporary, 0);
  }
  while (w->depth)
    close(w->levels[--w->depth]);
  cdam_local_path_clear(&w->at);
  cdam_tree_links_clear(&w->made);
  free(w);
}

static bool name_temporary(writer *w) {
  unsigned char random[8];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  int used = snprintf(w->temporary, sizeof w->temporary, ".cofferdam-");
  for (size_t i = 0; i < sizeof random; i++)
    used += snprintf(w->temporary + used, sizeof w->temporary - (size_t)used, "%02x", random[i]);
  return true;
}

cdam_status cdam_tree_writer_new(const char *local, const cdam_tree_options *options,
                                 cdam_tree_target **out, cdam_error *err) {
  writer *w = calloc(1, sizeof *w);
  if (!w) return cdam_fail_memory(err);
  w->target = (cdam_tree_target){
      .entry = take_entry, .data = take_data, .finish = finish, .free = free_writer};
  w->keep_owner = options->keep_owner;
  w->replace = options->replace;
  w->file = -1;
  cdam_status status = cdam_local_path_open(&w->at, local, err);
  if (status == CDAM_OK && !name_temporary(w))
    status = cdam_fail(err, CDAM_ERR_IO, "the system has no random numbers: %s", strerror(errno));
  if (status == CDAM_OK)
    *out = &w->target;
  else
    free_writer(&w->target);
  return status;
}
