/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "file/engine.h"
#include "tree/part.h"

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME

enum { ARGUMENTS = 6, ARGUMENT_SIZE = 32 };

/* What the script is called with, behind its paths; "" where there is nothing to say. */
typedef char arguments[ARGUMENTS][ARGUMENT_SIZE];

/* ---- texts ---- */

static bool append_odd(cdam_buffer *to, const char *bytes, size_t length) {
  bool ok = true;
  for (size_t i = 0; i < length && ok; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    char text[8];
    bool plain = c < 0x80 && (isalnum(c) || strchr("_-./", c)) && c;
    snprintf(text, sizeof text, plain ? "%c" : "\\0%03o", c);
    ok = cdam_buffer_append_text(to, text);
  }
  return ok;
}

static char *odd_text(const char *text) {
  cdam_buffer to = {0};
  if (append_odd(&to, text, strlen(text)) && cdam_buffer_append(&to, "", 0)) return to.data;
  cdam_buffer_clear(&to);
  return NULL;
}

/* ---- arguments ---- */

static void flag(char argument[ARGUMENT_SIZE], bool set) {
  snprintf(argument, ARGUMENT_SIZE, "%s", set ? "1" : "");
}

static void number(char argument[ARGUMENT_SIZE], uint64_t value) {
  snprintf(argument, ARGUMENT_SIZE, "%" PRIu64, value);
}

/* Five digits, so that no bit stays that was not asked for. */
static void mode(char argument[ARGUMENT_SIZE], bool set, uint32_t value) {
  if (set) snprintf(argument, ARGUMENT_SIZE, "%05o", value);
}

static void owner(char argument[ARGUMENT_SIZE], bool set, uint32_t uid, uint32_t gid) {
  char user[12] = "", group[12] = "";
  if (!set || (uid == UINT32_MAX && gid == UINT32_MAX)) return;
  if (uid != UINT32_MAX) snprintf(user, sizeof user, "%" PRIu32, uid);
  if (gid != UINT32_MAX) snprintf(group, sizeof group, ":%" PRIu32, gid);
  snprintf(argument, ARGUMENT_SIZE, "%s%s", user, group);
}

static const char *read_arguments(const Cofferdam__Agent__V1__ReadFile *body, arguments to) {
  number(to[0], body->offset + 1); /* as tail counts */
  number(to[1], body->length <= INT64_MAX ? body->length : 0);
  return "read";
}

static const char *write_arguments(const Cofferdam__Agent__V1__WriteFile *body, arguments to) {
  snprintf(to[0], ARGUMENT_SIZE, "%c", " rcai"[body->write_mode]);
  number(to[1], body->offset);
  mode(to[2], body->set_mode, body->mode);
  owner(to[3], body->set_owner, body->uid, body->gid);
  flag(to[4], body->sync);
  flag(to[5], body->parents);
  return "write";
}

static const char *attribute_arguments(const Cofferdam__Agent__V1__SetAttributes *body,
                                       arguments to) {
  flag(to[0], body->follow);
  mode(to[1], body->set_mode, body->mode);
  owner(to[2], body->set_owner, body->uid, body->gid);
  if (body->set_mtime) snprintf(to[3], ARGUMENT_SIZE, "%" PRId64, body->mtime_s);
  if (body->set_size) number(to[4], body->size);
  return "attributes";
}

static const char *tree_arguments(const cdam_to_agent *message, arguments to) {
  if (message->body_case == TO(DOWNLOAD)) {
    flag(to[0], message->download->keep_going);
    return "download";
  }
  flag(to[0], message->upload->set_owner);
  flag(to[1], message->upload->sync);
  flag(to[2], message->upload->parents);
  flag(to[3], message->upload->replace);
  return "upload";
}

/* The script's word for the request. */
static const char *make_arguments(const cdam_to_agent *message, arguments to) {
  switch ((int)message->body_case) {
  case TO(READ_FILE):
    return read_arguments(message->read_file, to);
  case TO(WRITE_FILE):
    return write_arguments(message->write_file, to);
  case TO(STAT):
    flag(to[0], message->stat->follow);
    return "stat";
  case TO(LIST):
    return "list";
  case TO(MAKE_DIRECTORY):
    mode(to[0], message->make_directory->mode, message->make_directory->mode);
    flag(to[1], message->make_directory->parents);
    return "mkdir";
  case TO(REMOVE):
    flag(to[0], message->remove->recursive);
    flag(to[1], message->remove->missing_ok);
    return "remove";
  case TO(RENAME):
    flag(to[0], message->rename->no_replace);
    return "rename";
  case TO(MAKE_LINK):
    flag(to[0], message->make_link->hard);
    return "link";
  case TO(SET_ATTRIBUTES):
    return attribute_arguments(message->set_attributes, to);
  default:
    return tree_arguments(message, to);
  }
}

char *cdam_file_engine_body(const cdam_file_engine *engine, const char *workspace) {
  static const char *const env[] = {"LC_ALL=C", NULL};
  const cdam_file_request *request = engine->request;
  arguments more = {""};
  const char *word = make_arguments(&request->message, more);
  char *path = odd_text(request->path), *other = odd_text(request->other ? request->other : "");
  char *body = NULL;
  if (path && other)
    body = cdam_exec_body_text(&(cdam_exec_body){
        .argv = (const char *const[]){"/bin/sh", "-c", cdam_file_engine_script, "sh",
                                      engine->name.marker, workspace, word, path, other, more[0],
                                      more[1], more[2], more[3], more[4], more[5], NULL},
        .env = env,
        .workdir = "/",
        .marker = engine->name.marker,
        .input = engine->has_input});
  free(path);
  free(other);
  return body;
}

/* ---- input ---- */

static cdam_status send_line(cdam_file_engine *engine, cdam_buffer *line, bool ok,
                             cdam_error *err) {
  ok = ok && cdam_buffer_append_text(line, "\n") && engine->duplex &&
       cdam_duplex_write(engine->duplex, line->data, line->length);
  cdam_buffer_clear(line);
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

/* The last name of a path; "." for the top. */
static bool append_name(cdam_buffer *line, const ProtobufCBinaryData *path) {
  const char *text = (const char *)path->data;
  size_t length = path->len;
  const char *slash = length ? memrchr(text, '/', length) : NULL;
  if (slash) {
    length -= (size_t)(slash + 1 - text);
    text = slash + 1;
  }
  return length ? append_odd(line, text, length) : cdam_buffer_append_text(line, ".");
}

static char letter_of(int type) {
  switch (type) {
  case CDAM_ENTRY(DIRECTORY):
    return 'D';
  case CDAM_ENTRY(LEAVE_DIRECTORY):
    return 'L';
  case CDAM_ENTRY(FILE):
    return 'F';
  case CDAM_ENTRY(LINK):
    return 'S';
  case CDAM_ENTRY(PIPE):
    return 'P';
  default:
    return 'H';
  }
}

cdam_status cdam_file_engine_send_entry(cdam_file_engine *engine, const cdam_entry *entry,
                                        cdam_error *err) {
  cdam_buffer line = {0};
  char head[96];
  snprintf(head, sizeof head, "%c %05o %" PRIu32 ":%" PRIu32 " %" PRId64 " ",
           letter_of((int)entry->type), entry->mode, entry->uid, entry->gid, entry->mtime_s);
  bool ok = cdam_buffer_append_text(&line, head) && append_name(&line, &entry->path) &&
            cdam_buffer_append_text(&line, " ") &&
            append_odd(&line, (const char *)entry->target.data, entry->target.len);
  engine->in_file = entry->type == CDAM_ENTRY(FILE);
  return send_line(engine, &line, ok, err);
}

cdam_status cdam_file_engine_send_data(cdam_file_engine *engine, const void *bytes, size_t length,
                                       bool end, cdam_error *err) {
  cdam_buffer line = {0};
  char head[32];
  bool ok = true;
  if (length) {
    snprintf(head, sizeof head, "d %zu\n", length);
    ok = engine->duplex && cdam_duplex_write(engine->duplex, head, strlen(head)) &&
         cdam_duplex_write(engine->duplex, bytes, length);
  }
  if (!ok) return cdam_fail_memory(err);
  if (!end) return CDAM_OK;
  ok = cdam_buffer_append_text(&line, engine->in_file ? "E" : ".");
  engine->in_file = false;
  return send_line(engine, &line, ok, err);
}

cdam_status cdam_file_engine_ask(cdam_file_engine *engine, const ProtobufCBinaryData *path,
                                 cdam_channel *channel, const cdam_channel_events *events,
                                 cdam_error *err) {
  cdam_buffer line = {0};
  bool ok = cdam_buffer_append_text(&line, "A 0 0 0 ") && append_name(&line, path);
  engine->asker = channel;
  engine->asker_events = events;
  return send_line(engine, &line, ok, err);
}
