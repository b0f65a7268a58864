/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#define KIND(NAME) COFFERDAM__AGENT__V1__WATCH_KIND__WATCH_KIND_##NAME

enum {
  WATCHED = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
            IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
};

typedef struct watcher {
  agent_channel channel;
  agent_source source;
  size_t at; /* in the buffer: events that were read and not yet sent */
  size_t length;
  _Alignas(struct inotify_event) char buffer[1024];
} watcher;

static const struct {
  uint32_t mask;
  int kind;
} kinds[] = {{IN_CREATE, KIND(CREATED)},        {IN_MODIFY, KIND(MODIFIED)},
             {IN_CLOSE_WRITE, KIND(CLOSED)},    {IN_DELETE, KIND(REMOVED)},
             {IN_MOVED_FROM, KIND(MOVED_FROM)}, {IN_MOVED_TO, KIND(MOVED_TO)},
             {IN_ATTRIB, KIND(ATTRIBUTES)},     {IN_DELETE_SELF, KIND(GONE)},
             {IN_MOVE_SELF, KIND(GONE)},        {IN_IGNORED, KIND(GONE)},
             {IN_UNMOUNT, KIND(GONE)},          {IN_Q_OVERFLOW, KIND(OVERFLOW)}};

static void send_event(agent_channel *channel, int kind, const char *name, uint32_t cookie,
                       bool directory) {
  MSG(WatchEvent) event = MSG_INIT(WATCH_EVENT);
  event.kind = kind;
  event.name.data = (uint8_t *)name;
  event.name.len = strlen(name);
  event.cookie = cookie;
  event.directory = directory;
  MSG(FromAgent) message = MSG_INIT(FROM_AGENT);
  message.body_case = FROM(WATCH_EVENT);
  message.watch_event = &event;
  agent_channel_send(channel, &message, true);
}

/* False: the watched thing is gone, and so is the channel. */
static bool pass_on(watcher *w, const struct inotify_event *event) {
  bool gone = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!(event->mask & kinds[i].mask) || gone) continue;
    gone = kinds[i].kind == KIND(GONE);
    send_event(&w->channel, kinds[i].kind, event->len ? event->name : "", event->cookie,
               event->mask & IN_ISDIR);
  }
  if (gone) agent_channel_done(&w->channel, NULL);
  return !gone;
}

static bool fill(watcher *w) {
  ssize_t n = read(w->source.fd, w->buffer, sizeof w->buffer);
  w->at = 0;
  w->length = n > 0 ? (size_t)n : 0;
  return n > 0;
}

/* Each event needs credit. Without it nothing is read; the kernel's queue is bounded and says when
 * it overflowed. */
static void run(agent_channel *channel) {
  watcher *w = (watcher *)channel;
  agent_loop *loop = &channel->peer->server->loop;
  bool filled = false;
  for (;;) {
    if (!agent_channel_ready(channel)) {
      agent_loop_want(loop, &w->source, 0);
      return;
    }
    if (w->at == w->length) {
      agent_loop_want(loop, &w->source, EPOLLIN);
      if (filled || !fill(w)) return;
      filled = true;
    }
    const struct inotify_event *event = (const struct inotify_event *)(w->buffer + w->at);
    w->at += sizeof *event + event->len;
    if (!pass_on(w, event)) return;
  }
}

static void ready(agent_source *source, uint32_t events) {
  (void)events;
  run(&AGENT_OWNER(source, watcher, source)->channel);
}

static void release(agent_channel *channel) {
  watcher *w = (watcher *)channel;
  agent_loop_close(&channel->peer->server->loop, &w->source);
}

static const agent_channel_class watcher_class = {.run = run, .release = release};

/* inotify wants a path; the descriptor's own cannot be led astray. */
static int open_watch(const agent_place *place) {
  char link[32];
  int fd = agent_place_open_target(place, O_PATH, 0);
  if (fd < 0) return -1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notify >= 0 && inotify_add_watch(notify, link, WATCHED) < 0) {
    int error = errno;
    close(notify);
    errno = error;
    notify = -1;
  }
  int error = errno;
  close(fd);
  errno = error;
  return notify;
}

void agent_watch(agent_peer *peer, uint32_t number, const MSG(Watch) * request) {
  agent_place place;
  if (!agent_place_or_fail(peer, number, &request->path, &place)) return;
  int fd = open_watch(&place);
  int error = errno;
  agent_place_close(&place);
  if (fd < 0) {
    agent_reply_system(peer, number, STEP(OPEN), error);
    return;
  }
  watcher *w = agent_channel_open(peer, number, sizeof *w, &watcher_class);
  if (!w) {
    close(fd);
    return;
  }
  w->source = (agent_source){.ready = ready, .fd = -1};
  if (agent_loop_watch(&peer->server->loop, &w->source, fd, EPOLLIN)) {
    send_event(&w->channel, KIND(READY), "", 0, false);
    return;
  }
  error = errno;
  close(fd);
  agent_channel_fail_system(&w->channel, STEP(OPEN), error);
}
