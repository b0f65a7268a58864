/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "process/engine_exec.h"
#include "process/process_private.h"

/* Pieces that follow each other are put together up to here, so that what waits costs little more
 * than its bytes. */
#define LONGEST_JOINED (64 * 1024)

#define LEAST_SPARE 4096

struct cdam_process_item {
  TAILQ_ENTRY(cdam_process_item) in_process;
  uint64_t offset;
  uint64_t lost;
  uint32_t length;
  uint32_t room; /* for bytes */
  uint32_t charge;
  uint8_t kind;
  uint8_t stream;
  char bytes[];
};

/* Large ones are used again: a stream of output makes one after the other. */
static cdam_process_item *take_spare(cdam_process *process, size_t *room) {
  cdam_process_item *spare = process->spare;
  if (!spare || *room < LEAST_SPARE || *room > spare->room) return NULL;
  process->spare = NULL;
  *room = spare->room;
  return spare;
}

static cdam_process_item *new_item(cdam_process *process, cdam_process_event_kind kind,
                                   cdam_process_stream stream, size_t room) {
  cdam_process_item *item = take_spare(process, &room);
  if (!item) item = malloc(sizeof *item + room);
  if (!item) return NULL;
  memset(item, 0, sizeof *item);
  item->kind = (uint8_t)kind;
  item->stream = (uint8_t)stream;
  item->room = (uint32_t)room;
  return item;
}

static void append(cdam_process *process, cdam_process_item *item) {
  TAILQ_INSERT_TAIL(&process->items, item, in_process);
  process->last = item;
}

/* Replaces the last item by a roomier one. */
static cdam_process_item *grow_last(cdam_process *process, size_t needed) {
  cdam_process_item *last = process->last;
  size_t room = needed * 2 < LONGEST_JOINED ? needed * 2 : LONGEST_JOINED;
  cdam_process_item *grown = new_item(process, last->kind, last->stream, room);
  if (!grown) return NULL;
  uint32_t has = grown->room;
  memcpy(grown, last, sizeof *last + last->length);
  grown->room = has;
  TAILQ_REMOVE(&process->items, last, in_process);
  append(process, grown);
  free(last);
  return grown;
}

static bool continues(const cdam_process_item *last, cdam_process_stream stream, uint64_t offset,
                      size_t length) {
  return last && last->kind == CDAM_PROCESS_OUTPUT && last->stream == stream &&
         last->offset + last->length == offset && last->length + length <= LONGEST_JOINED;
}

bool cdam_process_add_output(cdam_process *process, cdam_process_stream stream, uint64_t offset,
                             uint64_t lost, const void *bytes, size_t length, size_t charge) {
  cdam_process_item *item = process->last;
  if (!lost && continues(item, stream, offset, length)) {
    if (item->room - item->length < length) item = grow_last(process, item->length + length);
    if (!item) return false;
  } else {
    item = new_item(process, CDAM_PROCESS_OUTPUT, stream, length);
    if (!item) return false;
    item->offset = offset;
    item->lost = lost;
    append(process, item);
  }
  memcpy(item->bytes + item->length, bytes, length);
  item->length += (uint32_t)length;
  item->charge += (uint32_t)charge;
  return true;
}

bool cdam_process_add(cdam_process *process, cdam_process_event_kind kind,
                      cdam_process_stream stream) {
  cdam_process_item *item = new_item(process, kind, stream, 0);
  if (!item) return false;
  append(process, item);
  return true;
}

static void drop(cdam_process *process, cdam_process_item *item) {
  if (process->engine)
    cdam_engine_exec_fetched(process->engine, item->charge);
  else if (item->charge && cdam_channel_is_open(&process->channel))
    cdam_channel_grant(&process->channel, item->charge);
  if (process->spare && process->spare->room >= item->room) {
    free(item);
    return;
  }
  free(process->spare);
  process->spare = item;
}

/* Frees what the caller has looked at, and gives its credit back. */
static void drop_current(cdam_process *process) {
  cdam_process_item *item = process->current;
  process->current = NULL;
  if (item) drop(process, item);
}

void cdam_process_drop_all(cdam_process *process) {
  drop_current(process);
  cdam_process_item *item;
  process->last = NULL;
  while ((item = TAILQ_FIRST(&process->items))) {
    TAILQ_REMOVE(&process->items, item, in_process);
    drop(process, item);
  }
  free(process->spare);
  process->spare = NULL;
}

bool cdam_process_take(cdam_process *process, cdam_process_event *event) {
  drop_current(process);
  cdam_process_item *item = TAILQ_FIRST(&process->items);
  if (!item) return false;
  TAILQ_REMOVE(&process->items, item, in_process);
  if (process->last == item) process->last = NULL;
  process->current = item;
  *event = (cdam_process_event){
      .kind = item->kind,
      .stream = item->stream,
      .bytes = item->bytes,
      .length = item->length,
      .offset = item->offset,
      .lost = item->lost,
  };
  return true;
}
