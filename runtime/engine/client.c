/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"
#include "engine/negotiate.h"

#define MAX_IDLE_LOOPS 8

/* ---- making one ---- */

/* libcurl counts these calls; it is never told that it is over, since other users of it may
 * live in the program. The lock is for builds of it whose own is missing. */
static bool start_libcurl(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  pthread_mutex_unlock(&lock);
  return result == CURLE_OK;
}

static cdam_status find_file(const char *directory, const char *name, char **out, cdam_error *err) {
  if (asprintf(out, "%s/%s", directory, name) >= 0) return CDAM_OK;
  *out = NULL;
  return cdam_fail_memory(err);
}

static cdam_status check_file(const char *path, cdam_error *err) {
  struct stat info;
  if (stat(path, &info) != 0 || access(path, R_OK) != 0)
    return cdam_fail(err, CDAM_ERR_ARGUMENT,
                     "TLS: %s: %m; put ca.pem, cert.pem and key.pem there, or set "
                     "DOCKER_CERT_PATH to where they are",
                     path);
  if (!S_ISREG(info.st_mode))
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "TLS: %s is not a file", path);
  return CDAM_OK;
}

/* The certificate of the client is optional, as for Docker's CLI: an engine that does not ask
 * for one is still one whose own certificate was checked. Half of it is a mistake. */
static cdam_status find_certificates(cdam_client *client, cdam_error *err) {
  const char *directory = client->config.cert_path;
  cdam_status status = find_file(directory, "ca.pem", &client->ca_file, err);
  if (status == CDAM_OK) status = check_file(client->ca_file, err);
  if (status == CDAM_OK) status = find_file(directory, "cert.pem", &client->cert_file, err);
  if (status == CDAM_OK) status = find_file(directory, "key.pem", &client->key_file, err);
  if (status != CDAM_OK) return status;
  if (access(client->cert_file, F_OK) != 0 && access(client->key_file, F_OK) != 0) {
    free(client->cert_file);
    free(client->key_file);
    client->cert_file = client->key_file = NULL;
    return CDAM_OK;
  }
  status = check_file(client->cert_file, err);
  return status == CDAM_OK ? check_file(client->key_file, err) : status;
}

static cdam_status check_config(cdam_client *client, cdam_error *err) {
  const cdam_client_config *config = &client->config;
  if (config->timeout_ms == 0)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the timeout must not be 0");
  if (config->agent != CDAM_AGENT_AUTO && config->agent != CDAM_AGENT_REQUIRED &&
      config->agent != CDAM_AGENT_OFF)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "there is no agent policy %d", (int)config->agent);
  cdam_status status = cdam_endpoint_parse(config->endpoint, config->tls, &client->endpoint, err);
  if (status != CDAM_OK || client->endpoint.socket_path) return status;
  if (config->tls) return find_certificates(client, err);
  if (config->allow_plain_tcp) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_ARGUMENT,
                   "endpoint \"%.200s\" has no TLS, so whoever reaches it owns the engine's host: "
                   "set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or allow plain tcp explicitly",
                   config->endpoint);
}

static cdam_status set_up(cdam_client *client, const cdam_client_config *config, cdam_error *err) {
  cdam_client_config *environment = NULL;
  cdam_status status = config ? CDAM_OK : cdam_client_config_new(&environment, err);
  if (status == CDAM_OK)
    status = cdam_client_config_copy(config ? config : environment, &client->config, err);
  cdam_client_config_free(environment);
  if (status == CDAM_OK) status = check_config(client, err);
  if (status == CDAM_OK && !start_libcurl()) status = cdam_fail_memory(err);
  return status;
}

cdam_status cdam_client_new(const cdam_client_config *config, cdam_client **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_client_new: out is NULL");
  *out = NULL;
  cdam_client *client = calloc(1, sizeof *client);
  if (!client) return cdam_fail_memory(err);
  if (pthread_mutex_init(&client->lock, NULL) != 0) {
    free(client);
    return cdam_fail_memory(err);
  }
  cdam_status status = set_up(client, config, err);
  if (status != CDAM_OK) {
    cdam_client_free(client);
    return status;
  }
  *out = client;
  return cdam_ok(err);
}

void cdam_client_free(cdam_client *client) {
  if (!client) return;
  while (client->idle_loops) {
    cdam_loop *loop = client->idle_loops;
    client->idle_loops = loop->next_idle;
    cdam_loop_destroy(loop);
  }
  pthread_mutex_destroy(&client->lock);
  cdam_endpoint_clear(&client->endpoint);
  cdam_client_config_clear(&client->config);
  for (size_t i = 0; i < CDAM_AGENT_ARCHITECTURES; i++)
    free(client->agents[i].bytes);
  free(client->ca_file);
  free(client->cert_file);
  free(client->key_file);
  free(client);
}

/* ---- loops ---- */

cdam_loop *cdam_client_borrow_loop(cdam_client *client) {
  pthread_mutex_lock(&client->lock);
  cdam_loop *loop = client->idle_loops;
  if (loop) {
    client->idle_loops = loop->next_idle;
    client->idle_count--;
  }
  char api_version[sizeof client->api_version];
  memcpy(api_version, client->api_version, sizeof api_version);
  pthread_mutex_unlock(&client->lock);
  if (!loop) loop = cdam_loop_make(client);
  if (loop && !cdam_exchange_reserve(loop)) {
    cdam_loop_destroy(loop);
    return NULL;
  }
  if (loop) memcpy(loop->api_version, api_version, sizeof api_version);
  return loop;
}

cdam_status cdam_fail_loop(cdam_error *err) {
  int error = errno;
  if (error != EMFILE && error != ENFILE) return cdam_fail_memory(err);
  return cdam_fail(err, CDAM_ERR_IO, "cannot prepare for a connection to the engine: %s",
                   strerror(error));
}

void cdam_client_return_loop(cdam_client *client, cdam_loop *loop) {
  cdam_loop_settle(loop);
  pthread_mutex_lock(&client->lock);
  bool keep = !loop->broken && client->idle_count < MAX_IDLE_LOOPS;
  if (keep) {
    loop->next_idle = client->idle_loops;
    client->idle_loops = loop;
    client->idle_count++;
  }
  pthread_mutex_unlock(&client->lock);
  if (!keep) cdam_loop_destroy(loop);
}

/* ---- ping ---- */

typedef struct ping_operation {
  cdam_operation op;
  cdam_ping_callback callback;
  cdam_exchange *exchange;
} ping_operation;

static void pinged(cdam_operation *op, const cdam_reply *reply) {
  ping_operation *ping = (ping_operation *)op;
  const char *version = ping->exchange ? ping->exchange->api_version : "";
  cdam_status status = cdam_negotiate_settle(op->client, reply, version, &op->error);
  cdam_operation_finish(op, status, &op->error);
}

static void send_ping(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  const cdam_request request = {.method = "GET", .path = "/_ping", .unversioned = true};
  ((ping_operation *)op)->exchange = cdam_operation_send(op, &request, pinged);
}

cdam_status cdam_client_ping(cdam_client *client, const char **version, cdam_error *err) {
  if (version) *version = NULL;
  if (!client) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_client_ping: client is NULL");
  ping_operation ping = {0};
  cdam_status status = cdam_operation_run(&ping.op, client, send_ping, err);
  if (status == CDAM_OK && version) *version = client->api_version;
  return status;
}

static void ping_completed(cdam_operation *op) {
  ping_operation *ping = (ping_operation *)op;
  const char *version = op->status == CDAM_OK ? op->client->api_version : NULL;
  ping->callback(op->user, op->status, version, &op->error);
  free(ping);
}

cdam_status cdam_client_ping_start(cdam_loop *loop, cdam_ping_callback callback, void *user,
                                   cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status != CDAM_OK) return status;
  ping_operation *ping = calloc(1, sizeof *ping);
  if (!ping) return cdam_fail_memory(err);
  ping->callback = callback;
  ping->op.user = user;
  status = cdam_operation_submit(&ping->op, loop, send_ping, ping_completed, err);
  if (status != CDAM_OK)
    free(ping);
  else if (operation)
    *operation = &ping->op;
  return status;
}
