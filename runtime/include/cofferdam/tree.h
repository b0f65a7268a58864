/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directory trees, into a sandbox and out of it: from and to a directory of this machine, or as a
 * tar archive from a source or to a sink. In constant memory for any size. What file.h says about
 * paths and errors holds here.
 *
 * What comes out of a sandbox is untrusted: below the local directory no link is followed and none
 * that leads out is made, no device and no set-user-id bit comes over, and nothing is made outside.
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
  bool reserved[11];
} cdam_tree_options;

/* What was done. */
typedef struct cdam_tree_result {
  uint64_t entries;
  uint64_t bytes;
  uint64_t skipped; /* sockets, devices, and what keep_going left out */
} cdam_tree_result;

/* Copies a local file or directory to `path` in the sandbox, which becomes its copy (made when it
 * is not there). Local symbolic links are copied and not followed. On an error what was made so far
 * stays. CDAM_ERR_IO: the local side. `options` and `result` may be NULL. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_upload(cdam_session *session, const char *local,
                                                 const char *path, const cdam_tree_options *options,
                                                 cdam_tree_result *result, cdam_error *err);

/* Copies a file or tree of the sandbox to `local`, which becomes its copy. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_download(cdam_session *session, const char *path,
                                                   const char *local,
                                                   const cdam_tree_options *options,
                                                   cdam_tree_result *result, cdam_error *err);

/* The same with a tar archive (any that libarchive reads; written as pax), whose entries are below
 * `path`. CDAM_ERR_IO: what was read is no archive. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_tree_upload_tar(cdam_session *session,
                                                     const cdam_source *source, const char *path,
                                                     const cdam_tree_options *options,
                                                     cdam_tree_result *result, cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_tree_download_tar(cdam_session *session, const char *path,
                                                       const cdam_sink *sink,
                                                       const cdam_tree_options *options,
                                                       cdam_tree_result *result, cdam_error *err);

CDAM_END_DECLS

#endif
