/* SPDX-License-Identifier: Apache-2.0 */
/* What libcurl's result means for the caller, in words that say what to do next. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "engine/client_private.h"
#include "engine/exchange.h"

static cdam_status no_retry(cdam_error *err) {
  err->retry = CDAM_RETRY_NO;
  return err->code;
}

/* A full queue of a unix socket is EAGAIN, which libcurl takes for a connection in progress and
 * then finds without an error and not connected. */
bool cdam_exchange_was_crowded_out(const cdam_exchange *exchange, CURLcode result) {
  long number = 0;
  if (result != CURLE_COULDNT_CONNECT || exchange->sendings) return false;
  if (exchange->error.code != CDAM_OK) return false; /* it has no socket */
  if (!exchange->loop->client->endpoint.socket_path) return false;
  curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &number);
  return number == 0 || number == EAGAIN;
}

static cdam_status cannot_connect(cdam_exchange *exchange) {
  const char *endpoint = exchange->loop->client->config.endpoint;
  cdam_error *err = &exchange->error;
  long number = 0;
  curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &number);
  switch (number) {
  case ENOENT:
    return cdam_fail(err, CDAM_ERR_CONNECT,
                     "no socket at %s: is the engine running, and is DOCKER_HOST right?", endpoint);
  case ECONNREFUSED:
    return cdam_fail(err, CDAM_ERR_CONNECT,
                     "nothing listens at %s: is the engine running, and is DOCKER_HOST right?",
                     endpoint);
  case EACCES:
  case EPERM:
    cdam_fail(err, CDAM_ERR_CONNECT,
              "permission denied at %s: run as root or as a member of the socket's group (often "
              "\"docker\")",
              endpoint);
    return no_retry(err);
  default:
    return cdam_fail(err, CDAM_ERR_CONNECT, "cannot connect to the engine at %s: %s", endpoint,
                     exchange->curl_text);
  }
}

static cdam_status tls_failed(cdam_exchange *exchange, const char *what) {
  cdam_fail(&exchange->error, CDAM_ERR_CONNECT, "TLS with %s: %s: %s",
            exchange->loop->client->config.endpoint, what, exchange->curl_text);
  return no_retry(&exchange->error);
}

/* With TLS 1.3 an engine that does not like our certificate says so after the handshake. */
static bool is_tls_alert(const cdam_exchange *exchange) {
  return !exchange->head_bytes && exchange->loop->client->config.tls &&
         strstr(exchange->curl_text, " alert ") != NULL;
}

static cdam_status bad_answer(cdam_exchange *exchange, const char *what) {
  cdam_fail(&exchange->error, CDAM_ERR_PROTOCOL, "the engine at %s %s (%s)",
            exchange->loop->client->config.endpoint, what,
            exchange->curl_text[0] ? exchange->curl_text : "connection closed");
  exchange->error.http_status = exchange->http;
  return CDAM_ERR_PROTOCOL;
}

static cdam_status lost(cdam_exchange *exchange) {
  if (is_tls_alert(exchange))
    return tls_failed(exchange, "the engine refused the client's certificate, or its absence");
  return bad_answer(exchange, exchange->head_bytes
                                  ? "sent an answer that breaks off"
                                  : "closed the connection before it answered; whether it did what "
                                    "was asked is not known");
}

/* libcurl is content with a head that breaks off, and takes a switched connection that ends
 * without a byte for one without an answer. */
static bool is_whole(const cdam_exchange *exchange, CURLcode result) {
  if (!exchange->head_done) return false;
  return result == CURLE_OK || (result == CURLE_GOT_NOTHING && exchange->http == 101);
}

cdam_status cdam_exchange_outcome(cdam_exchange *exchange, CURLcode result) {
  if (is_whole(exchange, result) || exchange->enough) return CDAM_OK;
  if (exchange->error.code != CDAM_OK) return exchange->error.code; /* a callback's own */
  switch (result) {
  case CURLE_OUT_OF_MEMORY:
  case CURLE_FAILED_INIT:
    return cdam_fail_memory(&exchange->error);
  case CURLE_COULDNT_CONNECT:
    return cannot_connect(exchange);
  case CURLE_COULDNT_RESOLVE_HOST:
    return cdam_fail(&exchange->error, CDAM_ERR_CONNECT, "the host of %s is not known: %s",
                     exchange->loop->client->config.endpoint, exchange->curl_text);
  case CURLE_PEER_FAILED_VERIFICATION:
    return tls_failed(exchange, "the engine's certificate is not the one that ca.pem vouches for");
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CACERT_BADFILE:
    return tls_failed(exchange, "a file in the certificate directory cannot be used");
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_SSL_CIPHER:
    return tls_failed(exchange, "the handshake failed");
  case CURLE_OK:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_PARTIAL_FILE:
  case CURLE_ABORTED_BY_CALLBACK:
    return lost(exchange);
  default:
    return bad_answer(exchange, "sent an answer that makes no sense");
  }
}
