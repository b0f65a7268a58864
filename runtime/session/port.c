/* SPDX-License-Identifier: Apache-2.0 */
/* Where a published port can be reached. */
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "session/session.h"
#include "session/verify.h"

/* A mapping may appear a moment after the start. */
#define PORT_WAIT_MS 50
#define PORT_WAITS 40

typedef struct port_operation {
  cdam_operation op;
  cdam_port_callback callback;
  char container_id[CDAM_CONTAINER_ID_SIZE];
  uint32_t port;
  int waits;
  const char *reason; /* why it cannot be reached, when the options say so */
  char *host;
  uint16_t host_port;
} port_operation;

static bool find_reason(void *user, const char *field, const char *with, const char *text) {
  (void)field;
  port_operation *this = user;
  if (!strcmp(with, "exposed_ports")) this->reason = text;
  return true;
}

static bool is_exposed(const cdam_session *session, uint32_t port) {
  const Cofferdam__V1__SandboxOptions *options = session->state->message.options;
  for (size_t i = 0; i < options->n_exposed_ports; i++)
    if (options->exposed_ports[i] == port) return true;
  return false;
}

/* 1 to 65535, or 0. */
static uint16_t port_number(const char *text) {
  unsigned long number = 0;
  if (!text || !*text || strlen(text) > 5) return 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return 0;
    number = number * 10 + (unsigned long)(*text - '0');
  }
  return number <= 65535 ? (uint16_t)number : 0;
}

/* An address that means "any" (Podman leaves it empty) is reached over the loopback. */
static const char *reachable(const char *host) {
  if (!host || !*host || !strcmp(host, "0.0.0.0")) return "127.0.0.1";
  if (!strcmp(host, "::")) return "::1";
  return host;
}

/* The first usable binding, IPv4 before IPv6. */
static const json_t *best_binding(const json_t *bindings) {
  const json_t *best = NULL, *binding;
  size_t index;
  json_array_foreach(bindings, index, binding) {
    if (!port_number(json_string_value(json_object_get(binding, "HostPort")))) continue;
    const char *host = json_string_value(json_object_get(binding, "HostIp"));
    if (!strchr(reachable(host), ':')) return binding;
    if (!best) best = binding;
  }
  return best;
}

static void look(cdam_operation *op, const cdam_reply *reply);

static void take(port_operation *this, const json_t *binding) {
  cdam_error error;
  this->host = strdup(reachable(json_string_value(json_object_get(binding, "HostIp"))));
  this->host_port = port_number(json_string_value(json_object_get(binding, "HostPort")));
  cdam_operation_finish(&this->op, this->host ? CDAM_OK : cdam_fail_memory(&error), &error);
}

static void looked(cdam_operation *op, const cdam_reply *reply) {
  port_operation *this = (port_operation *)op;
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  char key[16];
  snprintf(key, sizeof key, "%u/tcp", this->port);
  const json_t *binding =
      best_binding(json_object_get(cdam_json_at(inspect, "NetworkSettings.Ports"), key));
  if (status == CDAM_OK && !binding && this->reason)
    status = cdam_fail(&error, CDAM_ERR_NOT_FOUND, "port %u is not published: %s", this->port,
                       this->reason);
  else if (status == CDAM_OK && !binding &&
           cdam_container_status_of(inspect) != CDAM_CONTAINER_RUNNING)
    status = cdam_fail(&error, CDAM_ERR_EXITED, "port %u is not published: the container is %s",
                       this->port, cdam_container_status_word(inspect));
  else if (status == CDAM_OK && !binding && this->waits >= PORT_WAITS)
    status = cdam_fail(&error, CDAM_ERR_NOT_FOUND,
                       "port %u is not published: the engine shows no binding for it", this->port);
  if (status != CDAM_OK)
    cdam_operation_finish(op, status, &error);
  else if (binding)
    take(this, binding);
  else if (++this->waits)
    cdam_operation_after(op, PORT_WAIT_MS, look);
  json_decref(inspect);
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", ((port_operation *)op)->container_id);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, looked);
}

static cdam_status prepare(const cdam_session *session, uint32_t port, port_operation **out,
                           cdam_error *err) {
  if (!is_exposed(session, port))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "port %u is not among the sandbox's exposed_ports",
                     port);
  port_operation *this = calloc(1, sizeof *this);
  if (!this) return cdam_fail_memory(err);
  this->port = port;
  cdam_session_container_id(session, this->container_id);
  cdam_generated_notes(session->state->message.options, find_reason, this);
  *out = this;
  return CDAM_OK;
}

static void end(port_operation *this) {
  free(this->host);
  free(this);
}

/* The host, when all went well. */
static char *take_host(port_operation *this, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  char *host = this->host;
  this->host = NULL;
  return host;
}

cdam_status cdam_session_resolve_port(cdam_session *session, uint32_t port, char **host,
                                      uint16_t *host_port, cdam_error *err) {
  if (host) *host = NULL;
  if (!session || !host || !host_port)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "session, host or host_port is NULL");
  port_operation *this;
  cdam_status status = prepare(session, port, &this, err);
  if (status != CDAM_OK) return status;
  status = cdam_operation_run(&this->op, session->client, look, err);
  if (status == CDAM_OK) *host_port = this->host_port;
  *host = take_host(this, status);
  end(this);
  return status;
}

static void completed(cdam_operation *op) {
  port_operation *this = (port_operation *)op;
  uint16_t host_port = op->status == CDAM_OK ? this->host_port : 0;
  this->callback(op->user, op->status, take_host(this, op->status), host_port, &op->error);
  end(this);
}

cdam_status cdam_session_resolve_port_start(cdam_loop *loop, cdam_session *session, uint32_t port,
                                            cdam_port_callback callback, void *user,
                                            cdam_operation **operation, cdam_error *err) {
  port_operation *this;
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  if (status == CDAM_OK) status = prepare(session, port, &this, err);
  if (status != CDAM_OK) return status;
  this->callback = callback;
  this->op.user = user;
  status = cdam_operation_submit(&this->op, loop, look, completed, err);
  if (status != CDAM_OK)
    end(this);
  else if (operation)
    *operation = &this->op;
  return status;
}
