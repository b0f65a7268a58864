/* SPDX-License-Identifier: Apache-2.0 */
#include "statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "show.h"

bool cli_is_stream(const char *path) {
  return strcmp(path, "-") == 0;
}

int cli_key_open(const cli_args *args, cdam_key **key) {
  *key = NULL;
  cdam_error err;
  if (!args->key_file || cdam_key_load(args->key_file, key, &err) == CDAM_OK) return CLI_OK;
  return cli_fail(args, &err, args->key_file);
}

/* ---- reading ---- */

static int cannot_read(const char *path) {
  cli_say("cannot read the state from %s: %s; check that path and its permissions",
          cli_is_stream(path) ? "standard input" : path, strerror(errno));
  return CLI_INVALID;
}

/* One byte more than a state can have shows that there is too much. */
static int read_all(const cli_args *args, int fd, const char *path, size_t most,
                    unsigned char **bytes, size_t *length) {
  const size_t size = most + 1;
  unsigned char *buffer = malloc(size);
  if (!buffer) return cli_no_memory(args);
  size_t used = 0;
  while (used < size) {
    ssize_t got = read(fd, buffer + used, size - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int code = cannot_read(path);
      free(buffer);
      return code;
    }
    if (got == 0) break;
    used += (size_t)got;
  }
  *bytes = buffer;
  *length = used;
  return CLI_OK;
}

static int read_path(const cli_args *args, const char *path, size_t most, unsigned char **bytes,
                     size_t *length) {
  *bytes = NULL;
  if (cli_is_stream(path)) return read_all(args, STDIN_FILENO, path, most, bytes, length);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(path);
  int code = read_all(args, fd, path, most, bytes, length);
  close(fd);
  return code;
}

int cli_bytes_read(const cli_args *args, const char *path, unsigned char **bytes, size_t *length) {
  return read_path(args, path, CDAM_STATE_MAX_BYTES, bytes, length);
}

int cli_text_read(const cli_args *args, const char *path, size_t most, char **text,
                  size_t *length) {
  unsigned char *bytes;
  int code = read_path(args, path, most, &bytes, length);
  *text = (char *)bytes;
  return code;
}

int cli_state_read(const cli_args *args, const char *path, const cdam_key *key,
                   cdam_state **state) {
  *state = NULL;
  unsigned char *bytes = NULL;
  size_t length = 0;
  int code = cli_bytes_read(args, path, &bytes, &length);
  if (code != CLI_OK) return code;
  cdam_error err;
  if (cdam_state_parse(bytes, length, key, state, &err) != CDAM_OK)
    code = cli_fail(args, &err, path);
  free(bytes);
  return code;
}

int cli_with_state(const cli_args *args,
                   int (*use)(const cli_args *args, const cdam_state *state)) {
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  int code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->operands[0], key, &state);
  if (code == CLI_OK) code = use(args, state);
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

/* ---- writing ---- */

static int write_stdout(const cli_args *args, const cdam_state *state, const cdam_key *key) {
  unsigned char *bytes = NULL;
  size_t length = 0;
  cdam_error err;
  if (cdam_state_serialize(state, key, &bytes, &length, &err) != CDAM_OK)
    return cli_fail(args, &err, "-");
  bool ok = fwrite(bytes, 1, length, stdout) == length && fflush(stdout) == 0;
  free(bytes);
  if (ok) return CLI_OK;
  cli_say("cannot write the state to standard output: %s; check where it goes", strerror(errno));
  return CLI_INVALID;
}

int cli_state_write(const cli_args *args, const char *path, const cdam_state *state,
                    const cdam_key *key) {
  if (cli_is_stream(path)) return write_stdout(args, state, key);
  char *target = realpath(path, NULL);
  if (!target && errno != ENOENT) {
    cli_say("cannot write %s: %s; check that path", path, strerror(errno));
    return CLI_INVALID;
  }
  cdam_error err;
  cdam_status status = cdam_state_save(state, target ? target : path, key, &err);
  free(target);
  return status == CDAM_OK ? CLI_OK : cli_fail(args, &err, path);
}

/* Takes the place of a claimed file, all or nothing. */
static bool write_text_file(const char *path, const char *text) {
  char *temporary = NULL;
  if (asprintf(&temporary, "%s.XXXXXX", path) < 0) return false;
  int fd = mkostemp(temporary, O_CLOEXEC);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  bool ok = file && fprintf(file, "%s\n", text) > 0 && fflush(file) == 0 && fsync(fd) == 0;
  if (file)
    ok = fclose(file) == 0 && ok;
  else if (fd >= 0)
    close(fd);
  ok = ok && rename(temporary, path) == 0;
  int reason = errno;
  if (fd >= 0 && !ok) unlink(temporary);
  free(temporary);
  errno = reason;
  return ok;
}

int cli_text_write(const cli_args *args, const char *path, const char *text) {
  if (cli_is_stream(path)) {
    cli_put_json_text(text);
    return cli_finish_stdout(args);
  }
  if (write_text_file(path, text)) return CLI_OK;
  cli_say("cannot write %s: %s; check that path", path, strerror(errno));
  return CLI_INVALID;
}

static int refuse_terminal(const cli_args *args) {
  if (!isatty(STDOUT_FILENO)) return CLI_OK;
  return cli_usage(args->command,
                   "a state is binary and standard output is a terminal: send it to a file");
}

/* The file is replaced by another one, so what counts is its directory. */
static int check_directory(const char *path) {
  char *target = realpath(path, NULL);
  if (!target) target = strdup(path);
  bool ok = target && access(dirname(target), W_OK | X_OK) == 0;
  int reason = errno;
  free(target);
  if (ok) return CLI_OK;
  cli_say("cannot write %s: its directory: %s; nothing was done", path, strerror(reason));
  return CLI_INVALID;
}

int cli_state_check_writable(const cli_args *args, const char *path) {
  return cli_is_stream(path) ? refuse_terminal(args) : check_directory(path);
}

/* ---- claims ---- */

static bool same_file(int fd, const char *path) {
  struct stat by_fd, by_path;
  return fstat(fd, &by_fd) == 0 && stat(path, &by_path) == 0 && by_fd.st_dev == by_path.st_dev &&
         by_fd.st_ino == by_path.st_ino;
}

static int check_claim(cli_claim *claim) {
  const char *path = claim->path;
  int fd = claim->fd;
  struct stat now;
  if (fstat(fd, &now) == 0 && !S_ISREG(now.st_mode)) {
    cli_say("%s is not a regular file; use another name, or - for standard output", path);
    return CLI_INVALID;
  }
  bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  /* Another one has locked what we made before we did, and the file is now its own. */
  if (busy) claim->made = false;
  /* Whoever held the lock before us has put a state there by renaming. */
  if (busy || !same_file(fd, path)) {
    cli_say("%s is being written by another cofferdam; use another name", path);
    return CLI_INVALID;
  }
  if (fstat(fd, &now) == 0 && now.st_size == 0) return check_directory(path);
  cli_say("%s exists and may be the only way back to a sandbox; "
          "use another name, or end that sandbox with 'cofferdam rm'",
          path);
  return CLI_INVALID;
}

int cli_claim_new_file(const cli_args *args, const char *path, cli_claim *claim) {
  *claim = (cli_claim){.path = path, .fd = -1};
  if (cli_is_stream(path)) return refuse_terminal(args);
  const int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  claim->fd = open(path, flags | O_CREAT | O_EXCL, 0600);
  claim->made = claim->fd >= 0;
  if (claim->fd < 0) claim->fd = open(path, flags | O_CREAT, 0600);
  if (claim->fd < 0) {
    cli_say("cannot write %s: %s; nothing was done", path, strerror(errno));
    return CLI_INVALID;
  }
  int code = check_claim(claim);
  if (code != CLI_OK) cli_claim_release(claim);
  return code;
}

void cli_claim_release(cli_claim *claim) {
  if (claim->fd < 0) return;
  if (claim->made && same_file(claim->fd, claim->path)) unlink(claim->path);
  close(claim->fd);
  claim->fd = -1;
}
