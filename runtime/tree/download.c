/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>

#include "tree/order.h"
#include "tree/transfer.h"

typedef struct download {
  cdam_tree_transfer transfer; /* first */
  Cofferdam__Agent__V1__Download body;
  cdam_tree_target *target;
  cdam_tree_order order;
} download;

/* What went wrong here ends the download; what the agent did wrong, its link. */
static bool fail(download *d, cdam_status status, const cdam_error *error, cdam_error *failure) {
  if (status == CDAM_ERR_AGENT) {
    *failure = *error;
    return false;
  }
  cdam_file_fail(&d->transfer.request, error);
  return true;
}

static bool take_entry(download *d, const cdam_entry *entry, cdam_error *failure) {
  cdam_error error;
  bool made = false;
  cdam_status status = cdam_tree_order_entry(&d->order, entry, &error);
  if (status == CDAM_OK) status = d->target->entry(d->target, entry, d->order.name, &made, &error);
  if (status != CDAM_OK) return fail(d, status, &error, failure);
  if (made && entry->type != CDAM_ENTRY(LEAVE_DIRECTORY)) d->transfer.result.entries++;
  return true;
}

static bool take_data(download *d, const Cofferdam__Agent__V1__Data *data, cdam_error *failure) {
  cdam_error error;
  cdam_status status = cdam_tree_order_data(&d->order, data->data.len, data->end, &error);
  if (status == CDAM_OK)
    status = d->target->data(d->target, data->data.data, data->data.len, data->end, &error);
  if (status != CDAM_OK) return fail(d, status, &error, failure);
  d->transfer.result.bytes += data->data.len;
  return true;
}

static bool message(cdam_file_request *request, const cdam_from_agent *message,
                    cdam_error *failure) {
  download *d = (download *)request;
  switch ((int)message->body_case) {
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY:
    return take_entry(d, message->entry, failure);
  case COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA:
    return take_data(d, message->data, failure);
  default:
    return cdam_file_refuse(failure, "something that is no part of a tree");
  }
}

static void succeeded(cdam_file_request *request) {
  download *d = (download *)request;
  cdam_error error;
  cdam_status status = cdam_tree_order_end(&d->order, &error);
  if (status == CDAM_OK) status = d->target->finish(d->target, &error);
  if (status == CDAM_OK)
    cdam_file_succeed(request);
  else
    cdam_file_fail(request, &error);
}

/* Before the program hears of the end: no half file is left then. */
static void drop(download *d) {
  if (d->target) d->target->free(d->target);
  d->target = NULL;
}

static void deliver(cdam_file_request *request) {
  drop((download *)request);
  cdam_tree_deliver((cdam_tree_transfer *)request);
}

static void release(cdam_file_request *request) {
  drop((download *)request);
}

static const cdam_file_kind kind = {
    .verb = "copy from",
    .message = message,
    .succeeded = succeeded,
    .deliver = deliver,
    .release = release,
};

static download *of_channel(cdam_channel *channel) {
  return (download *)((char *)channel - offsetof(download, transfer.request.own_channel));
}

static bool take_message(cdam_channel *channel, const cdam_from_agent *from, cdam_error *failure) {
  download *d = of_channel(channel);
  bool ok = cdam_file_take_message(&d->transfer.request, from, failure);
  if (d->target) d->transfer.result.skipped = d->target->skipped;
  return ok;
}

static void take_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                      const cdam_agent_done *done) {
  download *d = of_channel(channel);
  if (done) d->transfer.result.skipped += done->skipped;
  cdam_tree_take_done(&d->transfer, status, error, done);
}

static const cdam_channel_events events = {.message = take_message, .done = take_done};

cdam_status cdam_tree_download_new(const cdam_session *session, const char *path,
                                   const cdam_tree_options *options, cdam_tree_target *target,
                                   cdam_tree_transfer **out, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status =
      cdam_file_request_new(sizeof(download), &kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) {
    target->free(target);
    return status;
  }
  download *d = (download *)request;
  d->target = target;
  request->events = &events;
  d->body = (Cofferdam__Agent__V1__Download)COFFERDAM__AGENT__V1__DOWNLOAD__INIT;
  d->body.path = cdam_file_bytes(request->path);
  d->body.keep_going = options->keep_going;
  request->message.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_DOWNLOAD;
  request->message.download = &d->body;
  *out = &d->transfer;
  return CDAM_OK;
}
