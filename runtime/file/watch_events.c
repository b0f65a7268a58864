/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "file/list.h"
#include "file/watch.h"

#define KIND(NAME) COFFERDAM__AGENT__V1__WATCH_KIND__WATCH_KIND_##NAME

/* How an event is kept, its name behind it. What is kept is bounded by the channel's credit. */
typedef struct record {
  uint32_t charge;
  uint32_t cookie;
  uint16_t length;
  uint8_t kind;
  bool is_directory;
} record;

/* Beyond this what was fetched is cut off, when it is the larger part. */
#define LEAST_CUT 4096

static const cdam_file_event_kind kinds[] = {
    [KIND(CREATED)] = CDAM_FILE_CREATED,       [KIND(MODIFIED)] = CDAM_FILE_MODIFIED,
    [KIND(CLOSED)] = CDAM_FILE_CLOSED,         [KIND(REMOVED)] = CDAM_FILE_REMOVED,
    [KIND(MOVED_FROM)] = CDAM_FILE_MOVED_FROM, [KIND(MOVED_TO)] = CDAM_FILE_MOVED_TO,
    [KIND(ATTRIBUTES)] = CDAM_FILE_ATTRIBUTES, [KIND(GONE)] = CDAM_FILE_GONE,
    [KIND(OVERFLOW)] = CDAM_FILE_OVERFLOW,
};

static void give_credit(cdam_file_watch *watch, size_t charge) {
  if (cdam_channel_is_open(&watch->channel)) cdam_channel_grant(&watch->channel, charge);
}

bool cdam_file_watch_has_event(const cdam_file_watch *watch) {
  return watch->first < watch->events.length || watch->lost || watch->gone;
}

static bool keep(cdam_file_watch *watch, const Cofferdam__Agent__V1__WatchEvent *event,
                 size_t charge) {
  if (watch->lost) return false;
  size_t before = watch->events.length;
  const record kept = {.charge = (uint32_t)charge,
                       .cookie = event->cookie,
                       .length = (uint16_t)event->name.len,
                       .kind = (uint8_t)kinds[event->kind],
                       .is_directory = event->directory};
  if (cdam_buffer_append(&watch->events, &kept, sizeof kept) &&
      cdam_buffer_append(&watch->events, event->name.data, event->name.len))
    return true;
  watch->events.length = before;
  return false;
}

bool cdam_file_watch_put(cdam_file_watch *watch, const Cofferdam__Agent__V1__WatchEvent *event,
                         size_t charge, cdam_error *failure) {
  if (watch->gone) return cdam_file_refuse(failure, "an event of what is gone");
  if ((int)event->kind <= KIND(READY) || (int)event->kind > KIND(OVERFLOW))
    return cdam_file_refuse(failure, "an event of no known kind");
  if (event->name.len && !cdam_file_is_name(&event->name))
    return cdam_file_refuse(failure, "a name that is none");
  if (event->kind == KIND(GONE)) {
    watch->gone = true;
    give_credit(watch, charge);
  } else if (!keep(watch, event, charge)) {
    watch->lost = true;
    give_credit(watch, charge);
  }
  return true;
}

static void take_record(cdam_file_watch *watch, cdam_file_event *event) {
  record kept;
  const char *at = watch->events.data + watch->first;
  memcpy(&kept, at, sizeof kept);
  memcpy(watch->name, at + sizeof kept, kept.length);
  watch->name[kept.length] = '\0';
  event->kind = (cdam_file_event_kind)kept.kind;
  event->is_directory = kept.is_directory;
  event->cookie = kept.cookie;
  watch->first += sizeof kept + kept.length;
  size_t left = watch->events.length - watch->first;
  if (left == 0 || (watch->first > LEAST_CUT && watch->first > left)) {
    memmove(watch->events.data, watch->events.data + watch->first, left);
    watch->events.length = left;
    watch->first = 0;
  }
  give_credit(watch, kept.charge);
}

bool cdam_file_watch_take(cdam_file_watch *watch, cdam_file_event *event) {
  watch->name[0] = '\0';
  *event = (cdam_file_event){.name = watch->name};
  if (watch->first < watch->events.length) {
    take_record(watch, event);
  } else if (watch->lost) {
    watch->lost = false;
    event->kind = CDAM_FILE_OVERFLOW;
  } else if (watch->gone) {
    event->kind = CDAM_FILE_GONE;
  } else {
    return false;
  }
  return true;
}
