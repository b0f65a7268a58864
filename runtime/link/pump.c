/* SPDX-License-Identifier: Apache-2.0 */
#include "link/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/fail.h"
#include "engine/loop.h"
#include "engine/sigpipe.h"
#include "link/pump_end.h"

/* Of a source, at a time. */
#define READ_PIECE ((size_t)64 * 1024)

/* ---- checking ---- */

static cdam_status check_fd(int fd, const char *what, cdam_error *err) {
  if (fd >= 0 && fcntl(fd, F_GETFD) >= 0) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "the descriptor of the %s is not open", what);
}

cdam_status cdam_source_check(const cdam_source *source, const char *what, cdam_error *err) {
  if (!source) return CDAM_OK;
  if ((source->bytes != NULL) + source->from_fd + (source->read != NULL) > 1)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the %s is more than one source", what);
  if (source->length && !source->bytes)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the %s has a length and no bytes", what);
  return source->from_fd ? check_fd(source->fd, what, err) : CDAM_OK;
}

cdam_status cdam_sink_check(const cdam_sink *sink, const char *what, cdam_error *err) {
  if (!sink) return CDAM_OK;
  if (sink->to_fd && sink->write)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the %s is more than one sink", what);
  return sink->to_fd ? check_fd(sink->fd, what, err) : CDAM_OK;
}

/* ---- from a source ---- */

struct cdam_feed {
  cdam_pump_end end; /* first */
  cdam_source source;
  const cdam_feed_target *target;
  void *to;
  cdam_feed_done done;
  void *user;
  size_t taken; /* of source.bytes */
  bool is_done;
  bool busy; /* calling the program: it is freed after it */
  bool freed;
  char piece[READ_PIECE];
};

static bool channel_is_open(void *to) {
  return cdam_channel_is_open(to);
}

static bool channel_can_send(void *to) {
  return cdam_channel_can_send(to);
}

static cdam_status channel_send(void *to, const void *bytes, size_t length, bool end,
                                cdam_error *err) {
  return cdam_channel_send_data(to, bytes, length, end, err);
}

static const cdam_feed_target to_channel = {channel_is_open, channel_can_send, channel_send};

static void feed_ready(cdam_pump_end *end) {
  cdam_feed_go((cdam_feed *)end);
}

cdam_feed *cdam_feed_new(cdam_loop *loop, const cdam_source *source, cdam_channel *channel,
                         cdam_feed_done done, void *user, cdam_error *err) {
  return cdam_feed_new_to(loop, source, &to_channel, channel, done, user, err);
}

cdam_feed *cdam_feed_new_to(cdam_loop *loop, const cdam_source *source,
                            const cdam_feed_target *target, void *to, cdam_feed_done done,
                            void *user, cdam_error *err) {
  cdam_feed *feed = malloc(sizeof *feed);
  if (feed) {
    memset(feed, 0, offsetof(cdam_feed, piece));
    if (source) feed->source = *source;
    feed->target = target;
    feed->to = to;
    feed->done = done;
    feed->user = user;
    int fd = feed->source.from_fd ? feed->source.fd : -1;
    if (cdam_pump_end_open(&feed->end, loop, fd, feed_ready)) return feed;
    cdam_feed_free(feed);
  }
  cdam_fail_memory(err);
  return NULL;
}

bool cdam_feed_is_done(const cdam_feed *feed) {
  return feed->is_done;
}

void cdam_feed_free(cdam_feed *feed) {
  if (!feed) return;
  feed->freed = true;
  if (feed->busy) return;
  cdam_pump_end_close(&feed->end);
  free(feed);
}

/* It may be gone after this. */
static void finish_feed(cdam_feed *feed, const cdam_error *error) {
  feed->is_done = true;
  cdam_pump_end_wait_no_more(&feed->end);
  feed->done(feed->user, error);
}

static void fail_feed(cdam_feed *feed, const char *why) {
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_IO, "the input could not be read: %s", why);
  finish_feed(feed, &error);
}

/* False when the feed is over. */
static bool send_piece(cdam_feed *feed, const void *bytes, size_t length, bool last) {
  cdam_error error;
  cdam_status status = feed->target->send(feed->to, bytes, length, last, &error);
  if (status == CDAM_OK && !last) return true;
  finish_feed(feed, status == CDAM_OK ? NULL : &error);
  return false;
}

static bool feed_memory(cdam_feed *feed) {
  size_t left = feed->source.length - feed->taken;
  size_t length = left < CDAM_LINK_PIECE ? left : CDAM_LINK_PIECE;
  const char *bytes = feed->source.bytes;
  if (!bytes) return send_piece(feed, "", 0, true);
  feed->taken += length;
  return send_piece(feed, bytes + (feed->taken - length), length, length == left);
}

static bool feed_callback(cdam_feed *feed) {
  feed->busy = true;
  int64_t n = feed->source.read(feed->source.user, feed->piece, sizeof feed->piece);
  feed->busy = false;
  if (feed->freed) {
    cdam_feed_free(feed);
    return false;
  }
  if (!feed->target->is_open(feed->to)) return false;
  if (n >= 0 && (size_t)n <= sizeof feed->piece)
    return send_piece(feed, feed->piece, (size_t)n, n == 0);
  fail_feed(feed, n < 0 ? "its callback failed" : "its callback gave more than it was asked for");
  return false;
}

static bool feed_fd(cdam_feed *feed) {
  ssize_t n = cdam_pump_end_read(&feed->end, feed->piece, sizeof feed->piece);
  if (n >= 0) return send_piece(feed, feed->piece, (size_t)n, n == 0);
  if (!cdam_pump_would_wait())
    fail_feed(feed, strerrordesc_np(errno));
  else if (!cdam_pump_end_wait(&feed->end, EPOLLIN))
    fail_feed(feed, strerrordesc_np(ENOMEM));
  return false;
}

void cdam_feed_go(cdam_feed *feed) {
  bool more = !feed->is_done && !feed->busy;
  while (more) {
    if (!feed->target->is_open(feed->to) || !feed->target->can_send(feed->to)) {
      cdam_pump_end_wait_no_more(&feed->end);
      return;
    }
    if (feed->source.read)
      more = feed_callback(feed);
    else
      more = feed->source.from_fd ? feed_fd(feed) : feed_memory(feed);
  }
}

/* ---- into a sink ---- */

typedef struct piece {
  TAILQ_ENTRY(piece) in_drain;
  size_t length;
  size_t written;
  size_t charge;
  char bytes[];
} piece;

struct cdam_drain {
  cdam_pump_end end; /* first */
  cdam_sink sink;
  cdam_channel *channel;
  const cdam_drain_events *events;
  void *user;
  TAILQ_HEAD(, piece) waiting;
  bool failed;
  bool busy;
  bool freed;
};

static void drain_ready(cdam_pump_end *end);

cdam_drain *cdam_drain_new(cdam_loop *loop, const cdam_sink *sink, cdam_channel *channel,
                           const cdam_drain_events *events, void *user, cdam_error *err) {
  cdam_drain *drain = calloc(1, sizeof *drain);
  if (drain) {
    TAILQ_INIT(&drain->waiting);
    if (sink) drain->sink = *sink;
    drain->channel = channel;
    drain->events = events;
    drain->user = user;
    int fd = drain->sink.to_fd ? drain->sink.fd : -1;
    if (cdam_pump_end_open(&drain->end, loop, fd, drain_ready)) return drain;
    cdam_drain_free(drain);
  }
  cdam_fail_memory(err);
  return NULL;
}

bool cdam_drain_is_empty(const cdam_drain *drain) {
  return TAILQ_EMPTY(&drain->waiting);
}

static void give_back(cdam_drain *drain, size_t charge) {
  if (charge && drain->channel && cdam_channel_is_open(drain->channel))
    cdam_channel_grant(drain->channel, charge);
}

static void drop_waiting(cdam_drain *drain) {
  piece *first;
  while ((first = TAILQ_FIRST(&drain->waiting))) {
    TAILQ_REMOVE(&drain->waiting, first, in_drain);
    give_back(drain, first->charge);
    free(first);
  }
}

void cdam_drain_free(cdam_drain *drain) {
  if (!drain) return;
  drain->freed = true;
  if (drain->busy) return;
  drop_waiting(drain);
  cdam_pump_end_close(&drain->end);
  free(drain);
}

static cdam_status fail_drain(cdam_drain *drain, const char *why, cdam_error *err) {
  drain->failed = true;
  cdam_pump_end_wait_no_more(&drain->end);
  drop_waiting(drain);
  return cdam_fail(err, CDAM_ERR_IO, "the output could not be written: %s", why);
}

/* As much as can be written now; how much that is. SIZE_MAX, with errno, when it failed. */
static size_t write_some(cdam_drain *drain, const char *bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t n = cdam_pump_end_write(&drain->end, bytes + done, length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cdam_pump_would_wait() ? done : SIZE_MAX;
    done += (size_t)n;
  }
  return done;
}

static bool write_waiting(cdam_drain *drain) {
  piece *first;
  while ((first = TAILQ_FIRST(&drain->waiting))) {
    size_t n = write_some(drain, first->bytes + first->written, first->length - first->written);
    if (n == SIZE_MAX) return false;
    first->written += n;
    if (first->written < first->length) return true;
    TAILQ_REMOVE(&drain->waiting, first, in_drain);
    give_back(drain, first->charge);
    free(first);
  }
  return true;
}

static void drain_ready(cdam_pump_end *end) {
  cdam_drain *drain = (cdam_drain *)end;
  cdam_sigpipe guard;
  cdam_sigpipe_hold(&guard, true);
  bool well = write_waiting(drain);
  int why = errno;
  cdam_sigpipe_release(&guard);
  cdam_error error;
  if (well && !TAILQ_EMPTY(&drain->waiting)) {
    well = cdam_pump_end_wait(end, EPOLLOUT);
    why = ENOMEM;
  }
  if (!well) {
    fail_drain(drain, strerrordesc_np(why), &error);
    drain->events->failed(drain->user, &error);
  } else if (TAILQ_EMPTY(&drain->waiting)) {
    cdam_pump_end_wait_no_more(end);
    if (drain->events->emptied) drain->events->emptied(drain->user);
  }
}

static cdam_status keep(cdam_drain *drain, const char *bytes, size_t length, size_t charge,
                        cdam_error *err) {
  piece *last = malloc(sizeof *last + length);
  if (!last) return cdam_fail_memory(err);
  *last = (piece){.length = length, .charge = charge};
  memcpy(last->bytes, bytes, length);
  TAILQ_INSERT_TAIL(&drain->waiting, last, in_drain);
  if (cdam_pump_end_wait(&drain->end, EPOLLOUT)) return CDAM_OK;
  return fail_drain(drain, strerrordesc_np(ENOMEM), err);
}

static cdam_status put_fd(cdam_drain *drain, const char *bytes, size_t length, size_t charge,
                          cdam_error *err) {
  size_t done = 0;
  if (TAILQ_EMPTY(&drain->waiting)) {
    cdam_sigpipe guard;
    cdam_sigpipe_hold(&guard, drain->end.kind == CDAM_PUMP_STREAM);
    done = write_some(drain, bytes, length);
    int why = errno;
    cdam_sigpipe_release(&guard);
    if (done == SIZE_MAX) {
      give_back(drain, charge);
      return fail_drain(drain, strerrordesc_np(why), err);
    }
  }
  if (done < length) return keep(drain, bytes + done, length - done, charge, err);
  give_back(drain, charge);
  return CDAM_OK;
}

static cdam_status put_callback(cdam_drain *drain, const char *bytes, size_t length, size_t charge,
                                cdam_error *err) {
  drain->busy = true;
  bool taken = drain->sink.write(drain->sink.user, bytes, length);
  drain->busy = false;
  if (drain->freed) {
    give_back(drain, charge);
    cdam_drain_free(drain);
    return CDAM_OK;
  }
  give_back(drain, charge);
  return taken ? CDAM_OK : fail_drain(drain, "its callback failed", err);
}

cdam_status cdam_drain_put(cdam_drain *drain, const void *bytes, size_t length, size_t charge,
                           cdam_error *err) {
  if (!drain->failed && length && drain->sink.to_fd)
    return put_fd(drain, bytes, length, charge, err);
  if (!drain->failed && length && drain->sink.write)
    return put_callback(drain, bytes, length, charge, err);
  give_back(drain, charge);
  return CDAM_OK;
}
