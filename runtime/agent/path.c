/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* Linux's struct open_how and its flags; older C libraries do not have them. */
struct how {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};
enum { NO_MAGIC_LINKS = 0x02, NO_LINKS = 0x04, BENEATH = 0x08, ATTEMPTS = 32 };

static int open_how(int root, const char *path, int flags, mode_t mode, uint64_t resolve) {
  struct how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                    .mode = flags & O_CREAT ? mode : 0,
                    .resolve = resolve};
  for (int i = 0;; i++) {
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    /* Something was renamed meanwhile, and the kernel could not be sure. */
    if (fd >= 0 || errno != EAGAIN || i == ATTEMPTS) return fd;
  }
}

bool agent_path_have_openat2(void) {
  int fd = open_how(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0, NO_MAGIC_LINKS);
  if (fd < 0) return false;
  close(fd);
  return true;
}

/* O_PATH with O_NOFOLLOW opens a link itself. */
static int refuse_link(int fd) {
  struct stat info;
  if (fd < 0 || (fstat(fd, &info) == 0 && !S_ISLNK(info.st_mode))) return fd;
  close(fd);
  errno = ELOOP;
  return -1;
}

/* A link on the way is refused like one that leads out: nobody looks where it leads. */
static int open_step(int at, const char *name) {
  struct stat info;
  int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 || errno != ENOTDIR) return fd;
  bool link = fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
  errno = link ? EXDEV : ENOTDIR;
  return -1;
}

/* One component after the other, none of them a link or "..". */
static int open_by_steps(int root, const char *path, int flags, mode_t mode) {
  char name[256];
  int at = root;
  for (;;) {
    path += strspn(path, "/");
    size_t length = strcspn(path, "/");
    const char *rest = path + length + strspn(path + length, "/");
    int fd = -1;
    if (length >= sizeof name) {
      errno = ENAMETOOLONG;
    } else {
      memcpy(name, path, length);
      name[length] = '\0';
      if (strcmp(name, "..") == 0)
        errno = EXDEV;
      else if (*rest)
        fd = open_step(at, name);
      else
        fd = refuse_link(openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode));
    }
    int error = errno;
    if (at != root && at != AT_FDCWD) close(at);
    errno = error;
    if (fd < 0 || !*rest) return fd;
    at = fd;
    path = rest;
  }
}

int agent_open_beneath(int root, const char *path, int flags, mode_t mode, bool follow,
                       bool have_openat2) {
  if (!have_openat2) return open_by_steps(root, path, flags, mode);
  return open_how(root, path, flags, mode, BENEATH | NO_MAGIC_LINKS | (follow ? 0 : NO_LINKS));
}

void agent_workspace_need(agent_server *server) {
  if (server->make_workspace) mkdir(server->workspace, 0755);
  server->make_workspace = false;
}

/* The workspace was resolved when nothing else ran; a link in its path now is an attack. */
static int open_workspace(const agent_server *server) {
  if (!*server->workspace) {
    errno = ENOENT;
    return -1;
  }
  if (server->follows_links)
    return open_how(AT_FDCWD, server->workspace, O_PATH | O_DIRECTORY, 0,
                    NO_LINKS | NO_MAGIC_LINKS);
  if (strcmp(server->workspace, "/") == 0) return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) return -1;
  int fd = open_by_steps(top, server->workspace, O_PATH | O_DIRECTORY, 0);
  close(top);
  return fd;
}

/* Relative to the workspace, without slashes at its end. */
static bool make_relative(const agent_server *server, const ProtobufCBinaryData *path, char *text) {
  const char *at = (const char *)path->data;
  size_t length = path->len;
  size_t workspace = strlen(server->workspace);
  if (length && at[0] == '/') {
    if (workspace == 1) workspace = 0; /* "/" */
    if (length < workspace || memcmp(at, server->workspace, workspace) != 0) return false;
    if (length > workspace && at[workspace] != '/') return false;
    at += workspace;
    length -= workspace;
  }
  while (length && at[0] == '/')
    at++, length--;
  while (length && at[length - 1] == '/')
    length--;
  if (length) memcpy(text, at, length);
  text[length] = '\0';
  if (!length) memcpy(text, ".", 2);
  return true;
}

int agent_place_open(const agent_server *server, const ProtobufCBinaryData *path,
                     agent_place *place) {
  place->root = place->parent = -1;
  place->follows_links = server->follows_links;
  place->name = place->text;
  if (path->len > AGENT_MAX_PATH || (path->len && memchr(path->data, 0, path->len)))
    return ERR(INVALID);
  if (!make_relative(server, path, place->text)) return ERR(OUTSIDE);
  char *slash = strrchr(place->text, '/');
  place->name = slash ? slash + 1 : place->text;
  size_t length = slash ? (size_t)(slash - place->text) : 0;
  if (length) memcpy(place->parent_text, place->text, length);
  place->parent_text[length] = '\0';
  if (!length) memcpy(place->parent_text, ".", 2);
  place->root = open_workspace(server);
  return place->root < 0 ? ERR(SYSTEM) : 0;
}

void agent_place_close(agent_place *place) {
  if (place->parent >= 0) close(place->parent);
  if (place->root >= 0) close(place->root);
  place->root = place->parent = -1;
}

static int open_prefix(const agent_place *place, const char *path) {
  return agent_open_beneath(place->root, path, O_PATH | O_DIRECTORY, 0, true, place->follows_links);
}

/* Each prefix in turn, so that a link on the way is followed as ever, and never out. */
static int make_parent(agent_place *place) {
  char *text = place->parent_text;
  int at = open_prefix(place, ".");
  for (char *end = text; at >= 0 && *end;) {
    char *name = end + strspn(end, "/");
    end = name + strcspn(name, "/");
    char saved = *end;
    *end = '\0';
    int next = open_prefix(place, text);
    if (next < 0 && errno == ENOENT && (mkdirat(at, name, 0755) == 0 || errno == EEXIST))
      next = open_prefix(place, text);
    *end = saved;
    int error = errno;
    close(at);
    errno = error;
    at = next;
  }
  return at;
}

bool agent_place_open_parent(agent_place *place, bool make) {
  if (strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0) {
    errno = EINVAL;
    return false;
  }
  place->parent = open_prefix(place, place->parent_text);
  if (place->parent < 0 && make && errno == ENOENT) place->parent = make_parent(place);
  return place->parent >= 0;
}

int agent_place_open_target(const agent_place *place, int flags, mode_t mode) {
  return agent_open_beneath(place->root, place->text, flags, mode, true, place->follows_links);
}

bool agent_chmod_at(int directory, const char *name, mode_t type, mode_t mode) {
  char link[32];
  struct stat info;
  int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  bool ok = fstat(fd, &info) == 0;
  if (ok && (info.st_mode & S_IFMT) != type) {
    errno = EINVAL;
    ok = false;
  }
  ok = ok && chmod(link, mode) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

void agent_temporary_name(char name[32]) {
  static const char digits[] = "0123456789abcdef";
  uint8_t random[8] = {0};
  if (getrandom(random, sizeof random, 0) < 0) return;
  memcpy(name, ".cofferdam-", 11);
  for (size_t i = 0; i < 16; i++)
    name[11 + i] = digits[i % 2 ? random[i / 2] & 15 : random[i / 2] >> 4];
  name[27] = '\0';
}
