/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls with archives. libarchive asks for bytes when it wants them and cannot be told to come
 * back later, so it runs outside of the loop's steps: it is asked for a part when the channel takes
 * one, and while it waits for its source the loop goes on.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <cofferdam/tree.h>

#include "base/fail.h"
#include "engine/exchange.h"
#include "engine/sigpipe.h"
#include "link/pump.h"
#include "link/session_link.h"
#include "tree/archive_read.h"
#include "tree/archive_write.h"
#include "tree/transfer.h"

/* ---- from a source ---- */

typedef struct pusher {
  const cdam_source *source;
  size_t offset; /* in its bytes */
  cdam_loop *loop;
  bool over; /* and the request is gone */
  bool late; /* it came to its end while it was being pushed */
  cdam_status status;
  cdam_tree_result result;
  cdam_error error;
} pusher;

static ssize_t copy_bytes(pusher *p, void *buffer, size_t size) {
  size_t left = p->source->length - p->offset;
  if (size > left) size = left;
  if (size) memcpy(buffer, (const char *)p->source->bytes + p->offset, size);
  p->offset += size;
  return (ssize_t)size;
}

static ssize_t source_failed(int error, cdam_error *err) {
  cdam_fail(err, CDAM_ERR_IO, "the archive could not be read: %s", strerror(error));
  return -1;
}

/* For how long the loop can be left alone when its descriptor stays quiet: that of a session's own
 * has no timer in it. */
static int quiet_ms(cdam_loop *loop) {
  if (!TAILQ_EMPTY(&loop->ended) || !TAILQ_EMPTY(&loop->finished) || !TAILQ_EMPTY(&loop->posted) ||
      cdam_exchange_can_admit(loop))
    return 0;
  int64_t wait = cdam_loop_wait_ms(loop);
  return wait > INT_MAX ? INT_MAX : (int)wait;
}

/* Waits for the descriptor; what happens in the loop is not held up by that. */
static ssize_t read_descriptor(pusher *p, void *buffer, size_t size, cdam_error *err) {
  for (;;) {
    struct pollfd ready[] = {{.fd = p->source->fd, .events = POLLIN},
                             {.fd = cdam_loop_fd(p->loop), .events = POLLIN}};
    int count = poll(ready, 2, quiet_ms(p->loop));
    if (count < 0 && errno != EINTR) return source_failed(errno, err);
    if (count == 0 || ready[1].revents) cdam_loop_dispatch(p->loop);
    if (p->late) {
      cdam_fail(err, CDAM_ERR_CANCELLED, "the copy has ended");
      return -1;
    }
    if (count <= 0 || !ready[0].revents) continue;
    ssize_t n = read(p->source->fd, buffer, size);
    if (n >= 0) return n;
    if (errno != EINTR && errno != EAGAIN) return source_failed(errno, err);
  }
}

static ssize_t give_bytes(void *user, void *buffer, size_t size, cdam_error *err) {
  pusher *p = user;
  if (p->source->from_fd) return read_descriptor(p, buffer, size, err);
  if (!p->source->read) return copy_bytes(p, buffer, size);
  ssize_t n = p->source->read(p->source->user, buffer, size);
  if (n >= 0 && (size_t)n <= size) return n;
  cdam_fail(err, CDAM_ERR_IO, "the archive could not be read: its source failed");
  return -1;
}

static void over(void *user, cdam_status status, const cdam_tree_result *result,
                 const cdam_error *err) {
  pusher *p = user;
  p->over = true;
  p->status = status;
  p->result = *result;
  if (status != CDAM_OK) p->error = *err;
}

static void over_while_pushed(cdam_operation *op) {
  pusher *p = op->user;
  p->late = true;
}

/* Whatever the loop does meanwhile, the request and its feed stay until this is done with them. */
static void push(pusher *p, cdam_tree_transfer *transfer) {
  cdam_operation *op = &transfer->request.op;
  cdam_operation_action completed = op->completed;
  op->completed = over_while_pushed;
  cdam_tree_upload_push(transfer);
  op->completed = completed;
  if (p->late) completed(op);
}

static cdam_status push_all(pusher *p, cdam_tree_transfer *transfer, cdam_session *session,
                            cdam_error *err) {
  cdam_tree_upload_set_outside(transfer);
  transfer->callback = over;
  cdam_status status = cdam_file_request_submit(&transfer->request, p->loop, session, p, NULL, err);
  if (status != CDAM_OK) return status;
  for (;;) {
    cdam_loop_dispatch(p->loop);
    if (p->over) break;
    if (cdam_tree_upload_wants_push(transfer))
      push(p, transfer);
    else
      poll(&(struct pollfd){.fd = cdam_loop_fd(p->loop), .events = POLLIN}, 1, quiet_ms(p->loop));
    if (p->over) break;
  }
  if (p->status == CDAM_OK) return cdam_ok(err);
  if (err) *err = p->error;
  return p->status;
}

cdam_status cdam_tree_upload_tar(cdam_session *session, const cdam_source *source, const char *path,
                                 const cdam_tree_options *options, cdam_tree_result *result,
                                 cdam_error *err) {
  const cdam_tree_options none = {0};
  pusher p = {.source = source};
  cdam_tree_feed *feed = NULL;
  cdam_tree_transfer *transfer = NULL;
  if (result) *result = (cdam_tree_result){0};
  cdam_status status = cdam_tree_check(session, options, err);
  if (status == CDAM_OK && !source) status = cdam_fail(err, CDAM_ERR_ARGUMENT, "source is NULL");
  if (status == CDAM_OK) status = cdam_source_check(source, "source", err);
  if (status != CDAM_OK) return status;
  cdam_own_loop *own;
  status = cdam_session_own_blocking(session, &own, err);
  if (status != CDAM_OK) return status;
  p.loop = own->loop;
  status = cdam_archive_read_new(give_bytes, &p, &feed, err);
  if (status == CDAM_OK)
    status = cdam_tree_upload_new(session, path, options ? options : &none, feed, &transfer, err);
  if (status == CDAM_OK) status = push_all(&p, transfer, session, err);
  if (result) *result = p.result;
  return status;
}

/* ---- into a sink ---- */

static bool sink_failed(const char *why, cdam_error *err) {
  cdam_fail(err, CDAM_ERR_IO, "the archive could not be written: %s", why);
  return false;
}

static bool write_descriptor(int fd, const char *bytes, size_t length, cdam_error *err) {
  while (length) {
    cdam_sigpipe guard;
    cdam_sigpipe_hold(&guard, true);
    ssize_t n = write(fd, bytes, length);
    int error = errno;
    cdam_sigpipe_release(&guard);
    if (n < 0 && error == EAGAIN) poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
    if (n < 0 && (error == EINTR || error == EAGAIN)) continue;
    if (n <= 0) return sink_failed(strerror(error), err);
    bytes += n;
    length -= (size_t)n;
  }
  return true;
}

static bool take_bytes(void *user, const void *bytes, size_t length, cdam_error *err) {
  const cdam_sink *sink = user;
  if (sink->to_fd) return write_descriptor(sink->fd, bytes, length, err);
  if (!sink->write || sink->write(sink->user, bytes, length)) return true;
  return sink_failed("its sink failed", err);
}

/* The last name of a path. */
static const char *name_in(const char *path, char name[CDAM_TREE_NAME + 1]) {
  size_t end = path ? strlen(path) : 0;
  while (end && path[end - 1] == '/')
    end--;
  size_t begin = end;
  while (begin && path[begin - 1] != '/')
    begin--;
  size_t length = end - begin < CDAM_TREE_NAME ? end - begin : CDAM_TREE_NAME;
  if (length) memcpy(name, path + begin, length);
  name[length] = '\0';
  return length ? name : ".";
}

cdam_status cdam_tree_download_tar(cdam_session *session, const char *path, const cdam_sink *sink,
                                   const cdam_tree_options *options, cdam_tree_result *result,
                                   cdam_error *err) {
  const cdam_tree_options none = {0};
  char name[CDAM_TREE_NAME + 1];
  cdam_tree_target *target = NULL;
  cdam_tree_transfer *transfer = NULL;
  if (result) *result = (cdam_tree_result){0};
  if (!options) options = &none;
  cdam_status status = cdam_tree_check(session, options, err);
  if (status == CDAM_OK && !sink) status = cdam_fail(err, CDAM_ERR_ARGUMENT, "sink is NULL");
  if (status == CDAM_OK) status = cdam_sink_check(sink, "sink", err);
  if (status == CDAM_OK)
    status = cdam_archive_write_new(name_in(path, name), options->keep_owner, take_bytes,
                                    (void *)sink, &target, err);
  if (status == CDAM_OK)
    status = cdam_tree_download_new(session, path, options, target, &transfer, err);
  return status == CDAM_OK ? cdam_tree_run(transfer, session, result, err) : status;
}
