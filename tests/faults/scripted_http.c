/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_http.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* A test without memory cannot go on. */
static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static char *copy_of(const char *text, size_t length) {
  return must(strndup(text, length));
}

bool scripted_sleep(const scripted_wire *wire, int ms) {
  struct pollfd stop = {.fd = wire->stop_fd, .events = POLLIN};
  return ms == 0 || poll(&stop, 1, ms) == 0;
}

/* ---- requests ---- */

static bool read_more(scripted_wire *wire) {
  char bytes[65536];
  ssize_t count = recv(wire->fd, bytes, sizeof bytes, 0);
  if (count <= 0) return false;
  if (!cdam_buffer_append(&wire->in, bytes, (size_t)count)) abort();
  return true;
}

static void use_up(scripted_wire *wire, size_t length) {
  wire->in.length -= length;
  memmove(wire->in.data, wire->in.data + length, wire->in.length + 1);
}

/* "/v1.41/containers/json" is "1.41" and "/containers/json". */
static void split_target(scripted_request *request, const char *target, size_t length) {
  size_t version = 0;
  if (length > 2 && target[0] == '/' && target[1] == 'v')
    version = strspn(target + 2, "0123456789.");
  bool versioned = version && target[2 + version] == '/';
  size_t skip = versioned ? 2 + version : 0;
  request->version = copy_of(target + 2, versioned ? version : 0);
  request->path = copy_of(target + skip, length - skip);
}

static void split_line(scripted_request *request) {
  size_t method = strcspn(request->head, " \r\n");
  const char *target = request->head + method + (request->head[method] == ' ');
  request->method = copy_of(request->head, method);
  split_target(request, target, strcspn(target, " \r\n"));
}

scripted_request *scripted_read_head(scripted_wire *wire) {
  char *end;
  while (!(end = wire->in.data ? strstr(wire->in.data, "\r\n\r\n") : NULL))
    if (!read_more(wire)) return NULL;
  size_t length = (size_t)(end - wire->in.data) + 4;
  scripted_request *request = must(calloc(1, sizeof *request));
  request->head = copy_of(wire->in.data, length);
  use_up(wire, length);
  split_line(request);
  return request;
}

bool scripted_request_header(const scripted_request *request, const char *name, char *value,
                             size_t size) {
  size_t name_length = strlen(name);
  for (const char *line = strstr(request->head, "\r\n"); line; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, name_length) != 0 || line[name_length] != ':') continue;
    line += name_length + 1;
    line += strspn(line, " ");
    snprintf(value, size, "%.*s", (int)strcspn(line, "\r"), line);
    return true;
  }
  return false;
}

/* Moves `length` bytes of what comes into the body. */
static bool move_to_body(scripted_wire *wire, cdam_buffer *body, size_t length) {
  while (wire->in.length < length)
    if (!read_more(wire)) return false;
  if (!cdam_buffer_append(body, cdam_buffer_text(&wire->in), length)) abort();
  if (length) use_up(wire, length);
  return true;
}

static bool read_chunks(scripted_wire *wire, cdam_buffer *body) {
  for (;;) {
    char *end;
    while (!(end = wire->in.data ? strstr(wire->in.data, "\r\n") : NULL))
      if (!read_more(wire)) return false;
    size_t length = strtoul(wire->in.data, NULL, 16);
    use_up(wire, (size_t)(end - wire->in.data) + 2);
    if (!move_to_body(wire, body, length + 2)) return false;
    body->length -= 2;
    body->data[body->length] = '\0';
    if (length == 0) return true;
  }
}

bool scripted_read_body(scripted_wire *wire, scripted_request *request, size_t at_most) {
  char value[64];
  cdam_buffer body = {0};
  bool ok = true;
  if (scripted_request_header(request, "Transfer-Encoding", value, sizeof value)) {
    ok = read_chunks(wire, &body);
  } else if (scripted_request_header(request, "Content-Length", value, sizeof value)) {
    size_t length = strtoul(value, NULL, 10);
    ok = move_to_body(wire, &body, at_most && at_most < length ? at_most : length);
  }
  request->body = body.data ? body.data : copy_of("", 0);
  request->body_length = body.length;
  return ok;
}

void scripted_request_free(scripted_request *request) {
  if (!request) return;
  free(request->method);
  free(request->path);
  free(request->version);
  free(request->head);
  free(request->body);
  free(request);
}

/* ---- replies ---- */

static void add(cdam_buffer *out, const char *text, size_t length) {
  if (!cdam_buffer_append(out, text, length)) abort();
}

static void add_text(cdam_buffer *out, const char *text) {
  add(out, text, strlen(text));
}

static void add_head(cdam_buffer *out, const scripted_reply *reply, size_t length) {
  char line[128];
  const char *headers = reply->headers ? reply->headers : "";
  bool framed = strcasestr(headers, "Content-Length:") || strcasestr(headers, "Transfer-Encoding:");
  snprintf(line, sizeof line, "HTTP/1.1 %d Scripted\r\n", reply->status);
  add_text(out, line);
  add_text(out, headers);
  bool bodiless = reply->status == 204 || reply->status == 304 || reply->status / 100 == 1;
  if (reply->chunked)
    add_text(out, "Transfer-Encoding: chunked\r\n");
  else if (!framed && !bodiless) {
    snprintf(line, sizeof line, "Content-Length: %zu\r\n", length);
    add_text(out, line);
  }
  add_text(out, "\r\n");
}

static void add_chunks(cdam_buffer *out, const char *body, size_t length, size_t piece) {
  char line[32];
  while (length) {
    size_t part = piece && piece < length ? piece : length;
    snprintf(line, sizeof line, "%zx\r\n", part);
    add_text(out, line);
    add(out, body, part);
    add_text(out, "\r\n");
    body += part;
    length -= part;
  }
  add_text(out, "0\r\n\r\n");
}

static void add_reply(cdam_buffer *out, const scripted_request *request,
                      const scripted_reply *reply) {
  if (reply->raw) {
    add(out, reply->raw, reply->raw_length ? reply->raw_length : strlen(reply->raw));
    return;
  }
  const char *body = reply->body ? reply->body : "";
  size_t length = reply->body_length ? reply->body_length : strlen(body);
  add_head(out, reply, length);
  if (strcmp(request->method, "HEAD") == 0) return;
  if (reply->chunked)
    add_chunks(out, body, length, reply->piece);
  else
    add(out, body, length);
}

static bool send_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

static bool send_pieces(scripted_wire *wire, const cdam_buffer *out, const scripted_reply *reply) {
  size_t length = reply->cut && reply->cut < out->length ? reply->cut : out->length;
  for (size_t at = 0; at < length;) {
    size_t piece = reply->piece && reply->piece < length - at ? reply->piece : length - at;
    if (at && !scripted_sleep(wire, (int)reply->piece_delay_ms)) return false;
    if (!send_all(wire->fd, out->data + at, piece)) return false;
    at += piece;
  }
  return true;
}

/* A close that the other side sees as RST; on a unix socket it takes unread data for that. */
static void arm_reset(int fd) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* Until the engine stops, or the client has closed its side altogether. */
static void hang(const scripted_wire *wire) {
  struct pollfd ends[] = {{.fd = wire->stop_fd, .events = POLLIN}, {.fd = wire->fd}};
  poll(ends, 2, -1);
}

bool scripted_write_reply(scripted_wire *wire, const scripted_request *request,
                          const scripted_reply *reply) {
  cdam_buffer out = {0};
  add_reply(&out, request, reply);
  bool ok = scripted_sleep(wire, (int)reply->delay_ms) && send_pieces(wire, &out, reply);
  cdam_buffer_clear(&out);
  if (!ok || reply->cut) return false;
  if (reply->end == SCRIPTED_HANG) hang(wire);
  if (reply->end == SCRIPTED_RESET) arm_reset(wire->fd);
  return reply->end == SCRIPTED_KEEP;
}
