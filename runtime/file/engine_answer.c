/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "file/engine.h"
#include "tree/part.h"

/* Of a record, or of a text, before its end must have come. */
#define MOST_HELD ((size_t)3 * CDAM_FILE_MAX_PATH)

/* Some bytes were used, or more of them have to come. */
typedef size_t (*taker)(cdam_file_engine *engine, const char *bytes, size_t length);

static size_t refuse(cdam_file_engine *engine) {
  engine->nonsense = true;
  return 0;
}

static void fail_memory(cdam_file_engine *engine) {
  cdam_error error;
  cdam_fail_memory(&error);
  cdam_file_fail(engine->request, &error);
}

static void give(cdam_file_engine *engine, const cdam_from_agent *message) {
  cdam_error failure;
  const cdam_file_request *request = engine->request;
  const cdam_channel_events *events = engine->asker ? engine->asker_events : request->events;
  cdam_channel *channel = engine->asker ? engine->asker : request->channel;
  if (!events->message(channel, message, &failure)) engine->nonsense = true;
}

/* ---- entries ---- */

/* Digits of a number that is `most` at most, and what ends it. */
static bool take_number(const char **at, int base, uint64_t most, char end, uint64_t *number) {
  char *behind;
  if (!isxdigit((unsigned char)**at)) return false;
  errno = 0;
  unsigned long long value = strtoull(*at, &behind, base);
  if (errno || value > most || *behind != end) return false;
  *number = value;
  *at = behind + 1;
  return true;
}

static cdam_file_type type_of(uint64_t mode) {
  switch (mode & S_IFMT) {
  case S_IFREG:
    return CDAM_FILE_REGULAR;
  case S_IFDIR:
    return CDAM_FILE_DIRECTORY;
  case S_IFLNK:
    return CDAM_FILE_LINK;
  case S_IFIFO:
    return CDAM_FILE_PIPE;
  case S_IFSOCK:
    return CDAM_FILE_SOCKET;
  case S_IFCHR:
    return CDAM_FILE_CHARACTER_DEVICE;
  case S_IFBLK:
    return CDAM_FILE_BLOCK_DEVICE;
  default:
    return CDAM_FILE_UNKNOWN;
  }
}

/* From behind the letter to "./". */
static bool parse_entry(const char *at, cdam_entry *entry) {
  static const uint64_t most[] = {UINT16_MAX, UINT32_MAX, UINT32_MAX, INT64_MAX,
                                  INT64_MAX,  UINT64_MAX, UINT64_MAX, UINT32_MAX};
  uint64_t numbers[sizeof most / sizeof *most];
  bool before = false; /* 1970 */
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    if (i == 4 && *at == '-') before = true, at++;
    if (!take_number(&at, i ? 10 : 16, most[i], ' ', &numbers[i])) return false;
  }
  *entry = (cdam_entry)CDAM_ENTRY_INIT;
  entry->type = (Cofferdam__Agent__V1__EntryType)type_of(numbers[0]);
  entry->mode = (uint32_t)numbers[0] & 07777;
  entry->uid = (uint32_t)numbers[1];
  entry->gid = (uint32_t)numbers[2];
  entry->size = numbers[3];
  entry->mtime_s = before ? -(int64_t)numbers[4] : (int64_t)numbers[4];
  entry->inode = numbers[5];
  entry->device = numbers[6];
  entry->links = (uint32_t)numbers[7];
  return strncmp(at, "./", 2) == 0;
}

/* In a tree names are paths, and the first one is the top. False: it is too long or too deep. */
static bool set_path(cdam_file_tree *tree, const char *name, size_t length, cdam_entry *entry) {
  size_t used = tree->depth ? tree->levels[tree->depth - 1].length : 0;
  if (tree->depth == 0) length = 0;
  if (used && length) tree->path[used++] = '/';
  if (length >= sizeof tree->path - used || tree->depth == CDAM_TREE_DEPTH) return false;
  memcpy(tree->path + used, name, length);
  entry->path = (ProtobufCBinaryData){.data = (uint8_t *)tree->path, .len = used + length};
  if (entry->type == CDAM_ENTRY(DIRECTORY))
    tree->levels[tree->depth++] = (cdam_file_level){.length = used + length, .entry = *entry};
  return true;
}

/* Is it another name of a file that came before? Its content comes again, and is thrown away. */
static void find_link(cdam_file_engine *engine, cdam_entry *entry) {
  cdam_tree_links *links = &engine->tree->links;
  const cdam_tree_link *first = cdam_tree_links_find(links, entry->device, entry->inode);
  if (first) {
    entry->type = CDAM_ENTRY(HARD_LINK);
    entry->target = (ProtobufCBinaryData){.data = (uint8_t *)first->path, .len = first->length};
    engine->muted = true;
  } else if (!cdam_tree_links_add(links, entry->device, entry->inode, (char *)entry->path.data,
                                  entry->path.len)) {
    fail_memory(engine);
  }
}

static size_t take_entry(cdam_file_engine *engine, const char *bytes, size_t length) {
  const char *slash = memchr(bytes, '/', length);
  if (!slash) return 0;
  const char *name = slash + 1;
  const char *end = memchr(name, '/', length - (size_t)(name - bytes));
  if (!end || end + 1 == bytes + length) return 0;
  cdam_entry entry;
  if (!parse_entry(bytes + 1, &entry) || end[1] != '\n') return refuse(engine);
  entry.path = (ProtobufCBinaryData){.data = (uint8_t *)name, .len = (size_t)(end - name)};
  if (engine->tree && !set_path(engine->tree, name, (size_t)(end - name), &entry))
    return refuse(engine);
  if (engine->tree && entry.type == CDAM_ENTRY(FILE) && entry.links > 1) find_link(engine, &entry);
  if ((int)entry.type == CDAM_FILE_LINK)
    entry.target =
        (ProtobufCBinaryData){.data = (uint8_t *)engine->target.data, .len = engine->target.length};
  cdam_from_agent message = COFFERDAM__AGENT__V1__FROM_AGENT__INIT;
  message.body_case = COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY;
  message.entry = &entry;
  give(engine, &message);
  engine->target.length = 0;
  return (size_t)(end + 2 - bytes);
}

static bool leave(cdam_file_engine *engine) {
  if (!engine->tree || !engine->tree->depth) return false;
  cdam_entry entry = engine->tree->levels[--engine->tree->depth].entry;
  entry.type = CDAM_ENTRY(LEAVE_DIRECTORY);
  cdam_from_agent message = COFFERDAM__AGENT__V1__FROM_AGENT__INIT;
  message.body_case = COFFERDAM__AGENT__V1__FROM_AGENT__BODY_ENTRY;
  message.entry = &entry;
  give(engine, &message);
  return true;
}

/* ---- what ends with the marker ---- */

static void give_content(cdam_file_engine *engine, const char *bytes, size_t length, bool end) {
  Cofferdam__Agent__V1__Data data = COFFERDAM__AGENT__V1__DATA__INIT;
  data.data = (ProtobufCBinaryData){.data = (uint8_t *)bytes, .len = length};
  data.end = end;
  cdam_from_agent message = COFFERDAM__AGENT__V1__FROM_AGENT__INIT;
  message.body_case = COFFERDAM__AGENT__V1__FROM_AGENT__BODY_DATA;
  message.data = &data;
  if ((length || end) && !engine->muted) give(engine, &message);
  if (end) engine->muted = false;
}

/* The reason, and in a tree a line with the path that it is about. */
static void take_reason(cdam_file_engine *engine, const char *bytes, size_t length) {
  char text[2 * CDAM_FILE_MAX_PATH];
  snprintf(text, sizeof text, "%.*s", (int)length, bytes);
  char *path = strchr(text, '\n');
  if (path) *path++ = '\0';
  while (path && *path == '/')
    path++;
  cdam_file_engine_done(engine, text, path);
}

static size_t take_text(cdam_file_engine *engine, const char *bytes, size_t length) {
  const char *end = memmem(bytes, length, engine->name.marker, CDAM_FILE_MARKER);
  size_t before = end ? (size_t)(end - bytes) : 0;
  if (engine->kind == 'c') {
    if (!end && length >= CDAM_FILE_MARKER) before = length - CDAM_FILE_MARKER + 1;
    give_content(engine, bytes, before, end != NULL);
  } else if (!end) {
    return 0;
  } else if (engine->kind == '!') {
    take_reason(engine, bytes, before);
  } else {
    engine->target.length = 0;
    if (!cdam_buffer_append(&engine->target, bytes, before)) fail_memory(engine);
  }
  if (!end) return before;
  engine->kind = 0;
  return before + CDAM_FILE_MARKER;
}

/* ---- records ---- */

static void answer_asker(cdam_file_engine *engine) {
  Cofferdam__Agent__V1__Done done = COFFERDAM__AGENT__V1__DONE__INIT;
  cdam_channel *channel = engine->asker;
  engine->asker = NULL;
  if (channel) engine->asker_events->done(channel, CDAM_OK, NULL, &done);
}

static size_t take_record(cdam_file_engine *engine, const char *bytes, size_t length) {
  if (bytes[0] == 'e') return take_entry(engine, bytes, length);
  if (!strchr("ct!.usa", bytes[0]) || !bytes[0]) return refuse(engine);
  if (length < 2) return 0;
  if (bytes[1] != '\n') return refuse(engine);
  switch (bytes[0]) {
  case '.':
    cdam_file_engine_done(engine, NULL, NULL);
    break;
  case 'u':
    if (!leave(engine)) return refuse(engine);
    break;
  case 's':
    engine->skipped++;
    break;
  case 'a':
    answer_asker(engine);
    break;
  default:
    engine->kind = bytes[0];
  }
  return 2;
}

static void take_all(cdam_file_engine *engine) {
  size_t used = 0, n = 1;
  while (n && used < engine->held.length && !engine->nonsense && !engine->over &&
         !engine->request->op.finished) {
    const char *bytes = engine->held.data + used;
    size_t length = engine->held.length - used;
    const taker take = engine->kind ? take_text : take_record;
    n = take(engine, bytes, length);
    if (n == 0 && length > MOST_HELD) engine->nonsense = true;
    used += n;
  }
  engine->held.length -= used;
  if (engine->held.length)
    memmove(engine->held.data, engine->held.data + used, engine->held.length);
}

cdam_status cdam_file_engine_take(cdam_file_engine *engine, const char *bytes, size_t length,
                                  cdam_error *err) {
  if (!cdam_buffer_append(&engine->held, bytes, length)) return cdam_fail_memory(err);
  take_all(engine);
  return CDAM_OK;
}
