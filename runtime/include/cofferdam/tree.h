/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directory trees, into a sandbox and out of it: from and to a directory of this machine, or as a
 * tar archive from a source or to a sink. In constant memory for any size. What file.h says about
 * paths and errors holds here.
 *
 * What comes out of a sandbox is untrusted. Below the local directory nothing follows a link, no
 * device and no set-id bit comes over, a hard link is only made to a file of the same copy, and a
 * symbolic link only when it cannot lead out: not an absolute one, nor one that has more ".." than
 * directories above it, nor one with ".." behind a name (which may be a link itself). Those are
 * left out and counted. A tar archive has links and modes as they are: take care when it is
 * unpacked.
 *
 * Trees are at most 128 directories deep. A file is copied as long as it was when it was opened;
 * when it then turns out shorter, an upload fails with CDAM_ERR_IO, and a download has what there
 * was. On an error, what was made so far stays, but no half file: each has a temporary name
 * (".cofferdam-" and 16 digits) until it is complete.
 *
 * Without the agent (file.h) each file of a tree costs some processes in the sandbox, and content
 * comes once for each of a file's names.
 */
#ifndef COFFERDAM_TREE_H
#define COFFERDAM_TREE_H

#include <cofferdam/file.h>

CDAM_BEGIN_DECLS

/* Start with {0}. */
typedef struct cdam_tree_options {
  bool keep_owner; /* uid and gid come over; else the sandbox's user, or this process's */
  bool replace;    /* existing files and links may be replaced; directories are merged either way */
  bool parents;    /* upload: make missing directories above the top */
  bool sync;       /* upload: fsync */
  bool keep_going; /* download: leave out what cannot be read, and count it */
  bool reserved[11]; /* false */
} cdam_tree_options;

/* What was done, also by a call that failed: so far as it is known then. */
typedef struct cdam_tree_result {
  uint64_t entries;
  uint64_t bytes;
  uint64_t skipped; /* sockets, devices, links that lead out, and what keep_going left out */
} cdam_tree_result;

/* Copies a local file or directory to `path` in the sandbox, which becomes its copy (made when it
 * is not there; an existing directory is merged, and gets mode and time of the copied one). Local
 * symbolic links are copied and not followed. CDAM_ERR_IO: the local side. `options` and `result`
 * may be NULL. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_upload(cdam_session *session, const char *local,
                                                 const char *path, const cdam_tree_options *options,
                                                 cdam_tree_result *result, cdam_error *err);

/* Copies a file or tree of the sandbox to `local`, which becomes its copy likewise. A symbolic link
 * at the end of either path is not followed. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_download(cdam_session *session, const char *path,
                                                   const char *local,
                                                   const cdam_tree_options *options,
                                                   cdam_tree_result *result, cdam_error *err);

/* The same with an archive, whose entries are below `path`. It may be of any format that libarchive
 * reads (but mtree, which would read other local files) and compressed; its entries may be in any
 * order, and directories need no entries of their own. A name that is absolute or has ".." is
 * refused. CDAM_ERR_IO: what was read is no archive, or damaged.
 *
 * Written is a pax archive, in which a directory's own entry is "./" and the rest relative to it; a
 * file's has its name.
 *
 * A directory that is only implied, or met again, keeps the mode and time that it has (0755 and now
 * when it is made). Names are bytes where the program's locale is C or UTF-8.
 *
 * An archive is read and written as it streams, so these calls wait: there are no _start forms. In
 * a program with an event loop, use them in a thread with a session of its own. libarchive ends the
 * process when it has no memory for some of what it keeps. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_upload_tar(cdam_session *session,
                                                     const cdam_source *source, const char *path,
                                                     const cdam_tree_options *options,
                                                     cdam_tree_result *result, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_tree_download_tar(cdam_session *session, const char *path,
                                                       const cdam_sink *sink,
                                                       const cdam_tree_options *options,
                                                       cdam_tree_result *result, cdam_error *err);

/* ---- in a loop ----
 *
 * The calls of the same names; see <cofferdam/loop.h>. Local files are read and written in the
 * dispatch, some at a time. A cancelled one stops at once, as after an error. Since 0.1. */

/* `result` is never NULL, and lives until the callback returns. */
typedef void (*cdam_tree_callback)(void *user, cdam_status status, const cdam_tree_result *result,
                                   const cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_tree_upload_start(cdam_loop *loop, cdam_session *session,
                                                       const char *local, const char *path,
                                                       const cdam_tree_options *options,
                                                       cdam_tree_callback callback, void *user,
                                                       cdam_operation **operation, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_tree_download_start(cdam_loop *loop, cdam_session *session,
                                                         const char *path, const char *local,
                                                         const cdam_tree_options *options,
                                                         cdam_tree_callback callback, void *user,
                                                         cdam_operation **operation,
                                                         cdam_error *err);

CDAM_END_DECLS

#endif
