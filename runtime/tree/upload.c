/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "engine/loop.h"
#include "file/engine.h"
#include "tree/transfer.h"

/* Before others in the loop have their turn. The channel's queue is bounded as well. */
enum { PARTS_A_TURN = 64, TURN_US = 1000 };

typedef struct upload {
  cdam_tree_transfer transfer; /* first */
  Cofferdam__Agent__V1__Upload body;
  cdam_tree_feed *feed;
  cdam_posted more;
  cdam_loop *posted_in; /* NULL: `more` was never posted */
  bool outside;
  bool wants_push;
  bool ended; /* everything is sent */

  cdam_channel ask;
  bool asking;
  bool found;
  cdam_entry answer; /* without its pointers */
} upload;

static bool is_over(const upload *u) {
  return u->transfer.request.op.finished || u->transfer.request.failing;
}

static void push_on(upload *u);

/* ---- what is there already? ---- */

static upload *of_ask(cdam_channel *channel) {
  return (upload *)((char *)channel - offsetof(upload, ask));
}

static bool take_answer(cdam_channel *channel, const cdam_from_agent *message,
                        cdam_error *failure) {
  upload *u = of_ask(channel);
  if (message->body_case != COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY || u->found)
    return cdam_file_refuse(failure, "something that was not asked for");
  u->found = true;
  u->answer = *message->entry;
  u->answer.path = u->answer.target = (ProtobufCBinaryData){0};
  return true;
}

/* Why it could not be looked at, the upload will be told as well. */
static void take_end(cdam_channel *channel, cdam_status status, const cdam_error *error,
                     const cdam_agent_done *done) {
  (void)error, (void)done;
  upload *u = of_ask(channel);
  u->asking = false;
  if (is_over(u)) return;
  u->transfer.request.moves++;
  u->feed->told(u->feed, status == CDAM_OK && u->found ? &u->answer : NULL);
  push_on(u);
  cdam_operation_stepped(&u->transfer.request.op);
}

static const cdam_channel_events ask_events = {.message = take_answer, .done = take_end};

static cdam_status ask(upload *u, const ProtobufCBinaryData *path, cdam_error *err) {
  Cofferdam__Agent__V1__Stat stat = COFFERDAM__AGENT__V1__STAT__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  cdam_buffer text = {0};
  u->found = false;
  if (u->transfer.request.engine) {
    u->asking = true;
    return cdam_file_engine_ask(u->transfer.request.engine, path, &u->ask, &ask_events, err);
  }
  bool ok = cdam_buffer_append_text(&text, u->transfer.request.path);
  if (path->len) {
    /* Without the slash a path below the workspace itself would be absolute. */
    if (text.length) ok = cdam_buffer_append_text(&text, "/") && ok;
    ok = cdam_buffer_append(&text, path->data, path->len) && ok;
  }
  cdam_status status = CDAM_OK;
  if (ok) {
    stat.path = (ProtobufCBinaryData){.data = (uint8_t *)text.data, .len = text.length};
    message.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_STAT;
    message.stat = &stat;
    status = cdam_channel_open(u->transfer.request.link, &u->ask, &message, &ask_events, err);
    u->asking = status == CDAM_OK;
  } else {
    status = cdam_fail_memory(err);
  }
  cdam_buffer_clear(&text);
  return status;
}

/* ---- sending ---- */

static cdam_status send_entry(upload *u, cdam_entry *entry, cdam_error *err) {
  if (entry->type != CDAM_ENTRY(LEAVE_DIRECTORY)) u->transfer.result.entries++;
  return cdam_file_send_entry(&u->transfer.request, entry, err);
}

static cdam_status send_part(upload *u, cdam_tree_part *part, cdam_error *err) {
  cdam_file_request *request = &u->transfer.request;
  switch (part->kind) {
  case CDAM_TREE_PART_ENTRY:
    return send_entry(u, &part->entry, err);
  case CDAM_TREE_PART_DATA:
    u->transfer.result.bytes += part->length;
    return cdam_file_send_data(request, part->bytes, part->length, part->end, err);
  case CDAM_TREE_PART_ASK:
    return ask(u, &part->entry.path, err);
  case CDAM_TREE_PART_END:
    u->ended = true;
    return cdam_file_send_data(request, NULL, 0, true, err);
  default:
    return CDAM_OK;
  }
}

static bool may_send(upload *u) {
  return !is_over(u) && !u->ended && !u->asking && cdam_file_can_send(&u->transfer.request);
}

static void send_some(upload *u) {
  const int64_t until = cdam_now_us() + TURN_US;
  for (int i = 0; i < PARTS_A_TURN && (i == 0 || cdam_now_us() < until); i++) {
    cdam_tree_part part;
    cdam_error error;
    if (!may_send(u)) return;
    cdam_status status = u->feed->next(u->feed, &part, &error);
    u->transfer.result.skipped = u->feed->skipped;
    /* A feed that blocks may have turned the loop meanwhile. */
    if (is_over(u)) return;
    if (status == CDAM_OK) status = send_part(u, &part, &error);
    if (status != CDAM_OK) {
      cdam_file_fail_and_wait(&u->transfer.request, &error);
      return;
    }
  }
  push_on(u);
}

static void push_on(upload *u) {
  if (u->outside) {
    u->wants_push = true;
    return;
  }
  u->posted_in = u->transfer.request.op.loop;
  cdam_loop_post(u->posted_in, &u->more);
}

static void send_more(cdam_posted *posted) {
  upload *u = (upload *)((char *)posted - offsetof(upload, more));
  send_some(u);
  cdam_operation_stepped(&u->transfer.request.op);
}

void cdam_tree_upload_set_outside(cdam_tree_transfer *transfer) {
  ((upload *)transfer)->outside = true;
}

bool cdam_tree_upload_wants_push(const cdam_tree_transfer *transfer) {
  return ((const upload *)transfer)->wants_push;
}

void cdam_tree_upload_push(cdam_tree_transfer *transfer) {
  upload *u = (upload *)transfer;
  u->wants_push = false;
  send_some(u);
}

/* ---- the request ---- */

static void writable(cdam_file_request *request) {
  push_on((upload *)request);
}

static bool waits_for_program(cdam_file_request *request) {
  const upload *u = (upload *)request;
  return u->outside && u->wants_push;
}

static void succeeded(cdam_file_request *request) {
  if (((upload *)request)->ended)
    cdam_file_succeed(request);
  else
    cdam_file_fail_incomplete(request);
}

static void drop(upload *u) {
  if (u->posted_in) cdam_loop_unpost(u->posted_in, &u->more);
  if (cdam_channel_is_open(&u->ask)) cdam_channel_abandon(&u->ask);
  if (u->feed) u->feed->free(u->feed);
  u->feed = NULL;
}

static void deliver(cdam_file_request *request) {
  drop((upload *)request);
  cdam_tree_deliver((cdam_tree_transfer *)request);
}

static void release(cdam_file_request *request) {
  drop((upload *)request);
}

static const cdam_file_kind kind = {
    .verb = "copy to",
    .changes = true,
    .opened = writable,
    .writable = writable,
    .waits_for_program = waits_for_program,
    .succeeded = succeeded,
    .deliver = deliver,
    .release = release,
};

static upload *of_channel(cdam_channel *channel) {
  return (upload *)((char *)channel - offsetof(upload, transfer.request.own_channel));
}

static bool take_message(cdam_channel *channel, const cdam_from_agent *message,
                         cdam_error *failure) {
  return cdam_file_take_message(&of_channel(channel)->transfer.request, message, failure);
}

static void take_writable(cdam_channel *channel) {
  upload *u = of_channel(channel);
  if (!is_over(u)) push_on(u);
}

static void take_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                      const cdam_agent_done *done) {
  cdam_tree_take_done(&of_channel(channel)->transfer, status, error, done);
}

static const cdam_channel_events events = {
    .message = take_message, .writable = take_writable, .done = take_done};

cdam_status cdam_tree_upload_new(const cdam_session *session, const char *path,
                                 const cdam_tree_options *options, cdam_tree_feed *feed,
                                 cdam_tree_transfer **out, cdam_error *err) {
  cdam_file_request *request = NULL;
  cdam_status status =
      cdam_file_request_new(sizeof(upload), &kind, session, path, NULL, &request, err);
  if (status != CDAM_OK) {
    feed->free(feed);
    return status;
  }
  upload *u = (upload *)request;
  u->feed = feed;
  u->more.run = send_more;
  request->events = &events;
  u->body = (Cofferdam__Agent__V1__Upload)COFFERDAM__AGENT__V1__UPLOAD__INIT;
  u->body.path = cdam_file_bytes(request->path);
  u->body.set_owner = options->keep_owner;
  u->body.sync = options->sync;
  u->body.parents = options->parents;
  u->body.replace = options->replace;
  request->message.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_UPLOAD;
  request->message.upload = &u->body;
  *out = &u->transfer;
  return CDAM_OK;
}
