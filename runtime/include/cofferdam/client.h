/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_client: one Docker engine, and the caller's policy towards it. */
#ifndef COFFERDAM_CLIENT_H
#define COFFERDAM_CLIENT_H

#include <stdbool.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>

CDAM_BEGIN_DECLS

/* How to reach an engine and what to demand. Opaque. Copied by cdam_client_new. */
typedef struct cdam_client_config cdam_client_config;

/* A client. Opaque. Threads may share it; it keeps connections open between calls. A process
 * that was forked makes one of its own: parent and child must not talk on one connection. Nor does
 * the child free its parent's client, sessions and handles, which would end what the parent has
 * open. */
typedef struct cdam_client cdam_client;

/*
 * A new configuration, read from the environment as Docker's CLI reads it:
 *
 *   DOCKER_HOST         unix:///path, or tcp://host:port; default unix:///var/run/docker.sock
 *   DOCKER_TLS_VERIFY   not empty: TLS, with the server's certificate checked
 *   DOCKER_CERT_PATH    directory with ca.pem, cert.pem and key.pem; default ~/.docker
 *
 * and, except in a program that was given more rights than its user has,
 *
 *   COFFERDAM_AGENT_DIR the directory of the agent's programs; default where they were installed
 *
 * Docker contexts, proxies (HTTP_PROXY and the like) and .netrc are not read. Nothing is
 * checked or opened yet. Free with cdam_client_config_free. CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_new(cdam_client_config **out, cdam_error *err);

CDAM_API void cdam_client_config_free(cdam_client_config *config);

/* The endpoint, instead of DOCKER_HOST: "unix:///path" (the path as it is, without
 * %-decoding; 107 bytes at most) or "tcp://host:port" ("[::1]" for IPv6; without a port
 * 2376 with TLS and 2375 without).
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_set_endpoint(cdam_client_config *config,
                                                                const char *endpoint,
                                                                cdam_error *err);

/* TLS (1.2 or newer) with the files of a directory, instead of DOCKER_CERT_PATH; NULL turns TLS
 * off. Only ca.pem vouches for the engine, not the system's list. cert.pem and key.pem,
 * which the engine checks, are both there or both missing. TLS is for tcp; a unix socket never
 * has it. CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_set_tls(cdam_client_config *config,
                                                           const char *cert_path, cdam_error *err);

/* Allows tcp:// without TLS. Who can reach such an engine owns its host; it is
 * refused unless asked for here. Since 0.1. */
CDAM_API void cdam_client_config_allow_plain_tcp(cdam_client_config *config, bool allow);

/* The deadline of one exchange with the engine, in ms; default 60000. Streams
 * (pull, exec) have it for the first byte of the answer, and pulls for silence.
 * A sandbox's agent has as long for what it answers at once (CDAM_ERR_AGENT).
 * 0 is refused by cdam_client_new. Since 0.1. */
CDAM_API void cdam_client_config_set_timeout(cdam_client_config *config, unsigned timeout_ms);

/*
 * The policy: every isolating option that is in use in `minimum` must have the
 * same value in whatever this client creates or resumes, or, for a limit, a
 * stricter one (options.h says which); anything looser is CDAM_ERR_POLICY before the
 * engine is touched. A profile demands all that it stands for. A policy can only
 * tighten. `minimum` is copied; other options in it are ignored, and `image` may be
 * missing.
 * CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID, CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_require(cdam_client_config *config,
                                                           const cdam_options *minimum,
                                                           cdam_error *err);

/*
 * Called for each progress line of a pull. `status` is the engine's word
 * ("Downloading"), `layer` its id or "", `current` and `total` bytes or 0. The
 * strings live for the call. Return false to stop the pull (CDAM_ERR_PULL).
 * Called in the thread of the blocking call. Since 0.1.
 */
typedef bool (*cdam_pull_progress)(void *user, const char *status, const char *layer,
                                   unsigned long long current, unsigned long long total);

/* NULL: no progress. Since 0.1. */
CDAM_API void cdam_client_config_set_pull_progress(cdam_client_config *config,
                                                   cdam_pull_progress progress, void *user);

/* The value of the X-Registry-Auth header for pulls: URL-safe base64 of the
 * engine's AuthConfig JSON. Never logged. NULL: none.
 * CDAM_ERR_ARGUMENT (not base64url), CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_set_registry_auth(cdam_client_config *config,
                                                                     const char *base64url,
                                                                     cdam_error *err);

/*
 * Whether new sandboxes run our agent as their first process: a small static program that takes
 * orphans and signals, and through which processes, terminals and files of the sandbox are reached
 * without a tool of the image and without the engine's exec. It is put into a volume, once for each
 * engine, that sandboxes have mounted read-only.
 */
typedef enum cdam_agent_policy {
  /* Where it can be had. Where it cannot (no program for the engine's architecture; an engine that
   * has no volumes or cannot fill one) the sandbox waits in the image's own `tail`, and a warning
   * of the session says why, and what is weaker. */
  CDAM_AGENT_AUTO = 0,
  CDAM_AGENT_REQUIRED = 1, /* where it cannot, CDAM_ERR_NO_AGENT, and nothing is left behind */
  CDAM_AGENT_OFF = 2       /* never */
} cdam_agent_policy;

/* Default CDAM_AGENT_AUTO. Sandboxes that are there already are used as they are. A number that is
 * no policy is refused by cdam_client_new. Since 0.1. */
CDAM_API void cdam_client_config_set_agent(cdam_client_config *config, cdam_agent_policy policy);

/* The directory with cofferdam-agent-amd64 and cofferdam-agent-arm64, instead of
 * COFFERDAM_AGENT_DIR. It is read when a sandbox first needs it, and only once for each client.
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_client_config_set_agent_directory(cdam_client_config *config,
                                                                       const char *directory,
                                                                       cdam_error *err);

/*
 * A client. Checks the configuration (NULL: the environment's) and opens nothing:
 * the engine is first touched by the first call that needs it, which also settles
 * the API version (1.40 to 1.52, by /_ping).
 * Free with cdam_client_free when no session or call uses it any more.
 * CDAM_ERR_ARGUMENT (which setting, and why), CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_client_new(const cdam_client_config *config, cdam_client **out,
                                                cdam_error *err);

CDAM_API void cdam_client_free(cdam_client *client);

/* Asks the engine whether it answers, and settles the API version: "1.41" in
 * `version` (may be NULL; valid as long as the client). CDAM_ERR_CONNECT,
 * CDAM_ERR_TIMEOUT, CDAM_ERR_API_VERSION, CDAM_ERR_PROTOCOL. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_client_ping(cdam_client *client, const char **version,
                                                 cdam_error *err);

CDAM_END_DECLS

#endif
