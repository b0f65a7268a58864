/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/negotiate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"
#include "engine/exchange.h"

#define MAJOR 1
#define OLDEST_MINOR 40
#define NEWEST_MINOR 52

/* One to three digits without a leading zero; returns what follows, or NULL. */
static const char *read_number(const char *text, unsigned *number) {
  size_t length = strspn(text, "0123456789");
  if (length == 0 || length > 3 || (length > 1 && text[0] == '0')) return NULL;
  *number = (unsigned)strtoul(text, NULL, 10);
  return text + length;
}

static bool read_version(const char *text, unsigned *major, unsigned *minor) {
  const char *rest = read_number(text, major);
  if (!rest || *rest != '.') return false;
  rest = read_number(rest + 1, minor);
  return rest && *rest == '\0';
}

cdam_status cdam_negotiate_choose(const char *offered, char chosen[8], cdam_error *err) {
  unsigned major, minor;
  if (offered[0] == '\0')
    return cdam_fail(err, CDAM_ERR_API_VERSION,
                     "the engine does not say which API version it speaks (no Api-Version header "
                     "in its answer to /_ping); this library needs " CDAM_API_RANGE);
  if (!read_version(offered, &major, &minor))
    return cdam_fail(err, CDAM_ERR_PROTOCOL,
                     "the engine's Api-Version header is no version number");
  if (major < MAJOR || (major == MAJOR && minor < OLDEST_MINOR))
    return cdam_fail(
        err, CDAM_ERR_API_VERSION,
        "the engine speaks the API only up to %u.%u; this library needs " CDAM_API_RANGE
        ": upgrade the engine",
        major, minor);
  if (major > MAJOR || minor > NEWEST_MINOR) minor = NEWEST_MINOR;
  snprintf(chosen, 8, "%u.%u", (unsigned)MAJOR, minor);
  return CDAM_OK;
}

cdam_status cdam_negotiate_settle(cdam_client *client, const cdam_reply *reply,
                                  const char *api_version, cdam_error *err) {
  char chosen[8];
  cdam_status status = cdam_answer_check(reply, "ping", err);
  if (status == CDAM_OK) status = cdam_negotiate_choose(api_version, chosen, err);
  if (status != CDAM_OK) return status;
  pthread_mutex_lock(&client->lock);
  if (!client->api_version[0]) memcpy(client->api_version, chosen, sizeof chosen);
  pthread_mutex_unlock(&client->lock);
  return CDAM_OK;
}

/* Another loop of the client may have settled it meanwhile. */
static bool is_settled(cdam_loop *loop) {
  if (loop->api_version[0]) return true;
  pthread_mutex_lock(&loop->client->lock);
  memcpy(loop->api_version, loop->client->api_version, sizeof loop->api_version);
  pthread_mutex_unlock(&loop->client->lock);
  return loop->api_version[0] != '\0';
}

static void release_held(cdam_loop *loop, cdam_status status, const cdam_error *error) {
  cdam_exchange *following;
  for (cdam_exchange *e = TAILQ_FIRST(&loop->live); e; e = following) {
    following = TAILQ_NEXT(e, in_loop);
    if (e->state != CDAM_EXCHANGE_HELD) continue;
    if (status == CDAM_OK) {
      cdam_exchange_wait(e); /* there may be hundreds */
    } else {
      e->error = *error;
      cdam_exchange_end(e, status);
    }
  }
}

void cdam_negotiate_begin(cdam_loop *loop) {
  if (is_settled(loop)) {
    release_held(loop, CDAM_OK, NULL);
    return;
  }
  if (loop->ping) return;
  cdam_error error;
  cdam_exchange *ping = cdam_exchange_take(loop);
  if (!ping) {
    cdam_fail_memory(&error);
    release_held(loop, CDAM_ERR_NO_MEMORY, &error);
    return;
  }
  loop->ping = ping;
  ping->state = CDAM_EXCHANGE_HELD;
  TAILQ_INSERT_TAIL(&loop->live, ping, in_loop);
  const cdam_request request = {.method = "GET", .path = "/_ping", .unversioned = true};
  cdam_status status = cdam_exchange_prepare(ping, &request, &ping->error);
  cdam_exchange_schedule(ping);
  if (status == CDAM_OK)
    cdam_exchange_launch(ping);
  else
    cdam_exchange_end(ping, status);
}

void cdam_negotiate_settled(cdam_loop *loop, const cdam_exchange *ping) {
  cdam_error error = {0};
  const cdam_reply reply = {
      .status = ping->status,
      .error = &ping->error,
      .http = ping->http,
      .body = cdam_buffer_text(&ping->body),
      .length = ping->body.length,
  };
  cdam_status status = cdam_negotiate_settle(loop->client, &reply, ping->api_version, &error);
  if (status == CDAM_OK) is_settled(loop);
  release_held(loop, status, &error);
}
