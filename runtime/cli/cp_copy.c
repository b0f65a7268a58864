/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cp.h"
#include "files.h"
#include "interrupt.h"
#include "report.h"

typedef struct job {
  const cli_copy *copy;
  cdam_loop *loop;
  cdam_session *session;
  cdam_operation *operation;
  int signals; /* readable when one of those that are held has come */
  cli_hold hold;
  bool over;
  cdam_status status;
  cdam_error error;
  uint64_t skipped;
  cdam_file_list *list;
} job;

/* ---- waiting ---- */

static void end(job *j, cdam_status status, const cdam_error *err) {
  j->over = true;
  j->status = status;
  if (status != CDAM_OK) j->error = *err;
}

static void took_tree(void *user, cdam_status status, const cdam_tree_result *result,
                      const cdam_error *err) {
  job *j = user;
  j->skipped = result->skipped;
  end(j, status, err);
}

static void took_list(void *user, cdam_status status, cdam_file_list *list, const cdam_error *err) {
  job *j = user;
  j->list = list;
  end(j, status, err);
}

static void took_end(void *user, cdam_status status, const cdam_error *err) {
  end(user, status, err);
}

/* The operation that was started, to its end; an interrupt cancels it, and then nothing half is
 * left here. `started` is what its start said, with the job's error. */
static cdam_status wait_for(job *j, cdam_status started) {
  bool cancelled = false;
  if (started != CDAM_OK) return started;
  j->over = false;
  for (;;) {
    cdam_loop_dispatch(j->loop);
    if (j->over) return j->status;
    if (cli_interrupted(&j->hold) && !cancelled) {
      cancelled = true;
      cdam_cancel(j->operation);
      continue;
    }
    struct pollfd ready[] = {{.fd = cdam_loop_fd(j->loop), .events = POLLIN},
                             {.fd = cancelled ? -1 : j->signals, .events = POLLIN}};
    poll(ready, 2, -1);
  }
}

static int fail(const job *j) {
  return j->status == CDAM_ERR_CANCELLED ? CLI_FILE_FAILED
                                         : cli_fail_file(j->copy->args, &j->error);
}

/* ---- paths ---- */

static bool ends_in_slash(const char *path) {
  size_t length = strlen(path);
  return length && path[length - 1] == '/';
}

/* Its own name, without slashes at the end; NULL for those that have none: "", "/", ".", "..".
 * Free with free(). False when out of memory. */
static bool own_name(const char *path, char **name) {
  size_t length = strlen(path);
  while (length && path[length - 1] == '/')
    length--;
  size_t begin = length;
  while (begin && path[begin - 1] != '/')
    begin--;
  *name = NULL;
  const char *at = path + begin;
  length -= begin;
  if (length == 0 || (length == 1 && at[0] == '.') || (length == 2 && memcmp(at, "..", 2) == 0))
    return true;
  *name = strndup(at, length);
  return *name != NULL;
}

/* DST, or what SRC becomes in it. NULL when out of memory. */
static char *target_of(const char *from, const char *to, bool into) {
  char *name = NULL, *path = NULL;
  if (into && !own_name(from, &name)) return NULL;
  const char *slash = !name || !*to || ends_in_slash(to) ? "" : "/";
  if (asprintf(&path, "%s%s%s", to, slash, name ? name : "") < 0) path = NULL;
  free(name);
  return path;
}

/* The rules of cp for a DST of this kind, when SRC is a directory or something else. */
static int check_kinds(const char *to, bool from_directory, bool exists, bool to_directory,
                       bool inside) {
  const char *colon = inside ? ":" : "";
  if (exists && !to_directory && (from_directory || ends_in_slash(to))) {
    cli_say("'%s%s' is not a directory", colon, to);
    return CLI_FILE_FAILED;
  }
  if (!exists && !from_directory && ends_in_slash(to)) {
    cli_say("there is no directory '%s%s'", colon, to);
    return CLI_FILE_FAILED;
  }
  return CLI_OK;
}

/* ---- in ---- */

/* What is at a path in the sandbox; CDAM_FILE_UNKNOWN: nothing. */
static int look(job *j, const char *path, bool follow, cdam_file_type *type) {
  *type = CDAM_FILE_UNKNOWN;
  cdam_status status = wait_for(j, cdam_file_stat_start(j->loop, j->session, path, follow,
                                                        took_list, j, &j->operation, &j->error));
  if (status == CDAM_ERR_FILE && j->error.system_errno == ENOENT) return CLI_OK;
  if (status != CDAM_OK) return fail(j);
  const cdam_file_info *info = cdam_file_list_get(j->list, 0);
  if (info) *type = info->type;
  cdam_file_list_free(j->list);
  j->list = NULL;
  return CLI_OK;
}

static int fail_local(const char *path) {
  cli_say("cannot read '%s': %s", path, strerror(errno));
  return CLI_FILE_FAILED;
}

/* A single file is written under a temporary name, so that an existing one is whole at any time. */
static int send_file(job *j, int fd, const struct stat *info, const char *to) {
  const cdam_source source = {.from_fd = true, .fd = fd};
  const cdam_file_write_options options = {.permissions = info->st_mode & 07777,
                                           .set_permissions = true,
                                           .set_owner = j->copy->args->keep_owner,
                                           .uid = info->st_uid,
                                           .gid = info->st_gid};
  const cdam_file_attributes attributes = {.set_mtime = true,
                                           .mtime = info->st_mtim.tv_sec,
                                           .mtime_ns = (uint32_t)info->st_mtim.tv_nsec};
  if (wait_for(j, cdam_file_write_start(j->loop, j->session, to, &source, &options, took_end, j,
                                        &j->operation, &j->error)) != CDAM_OK)
    return fail(j);
  if (wait_for(j, cdam_file_set_attributes_start(j->loop, j->session, to, &attributes, took_end, j,
                                                 &j->operation, &j->error)) != CDAM_OK)
    return fail(j);
  return CLI_OK;
}

static int send_regular(job *j, const char *to) {
  struct stat info;
  int fd = open(j->copy->local, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int code = CLI_OK;
  if (fd < 0 || fstat(fd, &info) != 0)
    code = fail_local(j->copy->local);
  else
    code = send_file(j, fd, &info, to);
  if (fd >= 0) close(fd);
  return code;
}

static int send_tree(job *j, const char *from, const char *to) {
  const cdam_tree_options options = {.keep_owner = j->copy->args->keep_owner, .replace = true};
  if (wait_for(j, cdam_tree_upload_start(j->loop, j->session, from, to, &options, took_tree, j,
                                         &j->operation, &j->error)) != CDAM_OK)
    return fail(j);
  return cli_copy_report(j->skipped);
}

/* "link/" is what the link leads to; the library would take the link. */
static int send_to(job *j, mode_t kind, const char *to) {
  char *from = NULL;
  if (S_ISREG(kind)) return send_regular(j, to);
  if (asprintf(&from, "%s%s", j->copy->local, ends_in_slash(j->copy->local) ? "." : "") < 0)
    return cli_no_memory(j->copy->args);
  int code = send_tree(j, from, to);
  free(from);
  return code;
}

static int copy_in(job *j) {
  const cli_copy *copy = j->copy;
  struct stat info;
  cdam_file_type type;
  if (lstat(copy->local, &info) != 0) return fail_local(copy->local);
  int code = look(j, copy->inside, true, &type);
  bool into = type == CDAM_FILE_DIRECTORY;
  if (code == CLI_OK)
    code = check_kinds(copy->inside, S_ISDIR(info.st_mode), type != CDAM_FILE_UNKNOWN, into, true);
  if (code != CLI_OK) return code;
  char *to = target_of(copy->local, copy->inside, into);
  if (!to) return cli_no_memory(copy->args);
  code = send_to(j, info.st_mode, to);
  free(to);
  return code;
}

/* ---- out ---- */

static int fetch(job *j, const char *from, const char *to) {
  const cdam_tree_options options = {.keep_owner = j->copy->args->keep_owner, .replace = true};
  if (wait_for(j, cdam_tree_download_start(j->loop, j->session, from, to, &options, took_tree, j,
                                           &j->operation, &j->error)) != CDAM_OK)
    return fail(j);
  return cli_copy_report(j->skipped);
}

static int fetch_to(job *j, const char *to) {
  char *from = NULL;
  const char *inside = j->copy->inside;
  if (asprintf(&from, "%s%s", inside, ends_in_slash(inside) ? "." : "") < 0)
    return cli_no_memory(j->copy->args);
  int code = fetch(j, from, to);
  free(from);
  return code;
}

/* What SRC is. A link is not copied here, since all that it leads to is outside of the copy. */
static int look_at_source(job *j, cdam_file_type *type) {
  const char *inside = j->copy->inside;
  int code = look(j, inside, ends_in_slash(inside), type);
  if (code != CLI_OK) return code;
  if (*type == CDAM_FILE_UNKNOWN) {
    cli_say("there is no ':%s' in the sandbox", inside);
    return CLI_FILE_FAILED;
  }
  if (*type != CDAM_FILE_LINK) return CLI_OK;
  cli_say("':%s' is a symbolic link; name what it leads to, or put a slash behind it", inside);
  return CLI_FILE_FAILED;
}

static int copy_out(job *j) {
  const cli_copy *copy = j->copy;
  struct stat info;
  cdam_file_type type;
  bool exists = stat(copy->local, &info) == 0;
  if (!exists && errno != ENOENT && errno != ENOTDIR) return fail_local(copy->local);
  int code = look_at_source(j, &type);
  bool into = exists && S_ISDIR(info.st_mode);
  if (code == CLI_OK)
    code = check_kinds(copy->local, type == CDAM_FILE_DIRECTORY, exists, into, false);
  if (code != CLI_OK) return code;
  char *to = target_of(copy->inside, copy->local, into);
  if (!to) return cli_no_memory(copy->args);
  code = fetch_to(j, to);
  free(to);
  return code;
}

/* ---- the job ---- */

int cli_copy_run(const cli_copy *copy) {
  job j = {.copy = copy, .session = copy->sandbox->session};
  if (cdam_loop_new(copy->sandbox->client, &j.loop, &j.error) != CDAM_OK)
    return cli_fail(copy->args, &j.error, NULL);
  cli_hold_signals(&j.hold);
  j.signals = signalfd(-1, &j.hold.held, SFD_CLOEXEC | SFD_NONBLOCK);
  int code = CLI_FILE_FAILED;
  if (j.signals < 0)
    cli_say("cannot wait for signals: %s", strerror(errno));
  else
    code = copy->up ? copy_in(&j) : copy_out(&j);
  if (j.signals >= 0) close(j.signals);
  cdam_loop_free(j.loop);
  cli_release_signals(&j.hold);
  return code;
}
