/* SPDX-License-Identifier: Apache-2.0 */
#include "link/answer_limit.h"

#include <stdio.h>

#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/explain.h"
#include "link/link_private.h"

/* In a limit. When the loop was not turned for longer, it hears between the first and the second
 * one what has waited meanwhile. */
#define LOOKS 2

static void look(cdam_operation *op, const cdam_reply *reply);

static void look_later(cdam_answer_limit *limit) {
  limit->op->part = limit;
  limit->pending = cdam_operation_after(limit->op, limit->limit_ms / LOOKS, look);
  limit->op->part = NULL;
}

static void inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_answer_limit *limit = op->part;
  cdam_error why;
  limit->pending = NULL;
  if (limit->moved) {
    look_later(limit);
    return;
  }
  cdam_fail(&why, CDAM_ERR_AGENT,
            "the sandbox's agent did not answer the request to %s within %lld ms", limit->what,
            (long long)limit->limit_ms);
  (void)cdam_explain(reply, &why, NULL);
  cdam_operation_finish(op, why.code, &why);
}

/* The engine may know why. */
static void ask_why(cdam_answer_limit *limit) {
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", limit->channel->link->container_id);
  limit->pending =
      cdam_operation_send(limit->op, &(cdam_request){.method = "GET", .path = path}, inspected);
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  cdam_answer_limit *limit = op->part;
  limit->pending = NULL;
  if (!cdam_channel_is_open(limit->channel)) return;
  bool silent = limit->was_sent && !limit->moved;
  limit->silent = silent ? limit->silent + 1 : 0;
  limit->was_sent = limit->channel->number != 0;
  limit->moved = false;
  if (limit->silent == LOOKS)
    ask_why(limit);
  else
    look_later(limit);
}

void cdam_answer_limit_begin(cdam_answer_limit *limit, cdam_operation *op,
                             const cdam_channel *channel, const char *what, int64_t more_ms) {
  if (op->finished) return; /* what is refused at once */
  cdam_answer_limit_end(limit);
  *limit = (cdam_answer_limit){
      .op = op,
      .channel = channel,
      .what = what,
      .limit_ms = op->client->config.timeout_ms + more_ms,
      .was_sent = channel->number != 0,
  };
  look_later(limit);
}

void cdam_answer_limit_move(cdam_answer_limit *limit) {
  limit->moved = true;
}

void cdam_answer_limit_end(cdam_answer_limit *limit) {
  if (limit->pending && !limit->op->finished) cdam_operation_cancel(limit->op, limit->pending);
  limit->pending = NULL;
}
