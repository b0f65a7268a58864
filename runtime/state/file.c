/* SPDX-License-Identifier: Apache-2.0 */
#include "state/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"

cdam_status cdam_fail_file(cdam_error *err, const char *what, const char *path, int error_number) {
  char reason[128];
  /* strerror_r, for strerror is not thread-safe; this one may return a text of its own. */
  return cdam_fail(err, CDAM_ERR_IO, "cannot %s %s: %s", what, path,
                   strerror_r(error_number, reason, sizeof reason));
}

bool cdam_read_all(int fd, unsigned char *buffer, size_t size, size_t *length) {
  *length = 0;
  while (*length < size) {
    ssize_t got = read(fd, buffer + *length, size - *length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    *length += (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const unsigned char *bytes, size_t length) {
  while (length) {
    ssize_t put = write(fd, bytes, length);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes += put;
    length -= (size_t)put;
  }
  return true;
}

/* ---- reading ---- */

static cdam_status read_growing(int fd, const char *path, size_t most, cdam_buffer *content,
                                cdam_error *err) {
  unsigned char piece[4096]; /* threads may have small stacks */
  size_t got;
  do {
    if (!cdam_read_all(fd, piece, sizeof piece, &got))
      return cdam_fail_file(err, "read", path, errno);
    if (got > most - content->length)
      return cdam_fail(err, CDAM_ERR_MALFORMED, "%s is larger than %zu bytes", path, most);
    if (!cdam_buffer_append(content, piece, got)) return cdam_fail_memory(err);
  } while (got == sizeof piece);
  return CDAM_OK;
}

cdam_status cdam_local_file_read(const char *path, size_t most, unsigned char **bytes,
                                 size_t *length, cdam_error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return cdam_fail_file(err, "open", path, errno);
  struct stat about;
  cdam_buffer content = {0};
  cdam_status status;
  if (fstat(fd, &about) != 0)
    status = cdam_fail_file(err, "look at", path, errno);
  else if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
    status = cdam_fail(err, CDAM_ERR_IO, "%s is neither a regular file nor a pipe", path);
  else
    status = read_growing(fd, path, most, &content, err);
  close(fd);
  if (status) {
    cdam_buffer_clear(&content);
    return status;
  }
  *bytes = (unsigned char *)content.data;
  *length = content.length;
  return CDAM_OK;
}

/* ---- writing ---- */

/* What a replacement has open. */
typedef struct replacement {
  const char *path;
  char *temporary; /* the path of the new file; NULL while there is none */
  int file;
  int directory;
} replacement;

/* Only a regular file is replaced: renaming over /dev/stdout, or over a symbolic link that
 * somebody put there on purpose, would do harm that nobody asked for. */
static cdam_status check_target(const char *path, cdam_error *err) {
  struct stat about;
  if (lstat(path, &about) != 0)
    return errno == ENOENT ? CDAM_OK : cdam_fail_file(err, "look at", path, errno);
  if (S_ISREG(about.st_mode)) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_IO, "%s is there and not a regular file%s", path,
                   S_ISLNK(about.st_mode) ? " (a symbolic link: name the file that it points to)"
                                          : "");
}

/* Opens the directory first, so that all but its fsync has been tried before the rename. */
static cdam_status open_replacement(replacement *r, cdam_error *err) {
  const char *slash = strrchr(r->path, '/');
  int directory_length = slash ? (int)(slash - r->path) + 1 : 2;
  const char *directory = slash ? r->path : "./";
  char *name = NULL;
  if (asprintf(&name, "%.*s.cofferdam-XXXXXX", directory_length, directory) < 0)
    return cdam_fail_memory(err);
  name[directory_length] = '\0';
  r->directory = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  name[directory_length] = '.';
  if (r->directory < 0) {
    int reason = errno;
    free(name);
    return cdam_fail_file(err, "open the directory of", r->path, reason);
  }
  r->file = mkostemp(name, O_CLOEXEC);
  if (r->file < 0) {
    int reason = errno;
    free(name);
    return cdam_fail_file(err, "make a temporary file beside", r->path, reason);
  }
  r->temporary = name;
  return CDAM_OK;
}

static cdam_status fill(replacement *r, const unsigned char *bytes, size_t length,
                        cdam_error *err) {
  /* The umask may have taken bits away. */
  if (fchmod(r->file, 0600) != 0 || !write_all(r->file, bytes, length) || fsync(r->file) != 0)
    return cdam_fail_file(err, "write", r->path, errno);
  int fd = r->file;
  r->file = -1;
  if (close(fd) != 0) return cdam_fail_file(err, "write", r->path, errno);
  return CDAM_OK;
}

static cdam_status put_in_place(replacement *r, cdam_error *err) {
  if (rename(r->temporary, r->path) != 0) return cdam_fail_file(err, "replace", r->path, errno);
  free(r->temporary);
  r->temporary = NULL;
  /* Some file systems have no fsync of directories. */
  if (fsync(r->directory) != 0 && errno != EINVAL && errno != ENOTSUP)
    return cdam_fail_file(err, "make sure that a crash does not undo the replacing of", r->path,
                          errno);
  return CDAM_OK;
}

static void close_replacement(replacement *r) {
  if (r->file >= 0) close(r->file);
  if (r->directory >= 0) close(r->directory);
  if (r->temporary) unlink(r->temporary);
  free(r->temporary);
}

cdam_status cdam_local_file_replace(const char *path, const unsigned char *bytes, size_t length,
                                    cdam_error *err) {
  replacement r = {.path = path, .file = -1, .directory = -1};
  cdam_status status = check_target(path, err);
  if (!status) status = open_replacement(&r, err);
  if (!status) status = fill(&r, bytes, length, err);
  if (!status) status = put_in_place(&r, err);
  close_replacement(&r);
  return status;
}
