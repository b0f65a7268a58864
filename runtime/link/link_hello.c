/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <cofferdam/version.h>

#include "base/fail.h"
#include "link/link_private.h"

enum { PROTOCOL = 1, MAX_WORKSPACE = 4095 };

cdam_status cdam_link_send_hello(cdam_link *link, cdam_error *err) {
  Cofferdam__Agent__V1__ClientHello hello = COFFERDAM__AGENT__V1__CLIENT_HELLO__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  hello.min_version = hello.max_version = PROTOCOL;
  hello.initial_credit = CDAM_LINK_CREDIT;
  hello.client = (char *)(uintptr_t) "libcofferdam " CDAM_VERSION;
  message.body_case = CDAM_TO(CLIENT_HELLO);
  message.client_hello = &hello;
  return cdam_link_send(link, &message, NULL) ? CDAM_OK : cdam_fail_memory(err);
}

static cdam_status odd(cdam_error *err, const char *what) {
  return cdam_fail(err, CDAM_ERR_AGENT, "the agent broke the protocol: its hello has %s", what);
}

static cdam_status check_limits(const Cofferdam__Agent__V1__Limits *limits, cdam_error *err) {
  if (!limits) return odd(err, "no limits");
  if (limits->max_frame < CDAM_FRAME_MAX) return odd(err, "a limit of frames that is too low");
  if (!limits->max_channels || !limits->max_processes || !limits->max_path || !limits->max_clients)
    return odd(err, "a limit of 0");
  return CDAM_OK;
}

static cdam_status check_version(const Cofferdam__Agent__V1__AgentHello *hello, cdam_error *err) {
  if (hello->error) {
    cdam_status status = cdam_link_error(hello->error, err);
    return status == CDAM_ERR_CANCELLED ? odd(err, "an odd error") : status;
  }
  if (hello->version == PROTOCOL && hello->min_version <= PROTOCOL &&
      hello->max_version >= PROTOCOL)
    return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_AGENT,
                   "the agent broke the protocol: it answered with version %u (of %u to %u)",
                   hello->version, hello->min_version, hello->max_version);
}

/* Empty when the agent found none at its start. */
static bool is_workspace(const ProtobufCBinaryData *path) {
  if (path->len == 0) return true;
  return path->len <= MAX_WORKSPACE && path->data[0] == '/' && !memchr(path->data, '\0', path->len);
}

static void write_hex(char *out, const ProtobufCBinaryData *bytes) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < bytes->len; i++) {
    *out++ = digits[bytes->data[i] >> 4];
    *out++ = digits[bytes->data[i] & 15];
  }
  *out = '\0';
}

cdam_status cdam_link_take_hello(cdam_link *link, const Cofferdam__Agent__V1__AgentHello *hello,
                                 cdam_error *err) {
  cdam_status status = check_version(hello, err);
  if (status == CDAM_OK) status = check_limits(hello->limits, err);
  if (status != CDAM_OK) return status;
  if (hello->initial_credit == 0 || hello->initial_credit > INT32_MAX)
    return odd(err, "an initial credit that is out of bounds");
  if (hello->instance.len == 0 || hello->instance.len > CDAM_LINK_MAX_INSTANCE)
    return odd(err, "an instance of a wrong length");
  if (!is_workspace(&hello->workspace)) return odd(err, "a workspace that is no absolute path");
  const char *workspace = hello->workspace.len ? (const char *)hello->workspace.data : "";
  link->workspace = strndup(workspace, hello->workspace.len);
  if (!link->workspace) return cdam_fail_memory(err);
  write_hex(link->instance, &hello->instance);
  link->initial_credit = hello->initial_credit;
  link->max_channels = hello->limits->max_channels < CDAM_LINK_MAX_CHANNELS
                           ? hello->limits->max_channels
                           : CDAM_LINK_MAX_CHANNELS;
  return CDAM_OK;
}
