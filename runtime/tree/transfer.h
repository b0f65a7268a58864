/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees on a channel: an upload pulls the parts of a feed and sends them as the channel takes them,
 * a download pushes what comes into a target. Each is a request as those of file/request.h.
 */
#ifndef COFFERDAM_TREE_TRANSFER_H
#define COFFERDAM_TREE_TRANSFER_H

#include "file/request.h"
#include "tree/part.h"

/* The beginning of either. */
typedef struct cdam_tree_transfer {
  cdam_file_request request; /* first */
  cdam_tree_result result;
  cdam_tree_callback callback; /* or NULL */
} cdam_tree_transfer;

/* Both take the feed or target over, also when they fail. */
cdam_status cdam_tree_upload_new(const cdam_session *session, const char *path,
                                 const cdam_tree_options *options, cdam_tree_feed *feed,
                                 cdam_tree_transfer **out, cdam_error *err);
cdam_status cdam_tree_download_new(const cdam_session *session, const char *path,
                                   const cdam_tree_options *options, cdam_tree_target *target,
                                   cdam_tree_transfer **out, cdam_error *err);

/* Of an upload whose feed may block, so that it must not be asked where steps run: whoever turns
 * the loop pushes it from outside, when it wants that. */
void cdam_tree_upload_set_outside(cdam_tree_transfer *upload);
bool cdam_tree_upload_wants_push(const cdam_tree_transfer *upload);
void cdam_tree_upload_push(cdam_tree_transfer *upload);

/* For the `done` of a channel: names the thing in the tree that the error is about. */
void cdam_tree_take_done(cdam_tree_transfer *transfer, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done);

/* CDAM_ERR_ARGUMENT; `options` may be NULL. */
cdam_status cdam_tree_check(const cdam_session *session, const cdam_tree_options *options,
                            cdam_error *err);

/* The blocking call; frees it. */
cdam_status cdam_tree_run(cdam_tree_transfer *transfer, cdam_session *session,
                          cdam_tree_result *result, cdam_error *err);

/* For `deliver`. */
void cdam_tree_deliver(cdam_tree_transfer *transfer);

#endif
