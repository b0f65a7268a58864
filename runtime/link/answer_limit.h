/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an operation waits for what an honest agent answers at once. A link ends when its agent
 * does not answer Pings; one that answers those and not the request would be waited for for ever.
 */
#ifndef COFFERDAM_LINK_ANSWER_LIMIT_H
#define COFFERDAM_LINK_ANSWER_LIMIT_H

#include "link/link.h"

/* Stands in the operation's struct, zeroed. */
typedef struct cdam_answer_limit {
  cdam_operation *op;
  const cdam_channel *channel;
  const char *what;
  int64_t limit_ms;
  cdam_exchange *pending; /* a timer, or a question to the engine */
  unsigned silent;        /* looks in a row */
  bool was_sent;          /* at the last look */
  bool moved;             /* since then */
} cdam_answer_limit;

/* From now on the request that was opened on this channel of the operation has to be answered
 * within the client's timeout and `more_ms`, of which the time before it is sent is no part: that
 * is the link's. Else the operation finishes with CDAM_ERR_AGENT ("... the request to WHAT ..."),
 * or with what the engine says of the container when that is stopped, paused or gone. It may take
 * half as long again. One that is under way ends. CDAM_ERR_NO_MEMORY finishes the operation, too.
 */
void cdam_answer_limit_begin(cdam_answer_limit *limit, cdam_operation *op,
                             const cdam_channel *channel, const char *what, int64_t more_ms);

/* A part of the answer came: the time begins again. */
void cdam_answer_limit_move(cdam_answer_limit *limit);

/* It was answered, or somebody else keeps the time. */
void cdam_answer_limit_end(cdam_answer_limit *limit);

#endif
