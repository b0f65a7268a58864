/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in a sandbox's workspace (/workspace unless the options say otherwise).
 *
 * Paths are relative to the workspace, or absolute within it; "" is the workspace. No path and no
 * symbolic link leads out of it, whatever code in the sandbox does meanwhile: CDAM_ERR_OUTSIDE. An
 * absolute link is refused. Names are bytes, as the kernel has them. Operations run as the
 * sandbox's user.
 *
 * A sandbox without the agent (cdam_session_has_agent) does all but watching (CDAM_ERR_NO_AGENT) by
 * the engine's exec and a fixed script for the image's /bin/sh. There
 *  - an operation takes a hundred times as long, and each has a connection to the engine;
 *  - the image must have /bin/sh and, as busybox, Debian and Alpine have them, cat chmod chown dd
 *    head ln mkdir mkfifo mv readlink rm rmdir stat sync tail touch xargs: those that an operation
 *    needs. Otherwise CDAM_ERR_NO_AGENT, which names what is missing;
 *  - a link in the path is followed or refused as above, but one that takes the place of the last
 *    name just when that is opened is followed wherever it leads;
 *  - a workspace that is behind a link is refused, and one that was removed is made anew;
 *  - what replaces a link, or a directory by a rename, removes it first; a rename that must not
 *    replace may come just after another one; a rename across file systems copies;
 *  - mtime_ns is 0 and is not set, and what sets mtime sets the time of access as well;
 *  - system_errno comes from the words of a tool; EIO when they say nothing that is known;
 *  - code with the sandbox's user can end or deceive the script. When this program dies in the
 *    middle, a write undoes itself; of what else was begun, it may go on.
 *
 * Any of them can fail with CDAM_ERR_ARGUMENT, CDAM_ERR_FILE (system_errno says what the system
 * call said: ENOENT, EACCES, ENOSPC, ...), CDAM_ERR_OUTSIDE, CDAM_ERR_LIMIT, CDAM_ERR_NO_AGENT,
 * CDAM_ERR_AGENT, CDAM_ERR_PAUSED, CDAM_ERR_EXITED, CDAM_ERR_NOT_FOUND (the container's),
 * CDAM_ERR_NO_MEMORY, and the engine's errors.
 *
 * An operation has no time limit as a whole: CDAM_ERR_AGENT comes when nothing has moved for the
 * client's timeout (for ten times that while a tree is removed). The time that a source or sink of
 * the program takes is not counted. Inside of a blocking call their callbacks may not make another
 * one with the same session: CDAM_ERR_ARGUMENT.
 */
#ifndef COFFERDAM_FILE_H
#define COFFERDAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/loop.h>
#include <cofferdam/session.h>
#include <cofferdam/stream.h>

CDAM_BEGIN_DECLS

/* ---- content ---- */

/* Reads a file into memory: *bytes (free with free(), a NUL behind them) and *length. More than
 * `limit` bytes: CDAM_ERR_FILE with EFBIG, and nothing is handed out. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_read(cdam_session *session, const char *path,
                                               size_t limit, char **bytes, size_t *length,
                                               cdam_error *err);

/* Reads a part of a file, or all of it (0, 0), of any size in constant memory. What
 * `sink` has taken when an error comes it keeps. CDAM_ERR_IO: the sink failed. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_read_to(cdam_session *session, const char *path,
                                                  uint64_t offset, uint64_t length,
                                                  const cdam_sink *sink, cdam_error *err);

typedef enum cdam_file_write_mode {
  CDAM_FILE_REPLACE = 0, /* a temporary file, renamed when complete; a link is replaced */
  CDAM_FILE_CREATE = 1,  /* likewise, but EEXIST when the name exists */
  CDAM_FILE_APPEND = 2,  /* at the end of the file, which is made when missing */
  CDAM_FILE_IN_PLACE = 3 /* into the existing file from `offset` on */
} cdam_file_write_mode;

/* Start with {0}. */
typedef struct cdam_file_write_options {
  cdam_file_write_mode mode;
  uint32_t permissions; /* 07777 at most; see set_permissions */
  uint32_t uid, gid;    /* see set_owner */
  uint64_t offset;      /* CDAM_FILE_IN_PLACE */
  bool set_permissions; /* else 0644, or the replaced file's */
  bool set_owner;       /* else the sandbox's user, or the replaced file's */
  bool sync;            /* fsync the file and its directory */
  bool parents;         /* make missing directories */
  bool reserved[12];    /* false */
} cdam_file_write_options;

/* Writes a file from `source`, of any size in constant memory. With REPLACE and CREATE a reader
 * sees the old file or the whole new one, and after an error the old one. `options` may be NULL.
 * CDAM_ERR_IO: the source failed. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_write(cdam_session *session, const char *path,
                                                const cdam_source *source,
                                                const cdam_file_write_options *options,
                                                cdam_error *err);

/* ---- names ---- */

typedef enum cdam_file_type {
  CDAM_FILE_UNKNOWN = 0,
  CDAM_FILE_REGULAR = 1,
  CDAM_FILE_DIRECTORY = 2,
  CDAM_FILE_LINK = 3, /* symbolic */
  CDAM_FILE_PIPE = 4,
  CDAM_FILE_SOCKET = 5,
  CDAM_FILE_CHARACTER_DEVICE = 6,
  CDAM_FILE_BLOCK_DEVICE = 7
} cdam_file_type;

typedef struct cdam_file_info {
  const char *name;   /* in a listing; else "". Any bytes but NUL and '/' */
  const char *target; /* of a link; else "" */
  cdam_file_type type;
  uint32_t permissions; /* 07777 */
  uint32_t uid, gid;
  uint64_t size;
  int64_t mtime; /* seconds since the epoch */
  uint32_t mtime_ns;
  uint64_t inode, device;
  uint32_t links;
} cdam_file_info;

/* What was found. Opaque. Free with cdam_file_list_free. */
typedef struct cdam_file_list cdam_file_list;

/* One thing, in a list of one entry; a link itself unless `follow`. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_stat(cdam_session *session, const char *path, bool follow,
                                               cdam_file_list **out, cdam_error *err);

/* Is there something of that name (a link that leads nowhere counts)? Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_exists(cdam_session *session, const char *path,
                                                 bool *exists, cdam_error *err);

/* What is in a directory, sorted by bytes, without "." and "..". More than 1,000,000 entries, or
 * 256 MiB of them: CDAM_ERR_LIMIT. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_list_directory(cdam_session *session, const char *path,
                                                         cdam_file_list **out, cdam_error *err);

/* NULL is fine. Since 0.1. */
CDAM_API void cdam_file_list_free(cdam_file_list *list);

/* 0 for NULL. Since 0.1. */
CDAM_API size_t cdam_file_list_count(const cdam_file_list *list);

/* Entry `index`, or NULL out of range. Belongs to the list. Since 0.1. */
CDAM_API const cdam_file_info *cdam_file_list_get(const cdam_file_list *list, size_t index);

/* `parents`: as mkdir -p, also no error when it is there. permissions 0: 0755. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_make_directory(cdam_session *session, const char *path,
                                                         uint32_t permissions, bool parents,
                                                         cdam_error *err);

/* A file, link or empty directory; with `recursive` a tree, in which links are removed and not
 * followed. `missing_ok`: no error when it is not there. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_remove(cdam_session *session, const char *path,
                                                 bool recursive, bool missing_ok, cdam_error *err);

/* As rename(2); with no_replace EEXIST when `to` is there. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_rename(cdam_session *session, const char *from,
                                                 const char *to, bool no_replace, cdam_error *err);

/* A symbolic link with this text, or, with `hard`, another name of a file in the workspace.
 * Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_make_link(cdam_session *session, const char *path,
                                                    const char *target, bool hard, cdam_error *err);

/* What to change. Start with {0}. */
typedef struct cdam_file_attributes {
  bool follow; /* a link at the end */
  bool set_permissions, set_owner, set_mtime, set_size;
  uint32_t permissions;
  uint32_t uid, gid; /* UINT32_MAX: as it is */
  int64_t mtime;
  uint32_t mtime_ns;
  uint64_t size;
  bool reserved[16]; /* false */
} cdam_file_attributes;

/* Changes what is set. A size makes a file shorter, or longer by zeros. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_set_attributes(cdam_session *session, const char *path,
                                                         const cdam_file_attributes *attributes,
                                                         cdam_error *err);

/* ---- watching ---- */

typedef enum cdam_file_event_kind {
  CDAM_FILE_NOTHING = 0, /* nothing within the time */
  CDAM_FILE_CREATED = 1,
  CDAM_FILE_MODIFIED = 2,
  CDAM_FILE_CLOSED = 3, /* after writing */
  CDAM_FILE_REMOVED = 4,
  CDAM_FILE_MOVED_FROM = 5,
  CDAM_FILE_MOVED_TO = 6,
  CDAM_FILE_ATTRIBUTES = 7,
  CDAM_FILE_OVERFLOW = 8, /* events were lost */
  CDAM_FILE_GONE = 9      /* the watched thing itself; nothing follows */
} cdam_file_event_kind;

typedef struct cdam_file_event {
  cdam_file_event_kind kind;
  const char *name; /* within a watched directory; "" is the thing itself. Until the next call */
  bool is_directory;
  uint32_t cookie; /* pairs MOVED_FROM with MOVED_TO */
} cdam_file_event;

/* A watch on a file or one directory (not on what is below). Opaque. As with a process: one thread
 * at a time, and what is not fetched is bounded: it ends in CDAM_FILE_OVERFLOW. */
typedef struct cdam_file_watch cdam_file_watch;

/* From its return on nothing is missed. Free with cdam_file_watch_free. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_watch_new(cdam_session *session, const char *path,
                                                    cdam_file_watch **out, cdam_error *err);

/* The next event; waits as cdam_process_next does. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_file_watch_next(cdam_file_watch *watch, int64_t timeout_ms,
                                                     cdam_file_event *event, cdam_error *err);

/* Ends the watch. NULL is fine. Since 0.1. */
CDAM_API void cdam_file_watch_free(cdam_file_watch *watch);

/* ---- in a loop ----
 *
 * The calls of the same names; see <cofferdam/loop.h>. A source or sink that is a callback is
 * called in cdam_loop_dispatch; one that is a descriptor is waited for in the loop. What it points
 * to is borrowed until the operation's callback. A replacing or creating write that is cancelled
 * leaves what was there before, and nothing else; of others, what was done already stays.
 * Since 0.1.
 */

/* Free `bytes` with free(). */
typedef void (*cdam_file_read_callback)(void *user, cdam_status status, char *bytes, size_t length,
                                        const cdam_error *err);

/* Of cdam_file_stat_start and cdam_file_list_directory_start. Free with cdam_file_list_free. */
typedef void (*cdam_file_list_callback)(void *user, cdam_status status, cdam_file_list *list,
                                        const cdam_error *err);

typedef void (*cdam_file_exists_callback)(void *user, cdam_status status, bool exists,
                                          const cdam_error *err);

/* Free with cdam_file_watch_free. */
typedef void (*cdam_file_watch_callback)(void *user, cdam_status status, cdam_file_watch *watch,
                                         const cdam_error *err);

/* There may be events: cdam_file_watch_next until CDAM_FILE_NOTHING. */
typedef void (*cdam_file_watch_ready)(void *user, cdam_file_watch *watch);

CDAM_API CDAM_CHECK cdam_status cdam_file_read_start(cdam_loop *loop, cdam_session *session,
                                                     const char *path, size_t limit,
                                                     cdam_file_read_callback callback, void *user,
                                                     cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_read_to_start(cdam_loop *loop, cdam_session *session,
                                                        const char *path, uint64_t offset,
                                                        uint64_t length, const cdam_sink *sink,
                                                        cdam_done_callback callback, void *user,
                                                        cdam_operation **operation,
                                                        cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_write_start(cdam_loop *loop, cdam_session *session,
                                                      const char *path, const cdam_source *source,
                                                      const cdam_file_write_options *options,
                                                      cdam_done_callback callback, void *user,
                                                      cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_stat_start(cdam_loop *loop, cdam_session *session,
                                                     const char *path, bool follow,
                                                     cdam_file_list_callback callback, void *user,
                                                     cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_exists_start(cdam_loop *loop, cdam_session *session,
                                                       const char *path,
                                                       cdam_file_exists_callback callback,
                                                       void *user, cdam_operation **operation,
                                                       cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_list_directory_start(
    cdam_loop *loop, cdam_session *session, const char *path, cdam_file_list_callback callback,
    void *user, cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_make_directory_start(
    cdam_loop *loop, cdam_session *session, const char *path, uint32_t permissions, bool parents,
    cdam_done_callback callback, void *user, cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_remove_start(cdam_loop *loop, cdam_session *session,
                                                       const char *path, bool recursive,
                                                       bool missing_ok, cdam_done_callback callback,
                                                       void *user, cdam_operation **operation,
                                                       cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_rename_start(cdam_loop *loop, cdam_session *session,
                                                       const char *from, const char *to,
                                                       bool no_replace, cdam_done_callback callback,
                                                       void *user, cdam_operation **operation,
                                                       cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_make_link_start(cdam_loop *loop, cdam_session *session,
                                                          const char *path, const char *target,
                                                          bool hard, cdam_done_callback callback,
                                                          void *user, cdam_operation **operation,
                                                          cdam_error *err);
CDAM_API CDAM_CHECK cdam_status
cdam_file_set_attributes_start(cdam_loop *loop, cdam_session *session, const char *path,
                               const cdam_file_attributes *attributes, cdam_done_callback callback,
                               void *user, cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_file_watch_new_start(cdam_loop *loop, cdam_session *session,
                                                          const char *path,
                                                          cdam_file_watch_callback callback,
                                                          void *user, cdam_operation **operation,
                                                          cdam_error *err);

/* Sets or, with NULL, clears the callback of a watch of a loop. Since 0.1. */
CDAM_API void cdam_file_watch_on_ready(cdam_file_watch *watch, cdam_file_watch_ready ready,
                                       void *user);

CDAM_END_DECLS

#endif
