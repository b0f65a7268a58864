/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/local_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static int open_directory(const char *path) {
  return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What is before the last slash; the slash comes back. */
static int open_parent(char *text, char *slash) {
  if (!slash) return open_directory(".");
  if (slash == text) return open_directory("/");
  *slash = '\0';
  int fd = open_directory(text);
  *slash = '/';
  return fd;
}

cdam_status cdam_local_path_open(cdam_local_path *path, const char *text, cdam_error *err) {
  *path = (cdam_local_path){.directory = -1};
  if (!*text) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the local path is empty");
  path->text = strdup(text);
  if (!path->text) return cdam_fail_memory(err);
  size_t length = strlen(path->text);
  while (length > 1 && path->text[length - 1] == '/')
    path->text[--length] = '\0';
  char *slash = strrchr(path->text, '/');
  path->name = slash ? slash + 1 : path->text;
  if (!*path->name || strcmp(path->name, ".") == 0 || strcmp(path->name, "..") == 0) {
    path->directory = open_directory(path->text);
    path->name = ".";
  } else {
    path->directory = open_parent(path->text, slash);
  }
  if (path->directory >= 0) return CDAM_OK;
  int error = errno;
  cdam_fail(err, CDAM_ERR_IO, "cannot open the directory of %s: %s", path->text, strerror(error));
  if (err) err->system_errno = error;
  return CDAM_ERR_IO;
}

void cdam_local_path_clear(cdam_local_path *path) {
  if (path->text && path->directory >= 0) close(path->directory);
  free(path->text);
  *path = (cdam_local_path){.directory = -1};
}
