/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "entry.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool agent_place_or_fail(agent_peer *peer, uint32_t number, const ProtobufCBinaryData *path,
                         agent_place *place) {
  int code = agent_place_open(peer->server, path, place);
  if (code == 0) return true;
  if (code == ERR(SYSTEM))
    agent_reply_system(peer, number, STEP(WORKSPACE), errno);
  else if (code == ERR(OUTSIDE))
    agent_reply_fail(peer, number, code, "the path is not in the workspace");
  else
    agent_reply_fail(peer, number, code, "the path is too long or has a NUL");
  agent_place_close(place);
  return false;
}

/* Both ends of a request that is answered at once. */
static void reply(agent_peer *peer, uint32_t number, bool ok, int step) {
  if (ok)
    agent_reply_done(peer, number, NULL);
  else
    agent_reply_system(peer, number, step, errno);
}

static void release_nothing(agent_channel *channel) {
  (void)channel;
}

static const agent_channel_class answer_class = {.release = release_nothing};

static int send_stat(agent_channel *channel, agent_place *place, bool follow) {
  bool top = strcmp(place->name, ".") == 0;
  if (!follow && !top) {
    if (!agent_place_open_parent(place, false)) return errno;
    return agent_entry_send_at(channel, place->parent, place->name);
  }
  int fd = agent_place_open_target(place, O_PATH, 0);
  if (fd < 0) return errno;
  int error = agent_entry_send_fd(channel, fd, place->name);
  close(fd);
  return error;
}

static void stat_file(agent_peer *peer, uint32_t number, const MSG(Stat) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  agent_channel *channel = agent_channel_open(peer, number, sizeof *channel, &answer_class);
  if (channel) {
    int error = send_stat(channel, &place, request->follow);
    if (error)
      agent_channel_fail_system(channel, STEP(OPEN), error);
    else
      agent_channel_done(channel, NULL);
  }
  agent_place_close(&place);
}

/* There already is fine for mkdir -p, if it is a directory. */
static bool is_directory(const agent_place *place) {
  int fd = agent_place_open_target(place, O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return false;
  close(fd);
  return true;
}

static void make_directory(agent_peer *peer, uint32_t number, const MSG(MakeDirectory) * request) {
  agent_place place;
  mode_t mode = request->mode ? request->mode & 07777 : 0755;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  bool top = strcmp(place.name, ".") == 0;
  bool ok = top && request->parents;
  if (!ok && agent_place_open_parent(&place, request->parents)) {
    ok = mkdirat(place.parent, place.name, mode) == 0;
    /* The umask took bits that were asked for by name. */
    if (ok && request->mode) ok = agent_chmod_at(place.parent, place.name, S_IFDIR, mode);
    if (!ok && errno == EEXIST && request->parents) {
      ok = is_directory(&place);
      if (!ok) errno = EEXIST;
    }
  }
  reply(peer, number, ok, STEP(CREATE));
  agent_place_close(&place);
}

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static void rename_file(agent_peer *peer, uint32_t number, const MSG(Rename) * request) {
  agent_place from;
  agent_place to;
  if (!agent_place_or_fail(peer, number, &request->from, &from)) return;
  if (agent_place_or_fail(peer, number, &request->to, &to)) {
    if (!agent_place_open_parent(&from, false) || !agent_place_open_parent(&to, false)) {
      reply(peer, number, false, STEP(OPEN));
    } else {
      long failed = request->no_replace ? syscall(SYS_renameat2, from.parent, from.name, to.parent,
                                                  to.name, RENAME_NOREPLACE)
                                        : renameat(from.parent, from.name, to.parent, to.name);
      reply(peer, number, failed == 0, STEP(RENAME));
    }
    agent_place_close(&to);
  }
  agent_place_close(&from);
}

static bool make_symbolic(agent_place *place, const ProtobufCBinaryData *target) {
  char text[AGENT_MAX_PATH + 1];
  if (target->len == 0 || target->len > AGENT_MAX_PATH || memchr(target->data, 0, target->len)) {
    errno = EINVAL;
    return false;
  }
  memcpy(text, target->data, target->len);
  text[target->len] = '\0';
  return agent_place_open_parent(place, false) && symlinkat(text, place->parent, place->name) == 0;
}

static void make_link(agent_peer *peer, uint32_t number, const MSG(MakeLink) * request) {
  agent_place place;
  agent_place old;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  if (!request->hard) {
    reply(peer, number, make_symbolic(&place, &request->target), STEP(CREATE));
  } else if (agent_place_or_fail(peer, number, &request->target, &old)) {
    bool open = agent_place_open_parent(&place, false) && agent_place_open_parent(&old, false);
    bool ok = open && linkat(old.parent, old.name, place.parent, place.name, 0) == 0;
    /* EXDEV of the link itself is another file system, and leads nowhere. */
    reply(peer, number, ok, open ? STEP(UNSPECIFIED) : STEP(OPEN));
    agent_place_close(&old);
  }
  agent_place_close(&place);
}

bool agent_file_request(agent_peer *peer, const MSG(ToAgent) * message) {
  uint32_t number = message->channel;
  switch (message->body_case) {
  case TO(READ_FILE):
    agent_read_file(peer, number, message->read_file);
    return true;
  case TO(WRITE_FILE):
    agent_write_file(peer, number, message->write_file);
    return true;
  case TO(STAT):
    stat_file(peer, number, message->stat);
    return true;
  case TO(LIST):
    agent_list(peer, number, message->list);
    return true;
  case TO(MAKE_DIRECTORY):
    make_directory(peer, number, message->make_directory);
    return true;
  case TO(REMOVE):
    agent_remove(peer, number, message->remove);
    return true;
  case TO(RENAME):
    rename_file(peer, number, message->rename);
    return true;
  case TO(MAKE_LINK):
    make_link(peer, number, message->make_link);
    return true;
  case TO(SET_ATTRIBUTES):
    agent_set_attributes(peer, number, message->set_attributes);
    return true;
  case TO(WATCH):
    agent_watch(peer, number, message->watch);
    return true;
  case TO(DOWNLOAD):
    agent_download(peer, number, message->download);
    return true;
  case TO(UPLOAD):
    agent_upload(peer, number, message->upload);
    return true;
  default:
    return false;
  }
}
